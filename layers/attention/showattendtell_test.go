package attention_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/tensor"
)

// viewer is a network whose pictures are lists of cells, each a row of a table.
type viewer struct {
	*attention.ShowAttendTell
	Cells *grad.Param
}

func newViewer(a attention.Aligner, noGate bool) viewer {
	l := &attention.ShowAttendTell{Cell: twice, Target: 6, Begin: 1, Embed: 2, Hidden: hidden, NoGate: noGate, Align: a}
	l.Init(rand.New(rand.NewPCG(1, 2)))
	perturbed(8, l.Out.B, l.StartH.B, l.StartC.B, l.Decoder.B)
	if !noGate {
		perturbed(9, l.Gate.B)
	}
	v := viewer{l, grad.NewParam(7, twice)}
	v.Cells.Value.Normal(rand.New(rand.NewPCG(3, 2)), 0, 1)
	return v
}

func (v viewer) Apply(t *grad.Tape, pictures *graph.Graph, cells []int32, target *graph.Graph, fed []int32) (*grad.Var, attention.Alignment) {
	return v.ShowAttendTell.Apply(t, pictures, t.Use(v.Cells).Rows(cells), target, fed)
}

func (v viewer) Encode(t *grad.Tape, pictures *graph.Graph, cells []int32) *attention.Encoded {
	return v.ShowAttendTell.Encode(t, pictures, t.Use(v.Cells).Rows(cells))
}

// loops is the formula of the comment as loops over one picture.
func (v viewer) loops(a aligned, p pair) (logits, alphas [][]float64) {
	cells, mean := make([][]float64, len(p.source)), make([]float64, twice)
	for i, c := range p.source {
		cells[i] = floats(v.Cells.Value.Row(int(c)))
		for j, x := range cells[i] {
			mean[j] += x / float64(len(p.source))
		}
	}
	linear := func(x []float64, l *layers.Linear) []float64 {
		return plus(product(x, l.W), floats(l.B.Value.Data))
	}
	h, c := eachOf(linear(mean, v.StartH), math.Tanh), eachOf(linear(mean, v.StartC), math.Tanh)
	last, sum := a.first(len(cells))
	for _, w := range p.fed {
		x := fedRow(v.Embedding, w)
		last = a.loop(cells, h, last, sum)
		sum = plus(sum, last)
		z := meanOf(cells, last, twice)
		if !v.NoGate {
			beta := logistic(linear(h, v.Gate)[0])
			z = eachOf(z, func(x float64) float64 { return beta * x })
		}
		s := stepOf(v.Decoder, append(slices.Clone(x), z...), [][]float64{h, c})
		h, c = s[0], s[1]
		logits = append(logits, linear(plus(x, product(h, v.OutH), product(z, v.OutZ)), v.Out))
		alphas = append(alphas, last)
	}
	return logits, alphas
}

// Every aligner, with the gate and without, gives on pictures of any number of cells what the
// formulas give one by one, and step by step it is the same to the bit.
func TestShowAttendTell(t *testing.T) {
	for name, a := range aligners() {
		for _, noGate := range []bool{false, true} {
			v := newViewer(a.Aligner, noGate)
			byLoops(t, name, v, somePairs, func(p pair) (logits, alphas [][]float64) { return v.loops(a, p) })
		}
	}
}

// Its Params, the cells and what its aligner has get the gradients that differences give, of the
// logits and of the penalty.
func TestShowAttendTellGradients(t *testing.T) {
	pictures, cells, target, fed := batched([]pair{{[]int32{3, 4, 5}, []int32{1, 3, 2}}, {[]int32{6, 2}, []int32{1, 5}}})
	for _, name := range []string{"content, smooth false", "coverage"} {
		v := newViewer(aligners()[name].Aligner, false)
		gradtest.Check(t, []any{v.ShowAttendTell, v.Cells}, func(tape *grad.Tape) *grad.Var {
			y, look := v.Apply(tape, pictures, cells, target, fed)
			return y.CrossEntropy([]int32{3, 2, 0, 5, 0}).Add(v.Penalty(look).Scale(0.3))
		})
	}
}

// The penalty is the mean of the squares in loops; the cells of a grid are those of a chain.
func TestShowAttendTellPenalty(t *testing.T) {
	v := newViewer(nil, false)
	pictures, cells, target, fed := batched(somePairs)
	_, look := v.Apply(nil, pictures, cells, target, fed)
	want := 0.0
	for _, m := range look.Matrices() {
		for i := range m.RowLen() {
			left := 1.0
			for k := range m.Rows() {
				left -= float64(m.Row(k)[i])
			}
			want += left * left / float64(len(somePairs))
		}
	}
	compare.Number(t, "the penalty", v.Penalty(look).Value().Data[0], want, rounded)
	grid := graph.Windows(2, 3, graph.Window{Size: 3, Pad: 1})
	two, six := graph.Batch(grid, grid), []int32{0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1}
	said := graph.Chains(2, 3)
	a, _ := v.Apply(nil, two, six, said, []int32{1, 2, 1, 3, 4})
	b, _ := v.Apply(nil, graph.Chains(6, 6), six, said, []int32{1, 2, 1, 3, 4})
	if !slices.Equal(a.Value().Data, b.Value().Data) {
		t.Error("on a grid the cells have other logits than on a chain")
	}
}

// Of an empty picture nothing is seen, and an empty caption has no logits.
func TestShowAttendTellEmpty(t *testing.T) {
	v := newViewer(nil, false)
	y, look := v.Apply(nil, graph.Chains(2, 0), []int32{2, 3}, graph.Chains(0, 2), []int32{1, 2})
	if y.Dim(0) != 2 || len(look.Matrices()) != 2 {
		t.Errorf("%d logits", y.Dim(0))
	}
	for _, x := range y.Value().Data {
		if x != x {
			t.Error("of an empty picture the logits are NaN")
		}
	}
	if y, _ := v.Apply(nil, graph.Chains(), nil, graph.Chains(), nil); y.Dim(0) != 0 {
		t.Error("a batch of none has logits")
	}
	err := tensor.Try(func() { v.ShowAttendTell.Encode(nil, graph.Chains(2), grad.Const(tensor.New(2, 5))) })
	if err == nil || !strings.Contains(err.Error(), "Cell is 6") {
		t.Errorf("of cells of another width it says %v", err)
	}
}
