package memory_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/tensor"
)

func fastWeights(steps int, noNorm bool) *memory.FastWeights {
	l := &memory.FastWeights{In: 3, Hidden: 4, Steps: steps, Decay: 0.8, Rate: 0.6, Activation: grad.Tanh, NoNorm: noNorm}
	rng := rand.New(rand.NewPCG(uint64(steps), 1))
	l.Init(rng)
	l.U.Value.Normal(rng, 0, 0.5)
	l.B.Value.Normal(rng, 0, 0.5)
	if l.Gain != nil {
		l.Gain.Value.Normal(rng, 1, 0.2)
		l.Shift.Value.Normal(rng, 0, 0.2)
	}
	return l
}

func randomRows(seed uint64, n, d int) *grad.Param {
	p := grad.NewParam(n, d)
	p.Value.Normal(rand.New(rand.NewPCG(seed, 9)), 0, 1)
	return p
}

// explicit is one chain with the matrix A itself: A ← λ·A + η·hᵀ·h after each state.
func explicit(l *memory.FastWeights, x *tensor.Dense) [][]float64 {
	m := l.Hidden
	a, h := make([][]float64, m), make([]float64, m)
	for i := range a {
		a[i] = make([]float64, m)
	}
	var out [][]float64
	for r := range x.Rows() {
		z := make([]float64, m)
		for j := range z {
			z[j] = float64(l.B.Value.Data[j])
			for i, v := range x.Row(r) {
				z[j] += float64(v) * float64(l.W.Value.Row(i)[j])
			}
			for i, v := range h {
				z[j] += v * float64(l.U.Value.Row(i)[j])
			}
		}
		next := make([]float64, m)
		for j, v := range z {
			next[j] = math.Tanh(v)
		}
		for range l.Steps {
			look := slices.Clone(z)
			for j := range look {
				for i, v := range next {
					look[j] += v * a[i][j]
				}
			}
			if !l.NoNorm {
				mean, square := 0.0, 0.0
				for _, v := range look {
					mean += v / float64(m)
				}
				for _, v := range look {
					square += (v - mean) * (v - mean) / float64(m)
				}
				for j, v := range look {
					look[j] = (v-mean)/math.Sqrt(square+1e-5)*float64(l.Gain.Value.Data[j]) + float64(l.Shift.Value.Data[j])
				}
			}
			for j, v := range look {
				next[j] = math.Tanh(v)
			}
		}
		h = next
		for i := range a {
			for j := range a {
				a[i][j] = l.Decay*a[i][j] + l.Rate*h[i]*h[j]
			}
		}
		out = append(out, h)
	}
	return out
}

// Attention to all states before gives what the matrix of fast weights gives.
func TestFastWeightsAreTheMatrix(t *testing.T) {
	lengths := []int{5, 1, 7}
	g, x := graph.Chains(lengths...), randomRows(1, 13, 3).Value
	for steps := range 4 {
		for _, noNorm := range []bool{false, true} {
			l := fastWeights(steps, noNorm)
			got, row := l.Forward(nil, g, grad.Const(x)).Value(), 0
			for _, n := range lengths {
				one := tensor.Of(x.Data[row*3:(row+n)*3], n, 3)
				for _, want := range explicit(l, one) {
					compare.Near(t, fmt.Sprintf("%d steps, NoNorm %v: node %d", steps, noNorm, row), got.Row(row), want, compare.Off(1e-4, 0))
					row++
				}
				alone := l.Forward(nil, graph.Chains(n), grad.Const(one)).Value()
				if all := got.Data[(row-n)*4 : row*4]; !slices.Equal(alone.Data, all) {
					t.Errorf("%d steps: a chain of %d alone is %v, in a batch %v", steps, n, alone.Data, all)
				}
			}
		}
	}
}

// Without a step it is a plain recurrent network.
func TestFastWeightsWithoutSteps(t *testing.T) {
	l := fastWeights(0, false)
	plain := &sequence.RNN{In: 3, Hidden: 4, W: l.W, U: l.U, B: l.B}
	g, x := graph.Chains(4, 6), grad.Const(randomRows(2, 10, 3).Value)
	got, want := l.Forward(nil, g, x).Value(), plain.Forward(nil, g, x).Value()
	compare.Near(t, "as the plain network", got.Data, want.Data, compare.Off(1e-5, 0))
}

func TestFastWeightsGradients(t *testing.T) {
	g, steps := graph.Chains(3, 2, 1), 1
	if gradtest.Sharp {
		steps = 2 // too steep for differences in float32
	}
	for _, noNorm := range []bool{false, true} {
		net := &struct {
			L *memory.FastWeights
			X *grad.Param
		}{fastWeights(steps, noNorm), randomRows(3, 6, 3)}
		gradtest.Check(t, net, func(tape *grad.Tape) *grad.Var {
			return net.L.Forward(tape, g, tape.Use(net.X)).Square().Sum()
		})
	}
}

func TestFastWeightsRefuses(t *testing.T) {
	l, x := fastWeights(1, false), grad.Const(randomRows(1, 3, 3).Value)
	twice := graph.Must(graph.New(3, []int32{0, 1}, []int32{2, 2}))
	ring := graph.Ring(3, 1)
	for want, f := range map[string]func(){
		"node 2 has 2 predecessors": func() { l.Forward(nil, twice, x) },
		"a cycle through node 0":    func() { l.Forward(nil, ring, x) },
		"the graph is bipartite":    func() { l.Forward(nil, graph.CompleteBipartite(3, 3), x) },
		"x has 2 columns, In is 3":  func() { l.Forward(nil, graph.Chains(3), grad.Const(tensor.New(3, 2))) },
		"the graph has 2 nodes":     func() { l.Forward(nil, graph.Chains(2), x) },
		"was Init called":           func() { (&memory.FastWeights{In: 3, Hidden: 4}).Forward(nil, graph.Chains(3), x) },
	} {
		if got := panicOf(f); !strings.Contains(got, want) {
			t.Errorf("the panic is %q, want %q", got, want)
		}
	}
	if y := l.Forward(nil, graph.Chains(), grad.Const(tensor.New(0, 3))).Value(); y.Rows() != 0 {
		t.Errorf("no chain has %d states", y.Rows())
	}
}
