package message

import (
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
)

// A Msg holds its operations in itself, up to so many, so that building one
// allocates nothing. What is longer is a program of its own.
const (
	shortCode       = 16
	shortVars       = 6
	shortAttributes = 2
)

// program is a Msg's operations.
type program struct {
	code       []ir.Node
	vars       []*grad.Var
	attributes []ops.Attribute
}

func leaf(k ops.Kind, x *grad.Var) Msg {
	if x == nil {
		panic(&grad.TapeError{Op: "message." + k.String(), Why: "the Var is nil"})
	}
	var m Msg
	m.codeLen, m.varsLen = 1, 1
	m.code[0].Kind, m.vars[0] = k, x
	return m
}

// empty reports whether m says nothing.
func (m *Msg) empty() bool { return m.codeLen == 0 && m.long == nil }

// Empty reports whether m says nothing, as the zero Msg does.
func (m Msg) Empty() bool { return m.empty() }

// filled panics with a [*grad.TapeError] if m says nothing.
func (m *Msg) filled() {
	if m.empty() {
		panic(&grad.TapeError{Op: "message.Msg", Why: "the Msg is empty; begin one with U, V, E or W"})
	}
}

func (m *Msg) nodes() []ir.Node {
	if m.long != nil {
		return m.long.code
	}
	return m.code[:m.codeLen]
}

func (m *Msg) operands() []*grad.Var {
	if m.long != nil {
		return m.long.vars
	}
	return m.vars[:m.varsLen]
}

func (m *Msg) attributeList() []ops.Attribute {
	if m.long != nil {
		return m.long.attributes
	}
	return m.attributes[:m.attributesLen]
}

// last is the place of the message itself.
func (m *Msg) last() int32 { return int32(len(m.nodes()) - 1) }

// then returns m with an operation on it.
func (m Msg) then(n ir.Node) Msg {
	m.filled()
	m.own()
	n.A = m.last()
	m.push(n)
	return m
}

// with returns an operation on m and o.
func (m Msg) with(o *Msg, n ir.Node) Msg {
	m.filled()
	o.filled()
	m.own()
	n.A = m.last()
	n.B = m.include(o)
	m.push(n)
	return m
}

// withAttribute returns m with an operation on it that needs an attribute.
func (m Msg) withAttribute(k ops.Kind, x ops.Attribute) Msg {
	m.filled()
	m.own()
	return m.then(ir.Node{Kind: k, K: m.putAttribute(x)})
}

// own makes a long program m's own: Msgs are values.
func (m *Msg) own() {
	if p := m.long; p != nil {
		m.long = &program{slices.Clone(p.code), slices.Clone(p.vars), slices.Clone(p.attributes)}
	}
}

// lengthen makes a program of m, which holds no more.
func (m *Msg) lengthen() {
	m.long = &program{slices.Clone(m.nodes()), slices.Clone(m.operands()), slices.Clone(m.attributeList())}
	m.codeLen, m.varsLen, m.attributesLen = 0, 0, 0
	m.vars, m.attributes = [shortVars]*grad.Var{}, [shortAttributes]ops.Attribute{}
}

// push adds an operation, unless it is there already, and returns its place.
func (m *Msg) push(n ir.Node) int32 {
	for i, o := range m.nodes() {
		if o == n {
			return int32(i)
		}
	}
	if m.long == nil && m.codeLen == shortCode {
		m.lengthen()
	}
	if m.long != nil {
		m.long.code = append(m.long.code, n)
	} else {
		m.code[m.codeLen] = n
		m.codeLen++
	}
	return m.last()
}

func (m *Msg) putVar(x *grad.Var) int32 {
	if i := slices.Index(m.operands(), x); i >= 0 {
		return int32(i)
	}
	if m.long == nil && m.varsLen == shortVars {
		m.lengthen()
	}
	if m.long != nil {
		m.long.vars = append(m.long.vars, x)
		return int32(len(m.long.vars) - 1)
	}
	m.vars[m.varsLen] = x
	m.varsLen++
	return int32(m.varsLen - 1)
}

func (m *Msg) putAttribute(x ops.Attribute) int32 {
	for i, o := range m.attributeList() {
		if o.Drop == x.Drop && sameSlice(o.Rows, x.Rows) && o.ByOffset == x.ByOffset && o.Lo == x.Lo && o.Hi == x.Hi {
			return int32(i)
		}
	}
	if m.long == nil && m.attributesLen == shortAttributes {
		m.lengthen()
	}
	if m.long != nil {
		m.long.attributes = append(m.long.attributes, x)
		return int32(len(m.long.attributes) - 1)
	}
	m.attributes[m.attributesLen] = x
	m.attributesLen++
	return int32(m.attributesLen - 1)
}

func sameSlice(x, y []int32) bool {
	return len(x) == len(y) && (len(x) == 0 || &x[0] == &y[0])
}

// include adds o's operations to m's, and returns where that of o stands.
func (m *Msg) include(o *Msg) int32 {
	var room [4 * shortCode]int32
	to := room[:0]
	for _, n := range o.nodes() {
		switch {
		case n.Kind.IsLeaf():
			n.K = m.putVar(o.operands()[n.K])
		case n.Kind.HasAttribute():
			n.K = m.putAttribute(o.attributeList()[n.K])
			n.A = to[n.A]
		default:
			n.A = to[n.A]
			if n.Kind.Paired() {
				n.B = to[n.B]
			}
		}
		to = append(to, m.push(n))
	}
	return to[len(to)-1]
}
