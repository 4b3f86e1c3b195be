package layers

import (
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// blockOf is a graph of that many sources and 3 destinations, of four in-edges each,
// with small whole numbers for its sources' features.
func blockOf(t *testing.T, sources, width int) (*graph.Graph, *tensor.Dense) {
	t.Helper()
	var src, dst []int32
	for e := range int32(12) {
		src, dst = append(src, (e*4999+7)%int32(sources)), append(dst, e/4)
	}
	x := tensor.New(sources, width)
	for i := range x.Data {
		x.Data[i] = tensor.Float(i*7%5 - 2)
	}
	return graph.Must(graph.NewBipartite(sources, 3, src, dst)), x
}

// The order of a sum and a product: by the widths, and where gradients are wanted on a block by
// the rows too.
func TestProductFirst(t *testing.T) {
	const row = 64 * 64 // multiply-adds; 2¹⁴ rows are 2²⁶
	tape := grad.NewTape(1)
	w := func(in, out int) *grad.Var { return tape.Watch(tensor.New(in, out)) }
	for _, tt := range []struct {
		sources, in, out int
		want             bool
	}{
		{3, 64, 64, true}, {3, 64, 65, false}, {3, 65, 64, true},
		{blockProduct/row + 2, 64, 64, true}, {blockProduct/row + 3, 64, 64, false},
		{2*blockProduct/row + 3, 64, 32, true}, {2*blockProduct/row + 5, 64, 32, true}, {2*blockProduct/row + 6, 64, 32, false}, // 12 edges of 32 elements are 3 rows
	} {
		g, x := blockOf(t, tt.sources, tt.in)
		if got := productFirst(g, grad.Const(x), w(tt.in, tt.out)); got != tt.want {
			t.Errorf("%d sources, %d to %d columns: the product first is %v", tt.sources, tt.in, tt.out, got)
		}
		if got := productFirst(g, grad.Const(x), grad.Const(tensor.New(tt.in, tt.out))); got != (tt.in >= tt.out) {
			t.Errorf("%d sources, %d to %d columns: in an evaluation the product first is %v", tt.sources, tt.in, tt.out, got)
		}
	}
	g, x := blockOf(t, 40_000, 64)
	if !productFirst(g, grad.Const(sparse.FromDense(x)), w(64, 64)) {
		t.Error("sparse rows are summed first")
	}
}

// Either order gives the same, and the same gradients: whole numbers are exact.
func TestProductFirstAlike(t *testing.T) {
	const width = 64
	for _, sources := range []int{blockProduct/width/width + 2, blockProduct/width/width + 3} {
		g, x := blockOf(t, sources, width)
		w := grad.NewParam(width, width)
		for i := range w.Value.Data {
			w.Value.Data[i] = tensor.Float(i%3 - 1)
		}
		seed := tensor.New(3, width)
		for i := range seed.Data {
			seed.Data[i] = tensor.Float(i%4 - 1)
		}
		sum, dw, dx := tensor.New(3, width), tensor.New(width, width), tensor.New(3, width)
		for v := range 3 {
			for _, u := range g.Sources(v) {
				for j, a := range x.Row(int(u)) {
					sum.Row(v)[j] += a
				}
			}
		}
		tensor.MatMul(dw, sum, seed, tensor.TransA)
		tensor.MatMul(dx, seed, w.Value, tensor.TransB)
		want := tensor.New(3, width)
		tensor.MatMul(want, sum, w.Value, 0)

		for name, run := range map[string]func(x, w *grad.Var) *grad.Var{
			"aggregate": func(x, w *grad.Var) *grad.Var {
				return aggregateOf(g, AggregateSum.reducer("test", 0), In{Src: x}, w)
			},
			"propagation": func(x, w *grad.Var) *grad.Var {
				return NormNone.propagation("", g, nil).project(x, w, 1)
			},
		} {
			tp := grad.NewTape(1)
			in := tp.Watch(x)
			use := tp.Use(w)
			y := run(in, use)
			tp.BackwardFrom(y, seed)
			compare.Equal(t, name, y.Value().Data, want.Data)
			compare.Equal(t, name+", gradient of W", use.Grad().Data, dw.Data)
			heard := tensor.New(sources, width)
			for v := range 3 {
				for _, u := range g.Sources(v) {
					for j, a := range dx.Row(v) {
						heard.Row(int(u))[j] += a
					}
				}
			}
			compare.Equal(t, name+", gradient of x", in.Grad().Data, heard.Data)
		}
	}
}
