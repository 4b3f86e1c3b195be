package picture

import (
	"math"
	"strconv"
)

// Axis is one of the two axes of a chart. One with names has them at 0, 1, 2 and
// so on instead of numbers; a name may have two lines. A Whole one, of epochs or
// steps, has no tick between two whole numbers.
type Axis struct {
	Label string
	Names []string
	Whole bool
}

// tick is a marked place of an axis.
type tick struct {
	value float64
	label string
}

// ticks returns the marked places of an axis that shows a span.
func (a Axis) ticks(s span) []tick {
	if a.Names == nil && a.Whole {
		return s.wholeTicks()
	}
	if a.Names == nil {
		return s.ticks()
	}
	out := make([]tick, len(a.Names))
	for i, name := range a.Names {
		out[i] = tick{float64(i), name}
	}
	return out
}

// span is the values that an axis shows.
type span struct{ lo, hi float64 }

// nothing is the span of no values.
var nothing = span{math.Inf(1), math.Inf(-1)}

// with returns the span widened to a value.
func (s span) with(v float64) span { return span{min(s.lo, v), max(s.hi, v)} }

// padded returns the span with a share of it more on both sides. One of no
// values is that from 0 to 1, and one of a single value goes a little about it.
func (s span) padded(share float64) span {
	if s.lo > s.hi {
		return span{0, 1}
	}
	size := math.Max(math.Abs(s.lo), math.Abs(s.hi))
	room := (s.hi - s.lo) * share
	if s.hi-s.lo <= math.Max(1e-9*size, 1e-290) { // too small to tell two ticks apart
		room = math.Max(0.5, size/20)
	}
	return span{s.lo - room, s.hi + room}
}

// at returns where on the way between two places a value is.
func (s span) at(v, from, to float64) float64 {
	return from + (v-s.lo)/(s.hi-s.lo)*(to-from)
}

// ticks returns three to eight ticks at multiples of 1, 2 or 5 times a power of
// ten, all with as many decimals as that needs.
func (s span) ticks() []tick {
	step := math.Pow(10, math.Floor(math.Log10((s.hi-s.lo)/5)))
	for _, times := range []float64{2, 2.5, 2} { // 2, 5 and 10
		if step*5 < (s.hi-s.lo)*(1-1e-9) {
			step *= times
		}
	}
	var out []tick
	for i := math.Ceil(s.lo/step - 1e-9); i*step <= s.hi+1e-9*step; i++ {
		v := i*step + 0 // -0 becomes a plain nought
		out = append(out, tick{v, label(v, step)})
	}
	return out
}

// wholeTicks returns those of ticks that are whole numbers, or all if none is.
func (s span) wholeTicks() []tick {
	all := s.ticks()
	var out []tick
	for _, t := range all {
		if t.value == math.Trunc(t.value) {
			out = append(out, tick{t.value, label(t.value, 1)})
		}
	}
	if out == nil {
		return all
	}
	return out
}

// label writes a multiple of a step; as a power of ten where that is much shorter.
func label(v, step float64) string {
	decimals := -power(step)
	if decimals > 6 || math.Abs(v) >= 1e8 {
		digits := 1 + decimals + power(math.Max(math.Abs(v), step))
		return strconv.FormatFloat(v, 'g', digits, 64)
	}
	decimals = max(0, decimals)
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// power returns the power of ten that v begins with.
func power(v float64) int { return int(math.Floor(math.Log10(v) + 1e-9)) }
