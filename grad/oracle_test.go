package grad_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/tensor"
)

func floats(v ...tensor.Float) []tensor.Float { return v }

// TestMovedElements spells out what operations that move elements make of 0 … 5.
func TestMovedElements(t *testing.T) {
	x := grad.Const(tensor.Of(floats(0, 1, 2, 3, 4, 5), 3, 2))
	row := grad.Const(tensor.Of(floats(7, 8), 1, 2))
	parts := x.SplitAxis(0, 1, 0, 2)
	top, places := grad.Const(tensor.Of(floats(3, 9, 3, 1, 2, 2, 8, 0), 2, 4)).TopK(3)
	if !slices.Equal(places, []int32{1, 0, 2, 2, 0, 1}) {
		t.Errorf("places are %v", places)
	}
	for what, c := range map[string]struct {
		got   *grad.Var
		shape []int
		want  []float64
	}{
		"InsertAxis 0":       {x.InsertAxis(0), []int{1, 3, 2}, []float64{0, 1, 2, 3, 4, 5}},
		"InsertAxis -1":      {x.InsertAxis(-1), []int{3, 2, 1}, []float64{0, 1, 2, 3, 4, 5}},
		"Transpose":          {x.Transpose(), []int{2, 3}, []float64{0, 2, 4, 1, 3, 5}},
		"Transpose 3":        {x.Reshape(3, 1, 2).Transpose(), []int{3, 2, 1}, []float64{0, 1, 2, 3, 4, 5}},
		"Expand":             {row.Expand(3, 2), []int{3, 2}, []float64{7, 8, 7, 8, 7, 8}},
		"Expand columns":     {row.Transpose().Expand(2, 3), []int{2, 3}, []float64{7, 7, 7, 8, 8, 8}},
		"Expand to none":     {row.Expand(0, 2), []int{0, 2}, nil},
		"ConcatAxis 0":       {grad.ConcatAxis(0, x, row), []int{4, 2}, []float64{0, 1, 2, 3, 4, 5, 7, 8}},
		"ConcatAxis -1":      {grad.ConcatAxis(-1, row, row), []int{1, 4}, []float64{7, 8, 7, 8}},
		"Stack":              {grad.Stack(row, row), []int{2, 1, 2}, []float64{7, 8, 7, 8}},
		"Slice 0":            {x.Slice(0, 1, 3), []int{2, 2}, []float64{2, 3, 4, 5}},
		"Slice -1":           {x.Slice(-1, 1, 2), []int{3, 1}, []float64{1, 3, 5}},
		"Slice of none":      {x.Slice(1, 1, 1), []int{3, 0}, nil},
		"SplitAxis":          {parts[2], []int{2, 2}, []float64{2, 3, 4, 5}},
		"SplitAxis of none":  {parts[1], []int{0, 2}, nil},
		"ScatterAdd":         {x.ScatterAdd([]int32{3, 0, 3}, 4), []int{4, 2}, []float64{2, 3, 0, 0, 0, 0, 4, 6}},
		"ScatterAdd of none": {x.RowRange(0, 0).ScatterAdd(nil, 1), []int{1, 2}, []float64{0, 0}},
		"Embedding":          {x.Embedding([]int32{2, -1, 0}, grad.NoLabel), []int{3, 2}, []float64{4, 5, 0, 0, 0, 1}},
		"Embedding padded":   {x.Embedding([]int32{2, 0}, 0), []int{2, 2}, []float64{4, 5, 0, 1}},
		"TopK":               {top, []int{2, 3}, []float64{9, 3, 3, 8, 2, 2}},
		"Maxout":             {grad.Const(tensor.Of(floats(1, 2, 5, 4), 1, 4)).Maxout(2), []int{1, 2}, []float64{2, 5}},
		"CumSum":             {x.CumSum(), []int{3, 2}, []float64{0, 1, 2, 5, 4, 9}},
		"CumProd":            {x.CumProd(), []int{3, 2}, []float64{0, 0, 2, 6, 4, 20}},
		"Outer":              {row.Outer(x.RowRange(1, 2)), []int{1, 2, 2}, []float64{14, 21, 16, 24}},
		"Where":              {grad.Where(x, row, x.Neg()), []int{3, 2}, []float64{0, 8, 7, 8, 7, 8}},
		"Clamp":              {x.Clamp(1.5, 4), []int{3, 2}, []float64{1.5, 1.5, 2, 3, 4, 4}},
		"Pow":                {x.Pow(2), []int{3, 2}, []float64{0, 1, 4, 9, 16, 25}},
		"Pow 0.5":            {x.Pow(0.5), []int{3, 2}, []float64{0, 1, math.Sqrt2, math.Sqrt(3), 2, math.Sqrt(5)}},
		"L2Normalise":        {grad.Const(tensor.Of(floats(3, 4, 0, 0), 2, 2)).L2Normalise(), []int{2, 2}, []float64{0.6, 0.8, 0, 0}},
		"CircularConv":       {grad.Const(tensor.Of(floats(1, 2, 3, 4), 1, 4)).CircularConv(row), []int{1, 4}, []float64{7 + 32, 14 + 8, 21 + 16, 28 + 24}},
	} {
		compare.Shaped(t, what, c.got.Value(), c.shape, c.want, rounded)
	}
}

// TestAxes compares reductions with a loop over indices.
func TestAxes(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for _, shape := range [][]int{{5}, {1, 4}, {4, 1}, {3, 4, 5}, {2, 3, 2, 3}, {0, 3}, {3, 0}} {
		x := random(rng, shape...)
		for axis := range shape {
			rest := slices.Delete(slices.Clone(shape), axis, axis+1)
			if len(rest) == 0 {
				rest = []int{1}
			}
			most, least := make([]float64, tensor.Size(rest...)), make([]float64, tensor.Size(rest...))
			for i := range most {
				most[i], least[i] = math.Inf(-1), math.Inf(1)
			}
			indices(shape, func(ix []int) {
				k := 0
				for i, s := range shape {
					if i != axis {
						k = k*s + ix[i]
					}
				}
				v := float64(x.Data[flat(x, ix)])
				most[k], least[k] = max(most[k], v), min(least[k], v)
			})
			if shape[axis] == 0 {
				if y := grad.Const(x).MaxAxis(axis).Value(); len(y.Data) > 0 && !math.IsInf(float64(y.Data[0]), -1) {
					t.Errorf("the maximum of nothing is %v", y)
				}
				continue
			}
			compare.Shaped(t, fmt.Sprint("MaxAxis", shape, axis), grad.Const(x).MaxAxis(axis).Value(), rest, most, rounded)
			compare.Shaped(t, fmt.Sprint("MinAxis", shape, axis-len(shape)), grad.Const(x).MinAxis(axis-len(shape)).Value(), rest, least, rounded)
		}
	}
	x := grad.Const(tensor.Of(floats(0, 1, 2, 3, 4, 5, 6, 7), 2, 2, 2))
	compare.Shaped(t, "SumAxes", x.SumAxes(-1, 0, 2).Value(), []int{2}, []float64{10, 18}, rounded)
	compare.Shaped(t, "MeanAxes", x.MeanAxes(0, 1, 2).Value(), []int{1}, []float64{3.5}, rounded)
}

// TestMaxTies sends the gradient to the first of equal elements.
func TestMaxTies(t *testing.T) {
	tape := grad.NewTape(1)
	x := tape.Watch(tensor.Of(floats(2, 2, 1, 1, 3, 3), 2, 3))
	g := tape.Backward(x.MaxAxis(-1).Sum()).Of(x)
	if !slices.Equal(g.Data, floats(1, 0, 0, 0, 1, 0)) {
		t.Errorf("gradient %v", g)
	}
}

// TestBatchProducts compares with products of single matrices.
func TestBatchProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	for _, lead := range [][]int{{1}, {3}, {2, 3}, {0}} {
		x, w, v := random(rng, append(slices.Clone(lead), 4, 5)...), random(rng, append(slices.Clone(lead), 5, 2)...), random(rng, append(slices.Clone(lead), 2, 5)...)
		got, turned := grad.Const(x).MatMul(grad.Const(w)), grad.Const(x).MatMulT(grad.Const(v))
		want, wantT := []float64{}, []float64{}
		for b := range tensor.Size(lead...) {
			for i := range 4 {
				for j := range 2 {
					s, st := 0.0, 0.0
					for k := range 5 {
						a := float64(x.Data[(b*4+i)*5+k])
						s += a * float64(w.Data[(b*5+k)*2+j])
						st += a * float64(v.Data[(b*2+j)*5+k])
					}
					want, wantT = append(want, s), append(wantT, st)
				}
			}
		}
		shape := append(slices.Clone(lead), 4, 2)
		compare.Shaped(t, fmt.Sprint("MatMul", lead), got.Value(), shape, want, rounded)
		compare.Shaped(t, fmt.Sprint("MatMulT", lead), turned.Value(), shape, wantT, rounded)
	}
}

// TestNormOracle compares the norms of ranges of rows with loops, for widths
// around the block of columns and with empty ranges.
func TestNormOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 1))
	for _, d := range []int{0, 1, 15, 16, 17, 40} {
		for _, at := range [][]int{{0, 0}, {0, 1}, {0, 5}, {0, 2, 2, 9}} {
			n := at[len(at)-1]
			x, shift := random(rng, n, d), random(rng, d)
			want, bare := make([]float64, n*d), make([]float64, n*d)
			for j := range d {
				for k := range len(at) - 1 {
					mean, v, v1 := 0.0, 0.0, 0.0
					rows := float64(at[k+1] - at[k])
					for i := at[k]; i < at[k+1]; i++ {
						mean += float64(x.Data[i*d+j]) / rows
					}
					off := func(i int) float64 { return float64(x.Data[i*d+j]) - mean*float64(shift.Data[j]) }
					for i := at[k]; i < at[k+1]; i++ {
						v += off(i) * off(i) / rows
						v1 += (float64(x.Data[i*d+j]) - mean) * (float64(x.Data[i*d+j]) - mean) / rows
					}
					for i := at[k]; i < at[k+1]; i++ {
						want[i*d+j] = off(i) / math.Sqrt(v+0.1)
						bare[i*d+j] = (float64(x.Data[i*d+j]) - mean) / math.Sqrt(v1+0.1)
					}
				}
			}
			what := fmt.Sprint(n, "×", d, " in ", at)
			compare.Shaped(t, "GraphNorm "+what, grad.Const(x).GraphNorm(at, grad.Affine{Shift: grad.Const(shift)}, 0.1).Value(), []int{n, d}, want, rounded)
			if len(at) == 2 {
				compare.Shaped(t, "BatchNorm "+what, (*grad.Tape)(nil).BatchNorm(grad.Const(x), grad.Affine{}, nil, 0.1).Value(), []int{n, d}, bare, rounded)
				compare.Shaped(t, "LayerNorm "+what, grad.Const(x).Transpose().LayerNorm(nil, nil, 0.1).Transpose().Value(), []int{n, d}, bare, rounded)
			}
		}
	}
}

// TestGraphNormOfOneRow has graphs of one node, of whose rows next to nothing is left
// when the mean is taken off. Then o = (1 − shift)·x alone says what the gradient is.
func TestGraphNormOfOneRow(t *testing.T) {
	const eps = 1e-5
	for _, s := range []tensor.Float{0, 0.5, 0.99, 0.997, 0.9999, 1, 1.003} {
		for _, x := range []tensor.Float{1.2345, -0.7, 13.7} {
			tape := grad.NewTape(1)
			v, shift := tape.Watch(tensor.Of([]tensor.Float{x}, 1, 1)), tape.Watch(tensor.Of([]tensor.Float{s}, 1))
			gs := tape.Backward(v.GraphNorm([]int{0, 1}, grad.Affine{Shift: shift}, eps).Sum())
			o := float64(x) - float64(s*x) // what is left in the arithmetic at hand
			slope := eps / math.Pow(o*o+eps, 1.5)
			for what, c := range map[string]struct{ got, want float64 }{
				"x":     {float64(gs.Of(v).Data[0]), (1 - float64(s)) * slope},
				"shift": {float64(gs.Of(shift).Data[0]), -float64(x) * slope},
			} {
				compare.Number(t, fmt.Sprintf("shift %v of %v: the gradient of %s", s, x, what), c.got, c.want, compare.Part(1e-5))
			}
		}
	}
}

// TestLossOracle spells out the losses for which there are no golden numbers.
func TestLossOracle(t *testing.T) {
	vec := func(v ...tensor.Float) *grad.Var { return grad.Const(tensor.Of(v, len(v))) }
	p, q := vec(0.5, 0.5, 0), vec(tensor.Float(math.Log(0.25)), tensor.Float(math.Log(0.75)), -3)
	kl := 0.5*math.Log(0.5/0.25) + 0.5*math.Log(0.5/0.75)
	scores := grad.Const(tensor.Of(floats(1, 2, 3, 4, 4, 0), 2, 3))
	nan := tensor.Float(math.NaN())
	for what, c := range map[string]struct {
		got  *grad.Var
		want []float64
	}{
		"KL":              {grad.Loss{Reduction: grad.SumLoss}.KL(q, p), []float64{kl}},
		"KL batch":        {grad.Loss{Reduction: grad.BatchMean}.KL(q.Reshape(1, 3), p.Reshape(1, 3)), []float64{kl}},
		"Ranking":         {grad.Loss{}.Ranking(vec(3, 1), vec(1, 2), 0.5), []float64{1.5 / 2}},
		"Hinge":           {grad.Hinge{}.Of(scores, []int32{1, 0}), []float64{(2.0/3 + 1.0/3) / 2}},
		"Hinge margin":    {grad.Hinge{Margin: 2, Reduction: grad.EachLoss}.Of(scores, []int32{1, grad.NoLabel}), []float64{(1.0 + 3) / 3, 0}},
		"Reinforce":       {vec(-1, -2).Reinforce([]float64{3, -4}), []float64{-(-3 + 8) / 2.0}},
		"missing targets": {grad.Loss{SkipMissing: true}.MSE(vec(1, 5, 3), vec(0, nan, 1)), []float64{2.5}},
		"all missing":     {grad.Loss{SkipMissing: true}.MSE(vec(1), vec(nan)), []float64{0}},
		"missing, each":   {grad.Loss{SkipMissing: true, Reduction: grad.EachLoss}.L1(vec(1, 5), vec(nan, 1)), []float64{0, 4}},
		"mask":            {grad.CrossEntropy{Mask: []bool{false, true}}.OfLog(scores, []int32{0, 1}), []float64{-4}},
		"no rows":         {scores.RowRange(0, 0).NLL(nil), []float64{0}},
		"no elements":     {grad.Loss{}.MSE(scores.RowRange(0, 0), scores.RowRange(0, 0)), []float64{0}},
	} {
		compare.Shaped(t, what, c.got.Value(), []int{len(c.want)}, c.want, rounded)
	}
	for what, y := range map[string]*grad.Var{"MSE": vec(1).MSE(vec(nan)), "L1": vec(1).L1(vec(nan)), "BCE": vec(1).BCE(vec(nan)), "Huber": grad.Loss{}.Huber(vec(1), vec(nan), 1), "Ranking": grad.Loss{}.Ranking(vec(1), vec(nan), 1), "KL": grad.Loss{}.KL(vec(1), vec(nan))} {
		if v := float64(y.Value().Data[0]); !math.IsNaN(v) {
			t.Errorf("%s of a NaN target is %v", what, v)
		}
	}
}

// TestMaskedLogits defines what a row of −Inf alone gives.
func TestMaskedLogits(t *testing.T) {
	inf := tensor.Float(math.Inf(-1))
	tape := grad.NewTape(1)
	x := tape.Watch(tensor.Of(floats(inf, inf, 0, inf), 2, 2))
	loss := x.CrossEntropy([]int32{1, 0})
	if v := float64(loss.Value().Data[0]); !math.IsInf(v, 1) {
		t.Errorf("the loss of masked logits is %v, want +Inf", v)
	}
	if g := tape.Backward(loss).Of(x); !slices.Equal(g.Data, floats(0, -0.5, 0, 0)) {
		t.Errorf("the gradient is %v", g)
	}
	if p := tape.Backward(x.Softmax().Sum()).Of(x); !slices.Equal(p.Data, floats(0, 0, 0, 0)) {
		t.Errorf("the gradient of the softmax is %v", p)
	}
}

// TestMoreShapeErrors names the operation and the shapes.
func TestMoreShapeErrors(t *testing.T) {
	x, y := grad.Const(tensor.New(3, 2)), grad.Const(tensor.New(4, 5))
	cube := grad.Const(tensor.New(2, 3, 4))
	stats := &grad.RunningStats{Mean: &grad.Param{Value: tensor.New(3), Frozen: true}, Variance: &grad.Param{Value: tensor.New(3), Frozen: true}}
	for op, f := range map[string]func(){
		"grad.InsertAxis [3 2] [4]":                  func() { x.InsertAxis(4) },
		"grad.Transpose [2]":                         func() { grad.Const(tensor.New(2)).Transpose() },
		"grad.Expand [3 2] [4 2]":                    func() { x.Expand(4, 2) },
		"grad.ConcatAxis [3 2] [4 5]":                func() { grad.ConcatAxis(0, x, y) },
		"grad.Stack [3 2] [4 5]":                     func() { grad.Stack(x, y) },
		"grad.Slice [3 2] [1 4]":                     func() { x.Slice(0, 1, 4) },
		"grad.SplitAxis [3 2] [1 1]":                 func() { x.SplitAxis(0, 1, 1) },
		"grad.MaxAxis [3 2] [2] axis":                func() { x.MaxAxis(2) },
		"grad.SumAxes [3 2] [-3]":                    func() { x.SumAxes(-3) },
		"grad.TopK [3 2] [3]":                        func() { x.TopK(3) },
		"grad.Maxout [3 2] [3]":                      func() { x.Maxout(3) },
		"grad.ScatterAdd [3 2] row 7":                func() { x.ScatterAdd([]int32{0, 7, 1}, 5) },
		"grad.ScatterAdd [3 2] [1] [5]":              func() { x.ScatterAdd([]int32{0}, 5) },
		"grad.Embedding [3 2] id 1 is 3":             func() { x.Embedding([]int32{0, 3}, -1) },
		"grad.Embedding [3 2] id 1 is -2":            func() { x.Embedding([]int32{0, -2}, -1) },
		"grad.CircularConv [3 2] [4 5]":              func() { x.CircularConv(y) },
		"grad.MatMul [4 5] [2 3 4]":                  func() { y.MatMul(cube) },
		"grad.AddProduct [3 2] [3 2] [4 5]":          func() { x.AddProduct(x, y) },
		"grad.MatMulT [3 2] [4 5]":                   func() { x.MatMulT(y) },
		"grad.Linear [3 2] [4 5]":                    func() { x.Linear(y, nil, grad.ReLU) },
		"grad.Where [3 2] [4 5]":                     func() { grad.Where(x, x, y) },
		"grad.LayerNorm [3 2] [4 5]":                 func() { x.LayerNorm(y, nil, 1e-5) },
		"grad.GraphNorm [3] [0 2] offsets":           func() { x.GraphNorm([]int{0, 2}, grad.Affine{}, 1e-5) },
		"grad.PairNorm [3] [0 2 1 3] offsets":        func() { grad.PairNorm{}.Of(x, []int{0, 2, 1, 3}) },
		"grad.BatchNorm [3 2] [3]":                   func() { (*grad.Tape)(nil).BatchNorm(x, grad.Affine{}, stats, 1e-5) },
		"grad.MSE [3 2] [4 5]":                       func() { x.MSE(y) },
		"grad.BCE [3 2] 1 weights of positives":      func() { grad.BCE{PosWeight: []float64{1}}.Of(x, x) },
		"grad.BCE [3 2] [4 5]":                       func() { grad.BCE{Weights: y.Value()}.Of(x, x) },
		"grad.Hinge [3 2] label 2 of row 1":          func() { grad.Hinge{}.Of(x, []int32{0, 2, 1}) },
		"grad.NLL [3 2] label -3 of row 2":           func() { x.NLL([]int32{0, 1, -3}) },
		"grad.CrossEntropy [3 2] [3] a mask of 1 ro": func() { grad.CrossEntropy{Mask: []bool{true}}.Of(x, []int32{0, 1, 1}) },
		"grad.Reinforce [3 2] [1]":                   func() { x.Reinforce([]float64{1}) },
	} {
		err := tensor.Try(f)
		if !errors.As(err, new(*tensor.ShapeError)) {
			t.Errorf("%s: %v", op, err)
			continue
		}
		name, rest, _ := strings.Cut(op, " ")
		if !strings.HasPrefix(err.Error(), name+":") {
			t.Errorf("%q does not begin with %s", err, name)
		}
		for _, part := range strings.SplitAfter(rest, "]") {
			if !strings.Contains(err.Error(), strings.TrimSpace(part)) {
				t.Errorf("%q does not name %q", err, part)
			}
		}
	}
}

// TestLinearEmpty ends products of nothing with the bias alone.
func TestLinearEmpty(t *testing.T) {
	b := grad.Const(tensor.Of(floats(1, -2), 2))
	for _, n := range []int{0, 1, 3} {
		x, w := grad.Const(tensor.New(n, 0)), grad.Const(tensor.New(0, 2))
		want := make([]float64, 0, 2*n)
		for range n {
			want = append(want, 1, 0)
		}
		compare.Shaped(t, fmt.Sprint(n, " rows"), x.Linear(w, b, grad.ReLU).Value(), []int{n, 2}, want, rounded)
	}
	none := grad.Const(tensor.New(3, 2)).Linear(grad.Const(tensor.New(2, 0)), grad.Const(tensor.New(0)), grad.Tanh)
	compare.Shaped(t, "no columns", none.Value(), []int{3, 0}, []float64{}, rounded)
}
