package text

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// series returns sequences of a width, of which fill sets the rows of each.
func (t *Task) series(rng *rand.Rand, width int, fill func(i int, rows [][]tensor.Float)) Series {
	s := Series{Offsets: make([]int, 1, t.Count+1)}
	for range t.Count {
		s.Offsets = append(s.Offsets, s.Offsets[len(s.Offsets)-1]+t.length(rng))
	}
	s.X = tensor.New(s.Offsets[t.Count], width)
	for i := range t.Count {
		rows := make([][]tensor.Float, 0, s.Offsets[i+1]-s.Offsets[i])
		for v := s.Offsets[i]; v < s.Offsets[i+1]; v++ {
			rows = append(rows, s.X.Data[v*width:(v+1)*width])
		}
		fill(i, rows)
	}
	return s
}

// Adding returns sequences of two columns, numbers between 0 and 1 and marks, and for
// each sequence the sum of the two numbers that are marked, one of each half. The sum is 1
// on average, and to say so always has a mean squared error of 1/6. Lengths are 2 or more.
//
// Hochreiter and Schmidhuber, "Long short-term memory", 1997.
func (t Task) Adding() (x Series, sum *tensor.Dense) {
	rng := t.rng("text.Task.Adding", 2)
	sum = tensor.New(t.Count, 1)
	x = t.series(rng, 2, func(i int, rows [][]tensor.Float) {
		for _, r := range rows {
			r[0] = tensor.Float(rng.Float64())
		}
		half := len(rows) / 2
		for _, k := range []int{rng.IntN(half), half + rng.IntN(len(rows)-half)} {
			rows[k][1] = 1
			sum.Data[i] += rows[k][0]
		}
	})
	return x, sum
}

// Recall returns sequences whose first step is a symbol, a one in a column of its own and
// another in the last column, and the symbols. In every other step the columns of symbols
// have noise of deviation 0.3, and the last has 0. There are 4 symbols where Symbols is 0.
func (t Task) Recall() (x Series, symbol []int32) {
	if t.Symbols == 0 {
		t.Symbols = 4
	}
	rng := t.rng("text.Task.Recall", 1)
	symbol = make([]int32, t.Count)
	x = t.series(rng, t.Symbols+1, func(i int, rows [][]tensor.Float) {
		symbol[i] = int32(rng.IntN(t.Symbols))
		rows[0][symbol[i]], rows[0][t.Symbols] = 1, 1
		for _, r := range rows[1:] {
			for c := range t.Symbols {
				r[c] = tensor.Float(0.3 * rng.NormFloat64())
			}
		}
	})
	return x, symbol
}

// Sort returns sequences of numbers between 0 and 1, and for each the places from 0 of
// what comes first, second and so on.
func (t Task) Sort() (numbers Series, order Ragged) {
	rng := t.rng("text.Task.Sort", 1)
	numbers = t.series(rng, 1, func(_ int, rows [][]tensor.Float) {
		places := make([]int32, len(rows))
		for k, r := range rows {
			r[0], places[k] = tensor.Float(rng.Float64()), int32(k)
		}
		slices.SortStableFunc(places, func(a, b int32) int { return cmp.Compare(rows[a][0], rows[b][0]) })
		order.add(places...)
	})
	return numbers, order
}

// forecast returns sequences of one column, and for each step what comes next. start
// begins a sequence, and returns what goes on with it.
func (t *Task) forecast(rng *rand.Rand, start func() func() float64) (x Series, next *tensor.Dense) {
	var after []tensor.Float
	x = t.series(rng, 1, func(_ int, rows [][]tensor.Float) {
		draw := start()
		v := draw()
		for _, r := range rows {
			r[0] = tensor.Float(v)
			v = draw()
			after = append(after, tensor.Float(v))
		}
	})
	return x, tensor.Of(after, len(after), 1)
}

// Sine returns sequences of a sine, and for each step the next value. The period is 10 to
// 50 steps and the phase anything, both drawn for each sequence.
func (t Task) Sine() (x Series, next *tensor.Dense) {
	rng := t.rng("text.Task.Sine", 1)
	return t.forecast(rng, func() func() float64 {
		step, phase, k := 2*math.Pi/(10+40*rng.Float64()), 2*math.Pi*rng.Float64(), -1.0
		return func() float64 { k++; return math.Sin(phase + k*step) }
	})
}

// Logistic returns sequences of the logistic map x ← 4·x·(1−x), which is chaotic, and for
// each step the next value. Values have mean 1/2 and variance 1/8.
func (t Task) Logistic() (x Series, next *tensor.Dense) {
	rng := t.rng("text.Task.Logistic", 1)
	return t.forecast(rng, func() func() float64 {
		v := math.Pow(math.Sin(math.Pi/2*rng.Float64()), 2) // of the density that stays: 1/(π·√(x(1−x)))
		return func() float64 {
			now := v
			v = 4 * v * (1 - v)
			return now
		}
	})
}

// What the equation of Mackey and Glass is taken with, and how it is solved.
const (
	glassDelay = 17
	glassSteps = 10  // of Euler's method, in a unit of time
	glassWarm  = 100 // units of time before the first that is returned
)

// MackeyGlass returns sequences of the chaotic equation dx/dt = 0.2·x(t−17)/(1+x(t−17)¹⁰) −
// 0.1·x(t), a step a unit of time, and for each step the next value. Each begins with
// another constant past, and its first 100 units are left out.
//
// Mackey and Glass, "Oscillation and chaos in physiological control systems", 1977.
func (t Task) MackeyGlass() (x Series, next *tensor.Dense) {
	rng := t.rng("text.Task.MackeyGlass", 1)
	return t.forecast(rng, func() func() float64 {
		draw := glass(0.5 + rng.Float64())
		for range glassWarm {
			draw()
		}
		return draw
	})
}

// glass returns the solution for a constant past, a unit of time a call.
func glass(v float64) func() float64 {
	past, at := make([]float64, glassDelay*glassSteps), 0 // a ring
	for i := range past {
		past[i] = v
	}
	return func() float64 {
		now := v
		for range glassSteps {
			old := past[at]
			past[at] = v
			v += (0.2*old/(1+math.Pow(old, 10)) - 0.1*v) / glassSteps
			at = (at + 1) % len(past)
		}
		return now
	}
}
