package sequence_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// gateCase is gates with operands of some rows, and their formula for one element in
// float64. An operand has several columns for each of the state, which stand apart:
// column k·m + j is part k of column j. Those without rows, b and p, have as many rows
// as parts.
type gateCase struct {
	name     string
	operands []*grad.Param
	parts    []int // of each operand
	shared   []bool
	apply    func(x []*grad.Var) []*grad.Var
	formula  func(x []float64) []float64 // of all parts of all operands, one after another
}

func gruCase(rows, m int, biased bool) gateCase {
	c := gateCase{
		name: "GRU", parts: []int{3, 3, 1, 1}, shared: []bool{false, false, false, true},
		operands: []*grad.Param{random(1, rows, 3*m), random(2, rows, 3*m), random(3, rows, m), random(4, m)},
		apply: func(x []*grad.Var) []*grad.Var {
			x = append(x, nil)
			return []*grad.Var{sequence.GRUGates(x[0], x[1], x[2], x[3])}
		},
		formula: func(x []float64) []float64 {
			b := 0.0
			if biased {
				b = x[7]
			}
			r, z := sigma(x[0]+x[3]), sigma(x[1]+x[4])
			n := math.Tanh(x[2] + r*(x[5]+b))
			return []float64{(1-z)*n + z*x[6]}
		},
	}
	if !biased {
		c.name, c.operands = "GRU without a bias", c.operands[:3]
	}
	return c
}

func lstmCase(rows, m int, peeps, old bool) gateCase {
	c := gateCase{
		name: fmt.Sprintf("LSTM, old %v", old), parts: []int{4, 1, 3}, shared: []bool{false, false, true},
		operands: []*grad.Param{random(1, rows, 4*m), random(2, rows, m), random(3, 3, m)},
		apply: func(x []*grad.Var) []*grad.Var {
			x = append(x, nil)
			h, next := sequence.LSTMGates(x[0], x[1], x[2], old)
			return []*grad.Var{h, next}
		},
		formula: func(x []float64) []float64 {
			p := [3]float64{}
			copy(p[:], x[5:])
			next := sigma(x[1]+p[1]*x[4])*x[4] + sigma(x[0]+p[0]*x[4])*math.Tanh(x[2])
			seen := next
			if old {
				seen = x[4]
			}
			return []float64{sigma(x[3]+p[2]*seen) * math.Tanh(next), next}
		},
	}
	if !peeps {
		c.name, c.operands = "LSTM without peepholes", c.operands[:2]
	}
	return c
}

// A thread takes gates by chunks of rows: 4096 numbers of them. There are some with
// fewer rows and with more, and with few columns 32 rows and one less and more.
func TestGateRows(t *testing.T) {
	for _, size := range [][2]int{{1, 3}, {31, 3}, {32, 3}, {33, 3}, {67, 40}} {
		rows, m := size[0], size[1]
		for _, c := range []gateCase{
			gruCase(rows, m, true), gruCase(rows, m, false),
			lstmCase(rows, m, false, false), lstmCase(rows, m, true, false), lstmCase(rows, m, true, true),
		} {
			for _, beside := range []bool{false, true} {
				c.check(t, rows, m, beside)
			}
		}
	}
}

// check compares values and gradients with central differences of the formula, whose
// error in float64 is a billionth. With beside the operands have gradients before the
// gates give theirs.
func (c *gateCase) check(t *testing.T, rows, m int, beside bool) {
	t.Helper()
	tape := grad.NewTape(1)
	var x []*grad.Var
	for _, p := range c.operands {
		x = append(x, tape.Use(p))
	}
	run := gateRun{gateCase: c, ys: c.apply(x)}
	loss := weigh(run.ys)
	for i, y := range run.ys {
		run.weights = append(run.weights, random(uint64(90+i), y.Shape()...).Value)
	}
	for i, p := range c.operands {
		n := len(p.Value.Data)
		run.sums = append(run.sums, gateSum{make([]float64, n), make([]float64, n)})
		if beside {
			loss = loss.Add(x[i].Sum())
			for k := range n {
				run.sums[i].add(k, 1)
			}
		}
	}
	grads := tape.Backward(loss)
	for r := range rows {
		for j := range m {
			run.element(t, r, j, m)
		}
	}
	for i, p := range c.operands {
		what := fmt.Sprintf("%s, %d rows of %d, beside %v: gradient of operand %d", c.name, rows, m, beside, i)
		compare.Near(t, what, grads.Param(p).Data, run.sums[i].of, compare.PartOfTerms(1e-6, 1e-5, run.sums[i].size))
	}
}

// gateSum is sums of gradients, and of how large their terms are.
type gateSum struct{ of, size []float64 }

func (s gateSum) add(k int, v float64) {
	s.of[k] += v
	s.size[k] += math.Abs(v)
}

// gateRun is what gates returned, the weights of that in the loss, and the gradients
// that are expected.
type gateRun struct {
	*gateCase
	ys      []*grad.Var
	weights []*tensor.Dense
	sums    []gateSum
}

// element compares the results at row r and column j of m, and adds their gradients.
func (g *gateRun) element(t *testing.T, r, j, m int) {
	t.Helper()
	var x []float64
	var from [][2]int // operand and element
	for i, p := range g.operands {
		for k := range g.parts[i] {
			e := k*m + j
			if !g.shared[i] {
				e += r * g.parts[i] * m
			}
			x, from = append(x, float64(p.Value.Data[e])), append(from, [2]int{i, e})
		}
	}
	for i, want := range g.formula(x) {
		if got := float64(g.ys[i].Value().Row(r)[j]); !(math.Abs(got-want) <= 1e-6*(1+math.Abs(want))) {
			t.Fatalf("%s: result %d at row %d, column %d is %v, want %v", g.name, i, r, j, got, want)
		}
	}
	loss := func() (l float64) {
		for i, y := range g.formula(x) {
			l += y * float64(g.weights[i].Row(r)[j])
		}
		return l
	}
	const h = 1e-5
	for k, v := range x {
		x[k] = v + h
		up := loss()
		x[k] = v - h
		g.sums[from[k][0]].add(from[k][1], (up-loss())/(2*h))
		x[k] = v
	}
}

// TestNormChunks has rows of gates with norms or peepholes in more chunks than are added in float32: their gradients
// are the sums of those of parts, and every row's that of the row in its part.
func TestNormChunks(t *testing.T) {
	const rows, in, m = 1640, 3, 40
	x, h, c := random(1, rows, in), random(2, rows, m), random(3, rows, m)
	for name, l := range map[string]*sequence.LSTM{
		"plain":   {LayerNorm: true},
		"no bias": {LayerNorm: true, NoBias: true},
		"peeps":   {LayerNorm: true, Peephole: sequence.DiagonalPeephole, Forget: sequence.CoupledForget},
		"no norm": {Peephole: sequence.DiagonalPeephole},
	} {
		l.In, l.Hidden = in, m
		l.Init(rand.New(rand.NewPCG(4, 1)))
		trained := slices.Collect(params(l))
		whole, sums, sizes := make([][]float64, len(trained)), make([][]float64, len(trained)), make([][]float64, len(trained))
		for i, p := range trained {
			whole[i], sums[i], sizes[i] = make([]float64, len(p.Value.Data)), make([]float64, len(p.Value.Data)), make([]float64, len(p.Value.Data))
		}
		var dx []tensor.Float
		run := func(lo, hi int, f func(i, k int, v float64)) []tensor.Float {
			tp, part := grad.NewTape(1), func(p *grad.Param) *tensor.Dense { return p.Value.RowRange(lo, hi) }
			xv := tp.Watch(part(x))
			y := l.ForwardFrom(tp, graph.Chains(slices.Repeat([]int{1}, hi-lo)...), xv, message.State{tp.Input(part(h)), tp.Input(part(c))})
			grads := tp.Backward(y[0].Mul(y[0]).Sum().Add(y[1].Mul(y[1]).Sum()))
			for i, p := range trained {
				for k, v := range grads.Param(p).Data {
					f(i, k, float64(v))
				}
			}
			return slices.Clone(grads.Of(xv).Data)
		}
		all := run(0, rows, func(i, k int, v float64) { whole[i][k] = v })
		for lo := 0; lo < rows; lo += 164 {
			dx = append(dx, run(lo, lo+164, func(i, k int, v float64) {
				sums[i][k] += v
				sizes[i][k] += math.Abs(v)
			})...)
		}
		compare.Near(t, name+": the gradient of x, and in its parts", all, dx, compare.Off(1e-5, 0))
		for i, want := range sums {
			compare.Near(t, fmt.Sprintf("%s: the gradient of Param %d, and of parts", name, i), whole[i], want, compare.PartOfTerms(1e-5, 1e-5, sizes[i]))
		}
	}
}
