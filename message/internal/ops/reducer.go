package ops

import (
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Reducer combines the messages of a destination. Its functions work on columns of them: all of a
// message or, where there are several reducers, a run along its last axis. A destination without
// messages gets zero and is not asked about.
type Reducer struct {
	Name string // as a user knows it

	// What is kept beside each element of the result until backward.
	Floats int // numbers
	Edges  int // and edges

	// Carry asks for a number beside each column while the messages of a destination arrive. It is one
	// array a thread, which the next destination has after this one: Take is done with it when
	// Before+Messages is Count, and Finish and Pull never see it.
	Carry bool

	Take   func(d *Arrivals) // takes messages, in the order of their edges
	Finish func(d *Arrivals) // after the last of them; nil: the result is there
	Pull   func(d *Arrivals) // adds to the gradients of messages

	// Plain says that the result is the sum of the messages, over which Share goes: then a tile of
	// many destinations is summed at once, and the functions above run only beside other reducers.
	Plain bool
	// Share sets sums of rows of n elements, or their gradients, to what they are of each message
	// whose edges begin and end at off; nil: they stay.
	Share func(to, from []tensor.Float, n int, off []int64)
}

// String returns the reducer's name.
func (r *Reducer) String() string { return r.Name }

// Arrivals are messages of a destination that arrive: all of them or, of one with more edges than
// a tile, a part. Out, Kept and Edge are zero before the first part.
type Arrivals struct {
	Messages int // how many arrive,
	Before   int // how many have before,
	Count    int // and how many there are
	Lo       int // the number of the first edge that arrives

	Out   []tensor.Float    // the result, of which the columns are
	DOut  []tensor.Float    // backward: its gradient
	Kept  [2][]tensor.Float // Reducer.Floats arrays beside Out
	Edge  [2][]int32        // Reducer.Edges arrays
	Carry []tensor.Float    // if Reducer.Carry, and in Take alone; holds anything before the first part
	Tmp   []tensor.Float    // room for two messages

	// Again calls f with all messages of the destination, in their order: those that arrive, or
	// part by part as they are computed again. Then those that have arrived are there as before.
	Again func(f func(d *Arrivals))

	M      []tensor.Float // the messages, of which the columns begin each Stride elements
	DM     []tensor.Float // backward: their gradients
	Stride int
	count  [1]tensor.Float
}

// Message returns the columns of message i.
func (d *Arrivals) Message(i int) []tensor.Float { return d.M[i*d.Stride:][:len(d.Out)] }

// Gradient returns the gradient of message i, to which Pull adds.
func (d *Arrivals) Gradient(i int) []tensor.Float { return d.DM[i*d.Stride:][:len(d.Out)] }

// Divide sets to to from, divided by the number of messages.
func (d *Arrivals) Divide(to, from []tensor.Float) {
	d.count[0] = tensor.Float(d.Count)
	vec.Div.Forward(to, from, d.count[:], 1, 0)
}

// add is dst += src.
func add(dst, src []tensor.Float) { vec.Add.Forward(dst, dst, src, 1, 1) }
