package message

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A Msg holds its operations in itself, up to so many, so that building one
// allocates nothing. What is longer is a program of its own.
const (
	shortCode   = 16
	shortVars   = 6
	shortAsides = 2
)

// node is one operation of a Msg: a leaf, or a function of one or two nodes that
// stand before it. The last one is the message. No two are the same, so what is
// said several times is computed once.
type node struct {
	kind kind
	fn   uint8 // a simd.Unary or simd.Binary
	mark bool  // of a topK: 1 for what is kept, else 0
	a, b int32
	k    int32 // of a leaf, its Var; of a topK, how many are kept; else the aside
	c    tensor.Float
}

// aside is what some operations need beside their operands.
type aside struct {
	drop *simd.Dropout
	rows []int32 // of a pick: which row of the message each edge takes
}

// program is a Msg's operations.
type program struct {
	code   []node
	vars   []*grad.Var
	asides []aside
}

func leaf(k kind, x *grad.Var) Msg {
	if x == nil {
		panic(&grad.TapeError{Op: "message.Msg", Why: "U, V, E or W of a Var that is nil"})
	}
	var m Msg
	m.n, m.reads = 1, 1
	m.code[0].kind, m.vars[0] = k, x
	return m
}

// empty reports whether m says nothing.
func (m *Msg) empty() bool { return m.n == 0 && m.long == nil }

// filled panics with a [*grad.TapeError] if m says nothing.
func (m *Msg) filled() {
	if m.empty() {
		panic(&grad.TapeError{Op: "message.Msg", Why: "the Msg is empty; begin one with U, V, E or W"})
	}
}

func (m *Msg) nodes() []node {
	if m.long != nil {
		return m.long.code
	}
	return m.code[:m.n]
}

func (m *Msg) operands() []*grad.Var {
	if m.long != nil {
		return m.long.vars
	}
	return m.vars[:m.reads]
}

func (m *Msg) besides() []aside {
	if m.long != nil {
		return m.long.asides
	}
	return m.aside[:m.asides]
}

// last is the place of the message itself.
func (m *Msg) last() int32 { return int32(len(m.nodes()) - 1) }

// then returns m with an operation on it.
func (m Msg) then(n node) Msg {
	m.filled()
	m.own()
	n.a = m.last()
	m.push(n)
	return m
}

// with returns an operation on m and o.
func (m Msg) with(o *Msg, n node) Msg {
	m.filled()
	o.filled()
	m.own()
	n.a = m.last()
	n.b = m.join(o)
	m.push(n)
	return m
}

// beside returns m with an operation on it that needs an aside.
func (m Msg) beside(k kind, x aside) Msg {
	m.filled()
	m.own()
	return m.then(node{kind: k, k: m.putAside(x)})
}

// own makes a long program m's own: Msgs are values.
func (m *Msg) own() {
	if p := m.long; p != nil {
		m.long = &program{slices.Clone(p.code), slices.Clone(p.vars), slices.Clone(p.asides)}
	}
}

// lengthen makes a program of m, which holds no more.
func (m *Msg) lengthen() {
	m.long = &program{slices.Clone(m.nodes()), slices.Clone(m.operands()), slices.Clone(m.besides())}
	m.n, m.reads, m.asides = 0, 0, 0
	m.vars, m.aside = [shortVars]*grad.Var{}, [shortAsides]aside{}
}

// push adds an operation, unless it is there already, and returns its place.
func (m *Msg) push(n node) int32 {
	for i, o := range m.nodes() {
		if o == n {
			return int32(i)
		}
	}
	if m.long == nil && m.n == shortCode {
		m.lengthen()
	}
	if m.long != nil {
		m.long.code = append(m.long.code, n)
	} else {
		m.code[m.n] = n
		m.n++
	}
	return m.last()
}

func (m *Msg) putVar(x *grad.Var) int32 {
	if i := slices.Index(m.operands(), x); i >= 0 {
		return int32(i)
	}
	if m.long == nil && m.reads == shortVars {
		m.lengthen()
	}
	if m.long != nil {
		m.long.vars = append(m.long.vars, x)
		return int32(len(m.long.vars) - 1)
	}
	m.vars[m.reads] = x
	m.reads++
	return int32(m.reads - 1)
}

func (m *Msg) putAside(x aside) int32 {
	for i, o := range m.besides() {
		if o.drop == x.drop && sameSlice(o.rows, x.rows) {
			return int32(i)
		}
	}
	if m.long == nil && m.asides == shortAsides {
		m.lengthen()
	}
	if m.long != nil {
		m.long.asides = append(m.long.asides, x)
		return int32(len(m.long.asides) - 1)
	}
	m.aside[m.asides] = x
	m.asides++
	return int32(m.asides - 1)
}

func sameSlice(x, y []int32) bool {
	return len(x) == len(y) && (len(x) == 0 || &x[0] == &y[0])
}

// join adds o's operations to m's, and returns where that of o stands.
func (m *Msg) join(o *Msg) int32 {
	var room [4 * shortCode]int32
	to := room[:0]
	for _, n := range o.nodes() {
		switch {
		case n.kind <= leafW:
			n.k = m.putVar(o.operands()[n.k])
		case n.aside():
			n.k = m.putAside(o.besides()[n.k])
			n.a = to[n.a]
		default:
			n.a = to[n.a]
			if n.paired() {
				n.b = to[n.b]
			}
		}
		to = append(to, m.push(n))
	}
	return to[len(to)-1]
}

// aside reports whether a node needs an aside.
func (n *node) aside() bool { return n.kind == pick || n.kind == dropout || n.kind == gumbel }

// paired reports whether a node has two operands.
func (n *node) paired() bool { return n.kind == binary || n.kind == dotLast || n.kind == matMul }

// expr is a node as part of a tree, in which kernels of their own are looked for.
type expr struct {
	kind kind
	a, b *expr
	x    *grad.Var   // of a leaf
	un   simd.Unary  // of a unary
	bin  simd.Binary // of a binary
	c    tensor.Float
	drop *simd.Dropout
	rows []int32 // of a pick
	k    int     // of a topK: how many are kept
	mark bool    // of a topK: 1 for what is kept, else 0
}

// forest is memory for a tree.
type forest struct{ all []expr }

var forests = sync.Pool{New: func() any { return new(forest) }}

// tree lays out m as a tree and returns its root. It holds until the forest is
// handed back.
func (f *forest) tree(m *Msg) *expr {
	code := m.nodes()
	f.all = resize(f.all, len(code))
	for i := range code {
		f.plant(m, i, &code[i])
	}
	return &f.all[len(code)-1]
}

func (f *forest) plant(m *Msg, i int, n *node) {
	e := &f.all[i]
	*e = expr{kind: n.kind, c: n.c, mark: n.mark}
	if n.kind <= leafW {
		e.x = m.operands()[n.k]
		return
	}
	e.a = &f.all[n.a]
	switch {
	case n.kind == unary:
		e.un = simd.Unary(n.fn)
	case n.kind == binary:
		e.bin = simd.Binary(n.fn)
	case n.kind == topK:
		e.k = int(n.k)
	case n.aside():
		x := m.besides()[n.k]
		e.drop, e.rows = x.drop, x.rows
	}
	if n.paired() {
		e.b = &f.all[n.b]
	}
}

// fell hands the memory back.
func (f *forest) fell() {
	clear(f.all)
	forests.Put(f)
}
