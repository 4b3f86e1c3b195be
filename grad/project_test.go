package grad_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// projected is a matrix and a Param that make a projection in 8 heads of 8.
func projected(rows int) (x *grad.Var, w *grad.Param, row *grad.Param) {
	rng := rand.New(rand.NewPCG(28, uint64(rows)))
	draw := func(shape ...int) *tensor.Dense {
		d := tensor.New(shape...)
		for i := range d.Data {
			d.Data[i] = tensor.Float(rng.NormFloat64())
		}
		return d
	}
	return grad.Const(draw(rows, 5)), &grad.Param{Value: draw(5, 64)}, &grad.Param{Value: draw(8, 8)}
}

// On either side of the size from which a projection is not held, its products with rows of
// heads and all of it have the same bits, and only beyond it is it not held.
func TestProjectThreshold(t *testing.T) {
	const rows = 70
	x, w, row := projected(rows)
	want := x.MatMul(grad.NewEval().Use(w))
	for _, least := range []int{rows*64 + 1, rows * 64} {
		undo := grad.SetProjectLeast(least)
		tape := grad.NewEval()
		ft := x.Project(tape.Use(w), 8)
		if held := ft.Projected() == nil; held != (least > rows*64) {
			t.Errorf("of %d elements, from %d on: held %t", rows*64, least, held)
		}
		el, er := ft.Dot(tape.Use(row)), ft.Dot(tape.Use(row))
		if got := tape.Stats().Held; least <= rows*64 && got >= rows*64*4 {
			t.Errorf("%d bytes held for two products of %d each", got, rows*8*4)
		}
		both := want.Reshape(rows, 8, 8).Dot(grad.Const(row.Value)).Value().Data
		for i, z := range []*grad.Var{el, er} {
			if !slices.Equal(z.Value().Data, both) {
				t.Errorf("from %d elements on: product %d with a row has other bits", least, i)
			}
		}
		if !slices.Equal(ft.Value().Data, want.Value().Data) || !slices.Equal(ft.Shape(), []int{rows, 8, 8}) {
			t.Errorf("from %d elements on: the projection %v has other bits", least, ft)
		}
		undo()
	}
}

// What records holds a projection, and so does what has none of the shapes that attention takes.
func TestProjectHeld(t *testing.T) {
	defer grad.SetProjectLeast(1)()
	x, w, _ := projected(3)
	narrow := &grad.Param{Value: tensor.New(5, 32)}
	for name, ft := range map[string]*grad.Var{
		"training":      x.Project(grad.NewTape(1).Use(w), 8),
		"no tape":       x.Project(grad.Const(w.Value), 8),
		"heads of four": x.Project(grad.NewEval().Use(narrow), 8),
		"four heads":    x.Project(grad.NewEval().Use(narrow), 4),
	} {
		if ft.Projected() != nil {
			t.Errorf("%s: not held", name)
		}
	}
}

// GATConv on a tape that records nothing has the same bits whether it holds the projection
// or not, less memory, and nothing left to read when it returns.
func TestGATWithoutProjection(t *testing.T) {
	rng := rand.New(rand.NewPCG(29, 1))
	const n = 3000
	src, dst := make([]int32, 4*n), make([]int32, 4*n)
	for i := range src {
		src[i], dst[i] = int32(rng.IntN(n)), int32(rng.IntN(n/2)) // half of the nodes hear nobody
	}
	g := graph.Must(graph.New(n, src, dst))
	x := tensor.New(n, 6)
	for i := range x.Data {
		x.Data[i] = tensor.Float(rng.NormFloat64())
	}
	for name, l := range map[string]*layers.GATConv{
		"plain":          {In: 6, Out: 8, Heads: 8},
		"activation":     {In: 6, Out: 8, Heads: 8, Activation: grad.ELU},
		"without bias":   {In: 6, Out: 8, Heads: 8, NoBias: true},
		"mean of heads":  {In: 6, Out: 8, Heads: 8, Average: true},
		"residual":       {In: 6, Out: 8, Heads: 8, Residual: layers.ResidualLinear},
		"sixteen heads":  {In: 6, Out: 8, Heads: 16},
		"out of range":   {In: 6, Out: 8, Heads: 8},
		"features edges": {In: 6, Out: 8, Heads: 8, EdgeIn: 2},
	} {
		l.Init(rng)
		in := layers.In{Src: grad.Const(x)}
		if name == "out of range" {
			l.AttnL.Value.Data[3] = 1e4
		}
		if l.EdgeIn > 0 {
			in.Edge = grad.Const(tensor.New(4*n, 2))
		}
		var y [2][]tensor.Float
		var held [2]int
		for i, least := range []int{math.MaxInt, 1} {
			undo := grad.SetProjectLeast(least)
			tape := grad.NewEval()
			out := l.Apply(tape, g, in).Y
			kept := x.Data[0]
			x.Data[0] = 1e9 // from here on the features are the caller's again
			y[i] = slices.Clone(out.Value().Data)
			x.Data[0] = kept
			held[i] = tape.Stats().Held
			undo()
		}
		if !slices.Equal(y[0], y[1]) {
			t.Errorf("%s: other bits", name)
		}
		if saves := name == "plain" || name == "without bias"; saves && held[1] > held[0]*2/3 {
			t.Errorf("%s: the tape holds %d bytes, and %d with the projection", name, held[1], held[0])
		}
	}
}
