package ir

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Node is one operation: a leaf, or a function of one or two nodes that stand
// before it. No two of a program are the same, so what is said several times is
// computed once.
type Node struct {
	Kind ops.Kind
	Fn   uint8 // a vec.Unary or vec.Binary
	Mark bool  // of a TopK: 1 for what is kept, else 0
	A, B int32 // the operands
	K    int32 // of a leaf, which; of a TopK, how many are kept; else which attribute
	C    tensor.Float
}

// Leaf is what is known of an array that a program reads.
type Leaf struct {
	Shape []int // of one message
	Flat  bool  // the array is a vector: a message's only axis is not its own
	Needs bool  // its gradient is wanted
}

// Axes is how many axes the array has.
func (l *Leaf) Axes() int {
	if l.Flat {
		return 1
	}
	return len(l.Shape) + 1
}

// Last is the length of a message's last axis.
func (l *Leaf) Last() int { return l.Shape[len(l.Shape)-1] }

// Width is how many elements a message has.
func (l *Leaf) Width() int { return size(l.Shape) }

func size(shape []int) int {
	n := 1
	for _, k := range shape {
		n *= k
	}
	return n
}

// Program is what a message says, and how the messages of a destination are
// reduced.
type Program struct {
	Code     []Node
	Leaves   []Leaf         // for each node; of leaves alone is it filled in
	Reducers []*ops.Reducer // none: the message of every edge is stored
}

// Reduces reports whether r is the only reducer.
func (p *Program) Reduces(r *ops.Reducer) bool { return len(p.Reducers) == 1 && p.Reducers[0] == r }

// Expr is a node of a program, as rules see it.
type Expr struct {
	p *Program
	i int32
}

// Message is the whole of what a program says.
func (p *Program) Message() Expr { return Expr{p, int32(len(p.Code) - 1)} }

// Arrays is how many arrays a program may read: one more than the last that it does.
func (p *Program) Arrays() int {
	n := 0
	for _, x := range p.Code {
		if x.Kind.IsLeaf() {
			n = max(n, int(x.K)+1)
		}
	}
	return n
}

// Given is p where e is not computed: it is the rows of the edges of an array.
func (p *Program) Given(e Expr, l Leaf, array int) *Program {
	q := &Program{Code: slices.Clone(p.Code), Leaves: slices.Clone(p.Leaves), Reducers: p.Reducers}
	q.Code[e.i], q.Leaves[e.i] = Node{Kind: ops.LeafE, K: int32(array)}, l
	return q
}

func (e Expr) node() *Node { return &e.p.Code[e.i] }

// Is reports whether e is of kind k.
func (e Expr) Is(k ops.Kind) bool { return e.node().Kind == k }

// IsLeaf reports whether e reads an array.
func (e Expr) IsLeaf() bool { return e.node().Kind.IsLeaf() }

// Paired reports whether e has two operands.
func (e Expr) Paired() bool { return e.node().Kind.Paired() }

// Operand is the only operand, or the first.
func (e Expr) Operand() Expr { return Expr{e.p, e.node().A} }

// Second is the second operand.
func (e Expr) Second() Expr { return Expr{e.p, e.node().B} }

// Var is which of the arrays a leaf reads.
func (e Expr) Var() int { return int(e.node().K) }

// Attribute is which of the attributes belongs to e.
func (e Expr) Attribute() int { return int(e.node().K) }

// Leaf is what is known of a leaf's array.
func (e Expr) Leaf() *Leaf { return &e.p.Leaves[e.i] }

// Function reports whether e is that function of one operand, and its constant.
func (e Expr) Function(u vec.Unary) (c tensor.Float, ok bool) {
	n := e.node()
	return n.C, n.Kind == ops.Unary && vec.Unary(n.Fn) == u
}

// Pair reports whether e is that function of two operands, and returns these.
func (e Expr) Pair(b vec.Binary) (x, y Expr, ok bool) {
	if n := e.node(); n.Kind != ops.Binary || vec.Binary(n.Fn) != b {
		return e, e, false
	}
	return e.Operand(), e.Second(), true
}

// Product finds, in a product of two operands, one of kind k, and returns it before
// the other.
func (e Expr) Product(k ops.Kind) (x, y Expr, ok bool) {
	x, y, ok = e.Pair(vec.Mul)
	if ok && !x.Is(k) {
		x, y = y, x
	}
	return x, y, ok && x.Is(k)
}

// Heads reports whether a row of weights w has one element for each head of x: for
// all of it, or for each run along its last axis.
func Heads(w, x *Leaf) bool {
	if w.Flat || x.Flat || len(w.Shape) > len(x.Shape) || w.Shape[len(w.Shape)-1] != 1 {
		return false
	}
	ws, xs := w.Shape[:len(w.Shape)-1], x.Shape[:len(x.Shape)-1]
	return size(ws) == 1 || slices.Equal(ws, xs)
}
