package memory

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// turnTape lets the heads of a row's memory do a step, as one operation of three results:
// the writing heads address mem and write, then the reading ones address what is there now
// and read it. says is what the controller says, rows×columns; mem is rows×(width·slots),
// a number of all slots side by side; last is rows×(heads·slots), where the heads were.
func turnTape(l tapeLayout, says, mem, last *grad.Var) (next, at, read *grad.Var) {
	op := grad.Begin("memory.NTM", says, mem, last)
	n := mem.Value().Rows()
	for _, x := range []struct {
		v     *grad.Var
		width int
	}{{says, l.columns()}, {mem, l.width * l.slots}, {last, l.heads() * l.slots}} {
		if s := x.v.Value(); s.Rows() != n || s.RowLen() != x.width {
			panic(&tensor.ShapeError{Op: "memory.NTM", Shapes: [][]int{slices.Clone(x.v.Shape())}, Why: fmt.Sprintf("want %d rows of %d", n, x.width)})
		}
	}
	next, at, read = op.Fresh(n, l.width*l.slots), op.Fresh(n, l.heads()*l.slots), op.Fresh(n, l.reads*l.width)
	k := tape.Note(op, turn{tapeLayout: l, op: op, of: [...]*grad.Var{says, mem, last, next, at, read}})
	for i, x := range k.of {
		k.values[i] = x.Value().Data
	}
	k.told, k.kept = tape.FreshFloats(op, n*l.columns()), tape.FreshFloats(op, n*l.perRow())
	k.rows = n
	k.run()
	tape.RecordAllBy(op, []*grad.Var{next, at, read}, k)
	return next, at, read
}

// The operands and results of a tape.
const (
	ofSays = iota
	ofMem
	ofLast
	ofNext
	ofAt
	ofRead
	numOf
)

// turn is one step of the heads, forwards or backwards.
type turn struct {
	tapeLayout
	op     grad.Op
	of     [numOf]*grad.Var
	values [numOf][]tensor.Float
	rows   int

	told []tensor.Float // what the heads are told
	kept []tensor.Float // the stages of their addressing

	back  bool
	grads [numOf][]tensor.Float // nil where none is wanted
	dtold []tensor.Float
	rest  []tensor.Float // scratch of each chunk
}

// chunkRows is how many rows a thread takes at a time: some microseconds of work.
func (k *turn) chunkRows() int { return max(1, 8192/max(1, k.slots*k.width)) }

func (k *turn) chunks() int { return (k.rows + k.chunkRows() - 1) / k.chunkRows() }

// scratch is how many numbers the way back of a row needs.
func (l *tapeLayout) scratch() int {
	return (l.width + l.heads() + 4 + l.writes) * l.slots
}

// Pull runs backwards.
func (k *turn) Pull(*tensor.Dense) {
	for i, x := range k.of {
		if g := x.Grad(); g != nil {
			k.grads[i] = g.Data
		}
	}
	k.back = true
	k.op.Scratch(k.rows*k.columns()+k.chunks()*k.scratch(), func(buf []tensor.Float) {
		k.dtold, k.rest = buf[:k.rows*k.columns()], buf[k.rows*k.columns():]
		k.run()
	})
}

// run does all rows on several threads, and none under Measure.
func (k *turn) run() {
	if !tape.Measuring(k.op) {
		par.Run(k.chunks(), k)
	}
}

// Chunk does some rows.
func (k *turn) Chunk(i int) {
	step := k.chunkRows()
	for r := i * step; r < min((i+1)*step, k.rows); r++ {
		if k.back {
			k.pull(r, k.rest[i*k.scratch():(i+1)*k.scratch()])
		} else {
			k.forward(r)
		}
	}
}

// row returns row r of an array with so many rows as the tape.
func (k *turn) row(x []tensor.Float, r int) []tensor.Float {
	if x == nil {
		return nil
	}
	n := len(x) / k.rows
	return x[r*n : (r+1)*n]
}

// stages returns those of head h of row r.
func (k *turn) stages(r, h int) stages {
	x, n := k.row(k.kept, r)[5*h*k.slots:], k.slots
	return stages{x[:n], x[n : 2*n], x[2*n : 3*n], x[3*n : 4*n], x[4*n : 5*n]}
}

// inverses returns the reciprocal norms of the slots of row r before and after writing.
func (k *turn) inverses(r int) (before, after []tensor.Float) {
	x, n := k.row(k.kept, r)[5*k.heads()*k.slots:], k.slots
	return x[:n], x[n:]
}

// slotsOf is part i of x, of a number for each slot.
func (l *tapeLayout) slotsOf(x []tensor.Float, i int) []tensor.Float {
	return x[i*l.slots : (i+1)*l.slots]
}

func (k *turn) forward(r int) {
	mem, next, last, at := k.row(k.values[ofMem], r), k.row(k.values[ofNext], r), k.row(k.values[ofLast], r), k.row(k.values[ofAt], r)
	told, read := k.row(k.told, r), k.row(k.values[ofRead], r)
	k.activate(told, k.row(k.values[ofSays], r))
	before, after := k.inverses(r)
	k.norms(before, mem)
	for h := range k.writes {
		k.address(&head{stages: k.stages(r, h), said: k.said(told, h), w: k.slotsOf(at, h), last: k.slotsOf(last, h), m: mem, inv: before})
	}
	k.write(next, mem, at, told, after) // whose room is scratch until then
	k.norms(after, next)
	for i := range k.reads {
		h := k.writes + i
		w := k.slotsOf(at, h)
		k.address(&head{stages: k.stages(r, h), said: k.said(told, h), w: w, last: k.slotsOf(last, h), m: next, inv: after})
		for d := range k.width {
			read[i*k.width+d] = vec.Dot(w, k.slotsOf(next, d))
		}
	}
}
