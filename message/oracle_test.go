package message

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/rules"
	"github.com/edgewise-ml/edgewise/tensor"
)

// table is the value of an expression on every edge, in float64.
type table struct {
	shape []int
	rows  [][]float64
}

// oracle evaluates expressions over whole arrays, one operation after another.
type oracle struct {
	g    *graph.Graph
	most float64 // the largest value met: rounding errors are relative to it
}

func (o *oracle) eval(e *expr) table {
	y := o.value(e)
	for _, row := range y.rows {
		for _, v := range row {
			if !math.IsInf(v, 0) {
				o.most = max(o.most, math.Abs(v))
			}
		}
	}
	return y
}

func (o *oracle) value(e *expr) table {
	switch e.kind {
	case ir.LeafU, ir.LeafV, ir.LeafE, ir.LeafW:
		return o.leaf(e)
	case ir.Unary:
		x := o.eval(e.a)
		return x.each(x.shape, func(i int, row []float64, k int) float64 { return unaryOf(e, row[k]) })
	case ir.Binary:
		return o.pairs(e, func(x, y float64) float64 { return binaryOf(e.bin, x, y) })
	case ir.DotLast:
		return along(o.pairs(e, func(x, y float64) float64 { return x * y }), sumOf)
	case ir.SumLast:
		return along(o.eval(e.a), sumOf)
	case ir.MaxLast:
		return along(o.eval(e.a), maxOf)
	case ir.LogSumExpLast:
		return along(o.eval(e.a), func(x []float64) float64 {
			top, s := maxOf(x), 0.0
			for _, v := range x {
				s += math.Exp(v - top)
			}
			return top + math.Log(s)
		})
	case ir.MatMul:
		return o.product(e)
	case ir.Pick:
		return o.pick(e)
	case ir.Dropout:
		x := o.eval(e.a)
		return x.each(x.shape, func(i int, row []float64, k int) float64 {
			if e.drop.Keep(e.drop.Row(i), k) {
				return row[k] * e.drop.Scale
			}
			return 0
		})
	case ir.Softmax:
		return o.normalised(e, func(x, top, sum float64) float64 { return math.Exp(x-top) / sum })
	case ir.LogSoftmax:
		return o.normalised(e, func(x, top, sum float64) float64 { return x - top - math.Log(sum) })
	case ir.Normalise:
		return o.quotients(e)
	case ir.TopK:
		return o.kept(e)
	case ir.Sparsemax:
		return o.nearest(e)
	}
	panic(fmt.Sprint("no such expression: ", e.kind))
}

// each makes a table of that shape from the rows of x.
func (x table) each(shape []int, f func(i int, row []float64, k int) float64) table {
	y := table{shape: shape, rows: make([][]float64, len(x.rows))}
	for i, row := range x.rows {
		y.rows[i] = make([]float64, tensor.Size(shape...))
		for k := range y.rows[i] {
			y.rows[i][k] = f(i, row, k)
		}
	}
	return y
}

func (o *oracle) leaf(e *expr) table {
	x := e.x.Value()
	y := table{shape: x.Shape()[1:]}
	if len(y.shape) == 0 {
		y.shape = []int{1}
	}
	if e.kind == ir.LeafW {
		y.shape = x.Shape()
	}
	dst := o.g.Destinations()
	for i, u := range o.g.In().Cols {
		var row []tensor.Float
		switch e.kind {
		case ir.LeafU:
			row = x.Row(int(u))
		case ir.LeafE:
			row = x.Row(i)
		case ir.LeafW:
			row = x.Data
		case ir.LeafV:
			v := int(dst[i])
			if o.g.Bipartite() && o.g.DstRows() != nil && x.Rows() == o.g.NumSrc() {
				v = int(o.g.DstRows()[v])
			}
			row = x.Row(v)
		}
		wide := make([]float64, len(row))
		for k, v := range row {
			wide[k] = float64(v)
		}
		y.rows = append(y.rows, wide)
	}
	return y
}

// pairs applies f under broadcasting, by multi-index.
func (o *oracle) pairs(e *expr, f func(x, y float64) float64) table {
	x, y := o.eval(e.a), o.eval(e.b)
	axes := max(len(x.shape), len(y.shape))
	long := func(s []int) []int {
		out := make([]int, axes)
		for i := range out {
			out[i] = 1
			if j := i - axes + len(s); j >= 0 {
				out[i] = s[j]
			}
		}
		return out
	}
	xs, ys, shape := long(x.shape), long(y.shape), make([]int, axes)
	for i := range shape {
		shape[i] = max(xs[i], ys[i])
	}
	find := func(s []int, k int) int { // the element of an operand that belongs to k
		at, stride := 0, 1
		for i := axes - 1; i >= 0; i-- {
			if s[i] > 1 {
				at += k % shape[i] * stride
			}
			k /= shape[i]
			stride *= s[i]
		}
		return at
	}
	return x.each(shape, func(i int, row []float64, k int) float64 { return f(row[find(xs, k)], y.rows[i][find(ys, k)]) })
}

func (o *oracle) product(e *expr) table {
	x, w := o.eval(e.a), e.b.x.Value()
	in, n := x.shape[len(x.shape)-1], w.RowLen()
	shape := append(slices.Clone(x.shape[:len(x.shape)-1]), w.Shape()[1:]...)
	return x.each(shape, func(_ int, row []float64, k int) (y float64) {
		for i := range in {
			y += row[k/n*in+i] * float64(w.Row(i)[k%n])
		}
		return y
	})
}

func (o *oracle) pick(e *expr) table {
	x := o.eval(e.a)
	shape := x.shape[1:]
	if len(shape) == 0 {
		shape = []int{1}
	}
	n := tensor.Size(shape...)
	return x.each(shape, func(i int, row []float64, k int) float64 { return row[int(e.rows[i])*n+k] })
}

func (o *oracle) normalised(e *expr, f func(x, top, sum float64) float64) table {
	x := o.eval(e.a)
	dst := o.g.Destinations()
	return x.each(x.shape, func(i int, row []float64, k int) float64 {
		top, sum := math.Inf(-1), 0.0
		for j, v := range dst {
			if v == dst[i] {
				top = max(top, x.rows[j][k])
			}
		}
		for j, v := range dst {
			if v == dst[i] {
				sum += math.Exp(x.rows[j][k] - top)
			}
		}
		return f(row[k], top, sum)
	})
}

func (o *oracle) quotients(e *expr) table {
	x := o.eval(e.a)
	dst := o.g.Destinations()
	return x.each(x.shape, func(i int, row []float64, k int) float64 {
		sum := 0.0
		for j, v := range dst {
			if v == dst[i] {
				sum += x.rows[j][k]
			}
		}
		if sum == 0 {
			return 0
		}
		return row[k] / sum
	})
}

// nearest is max(x − τ, 0), with the τ that halving finds for a sum of 1.
func (o *oracle) nearest(e *expr) table {
	x := o.eval(e.a)
	dst := o.g.Destinations()
	return x.each(x.shape, func(i int, row []float64, k int) float64 {
		top := math.Inf(-1)
		for j, v := range dst {
			if v == dst[i] {
				top = max(top, x.rows[j][k])
			}
		}
		lo, hi := top-1, top
		for range 60 {
			tau, sum := (lo+hi)/2, 0.0
			for j, v := range dst {
				if v == dst[i] {
					sum += max(x.rows[j][k]-tau, 0)
				}
			}
			if sum > 1 {
				lo = tau
			} else {
				hi = tau
			}
		}
		return max(row[k]-hi, 0)
	})
}

// kept counts, for each entry, those into the same destination that are chosen
// before it.
func (o *oracle) kept(e *expr) table {
	x := o.eval(e.a)
	dst := o.g.Destinations()
	return x.each(x.shape, func(i int, row []float64, k int) float64 {
		rank := 0
		for j, v := range dst {
			if y := x.rows[j][k]; v == dst[i] && (y > row[k] || y == row[k] && j < i) {
				rank++
			}
		}
		switch {
		case e.mark && rank < e.k:
			return 1
		case e.mark:
			return 0
		case rank < e.k:
			return row[k]
		}
		return math.Inf(-1)
	})
}

func along(x table, f func(row []float64) float64) table {
	shape := append([]int(nil), x.shape...)
	d := shape[len(shape)-1]
	shape[len(shape)-1] = 1
	return x.each(shape, func(_ int, row []float64, k int) float64 { return f(row[k*d : k*d+d]) })
}

func sumOf(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

func maxOf(x []float64) float64 {
	m := math.Inf(-1)
	for _, v := range x {
		m = max(m, v)
	}
	return m
}

func unaryOf(e *expr, x float64) float64 {
	switch e.un {
	case vec.Scale:
		return float64(e.c) * x
	case vec.Shift:
		return x + float64(e.c)
	case vec.Neg:
		return -x
	case vec.ReLU:
		return max(x, 0)
	case vec.LeakyReLU:
		return max(x, 0) + float64(e.c)*min(x, 0)
	case vec.ELU:
		return max(x, 0) + float64(e.c)*(math.Exp(min(x, 0))-1)
	case vec.Sigmoid:
		return 1 / (1 + math.Exp(-x))
	case vec.Tanh:
		return math.Tanh(x)
	case vec.Softplus:
		return math.Log(1 + math.Exp(x))
	case vec.Exp:
		return math.Exp(x)
	case vec.Log:
		return math.Log(x)
	case vec.Sqrt:
		return math.Sqrt(x)
	case vec.SiLU:
		return x / (1 + math.Exp(-x))
	case vec.GELU:
		return x * (1 + math.Erf(x/math.Sqrt2)) / 2
	case vec.Sin:
		return math.Sin(x)
	case vec.Cos:
		return math.Cos(x)
	case vec.Pow:
		return math.Pow(x, float64(e.c))
	case vec.Abs:
		return math.Abs(x)
	case vec.Sign:
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return 0
	}
	panic("no such function: " + e.un.String())
}

func binaryOf(b vec.Binary, x, y float64) float64 {
	switch b {
	case vec.Add:
		return x + y
	case vec.Sub:
		return x - y
	case vec.Mul:
		return x * y
	case vec.Div:
		return x / y
	case vec.Min:
		return min(x, y)
	}
	return max(x, y)
}

// reduced is the reduction of x by its definition.
func (o *oracle) reduced(x table, r Reducer) table {
	y := table{shape: x.shape}
	dst := o.g.Destinations()
	for v := range o.g.NumDst() {
		row := make([]float64, tensor.Size(x.shape...))
		for k := range row {
			var m []float64
			for i, w := range dst {
				if int(w) == v {
					m = append(m, x.rows[i][k])
				}
			}
			if len(m) > 0 {
				row[k] = reduce(m, r)
			}
		}
		y.rows = append(y.rows, row)
	}
	return y
}

func reduce(m []float64, r Reducer) float64 {
	n := float64(len(m))
	switch r {
	case Sum:
		return sumOf(m)
	case Mean:
		return sumOf(m) / n
	case Max:
		return maxOf(m)
	case Min:
		low := math.Inf(1)
		for _, v := range m {
			low = min(low, v)
		}
		return low
	case LogSumExp:
		top, s := maxOf(m), 0.0
		for _, v := range m {
			s += math.Exp(v - top)
		}
		return top + math.Log(s)
	}
	mean, s := sumOf(m)/n, 0.0
	for _, v := range m {
		s += (v - mean) * (v - mean)
	}
	return math.Sqrt(s / n)
}

// differ says how got differs from want, if by more than rounding. Of a standard
// deviation the square is what is accurate.
func (o *oracle) differ(got *tensor.Dense, want table, squared bool) error {
	tol, scale := 1e-4, 1+o.most*float64(o.g.NumEdges())
	if gradtest.Sharp {
		tol = 1e-12
	}
	if n := tensor.Size(want.shape...); got.RowLen() != n || got.Rows() != len(want.rows) {
		return fmt.Errorf("shape %v, want %d rows of %v", got.Shape(), len(want.rows), want.shape)
	}
	for i, row := range want.rows {
		for k, v := range row {
			x, s := float64(got.Row(i)[k]), scale
			if squared {
				x, v, s = x*x, v*v, scale*scale
			}
			if d := math.Abs(x - v); !(d <= tol*s) && x != v {
				return fmt.Errorf("row %d, element %d is %v, want %v", i, k, got.Row(i)[k], row[k])
			}
		}
	}
	return nil
}

// check compares everything that can be done with m with the oracle.
func (o *oracle) check(m Msg) error {
	want := o.eval(treeOf(m))
	if err := o.differ(ApplyEdges(o.g, m).Value(), want, false); err != nil {
		return fmt.Errorf("edges: %w", err)
	}
	all := []Reducer{Sum, Mean, Max, Min, Std, LogSumExp}
	last := want.shape[len(want.shape)-1]
	joint := UpdateAll(o.g, m, all...).Value()
	for i, r := range all {
		ref := o.reduced(want, r)
		single := UpdateAll(o.g, m, r).Value()
		if err := o.differ(single, ref, r == Std); err != nil {
			return fmt.Errorf("%v: %w", r, err)
		}
		part := tensor.New(single.Shape()...)
		for k := range part.Data { // of len(all) runs of the last axis, the i-th
			part.Data[k] = joint.Data[(k/last*len(all)+i)*last+k%last]
		}
		if err := o.differ(part, ref, r == Std); err != nil {
			return fmt.Errorf("%v of several: %w", r, err)
		}
	}
	return nil
}

// sprout makes random expressions.
type sprout struct {
	*rand.Rand
	g    *graph.Graph
	tape *grad.Tape
	pool []Msg // made before: an expression may be used several times
}

func (s *sprout) array(rows int, shape ...int) *grad.Var {
	x := tensor.New(append([]int{rows}, shape...)...)
	x.Normal(s.Rand, 0, 1)
	return s.tape.Watch(x)
}

func (s *sprout) kinds(n int32) []int32 {
	out := make([]int32, s.g.NumEdges())
	for i := range out {
		out[i] = s.Int32N(n)
	}
	return out
}

func (s *sprout) leaf() Msg {
	shapes := [][]int{{3}, {1}, {2, 3}, {2, 1}, {1, 3}}
	shape := shapes[s.IntN(len(shapes))]
	switch s.IntN(7) {
	case 0, 1:
		return U(s.array(s.g.NumSrc(), shape...))
	case 2, 3:
		return V(s.array(s.g.NumDst(), shape...))
	case 4:
		return E(s.array(s.g.NumEdges(), shape...))
	case 5:
		return W(s.array(4, shape...)).Pick(s.kinds(4))
	}
	return U(s.array(s.g.NumSrc(), 2, 2, 3)).Pick(s.kinds(2))
}

// tree returns a random expression. Factors are bounded, so that errors grow
// with the largest value and no faster; arguments of roots and quotients keep
// away from zero.
func (s *sprout) tree(depth int) (m Msg) {
	if depth == 0 || s.IntN(8) == 0 {
		return s.leaf()
	}
	if len(s.pool) > 0 && s.IntN(6) == 0 {
		return s.pool[s.IntN(len(s.pool))]
	}
	defer func() { s.pool = append(s.pool, m) }()
	a := s.tree(depth - 1)
	switch s.IntN(29) {
	case 0:
		return a.Add(s.tree(depth - 1))
	case 1:
		return a.Sub(s.tree(depth - 1))
	case 2, 3:
		return a.Tanh().Mul(s.tree(depth - 1).Tanh())
	case 4:
		return a.Div(s.tree(depth - 1).Abs().Shift(1))
	case 5:
		return a.Min(s.tree(depth - 1))
	case 6:
		return a.Max(s.tree(depth - 1))
	case 7:
		return a.Tanh().Add(W(s.array(3).Reshape(3))).Dot(W(s.array(1, 3)))
	case 28:
		return a.Tanh().Add(W(s.array(3).Reshape(3))).MatMul(s.array(3, 3))
	case 8:
		return a.SumLast()
	case 9:
		return a.MaxLast()
	case 10:
		return a.LogSumExpLast()
	case 11, 12:
		return a.Softmax()
	case 13:
		return a.LogSoftmax()
	case 14:
		return a.Dropout(s.tape, 0.4)
	case 15:
		return a.Scale(-1.5)
	case 16:
		return a.Shift(0.25).Neg()
	case 17:
		return a.LeakyReLU(0.2)
	case 18:
		return a.ReLU()
	case 19:
		return a.ELU()
	case 20:
		return a.Sigmoid()
	case 21:
		return a.Softplus()
	case 22:
		return a.Tanh().Exp()
	case 23:
		return a.Abs().Shift(0.5).Log()
	case 24:
		return a.Abs().Shift(0.5).Sqrt()
	case 25:
		return a.Abs().Shift(0.5).Normalise()
	case 26:
		return s.leaf().TopK(2).Softmax().Mul(a) // leaves have no ties and no rounding
	}
	switch s.IntN(8) {
	case 0:
		return a.SiLU()
	case 1:
		return a.GELU()
	case 2:
		return a.Tanh().Sin()
	case 3:
		return a.Cos()
	case 4:
		return a.Tanh().Abs().Shift(0.5).Pow(-1.5)
	case 5, 6:
		return a.Sparsemax()
	}
	return a.Mul(s.leaf().Sign())
}

// randomGraph has up to 12 nodes and 40 edges, and may be a block or a view.
func randomGraph(rng *rand.Rand) *graph.Graph {
	n := 1 + rng.Int32N(12)
	src, dst := make([]int32, rng.IntN(40)), make([]int32, 0, 40)
	for i := range src {
		src[i], dst = rng.Int32N(n), append(dst, rng.Int32N(n))
	}
	g := graph.Must(graph.New(int(n), src, dst))
	rows := rng.Perm(int(n))[:rng.IntN(int(n)+1)]
	some := make([]int32, len(rows))
	for i, v := range rows {
		some[i] = int32(v)
	}
	switch rng.IntN(4) {
	case 0:
		return graph.Must(g.Block(some))
	case 1:
		return graph.Must(g.Dst(some))
	case 2:
		return graph.Must(graph.NewBipartite(int(n), int(n), src, dst))
	}
	return g
}

// checkRandom checks the expression that a seed gives: its values against the
// oracle, its gradients for the same bits in tiles of any size.
func checkRandom(t *testing.T, seed uint64) {
	defer func() { rules.TilesOnly, exec.TileBytes = false, 32<<10 }()
	var want []tensor.Float
	for i, bytes := range []int{32 << 10, 64, 1 << 20} {
		rules.TilesOnly, exec.TileBytes = i != 0, bytes
		rng := rand.New(rand.NewPCG(seed, 5))
		tape := grad.NewTape(seed)
		tape.Reset()
		s := &sprout{Rand: rng, g: randomGraph(rng), tape: tape}
		m := s.tree(5)
		o := &oracle{g: s.g}
		if err := o.check(m); err != nil {
			t.Fatalf("seed %d, tiles of %d bytes: %v\n%s", seed, bytes, err, Explain(s.g, m))
		}
		rules.TilesOnly = true
		y := UpdateAll(s.g, m, Sum, Max, Std)
		if !y.Needs() {
			return
		}
		var all []tensor.Float
		for _, g := range tape.Backward(y.Mul(y).Sum()) {
			all = append(all, g.Value.Data...)
		}
		if want == nil {
			want = all
		}
		for k, v := range all {
			if math.Float64bits(float64(v)) != math.Float64bits(float64(want[k])) {
				t.Fatalf("seed %d, tiles of %d bytes: gradient %d is %v, want the bits of %v\n%s", seed, bytes, k, v, want[k], Explain(s.g, m))
			}
		}
	}
}

// TestRandomExpressions compares many expressions with the oracle.
func TestRandomExpressions(t *testing.T) {
	seeds := uint64(70)
	if sparing.Full() {
		seeds = 200
	}
	for seed := range seeds {
		checkRandom(t, seed)
	}
}

// FuzzExpressions is TestRandomExpressions for any seed.
func FuzzExpressions(f *testing.F) {
	for _, seed := range []uint64{1, 42, 1 << 40, math.MaxUint64} {
		f.Add(seed)
	}
	f.Fuzz(checkRandom)
}
