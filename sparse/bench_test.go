package sparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The benchmarks run at the size of Cora with self-loops: 2708 nodes, 13264
// edges, rows of 64 elements, 8 heads.
const (
	coraNodes = 2708
	coraEdges = 13264
)

func cora(b *testing.B) (a *sparse.CSR, rng *rand.Rand) {
	rng = rand.New(rand.NewPCG(1, 1))
	r, c := make([]int32, coraEdges), make([]int32, coraEdges)
	for i := range r {
		r[i], c[i] = rng.Int32N(coraNodes), rng.Int32N(coraNodes)
	}
	a, _, err := sparse.FromCOO(coraNodes, coraNodes, r, c, nil)
	if err != nil {
		b.Fatal(err)
	}
	return a, rng
}

func BenchmarkKernels(b *testing.B) {
	a, rng := cora(b)
	x, y := normal(rng, coraNodes, 8, 8), tensor.New(coraNodes, 8, 8)
	w, e := normal(rng, coraEdges, 8), tensor.New(coraEdges, 8)
	weighted := a.NormaliseRows()
	for _, k := range []struct {
		name string
		run  func()
	}{
		{"Product", func() { sparse.Product{A: weighted, Add: true}.Into(y, x) }},
		{"Product/ones", func() { sparse.Product{A: a, Add: true}.Into(y, x) }},
		{"ProductTransposed", func() { sparse.Product{A: weighted, Transpose: true, Add: true}.Into(y, x) }},
		{"Heads", func() { sparse.Product{A: a, Weights: w, Add: true}.Into(y, x) }},
		{"HeadsTransposed", func() { sparse.Product{A: a, Weights: w, Transpose: true, Add: true}.Into(y, x) }},
		{"Dots", func() { sparse.Dots{A: a, Add: true}.Into(e, x, x) }},
		{"Softmax", func() { sparse.Softmax{A: a}.Into(e, w) }},
		{"Softmax.Grad", func() { sparse.Softmax{A: a, Add: true}.Grad(e, w, w) }},
	} {
		b.Run(k.name, func(b *testing.B) {
			b.ReportAllocs()
			y.Zero()
			e.Zero()
			for b.Loop() {
				k.run()
			}
		})
	}
}

func BenchmarkStructure(b *testing.B) {
	a, _ := cora(b)
	dst := make([]float, a.NNZ())
	drop := tensor.NewMask(1, 1, 1, 0.6)
	b.Run("Transpose", func(b *testing.B) {
		for b.Loop() {
			fresh, err := sparse.New(a.NumRows, a.NumCols, a.Offsets, a.Cols, nil)
			if err != nil {
				b.Fatal(err)
			}
			fresh.Transpose()
		}
	})
	b.Run("DropValues", func(b *testing.B) {
		for b.Loop() {
			sparse.DropValues(dst, a, &drop)
		}
	})
}

// powerLaw returns a graph whose edges have both ends drawn in proportion to
// rank^−¾, with shuffled numbers and sorted rows.
func powerLaw(nodes, edges int) *sparse.CSR {
	rng := rand.New(rand.NewPCG(7, 7))
	sum, weight := make([]float64, nodes), 0.0
	for i := range sum {
		weight += math.Pow(float64(i+1), -0.75)
		sum[i] = weight
	}
	ids := rng.Perm(nodes)
	draw := func() int64 {
		at, _ := slices.BinarySearch(sum, rng.Float64()*weight)
		return int64(ids[min(at, nodes-1)])
	}
	keys := make([]int64, edges)
	for i := range keys {
		keys[i] = draw()*int64(nodes) + draw()
	}
	slices.Sort(keys)
	r, c := make([]int32, edges), make([]int32, edges)
	for i, k := range keys {
		r[i], c[i] = int32(k/int64(nodes)), int32(k%int64(nodes))
	}
	a, _, err := sparse.FromCOO(nodes, nodes, r, c, nil)
	if err != nil {
		panic(err)
	}
	return a
}

var sizes = []struct {
	name         string
	nodes, edges int
}{{"cora", 2708, 13264}, {"pubmed", 19717, 108365}, {"arxiv", 169343, 1166243}}

// notShort leaves out, with -short, what has more edges than PubMed.
func notShort(b *testing.B, edges int) {
	b.Helper()
	if testing.Short() && edges > 108365 {
		b.Skipf("%d edges are too many for -short", edges)
	}
}

// BenchmarkProducts runs GRAPH/KERNEL/WIDTH/THREADS, on graphs of the sizes of
// the named ones.
func BenchmarkProducts(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			notShort(b, size.edges)
			a := powerLaw(size.nodes, size.edges)
			for _, f := range []int{8, 64, 100, 128, 256} {
				benchProducts(b, a, f)
			}
		})
	}
}

func benchProducts(b *testing.B, a *sparse.CSR, f int) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, y := tensor.New(a.NumCols, f), tensor.New(a.NumRows, f)
	for i := range x.Data {
		x.Data[i] = float(rng.Float32())
	}
	weighted := a.NormaliseRows()
	heads := 1
	if f%8 == 0 {
		heads = 8
	}
	w, z := tensor.New(a.NNZ(), heads), tensor.New(a.NNZ(), heads)
	w.Fill(1)
	arg := make([]int32, len(y.Data))
	full := w
	if f == 64 {
		full = tensor.New(a.NNZ(), f)
	}
	a.Transpose()
	for _, k := range []struct {
		name string
		run  func()
	}{
		{"sum", func() { sparse.Product{A: a, Add: true}.Into(y, x) }},
		{"set", func() { sparse.Product{A: a}.Into(y, x) }},
		{"mean", func() { sparse.Product{A: a, Mean: true, Add: true}.Into(y, x) }},
		{"max", func() { sparse.MaxDense(y, arg, a, x) }},
		{"maxGrad", func() { sparse.BestGrad(x, arg, a, y) }},
		{"weighted", func() { sparse.Product{A: weighted, Add: true}.Into(y, x) }},
		{"weightedT", func() { sparse.Product{A: weighted, Transpose: true, Add: true}.Into(y, x) }},
		{"heads", func() { sparse.Product{A: a, Weights: w, Add: true}.Into(y, x) }},
		{"headsT", func() { sparse.Product{A: a, Weights: w, Transpose: true, Add: true}.Into(y, x) }},
		{"dot", func() { sparse.Dots{A: a, Add: true}.Into(z, x, y) }},
		{"rows", func() { sparse.Product{A: a, Weights: full, Add: true}.Into(y, x) }},
		{"rowsT", func() { sparse.Product{A: a, Weights: full, Transpose: true, Add: true}.Into(y, x) }},
	} {
		if full == w && slices.Contains([]string{"rows", "rowsT"}, k.name) {
			continue
		}
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%d/%d", k.name, f, threads), func(b *testing.B) {
				defer par.SetThreads(threads)()
				defer par.Hot()()
				y.Zero()
				for b.Loop() {
					k.run()
				}
				b.ReportMetric(float64(a.NNZ()*f*4)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GB/s")
			})
		}
	}
}

// BenchmarkFromCOO sorts ten million edges.
func BenchmarkFromCOO(b *testing.B) {
	const nodes, edges = 1 << 20, 10_000_000
	notShort(b, edges)
	rng := rand.New(rand.NewPCG(3, 3))
	r, c := make([]int32, edges), make([]int32, edges)
	for i := range r {
		r[i], c[i] = rng.Int32N(nodes), rng.Int32N(nodes)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := sparse.FromCOO(nodes, nodes, r, c, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFeatures multiplies features of the size of Cora's, and takes their
// weight gradient, at growing densities and by both storages.
func BenchmarkFeatures(b *testing.B) {
	defer par.Hot()()
	rng := rand.New(rand.NewPCG(4, 4))
	for _, s := range []struct {
		name       string
		rows, cols int
		density    float64
	}{
		{"cora", 2708, 1433, 0.0127}, {"citeseer", 3327, 3703, 0.0085}, {"pubmed", 19717, 500, 0.1},
		{"at", 2708, 1433, 0.1}, {"at", 2708, 1433, 0.2}, {"at", 2708, 1433, 0.3}, {"at", 2708, 1433, 0.5},
	} {
		x := tensor.New(s.rows, s.cols)
		for i := range x.Data {
			if rng.Float64() < s.density {
				x.Data[i] = float(rng.Float32()) + 0.1
			}
		}
		a := sparse.FromDense(x)
		a.Transpose()
		for _, f := range []int{8, 64} {
			w, y := normal(rng, s.cols, f), normal(rng, s.rows, f)
			dw, xw := w.Like(), y.Like()
			for name, run := range map[string]func(){
				"sparse": func() {
					sparse.Product{A: a, Add: true}.Into(xw, w)
					sparse.Product{A: a, Transpose: true, Add: true}.Into(dw, y)
				},
				"dense": func() { tensor.MatMul(xw, x, w, 0); tensor.MatMul(dw, x, y, tensor.TransA) },
			} {
				b.Run(fmt.Sprintf("%s/%v/%d/%s", s.name, s.density, f, name), func(b *testing.B) {
					for b.Loop() {
						run()
					}
				})
			}
		}
	}
}
