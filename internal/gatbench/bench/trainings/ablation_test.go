package trainings

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// ablated returns two trainings, the second without something.
func ablated(t *testing.T, a ablation, dropout float64) (whole, part *gatEpoch) {
	t.Helper()
	whole, part = newGATEpoch(smallGAT(t, dropout)), newGATEpoch(smallGAT(t, dropout))
	a.leave(part)
	return whole, part
}

// smallTask are 300 nodes with sparse features, in rows that sum to one, and the graphs of the rows
// that its training nodes need, which are a third of all.
var smallTask = sync.OnceValues(func() (c struct {
	*datasets.Dataset
	g      *graph.Graph
	rows   tensor.Array
	needed []*graph.Graph
}, err error) {
	const n, width, classes = 300, 200, 7
	rng := rand.New(rand.NewPCG(1, 2))
	c.Dataset = &datasets.Dataset{Name: "small", Classes: classes, Labels: make([]int32, n)}
	x := tensor.New(n, width)
	var src, dst []int32
	for v := range int32(n) {
		c.Labels[v] = v % classes
		for range 2 {
			src, dst = append(src, rng.Int32N(n)), append(dst, v)
		}
		for range 40 {
			x.Row(int(v))[rng.IntN(width)] = 1
		}
	}
	for v := range int32(14) {
		c.Split.Train = append(c.Split.Train, 20*v)
	}
	if c.Graph, err = graph.New(n, src, dst); err != nil {
		return c, err
	}
	c.Features = sparse.FromDense(x)
	if c.rows, err = c.Normalised(); err != nil {
		return c, err
	}
	c.g = c.WithSelfLoops().Graph
	c.needed, err = sample.Needed(c.g, c.Split.Train, 2)
	return c, err
})

// smallGAT returns a new GAT of two layers and what it trains on.
func smallGAT(t *testing.T, dropout float64) *GAT {
	t.Helper()
	d, err := smallTask()
	if err != nil || d.needed == nil {
		t.Fatalf("all rows are needed, %v", err)
	}
	g, nodes, rows, needed := d.g, d.Split.Train, d.rows, d.needed
	x, both := grad.Const(rows), []*graph.Graph{g, g}
	out := &GAT{
		Layers: []*layers.GATConv{
			{In: d.Features.Shape()[1], Out: 8, Heads: 8, Activation: grad.ELU, FeatDrop: dropout, AttnDrop: dropout},
			{In: 64, Out: d.Classes, Heads: 1, Average: true, FeatDrop: dropout, AttnDrop: dropout},
		},
		Optimiser: &train.Adam{LR: 5e-3, WeightDecay: 5e-4},
		Seed:      3,
		Needed:    Pass{Graphs: needed, X: grad.Const(datasets.GatherRows(rows, needed[0].From().Src))},
		All:       Pass{Graphs: both, X: x, Rows: nodes},
		Whole:     Pass{Graphs: both, X: x},
		Watch:     func(*tensor.Dense) {},
	}
	for _, v := range nodes {
		out.Labels = append(out.Labels, d.Labels[v])
	}
	rng := rand.New(rand.NewPCG(out.Seed, 0))
	for _, l := range out.Layers {
		l.Init(rng)
	}
	if err := out.Optimiser.Bind(out.params()); err != nil {
		t.Fatal(err)
	}
	return out
}

// params returns a value whose Params are those of the layers.
func (g *GAT) params() any { return &struct{ Layers []*layers.GATConv }{g.Layers} }

// Without dropout, whatever is left out, steps lead to the same weights.
func TestAblationsAgree(t *testing.T) {
	for _, a := range ablations {
		t.Run(a.without, func(t *testing.T) {
			whole, part := ablated(t, a, 0)
			const steps = 2
			for range steps {
				whole.run()
				part.run()
			}
			want := map[string]*grad.Param{}
			for name, p := range grad.Params(whole.params()) {
				want[name] = p
			}
			for name, p := range grad.Params(part.params()) {
				compare.Near(t, fmt.Sprintf("%s after %d steps", name, steps), p.Value.Data, want[name].Value.Data, compare.Off(1e-3, 0))
			}
			if len(want) != 8 {
				t.Errorf("%d Params were compared, want 8", len(want))
			}
		})
	}
}

// With dropout each learns, and an evaluation drops nothing.
func TestAblationsLearn(t *testing.T) {
	for _, a := range ablations {
		t.Run(a.without, func(t *testing.T) {
			part := newGATEpoch(smallGAT(t, 0.6))
			a.leave(part)
			loss := func() float64 {
				part.t.ResetEval()
				return float64(part.forward(part.t, part.step).CrossEntropy(part.Labels).Value().Data[0])
			}
			before := loss()
			if again := loss(); again != before {
				t.Errorf("the loss is %v, then %v", before, again)
			}
			for range 3 {
				part.run()
			}
			if after := loss(); !(after < before) {
				t.Errorf("the loss goes from %v to %v", before, after)
			}
		})
	}
}

// What is left out is really not there during an epoch, and back after it.
func TestAblationsUndone(t *testing.T) {
	path := cpu.Path()
	for _, a := range ablations {
		if a.without != "assembly" && a.without != "memory" {
			continue
		}
		_, part := ablated(t, a, 0.6)
		during, tape := "", part.t
		attend := part.attend
		part.attend = func(t *grad.Tape, g *graph.Graph, l *layers.GATConv, x *grad.Var) *grad.Var {
			during = cpu.Path()
			return attend(t, g, l, x)
		}
		part.run()
		if a.without == "assembly" && during != "go" || a.without == "memory" && (during != path || part.t == tape || part.t.Step() != 1) {
			t.Errorf("%s: kernels %q, new tape %v, step %d", a.without, during, part.t != tape, part.t.Step())
		}
		if cpu.Path() != path {
			t.Errorf("%s: the kernels are %q afterwards, and were %q", a.without, cpu.Path(), path)
		}
	}
}

// Drawn masks drop the fraction that they should, keep the mean, and leave an
// evaluation alone; of sparse features only what is stored is drawn.
func TestDrawnMasks(t *testing.T) {
	_, part := ablated(t, ablations[slices.IndexFunc(ablations, func(a ablation) bool { return a.without == "dropout" })], 0.6)
	tape := grad.NewTape(1)
	tape.Reset()
	x := tensor.New(200, 50)
	x.Fill(1)
	y := part.drop(tape, grad.Const(x), 0.6).Value()
	a := part.step.X.Sparse()
	kept, stored := fraction(y.Data, 2.5), make([]tensor.Float, a.NNZ())
	dropped := part.drop(tape, part.step.X, 0.6).Sparse()
	for i, v := range dropped.Values {
		stored[i] = v / a.Values[i]
	}
	if also := fraction(stored, 2.5); math.Abs(kept-0.4) > 0.02 || math.Abs(also-0.4) > 0.02 {
		t.Errorf("%.3f of a dense array is kept and %.3f of a sparse one, want 0.4", kept, also)
	}
	if x := grad.Const(x); part.drop(grad.NewEval(), x, 0.6) != x {
		t.Error("an evaluation drops")
	}
}

// fraction returns how many of the elements are v, and fails to be a number if any
// is neither that nor zero.
func fraction(x []tensor.Float, v float64) float64 {
	n := 0
	for _, e := range x {
		switch {
		case math.Abs(float64(e)-v) < 1e-5:
			n++
		case e != 0:
			return math.NaN()
		}
	}
	return float64(n) / float64(len(x))
}
