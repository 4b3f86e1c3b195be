package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

func loaderOf(t testing.TB, fanout ...int) *Loader {
	g := web(t, true)
	x := tensor.New(g.NumNodes(), 3)
	for i := range x.Data {
		x.Data[i] = tensor.Float(i)
	}
	w := tensor.New(g.NumEdges())
	for i := range w.Data {
		w.Data[i] = tensor.Float(i%7) + 1
	}
	nodes := make([]int32, 90)
	for i := range nodes {
		nodes[i] = int32(2 * i)
	}
	return &Loader{Sampler: Sampler{Graph: g, Fanout: fanout, Seed: 9}, Nodes: nodes, Size: 40, Features: x, Weights: w}
}

// A batch is the same however many are prepared, and whichever step comes first.
func TestBatchesFollowFromTheStep(t *testing.T) {
	alone := loaderOf(t, 3, 5)
	alone.Ahead = -1
	for _, ahead := range []int{-1, 0, 1, 5} {
		l := loaderOf(t, 3, 5)
		l.Ahead = ahead
		for _, step := range []uint64{1, 2, 3, 4, 5, 9, 10, 2, 7} {
			got, want := l.At(step), alone.At(step)
			if !slices.Equal(got.Seeds, want.Seeds) || !slices.Equal(got.X.(*tensor.Dense).Data, want.X.(*tensor.Dense).Data) {
				t.Fatalf("ahead %d, step %d: other seeds or features", ahead, step)
			}
			for i, b := range got.Blocks {
				if !slices.Equal(b.From().Edges, want.Blocks[i].From().Edges) || !slices.Equal(got.Weights[i].Data, want.Weights[i].Data) {
					t.Fatalf("ahead %d, step %d: block %d differs", ahead, step, i)
				}
			}
		}
	}
}

// A batch's features are those of the nodes that the first block reads, dense or
// sparse, and Of gives the seeds' labels.
func TestBatchFeatures(t *testing.T) {
	l := loaderOf(t, 2, 2)
	s := loaderOf(t, 2, 2)
	s.Features = sparse.FromDense(l.Features.(*tensor.Dense))
	for step := range uint64(4) {
		b, c := l.At(step+1), s.At(step+1)
		x := b.X.(*tensor.Dense)
		for i, v := range b.Blocks[0].From().Src {
			if x.Row(i)[1] != tensor.Float(3*v+1) {
				t.Fatalf("row %d is not of node %d", i, v)
			}
		}
		if !slices.Equal(c.X.(*sparse.CSR).Dense().Data, x.Data) {
			t.Fatal("sparse features are others")
		}
		all := make([]int32, l.Graph.NumNodes())
		for v := range all {
			all[v] = int32(v)
		}
		if !slices.Equal(b.Of(all), b.Seeds) {
			t.Fatal("Of is not of the seeds")
		}
	}
}

// An epoch takes each node once, in an order of its own.
func TestEpochs(t *testing.T) {
	l := loaderOf(t, 1)
	if l.Steps() != 3 {
		t.Fatalf("90 nodes by 40 are %d steps", l.Steps())
	}
	var epochs [2][]int32
	for step := range uint64(6) {
		epochs[step/3] = append(epochs[step/3], l.At(step+1).Seeds...)
	}
	for _, order := range epochs {
		if !slices.Equal(slices.Sorted(slices.Values(order)), l.Nodes) {
			t.Error("an epoch does not take each node once")
		}
	}
	if slices.Equal(epochs[0], epochs[1]) {
		t.Error("two epochs have the same order")
	}
	l = loaderOf(t, 1)
	l.Ordered = true
	if !slices.Equal(l.At(2).Seeds, l.Nodes[40:80]) {
		t.Error("Ordered nodes come in another order")
	}
}

// The weighted sum over what is drawn has the mean of that over all neighbours.
func TestWeightsKeepTheMean(t *testing.T) {
	for _, replace := range []bool{false, true} {
		l := loaderOf(t, 4)
		l.Replace, l.Nodes, l.Size = replace, []int32{4, 154, 35, 3}, 4
		value := rand.New(rand.NewPCG(1, 1)).Perm(l.Graph.NumNodes())
		const epochs = 1500
		sum, square := map[int32]float64{}, map[int32]float64{}
		for step := range uint64(epochs) {
			b := l.At(step + 1)
			block := b.Blocks[0]
			for i, v := range b.Seeds {
				y := 0.0
				for e, u := range block.Sources(i) {
					y += float64(b.Weights[0].Data[e]) * float64(value[block.From().Src[u]])
				}
				sum[v] += y
				square[v] += y * y
			}
		}
		for v, s := range sum {
			want := 0.0
			for e, u := range l.Graph.Sources(int(v)) {
				want += float64(l.Weights.Data[e]) * float64(value[u])
			}
			mean := s / epochs
			deviation := math.Sqrt(max(0, square[v]/epochs-mean*mean)/epochs) + 1e-9*math.Abs(want)
			if math.Abs(mean-want) > 5*deviation {
				t.Errorf("replace %v, node %d: the mean is %g ± %g, want %g", replace, v, mean, deviation, want)
			}
		}
	}
}

func TestLoaderCheck(t *testing.T) {
	for _, c := range []struct {
		spoil func(*Loader)
		want  string
	}{
		{func(l *Loader) { l.Nodes = []int32{3, 3} }, "twice"},
		{func(l *Loader) { l.Nodes = []int32{200} }, "the graph has 200"},
		{func(l *Loader) { l.Nodes = nil }, "no Nodes"},
		{func(l *Loader) { l.Size = 0 }, "Size is 0"},
		{func(l *Loader) { l.Features = tensor.New(3, 3) }, "for 200 nodes"},
		{func(l *Loader) { l.Weights = tensor.New(3) }, "edges"},
		{func(l *Loader) { l.Fanout = nil }, "Fanout"},
	} {
		l := loaderOf(t, 2)
		c.spoil(l)
		err := l.Check()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
		if _, ok := tensor.Try(func() { l.At(1) }).(*tensor.ShapeError); !ok {
			t.Errorf("At does not panic for %q", c.want)
		}
	}
	if _, ok := tensor.Try(func() { loaderOf(t, 2).At(0) }).(*tensor.ShapeError); !ok {
		t.Error("step 0 is taken")
	}
}
