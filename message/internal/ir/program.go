package ir

import (
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Node is one operation: a leaf, or a function of one or two nodes that stand
// before it. No two of a program are the same, so what is said several times is
// computed once.
type Node struct {
	Kind Kind
	Fn   uint8 // a vec.Unary or vec.Binary
	Mark bool  // of a TopK: 1 for what is kept, else 0
	A, B int32 // the operands
	K    int32 // of a leaf, which; of a TopK, how many are kept; else which attribute
	C    tensor.Float
}

// Attribute is what some operations need beside their operands.
type Attribute struct {
	Drop *vec.Dropout
	Rows []int32 // of a Pick: which row of the message each edge takes

	ByOffset bool  // of a Pick: the row is the edge's offset instead,
	Lo, Hi   int32 // clamped to these and counted from Lo
}

// OffsetRow is the row that an edge takes by its offset, which is that of its source's
// place from its destination's.
func (x *Attribute) OffsetRow(src, dst int32) int32 {
	return min(max(dst-src, x.Lo), x.Hi) - x.Lo
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
	Leaves   []Leaf    // for each node; of leaves alone is it filled in
	Reducers []Reducer // none: the message of every edge is stored
}

// Reduces reports whether r is the only reducer.
func (p *Program) Reduces(r Reducer) bool { return len(p.Reducers) == 1 && p.Reducers[0] == r }
