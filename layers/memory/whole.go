package memory

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A state is +1 and −1, so the field of a unit whose weights are whole numbers is a whole number,
// and of Hebb's weights it is one divided by Units, or by the patterns. There a field of nought is common, the rule has a
// sign for it, and a sum of rounded weights is 1e-8 or −1e-8 instead. wholes computes such a field
// again, from the whole numbers, wherever rounding could have decided its sign. Other weights keep
// the sum as it is.
type wholes struct {
	h     *Hopfield
	near  float64        // without a threshold rounding moves a field by less than this
	parts []atomic.Int32 // of each unit: its weights are whole numbers divided by this; 0: not known yet, −1: they are not
}

// mostExact is how far float64 counts without a gap.
const mostExact = 1 << 53

// newWholes returns what knows nothing yet of the weights of h, but how large they are.
func (h *Hopfield) newWholes() *wholes {
	const samples = 1 << 8
	w := h.W.Value.Data
	largest := 1 / float64(h.Units) // of Hebb's weights that are not nought the least
	for i := 0; i < len(w); i += 1 + len(w)/samples {
		largest = max(largest, math.Abs(float64(w[i])))
	}
	// A sum of so many terms is rounded at each, by a part of the sum so far, which is some √Units of
	// the terms. Errors have either sign, so that together they stay far below the sum of their sizes.
	return &wholes{h: h, near: h.rounding() * math.Sqrt(float64(h.Units)) * largest, parts: make([]atomic.Int32, h.Units)}
}

// rounding is how much the roundings of a sum over all units move it at most, as a part of the
// largest sum on the way.
func (h *Hopfield) rounding() float64 {
	epsilon := 0x1p-23
	if unsafe.Sizeof(tensor.Float(0)) == 8 {
		epsilon = 0x1p-52
	}
	return epsilon * float64(h.Units+1)
}

// bias is the threshold's part of the field of unit i.
func (h *Hopfield) bias(i int) float64 {
	if h.B == nil {
		return 0
	}
	return float64(h.B.Value.Data[i])
}

// doubted is the size up to which a field of unit i may have either sign.
func (w *wholes) doubted(i int) tensor.Float {
	near := w.near
	if w.h.B != nil {
		near += w.h.rounding() * math.Abs(w.h.bias(i))
	}
	return tensor.Float(near)
}

// field returns what unit i hears in a state, whose units are stride apart and of which x is the
// sum, in doubt.
func (w *wholes) field(i int, x tensor.Float, s []tensor.Float, stride int) tensor.Float {
	row, parts := w.h.W.Value.Row(i), w.parts[i].Load()
	if parts == 0 {
		parts = partsOf(row)
		w.parts[i].Store(parts)
	}
	if parts < 0 {
		return x
	}
	n, sum := float64(parts), 0.0
	for j, v := range row {
		sum += math.RoundToEven(float64(v)*n) * float64(s[j*stride])
	}
	b := w.h.bias(i)
	if c := math.RoundToEven(b * n); tensor.Float(c)/tensor.Float(n) == tensor.Float(b) {
		return tensor.Float((sum + c) / n)
	}
	return tensor.Float(math.FMA(b, n, sum) / n) // rounded once, which keeps the sign
}

// partsOf returns the number by which whole numbers were divided to give the weights of a unit, or
// −1: 1, the number of units, or that of patterns, of which the least weight is a part or two. Their sum, with
// any signs, is exact in float64.
func partsOf(row []tensor.Float) int32 {
	least := 1.0
	for _, v := range row {
		if v != 0 {
			least = min(least, math.Abs(float64(v)))
		}
	}
	for _, parts := range []int32{1, int32(len(row)), int32(min(math.RoundToEven(2/least), math.MaxInt32))} {
		n, sum := float64(parts), 0.0
		for _, v := range row {
			c := math.RoundToEven(float64(v) * n)
			if tensor.Float(c)/tensor.Float(n) != v {
				sum = mostExact
				break
			}
			sum += math.Abs(c)
		}
		if sum < mostExact {
			return parts
		}
	}
	return -1
}

// settle sets those fields that are in doubt: a row of a unit has a column for each state, as s has.
func (w *wholes) settle(fields, s *tensor.Dense) {
	states := s.RowLen()
	par.For(w.h.Units, 1+1<<15/(states+1), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			doubted, row := w.doubted(i), fields.Row(i)
			for k, x := range row {
				if x <= doubted && x >= -doubted {
					row[k] = w.field(i, x, s.Data[k:], states)
				}
			}
		}
	})
}
