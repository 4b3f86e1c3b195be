package rounding

import (
	"math"
	"slices"
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// Unit is the largest relative error of one rounding to Float.
var Unit = unit()

func unit() float64 {
	u := cpu.Float(1)
	for 1+u/2 > 1 {
		u /= 2
	}
	return float64(u) / 2
}

// tiny is the largest error of a product that is smaller than what has all its places.
var tiny = Unit * smallestNormal()

func smallestNormal() float64 {
	if unsafe.Sizeof(cpu.Float(0)) == 4 {
		return 0x1p-126
	}
	return 0x1p-1022
}

// function is how many units a function of one argument, such as an exponential, may be off: the
// polynomials of the kernels are held to 3e-7 by [simdtest.CheckExponentials].
const function = 5

// cut is what an exponential may be off by where it is taken for 0.
const cut = 0x1p-100

// Number is a number of a [Formula].
type Number int32

// Result is a value in float64, and what the same in Float may be off by.
type Result struct{ Value, Bound float64 }

// Formula is the record of a computation in float64.
type Formula struct {
	all  []Result
	ends []int32 // where a number's arguments end
	args []argument

	terms  []Result // of the sum that is being made
	sorted []float64
}

// argument is a number that another was made of, with the derivative by it.
type argument struct {
	of    Number
	slope Result
}

// NewFormula returns a Formula without numbers.
func NewFormula() *Formula { return new(Formula) }

// add adds a number, whose arguments are the last that are there and these.
func (f *Formula) add(y Result, args ...argument) Number {
	f.args = append(f.args, args...)
	if n := len(f.all); n == cap(f.all) { // append alone would copy large ones often
		f.all, f.ends, f.args = slices.Grow(f.all, n+64), slices.Grow(f.ends, n+64), slices.Grow(f.args, len(f.args))
	}
	f.all, f.ends = append(f.all, y), append(f.ends, int32(len(f.args)))
	return Number(len(f.all) - 1)
}

// Result returns a number's value and bound.
func (f *Formula) Result(x Number) Result { return f.all[x] }

// Results returns the values and bounds of numbers.
func (f *Formula) Results(x []Number) []Result {
	out := make([]Result, len(x))
	for i, x := range x {
		out[i] = f.all[x]
	}
	return out
}

// Constant returns a number that is exact in Float, too.
func (f *Formula) Constant(v float64) Number { return f.add(Result{Value: v}) }

// Given returns exact numbers: the operands of what is tested.
func Given[F ~float32 | ~float64](f *Formula, x []F) []Number {
	out := make([]Number, len(x))
	for i, v := range x {
		out[i] = f.Constant(float64(v))
	}
	return out
}

// Exact returns numbers of Float as results without a bound.
func Exact[F ~float32 | ~float64](x []F) []Result {
	out := make([]Result, len(x))
	for i, v := range x {
		out[i].Value = float64(v)
	}
	return out
}

// Sum returns Σx, which may be taken in any order.
func (f *Formula) Sum(x ...Number) Number {
	f.terms = f.terms[:0]
	for _, x := range x {
		f.terms = append(f.terms, f.all[x])
		f.args = append(f.args, argument{x, Result{Value: 1}})
	}
	return f.add(f.total())
}

// total is the sum of the terms. Those that are equal are rounded alike where they meet sums of one size: their
// errors grow with how many they are, those of others with the root.
func (f *Formula) total() (s Result) {
	size := 0.0
	for _, x := range f.terms {
		s.Value += x.Value
		s.Bound += x.Bound
		size += math.Abs(x.Value)
	}
	if len(f.terms) > 1 {
		s.Bound += math.Sqrt(float64(f.squares())) * Unit * size
	}
	return s
}

// squares is the sum of the squares of how many terms are equal.
func (f *Formula) squares() (n int) {
	if len(f.terms) <= 12 {
		for i, x := range f.terms {
			n++
			for _, y := range f.terms[:i] {
				if x.Value == y.Value {
					n += 2
				}
			}
		}
		return n
	}
	f.sorted = f.sorted[:0]
	for _, x := range f.terms {
		f.sorted = append(f.sorted, x.Value)
	}
	slices.Sort(f.sorted)
	run := 0
	for i, x := range f.sorted {
		if i > 0 && x != f.sorted[i-1] {
			run = 0
		}
		n += 2*run + 1
		run++
	}
	return n
}

// Sub returns x − y.
func (f *Formula) Sub(x, y Number) Number { return f.Sum(x, f.Scale(y, -1)) }

// Scale returns c·x, where c is a number of Float.
func (f *Formula) Scale(x Number, c float64) Number {
	return f.add(times(f.all[x], Result{Value: c}), argument{x, Result{Value: c}})
}

// times is a product that is rounded. A factor of ±1 rounds nothing.
func times(x, y Result) Result {
	v := x.Value * y.Value
	bound := x.Bound*math.Abs(y.Value) + y.Bound*math.Abs(x.Value) + x.Bound*y.Bound
	if math.Abs(x.Value) != 1 && math.Abs(y.Value) != 1 {
		bound += Unit * math.Abs(v)
		if v != 0 {
			bound += tiny
		}
	}
	if bound != bound {
		bound = math.Inf(1)
	}
	return Result{v, bound}
}

// Mul returns x·y.
func (f *Formula) Mul(x, y Number) Number {
	a, b := f.all[x], f.all[y]
	return f.add(times(a, b), argument{x, b}, argument{y, a})
}

// Dot returns Σx·y.
func (f *Formula) Dot(x, y []Number) Number {
	f.terms = f.terms[:0]
	for i, x := range x {
		a, b := f.all[x], f.all[y[i]]
		f.terms = append(f.terms, times(a, b))
		f.args = append(f.args, argument{x, b}, argument{y[i], a})
	}
	return f.add(f.total())
}

// Div returns x/y.
func (f *Formula) Div(x, y Number) Number {
	a, b := f.all[x], f.all[y]
	inverse := Result{1 / b.Value, 0}
	inverse.Bound = over(b, func(b float64) float64 { return 1 / b }) + Unit*math.Abs(inverse.Value)
	q := times(a, inverse)
	back := times(q, inverse)
	return f.add(q, argument{x, inverse}, argument{y, Result{-back.Value, back.Bound}})
}

// Max returns the largest of some numbers, the first of several that are equal. Which one it is,
// and so whose gradient is not 0, may be another in Float where two are nearer to each other than their bounds.
func (f *Formula) Max(x ...Number) Number {
	top := x[0]
	for _, x := range x[1:] {
		if f.all[x].Value > f.all[top].Value {
			top = x
		}
	}
	y, winner := f.all[top], argument{top, Result{Value: 1}}
	var args []argument
	for _, x := range x {
		r := f.all[x]
		if less := f.all[top].Value - r.Value; less > 0 && less <= r.Bound+f.all[top].Bound {
			y.Bound, winner.slope.Bound = max(y.Bound, r.Bound), 1
			args = append(args, argument{x, Result{Bound: 1}})
		}
	}
	return f.add(y, append(args, winner)...)
}

// Min returns the smallest of some numbers, as Max.
func (f *Formula) Min(x ...Number) Number {
	minus := make([]Number, len(x))
	for i, x := range x {
		minus[i] = f.Scale(x, -1)
	}
	return f.Scale(f.Max(minus...), -1)
}

// Gradients returns the gradients, by numbers that are asked for, of a loss whose gradients by y are dy.
func (f *Formula) Gradients(y []Number, dy []Result) func(x []Number) []Result {
	n := len(f.all)
	for i, y := range y { // one more number of each y, whose gradient is given
		f.add(dy[i], argument{y, Result{Value: 1}})
	}
	uses := f.uses()
	d := slices.Clone(f.all)
	for i := n - 1; i >= 0; i-- {
		f.terms = f.terms[:0]
		for _, u := range uses.of(i) {
			if by := d[u.by]; by != (Result{}) {
				f.terms = append(f.terms, times(by, f.args[u.arg].slope))
			}
		}
		d[i] = f.total()
	}
	return func(x []Number) []Result {
		out := make([]Result, len(x))
		for i, x := range x {
			if int(x) < n { // else it came later
				out[i] = d[x]
			}
		}
		return out
	}
}

// uses says of each number which arguments it is, and of which numbers.
type uses struct {
	first []int32
	all   []use
}

type use struct{ by, arg int32 }

func (u *uses) of(i int) []use { return u.all[u.first[i]:u.first[i+1]] }

func (f *Formula) uses() *uses {
	u := &uses{make([]int32, len(f.all)+2), make([]use, len(f.args))}
	for _, a := range f.args {
		u.first[a.of+2]++
	}
	for i := range f.all {
		u.first[i+2] += u.first[i+1]
	}
	a := int32(0)
	for i, end := range f.ends { // first[k+1] moves from where k begins to where it ends
		for ; a < end; a++ {
			at := &u.first[f.args[a].of+1]
			u.all[*at] = use{int32(i), a}
			*at++
		}
	}
	return u
}
