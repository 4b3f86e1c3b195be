package dense_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// normed is a normalisation of rows of d elements: its operands, what its gradients are
// added to, and the gradient of its result.
type normed struct {
	n, d                 int
	x, gain, bias, shift []tensor.Float
	dy                   []tensor.Float
	to                   dense.NormGrads
}

// eps is large enough for columns of one row.
const eps = 0.1

// newNormed returns random operands, of which no letter of "gbs" that is missing is there:
// gain, bias and shift. The gradients hold numbers that are added to.
func newNormed(rng *rand.Rand, n, d int, with string) normed {
	v := normed{n: n, d: d, x: random(rng, n*d), dy: random(rng, n*d)}
	if n > 1000 {
		small(v.dy)
	}
	v.to.X = random(rng, n*d)
	for _, c := range with {
		switch c {
		case 'g':
			v.gain, v.to.Gain = random(rng, d), random(rng, d)
		case 'b':
			v.bias, v.to.Bias = random(rng, d), random(rng, d)
		case 's':
			v.shift, v.to.Shift = random(rng, d), random(rng, d)
		}
	}
	return v
}

// fresh returns copies of the gradients, to be added to.
func (v normed) fresh() dense.NormGrads {
	c := copied(v.to.X, v.to.Gain, v.to.Bias, v.to.Shift)
	return dense.NormGrads{X: c[0], Gain: c[1], Bias: c[2], Shift: c[3]}
}

func all(to dense.NormGrads, more ...[]tensor.Float) []tensor.Float {
	return slices.Concat(slices.Concat(more...), to.X, to.Gain, to.Bias, to.Shift)
}

// layer runs a layer norm both ways.
func (v normed) layer() []tensor.Float {
	y, to := make([]tensor.Float, v.n*v.d), v.fresh()
	k := dense.LayerNorm{X: v.x, D: v.d, Gain: v.gain, Bias: v.bias, Eps: eps,
		Mean: make([]tensor.Float, v.n), Rest: make([]tensor.Float, v.n), Scale: make([]tensor.Float, v.n)}
	k.Forward(y)
	k.Backward(to, v.dy)
	if v.d == 0 {
		return all(to, y) // such rows have no mean
	}
	return all(to, y, k.Mean, k.Scale)
}

// columns normalises columns both ways, with given statistics if fixed is not nil.
func (v normed) columns(at []int, fixed []tensor.Float) []tensor.Float {
	size := (len(at) - 1) * v.d
	y, to, room := make([]tensor.Float, v.n*v.d), v.fresh(), make([]tensor.Float, 3*size)
	k := dense.ColumnNorm{X: v.x, D: v.d, Offsets: at, Gain: v.gain, Bias: v.bias, Shift: v.shift, Eps: eps, Fixed: fixed != nil,
		Mean: room[:size], Scale: room[size : 2*size], Shifted: room[2*size:]}
	if k.Fixed {
		copy(room, fixed)
	}
	k.Forward(y)
	k.Backward(to, v.dy)
	return all(to, y, k.Mean, k.Scale)
}

// plainLayer is layer in plain loops of float64.
func (v normed) plainLayer() []tensor.Float {
	y, to := make([]tensor.Float, v.n*v.d), v.fresh()
	mean, scale := make([]tensor.Float, v.n), make([]tensor.Float, v.n)
	for i := range v.n {
		at := func(k int) int { return i*v.d + k }
		m, s := v.run(at, v.d, nil)
		mean[i], scale[i] = tensor.Float(m), tensor.Float(s)
		g, gx := 0.0, 0.0
		for j := range v.d {
			xh := (float64(v.x[at(j)]) - m) * s
			dy := float64(v.dy[at(j)])
			y[at(j)] = tensor.Float(xh*or(v.gain, j, 1) + or(v.bias, j, 0))
			add(to.Gain, j, dy*xh)
			add(to.Bias, j, dy)
			g += dy * or(v.gain, j, 1) / float64(v.d)
			gx += dy * or(v.gain, j, 1) * xh / float64(v.d)
		}
		for j := range v.d {
			xh := (float64(v.x[at(j)]) - m) * s
			add(to.X, at(j), s*(float64(v.dy[at(j)])*or(v.gain, j, 1)-g-xh*gx))
		}
	}
	return all(to, y, mean, scale)
}

// plainColumns is columns in plain loops of float64.
func (v normed) plainColumns(offsets []int, fixed []tensor.Float) []tensor.Float {
	size := (len(offsets) - 1) * v.d
	y, to := make([]tensor.Float, v.n*v.d), v.fresh()
	stats := make([]tensor.Float, 2*size)
	copy(stats, fixed)
	for k := range len(offsets) - 1 {
		n := offsets[k+1] - offsets[k]
		for j := range v.d {
			if n == 0 {
				continue
			}
			at := func(i int) int { return (offsets[k]+i)*v.d + j }
			shift := or(v.shift, j, 1)
			m, s := v.run(at, n, &shift)
			if fixed != nil {
				m, s = float64(fixed[k*v.d+j]), float64(fixed[size+k*v.d+j])
			}
			stats[k*v.d+j], stats[size+k*v.d+j] = tensor.Float(m), tensor.Float(s)
			f := s * or(v.gain, j, 1)
			dyx, sum, xs := 0.0, 0.0, 0.0
			for i := range n {
				xh, dy := (float64(v.x[at(i)])-shift*m)*s, float64(v.dy[at(i)])
				y[at(i)] = tensor.Float(xh*or(v.gain, j, 1) + or(v.bias, j, 0))
				dyx += dy * xh
				sum += dy
				xs += xh
			}
			add(to.Gain, j, dyx)
			add(to.Bias, j, sum)
			mdo := f * (sum - xs*dyx/float64(n)) / float64(n)
			if fixed == nil {
				add(to.Shift, j, -m*mdo*float64(n))
			}
			for i := range n {
				xh, dy := (float64(v.x[at(i)])-shift*m)*s, float64(v.dy[at(i)])
				if fixed != nil {
					add(to.X, at(i), f*dy)
				} else {
					add(to.X, at(i), f*(dy-xh*dyx/float64(n))-shift*mdo)
				}
			}
		}
	}
	return all(to, y, stats[:size], stats[size:])
}

// run returns the mean and the scale of n numbers of x, of which shift times the mean is
// taken off.
func (v normed) run(at func(i int) int, n int, shift *float64) (mean, scale float64) {
	for i := range n {
		mean += float64(v.x[at(i)]) / float64(n)
	}
	off, squares := mean, 0.0
	if shift != nil {
		off *= *shift
	}
	for i := range n {
		o := float64(v.x[at(i)]) - off
		squares += o * o / float64(n)
	}
	return mean, 1 / math.Sqrt(squares+eps)
}

func or(x []tensor.Float, j int, without float64) float64 {
	if x == nil {
		return without
	}
	return float64(x[j])
}

func add(x []tensor.Float, j int, v float64) {
	if x != nil {
		x[j] += tensor.Float(v)
	}
}

// TestNorms compares norms of rows and of columns with plain loops, element by element
// and by kernels, and their bits on several threads.
func TestNorms(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 51))
	for _, s := range [][2]int{{1, 1}, {3, 1}, {1, 7}, {7, 5}, {64, 16}, {65, 16}, {64, 17}, {129, 3}, {70, 130}, {9, 600}, {400, 33}, {2100, 9}} {
		for _, with := range []string{"", "g", "b", "s", "gb", "gbs"} {
			v := newNormed(rng, s[0], s[1], with)
			at := []int{0, v.n / 3, v.n / 3, v.n}
			what := fmt.Sprintf("%d×%d with %q", v.n, v.d, with)
			for _, width := range []int{-1, 16} {
				if width == 16 && (v.n > 64 || v.d > 16) && !sparing.Full() {
					continue // by kernels anyway
				}
				undo := dense.SetFewWidth(width)
				if v.shift == nil {
					compare.Near(t, "rows of "+what, threaded(t, what, v.layer), v.plainLayer(), rounded)
				}
				compare.Near(t, "columns of "+what, threaded(t, what, func() []tensor.Float { return v.columns(at, nil) }), v.plainColumns(at, nil), rounded)
				fixed := random(rng, 2*3*v.d)
				compare.Near(t, "fixed columns of "+what, threaded(t, what, func() []tensor.Float { return v.columns(at, fixed) }), v.plainColumns(at, fixed), rounded)
				undo()
			}
		}
	}
}

// TestNormGradsWanted: gradients that are not wanted change nothing in the others.
func TestNormGradsWanted(t *testing.T) {
	rng := rand.New(rand.NewPCG(52, 52))
	for _, n := range []int{5, 300} {
		v := newNormed(rng, n, 7, "gbs")
		at := []int{0, 2, n}
		wanted := v.columns(at, nil)
		for i, want := range [][]tensor.Float{v.to.X, v.to.Gain, v.to.Bias, v.to.Shift} {
			one := v
			one.to = dense.NormGrads{}
			*[]*[]tensor.Float{&one.to.X, &one.to.Gain, &one.to.Bias, &one.to.Shift}[i] = want
			got, from := one.columns(at, nil), n*7+2*2*7
			for j := range i {
				from += []int{n * 7, 7, 7}[j]
			}
			if k := n*7 + 2*2*7; !slices.Equal(got[k:], wanted[from:from+len(want)]) {
				t.Errorf("%d rows: gradient %d alone differs", n, i)
			}
		}
	}
}

// TestFewNorm compares norms that are taken element by element with those by kernels,
// also of large numbers, NaN and infinities.
func TestFewNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 43))
	for _, s := range [][2]int{{0, 3}, {3, 0}, {1, 1}, {1, 2}, {2, 1}, {1, 7}, {7, 1}, {3, 5}, {5, 3}, {1, 33}, {33, 1}, {4, 17}} {
		for _, odd := range []float64{0, 1e6, math.NaN(), math.Inf(1), math.Inf(-1)} {
			for _, with := range []string{"", "g", "gb", "gbs"} {
				v := newNormed(rng, s[0], s[1], with)
				if len(v.x) > 0 && odd != 0 {
					v.x[len(v.x)/2] = tensor.Float(odd)
				}
				at, fixed := []int{0, v.n / 2, v.n / 2, v.n}, random(rng, 2*3*v.d)
				numbers := func(width int) (rows, columns, given []tensor.Float) {
					defer dense.SetFewWidth(width)()
					return v.layer(), v.columns(at, nil), v.columns(at, fixed)
				}
				r1, c1, f1 := numbers(1 << 20)
				r2, c2, f2 := numbers(-1)
				what := fmt.Sprintf("%d×%d with %q and %v", v.n, v.d, with, odd)
				compare.Near(t, "rows of "+what, r1, r2, rounded)
				compare.Near(t, "columns of "+what, c1, c2, rounded)
				compare.Near(t, "fixed columns of "+what, f1, f2, rounded)
			}
		}
	}
}

// TestNormOfItsGain: x and the gain may be one array, and so may their gradients.
func TestNormOfItsGain(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 53))
	v := newNormed(rng, 1, 9, "gb")
	v.gain = v.x
	numbers := func(width int) []tensor.Float {
		defer dense.SetFewWidth(width)()
		y, to := make([]tensor.Float, v.d), v.fresh()
		to.Gain = to.X
		k := dense.LayerNorm{X: v.x, D: v.d, Gain: v.gain, Bias: v.bias, Eps: eps,
			Mean: make([]tensor.Float, 1), Rest: make([]tensor.Float, 1), Scale: make([]tensor.Float, 1)}
		k.Forward(y)
		k.Backward(to, v.dy)
		return all(to, y)
	}
	compare.Near(t, "a row by itself", numbers(16), numbers(-1), rounded)
}

// TestLayerNormSetsX: the gradient of rows that is set has the bits of one that is added to zeros.
func TestLayerNormSetsX(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 57))
	for _, s := range [][2]int{{1, 1}, {3, 17}, {9, 40}, {64, 21}, {65, 9}, {200, 33}} {
		v := newNormed(rng, s[0], s[1], "gb")
		k := dense.LayerNorm{X: v.x, D: v.d, Gain: v.gain, Eps: eps,
			Mean: make([]tensor.Float, v.n), Rest: make([]tensor.Float, v.n), Scale: make([]tensor.Float, v.n)}
		added, set := v.fresh(), v.fresh()
		clear(added.X)
		k.Forward(make([]tensor.Float, v.n*v.d))
		k.Backward(added, v.dy)
		set.SetX = true
		for i := range set.X {
			set.X[i] = tensor.Float(math.NaN())
		}
		k.Backward(set, v.dy)
		if !slices.Equal(added.X, set.X) || !slices.Equal(added.Gain, set.Gain) || !slices.Equal(added.Bias, set.Bias) {
			t.Errorf("%d×%d: other bits where the gradient is set", v.n, v.d)
		}
	}
}

// TestUnitRows compares rows of length 1 with a plain loop; a row of zeros stays.
func TestUnitRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(54, 54))
	for _, s := range [][2]int{{0, 3}, {3, 0}, {1, 1}, {5, 7}, {300, 33}, {9000, 3}} {
		n, d := s[0], s[1]
		x, dy, dx := random(rng, n*d), random(rng, n*d), random(rng, n*d)
		if n > 2 {
			clear(x[d : 2*d])
		}
		want, y := slices.Clone(dx), make([]tensor.Float, n*d)
		for i := range n {
			square, dot := 0.0, 0.0
			for j := i * d; j < i*d+d; j++ {
				square += float64(x[j]) * float64(x[j])
			}
			for j := i * d; j < i*d+d && square > 0; j++ {
				y[j] = tensor.Float(float64(x[j]) / math.Sqrt(square))
				dot += float64(x[j]) / math.Sqrt(square) * float64(dy[j])
			}
			for j := i * d; j < i*d+d && square > 0; j++ {
				want[j] += tensor.Float((float64(dy[j]) - float64(y[j])*dot) / math.Sqrt(square))
			}
		}
		what := fmt.Sprintf("%d×%d", n, d)
		got := threaded(t, what, func() []tensor.Float {
			k := dense.UnitRows{X: x, D: d, Y: make([]tensor.Float, n*d), Inverse: make([]tensor.Float, n)}
			to := slices.Clone(dx)
			k.Forward()
			k.Backward(to, dy)
			return slices.Concat(k.Y, to)
		})
		compare.Near(t, what, got, slices.Concat(y, want), rounded)
	}
}

// Rows near either end of the range of numbers, denormal ones too, have the length 1 and the gradient
// of others. Where it is beyond the range it is infinite, but never NaN.
func TestUnitRowsAtTheEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(55, 54))
	exponents := []int{-146, -140, -126, -110, -64, -61, -59, 0, 63, 120, 126}
	if unsafe.Sizeof(tensor.Float(0)) == 8 {
		exponents = append(exponents, -1070, -1022, -600, -500, 500, 600, 1022)
	}
	for _, e := range exponents {
		for _, d := range []int{1, 2, 7, 40} {
			x, dy, dx := make([]tensor.Float, d), random(rng, d), make([]tensor.Float, d)
			parts, square, dot := make([]float64, d), 0.0, 0.0
			for j := range x {
				x[j] = tensor.Float(math.Ldexp(1+rng.Float64(), e)) // below 2^(e+1)
				parts[j] = math.Ldexp(float64(x[j]), -e)
				square += parts[j] * parts[j]
			}
			for j, v := range parts {
				dot += v / math.Sqrt(square) * float64(dy[j])
			}
			k := dense.UnitRows{X: x, D: d, Y: make([]tensor.Float, d), Inverse: make([]tensor.Float, 1)}
			k.Forward()
			k.Backward(dx, dy)
			for j, v := range parts {
				y := v / math.Sqrt(square)
				if got := float64(k.Y[j]); !(math.Abs(got-y) < 1e-6) {
					t.Errorf("2^%d, %d columns: element %d is %v, want %v", e, d, j, got, y)
				}
				g := (float64(dy[j]) - y*dot) / math.Sqrt(square)
				want := tensor.Float(math.Ldexp(g, -e))
				if got := dx[j]; got != want && !(math.Abs(float64(got-want)) < math.Ldexp(1e-5, -e)) && !(math.Abs(g) < 1e-6 && d == 1) || got != got {
					t.Errorf("2^%d, %d columns: gradient %d is %v, want %v", e, d, j, got, want)
				}
			}
		}
	}
}

// TestPairNorm compares a PairNorm with a plain loop, and its gradient with differences
// of that.
func TestPairNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(55, 55))
	at, d := []int{0, 3, 3, 4, 9}, 5
	n := at[len(at)-1]
	x, dy := random(rng, n*d), random(rng, n*d)
	for _, each := range []bool{false, true} {
		k := dense.PairNorm{X: x, D: d, Offsets: at, Scale: 1.5, Eps: eps, Each: each, Y: make([]tensor.Float, n*d), Divisor: make([]tensor.Float, n)}
		k.Forward()
		wide := make([]float64, n*d)
		for i, v := range x {
			wide[i] = float64(v)
		}
		want := make([]tensor.Float, n*d)
		for i, v := range plainPairNorm(wide, at, d, each) {
			want[i] = tensor.Float(v)
		}
		compare.Near(t, fmt.Sprint("values, each ", each), k.Y, want, rounded)
		got := make([]tensor.Float, n*d)
		k.Backward(got, dy)
		for i := range wide {
			loss := func(step float64) (sum float64) {
				old := wide[i]
				wide[i] += step
				for j, v := range plainPairNorm(wide, at, d, each) {
					sum += v * float64(dy[j])
				}
				wide[i] = old
				return sum
			}
			want[i] = tensor.Float((loss(1e-5) - loss(-1e-5)) / 2e-5)
		}
		compare.Near(t, fmt.Sprint("gradients, each ", each), got, want, rounded)
	}
}

// Rows whose length float32 cannot hold are normalised all the same.
func TestPairNormOfHugeRows(t *testing.T) {
	const d, n = 9, 4
	x, means := make([]tensor.Float, n*d), make([]float64, d)
	for i := range x {
		x[i] = tensor.Float(math.Copysign(3e38, float64(i%2)-0.5)) // rows of 9: signs alternate
		means[i%d] += float64(x[i]) / n
	}
	for _, each := range []bool{false, true} {
		k := dense.PairNorm{X: x, D: d, Offsets: []int{0, n}, Scale: 1, Eps: eps, Each: each, Y: make([]tensor.Float, n*d), Divisor: make([]tensor.Float, n)}
		k.Forward()
		want := make([]float64, len(x))
		for i, v := range x { // all rows are of one length
			want[i] = (float64(v) - means[i%d]) / (3e38 * 3)
		}
		compare.Near(t, fmt.Sprintf("each %v", each), k.Y, want, compare.Off(1e-6, 0))
		dx := make([]tensor.Float, n*d)
		k.Backward(dx, k.Y)
		if i := slices.IndexFunc(dx, func(v tensor.Float) bool { return v != v }); i >= 0 {
			t.Errorf("each %v: gradient %d is NaN", each, i)
		}
	}
}

func plainPairNorm(x []float64, at []int, d int, each bool) []float64 {
	y := make([]float64, len(x))
	for k := range len(at) - 1 {
		lo, n := at[k], at[k+1]-at[k]
		total := 0.0
		for j := range d {
			mean := 0.0
			for i := range n {
				mean += x[(lo+i)*d+j] / float64(n)
			}
			for i := range n {
				c := x[(lo+i)*d+j] - mean
				y[(lo+i)*d+j] = c
				total += c * c
			}
		}
		for i := lo; i < lo+n; i++ {
			square := 0.0
			for _, c := range y[i*d : i*d+d] {
				square += c * c
			}
			by := math.Sqrt(eps + total/float64(n))
			if each {
				by = eps + math.Sqrt(square)
			}
			for j := i * d; j < i*d+d; j++ {
				y[j] *= 1.5 / by
			}
		}
	}
	return y
}
