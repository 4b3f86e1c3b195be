package train

import (
	"math"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// tally scores rows in parts, whose sums are added in order.
type tally struct {
	labelled
	losses bool // the loss is wanted too
	parts  []tallied
}

// tallied is the score of a part.
type tallied struct {
	loss     float64
	right, n int
}

// tallyRows is how many rows make a part: some microseconds.
const tallyRows = 256

var tallies = sync.Pool{New: func() any { return new(tally) }}

// tally returns the score of the rows that have a label.
func (d labelled) tally(op string, losses bool) Score {
	d.check(op)
	t := tallies.Get().(*tally)
	n := (len(d.labels) + tallyRows - 1) / tallyRows
	t.labelled, t.losses, t.parts = d, losses, slices.Grow(t.parts[:0], n)[:n]
	par.Run(n, t)
	var all tallied
	for _, p := range t.parts {
		all.loss += p.loss
		all.right += p.right
		all.n += p.n
	}
	t.labelled = labelled{}
	tallies.Put(t)
	count := float64(max(1, all.n))
	return Score{Loss: all.loss / count, Accuracy: float64(all.right) / count, Empty: all.n == 0}
}

// Chunk scores one part.
func (t *tally) Chunk(i int) {
	e := entropies.Get().(*entropy)
	var p tallied
	for r := i * tallyRows; r < min((i+1)*tallyRows, len(t.labels)); r++ {
		label := int(t.labels[r])
		if label == grad.NoLabel {
			continue
		}
		p.n++
		row := t.logits.Row(r)
		top := row[0]
		for _, v := range row[1:] {
			top = max(top, v) // NaN if there is one
		}
		if row[label] == top && !slices.Contains(row[:label], top) {
			p.right++
		}
		if t.losses {
			e.add(row, top)
			p.loss += float64(top) - float64(row[label])
		}
	}
	p.loss += e.logs()
	t.parts[i] = p
	entropies.Put(e)
}

// entropy adds up log Σ exp(row − top). It collects rows and takes the
// exponentials of many at once, since those of one would be a call each.
type entropy struct {
	buf    []tensor.Float // rows, less their largest element
	widths []int          // of the rows in buf
	total  float64        // the sum of those before
}

// entropyRoom is about how many elements are collected.
const entropyRoom = 1 << 10

var entropies = sync.Pool{New: func() any { return new(entropy) }}

// add counts one row and its largest element.
func (e *entropy) add(row []tensor.Float, top tensor.Float) {
	for _, v := range row {
		e.buf = append(e.buf, v-top)
	}
	if e.widths = append(e.widths, len(row)); len(e.buf) >= entropyRoom {
		e.flush()
	}
}

// flush adds up what was collected. A logarithm is taken of the product of the
// sums of many rows.
func (e *entropy) flush() {
	vec.Exp.Forward(e.buf, e.buf, 0)
	rest, product := e.buf, 1.0
	for _, n := range e.widths {
		sum := 0.0
		for _, v := range rest[:n] {
			sum += float64(v)
		}
		if product *= sum; !(product < 1e200) { // a sum is at most the width of a row
			e.total += math.Log(product)
			product = 1
		}
		rest = rest[n:]
	}
	e.total += math.Log(product)
	e.buf, e.widths = e.buf[:0], e.widths[:0]
}

// logs returns the sum, and begins another.
func (e *entropy) logs() float64 {
	e.flush()
	total := e.total
	e.total = 0
	return total
}
