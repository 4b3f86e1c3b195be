package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/par"
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

// at returns the batch of a step.
func at(t testing.TB, l *Loader, step uint64) *Batch {
	t.Helper()
	s, err := l.open(t.Context(), step)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	s.end = step + 1
	b, err := s.read()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A batch is the same on any number of threads, however many are made ahead, and whichever
// step a run goes on from.
func TestBatchesFollowFromTheStep(t *testing.T) {
	same := func(got, want *Batch) bool {
		ok := got.Step == want.Step && got.Epoch == want.Epoch && slices.Equal(got.Seeds, want.Seeds) && slices.Equal(got.X.(*tensor.Dense).Data, want.X.(*tensor.Dense).Data)
		for i, b := range got.Blocks {
			ok = ok && slices.Equal(b.From().Edges, want.Blocks[i].From().Edges) && slices.Equal(got.Weights[i].Data, want.Weights[i].Data)
		}
		return ok
	}
	var want []*Batch
	for step := range uint64(9) {
		l := loaderOf(t, 3, 5)
		l.Ahead = -1
		want = append(want, at(t, l, step+1))
	}
	for _, threads := range []int{1, 2, 8} {
		undo := par.SetThreads(threads)
		for _, ahead := range []int{-1, 0, 1, 5} {
			for _, done := range []uint64{0, 4} {
				l := loaderOf(t, 3, 5)
				l.Ahead, l.Epochs, l.Done = ahead, 3, done
				next := done
				for b, err := range l.Batches(t.Context()) {
					if err != nil {
						t.Fatal(err)
					}
					if !same(b, want[next]) {
						t.Fatalf("%d threads, %d ahead, from %d: the batch of step %d differs", threads, ahead, done, b.Step)
					}
					next++
				}
				if next != 9 {
					t.Errorf("%d threads, %d ahead: the last step is %d", threads, ahead, next)
				}
			}
		}
		undo()
	}
	for _, ranks := range []int{2, 3, 4} { // 4: more than there are batches
		for rank := range ranks {
			var steps, of []uint64
			for step := range uint64(9) {
				if int(step%3)%ranks == rank && step >= 2 {
					of = append(of, step+1)
				}
			}
			l := loaderOf(t, 3, 5)
			l.Rank, l.Ranks, l.Epochs, l.Done = rank, ranks, 3, 2
			for b, err := range l.Batches(t.Context()) {
				if err != nil || !same(b, want[b.Step-1]) {
					t.Fatalf("rank %d of %d: the batch of step %d differs: %v", rank, ranks, b.Step, err)
				}
				steps = append(steps, b.Step)
			}
			if !slices.Equal(steps, of) {
				t.Errorf("rank %d of %d reads steps %v, want %v", rank, ranks, steps, of)
			}
		}
	}
	var b *Batch
	l := loaderOf(t, 3, 5)
	next := l.Into(&b)
	for _, step := range []uint64{1, 2, 3, 7, 8, 2, 9} {
		if err := next(t.Context(), step); err != nil || !same(b, want[step-1]) {
			t.Fatalf("the batch of step %d differs: %v", step, err)
		}
	}
	if err := next(t.Context(), 0); err == nil {
		t.Error("step 0 is taken")
	}
}

// A batch's features are those of the nodes that the first block reads, dense or
// sparse, and Of gives the seeds' labels.
func TestBatchFeatures(t *testing.T) {
	l := loaderOf(t, 2, 2)
	s := loaderOf(t, 2, 2)
	s.Features = sparse.FromDense(l.Features.(*tensor.Dense))
	for step := range uint64(4) {
		b, c := at(t, l, step+1), at(t, s, step+1)
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

// In place, the first block reads the rows of all features that are else copied.
func TestInPlace(t *testing.T) {
	for _, fanout := range [][]int{{3, 5}, {All, 5}} {
		l, in := loaderOf(t, fanout...), loaderOf(t, fanout...)
		in.InPlace = true
		for step := range uint64(3) {
			a, b := at(t, l, step+1), at(t, in, step+1)
			x, y := a.X.(*tensor.Dense), b.X.(*tensor.Dense)
			g, h := a.Blocks[0], b.Blocks[0]
			if y != in.Features || h.NumSrc() != y.Rows() || !slices.Equal(g.In().Offsets, h.In().Offsets) || !slices.Equal(a.Weights[0].Data, b.Weights[0].Data) {
				t.Fatalf("fan-outs %v: %v, and in place %v", fanout, g, h)
			}
			for k, u := range g.In().Cols {
				if !slices.Equal(x.Row(int(u)), y.Row(int(h.In().Cols[k]))) {
					t.Fatalf("fan-outs %v: edge %d reads another row", fanout, k)
				}
			}
			for v, u := range h.DstRows() {
				if !slices.Equal(x.Row(v), y.Row(int(u))) {
					t.Fatalf("fan-outs %v: destination %d has another row", fanout, v)
				}
			}
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
		epochs[step/3] = append(epochs[step/3], at(t, l, step+1).Seeds...)
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
	if !slices.Equal(at(t, l, 2).Seeds, l.Nodes[40:80]) {
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
			b := at(t, l, step+1)
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
		{func(l *Loader) { l.Nodes = []int32{200} }, "there are 200"},
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
		for b, err := range l.Batches(t.Context()) {
			if b != nil || err == nil {
				t.Errorf("a batch is made in spite of %q", c.want)
			}
		}
	}
}
