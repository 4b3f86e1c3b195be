package ops

import (
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Kind is the number of an operation in the list: what a program holds of it.
type Kind uint8

// Op is an operation of messages.
type Op struct {
	Name     string // as a user knows it
	Operands int    // how many messages it works on: 1 or 2. A leaf has none
	Extra    Extra  // what it needs beside them

	Broadcast bool // two operands are stretched to one shape first
	Whole     bool // the second operand is W, of which no edge has a copy: it is read where it stands

	// InPlace says that a result may be written over an operand. Such an operation needs no
	// scratch of its own, so that a tile holds more edges.
	InPlace bool

	// Shape sets s.Shape, and what else follows from the shapes of the operands' messages, or
	// says why they do not fit. nil: the shape is that of the first operand.
	Shape func(s *Step, x, y []int) (why string)

	// Reads says what the gradient of an operand, 0 or 1, is computed from; nil: from that of the
	// result alone.
	Reads func(s *Step, operand int) Reads

	// Forward sets t.Y.
	Forward func(t *Tile)

	// Backward adds to t.DX the gradient of an operand, from that of the result, t.DY. Sets says
	// that it writes where t.Fresh is set; else exec clears t.DX before.
	Backward func(t *Tile, operand int)
	Sets     bool

	// Turn makes, once for a backward pass, what Backward reads instead of a Whole operand, of
	// the same size; nil: nothing.
	Turn func(s *Step, to, from []tensor.Float)

	// Across is set if the operation sees all in-edges of a destination.
	Across *Across
}

// Extra is what an operation needs beside its operands, of the attributes of a message.
type Extra uint8

// The extras.
const (
	Nothing Extra = iota
	Mask          // random numbers of each element, that follow from the seed
	Choice        // a number for each edge
)

// Reads are the values that the gradient of an operand is computed from.
type Reads uint8

// The values, and what else there is to say of a gradient.
const (
	First  Reads = 1 << iota // those of the first operand
	Second                   // those of the second
	Own                      // the result
	Same                     // the gradient is that of the result
	None                     // it is zero everywhere
)

// always is a function for Op.Reads where these do not depend on the step.
func always(r Reads) func(*Step, int) Reads { return func(*Step, int) Reads { return r } }

// other reads of two operands the other one.
func other(_ *Step, operand int) Reads { return [2]Reads{Second, First}[operand] }

// Attribute is what some operations need beside their operands.
type Attribute struct {
	Drop *vec.Dropout // a Mask
	Rows []int32      // a Choice: which row of the message each edge takes

	ByOffset bool  // of a Choice: the row is the edge's offset instead,
	Lo, Hi   int32 // clamped to these and counted from Lo
}

// OffsetRow is the row that an edge takes by its offset, which is that of its source's
// place from its destination's.
func (x *Attribute) OffsetRow(src, dst int32) int32 {
	return min(max(dst-src, x.Lo), x.Hi) - x.Lo
}

// Step is an operation in a plan: what is known of it before there are arrays.
type Step struct {
	Kind   Kind
	Unary  vec.Unary    // of a Unary
	Binary vec.Binary   // of a Binary
	Mark   bool         // of a TopK: 1 for what is kept
	K      int          // of a TopK, how many are kept; of a MatMul, the rows of the matrix
	C      tensor.Float // a constant
	Shape  []int        // of one edge's message
	Width  int          // its elements
	From   int          // those of the first operand's message
	Run    int          // of an Expand and a ScaleBy: each element of the small operand stands for such a run; 0: see Index
	Index  []int32
}

// Fold is how many elements of the first operand there are for each of the result.
func (s *Step) Fold() int { return s.From / max(s.Width, 1) }

// Tile is a step on some edges, one after the other. Arrays have a row for each of these;
// those that are not asked for by Op.Reads may not be there. A loop over elements takes the arrays
// out of it first: the compiler has to read a field again after each element that is set.
type Tile struct {
	*Step
	Edges int            // how many
	Lo    int            // the number of the first
	A, B  []tensor.Float // values of the operands
	Y     []tensor.Float // and of the step
	DY    []tensor.Float // backward: the gradient of Y,
	DX    []tensor.Float // and of the operand
	Fresh bool           // nothing is in DX yet; see Op.Sets

	Drop   *vec.Dropout   // of a Mask
	Rows   []int32        // of a Choice
	Turned []tensor.Float // backward, of a Whole operand: what Op.Turn made of it

	Stats // across the in-edges
	*Room
}

// Room is what a thread lends an operation. It holds anything.
type Room struct {
	Tmp []tensor.Float // as much as the tile of the widest step
	Mix []tensor.Float // four rows of that

	best  []tensor.Float // of a TopK: the entries chosen so far; of a Sparsemax those near the largest,
	edges []int32        // and their edges; their columns
	into  Into           // what is being done
}

// clearFresh clears DX if nothing has come into it yet.
func (t *Tile) clearFresh() {
	if t.Fresh {
		clear(t.DX)
	}
}

// Across is an operation that sees all in-edges of a destination. It first takes statistics of
// them, two numbers a column, and is then a function of each edge and these. Statistics are kept
// until backward. Its functions work on the edges of a tile into one destination; of one with more
// edges than a tile these come in parts.
type Across struct {
	Sightings int  // how often all edges are seen before the statistics are there
	Edges     bool // an edge a column is among them
	Observe   func(d *Into, sighting int)
	Settle    func(d *Into) // after the last of them; nil: nothing is left to do

	Apply func(d *Into) // sets d.Y

	// Terms sets g to what the gradient sums over all edges of a destination; nil: nothing.
	Terms func(g, y, dy []tensor.Float)
	Pull  func(d *Into) // adds to d.DX
}

// Stats are the destinations of a tile, and what is kept of each under a step across its in-edges.
type Stats struct {
	Off      []int64 // where the edges of each begin and end
	Part     bool    // there is one, and it has others
	Known    bool    // the statistics stand
	Top, Sum []tensor.Float
	Edge     []int32        // if Across.Edges
	Apart    int            // how many numbers lie between a destination and the next
	Sums     []tensor.Float // backward, of a part: what Terms come to
}

// Into is the edges of a tile into one destination. Top is −∞ and Sum 0 before the first sighting.
type Into struct {
	*Tile
	Lo       int // the number of the first edge
	A, Y     []tensor.Float
	DY, DX   []tensor.Float
	Top, Sum []tensor.Float
	Edge     []int32
}

// clash says that operands do not fit.
const clash = "the messages of one edge do not broadcast"

// withLast is a shape with another last axis.
func withLast(x []int, n int) []int {
	shape := append([]int(nil), x...)
	shape[len(shape)-1] = n
	return shape
}

// lastToOne is a function for Op.Shape: the last axis is kept with length 1.
func lastToOne(s *Step, x, _ []int) string {
	s.Shape = withLast(x, 1)
	return ""
}
