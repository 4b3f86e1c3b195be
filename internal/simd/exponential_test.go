package simd

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// The assembly takes exponentials by a polynomial in many places. What a wrong coefficient
// of the highest power does is less than one rounding, so that no comparison of single
// results sees it: the errors are averaged by the part of an argument that the polynomial
// gets, where roundings cancel and it stays.

// exponentiated is a place where exponentials are taken: run sets y to f of x, which are
// from lo to hi.
type exponentiated struct {
	name   string
	lo, hi float64
	f      func(x float64) float64
	z      func(x float64) float64 // what the exponential is taken of; nil: x
	bound  float64                 // of the average error; 0: averagely
	run    func(y, x []Float)
}

// averagely is how much the results of one part of the arguments may be off on the average.
// The polynomial is right to 6e-9, and 2.3e-8 with a coefficient that is wrong by 1 %.
const averagely = 1.2e-8

// single is how much one may be.
const single = 3e-7

const (
	exponents = 1 << 15
	exponBins = 16
)

// check compares the results of a place with those in float64.
func (p exponentiated) check(t *testing.T, rng *rand.Rand) {
	t.Helper()
	x, y := make([]Float, exponents), make([]Float, exponents)
	for i := range x {
		x[i] = Float(p.lo + (p.hi-p.lo)*rng.Float64())
	}
	p.run(y, x)
	var sum, n [exponBins]float64
	for i, v := range x {
		want := p.f(float64(v))
		e := (float64(y[i]) - want) / want
		if !(math.Abs(e) <= single) {
			t.Fatalf("%s of %v is %v, want %v", p.name, v, y[i], want)
		}
		z := float64(v)
		if p.z != nil {
			z = p.z(z)
		}
		part := z / math.Ln2
		bin := min(int((part-math.Round(part)+0.5)*exponBins), exponBins-1)
		sum[bin], n[bin] = sum[bin]+e, n[bin]+1
	}
	bound := p.bound
	if bound == 0 {
		bound = averagely
	}
	for b := range sum {
		if mean := sum[b] / n[b]; math.Abs(mean) > bound {
			t.Errorf("%s is off by %.1e on the average where the exponent's fraction is %.2f", p.name, mean, (float64(b)+0.5)/exponBins-0.5)
		}
	}
}

// ofUnary is a place in a function of one number.
func ofUnary(u Unary, lo, hi float64) exponentiated {
	return exponentiated{name: u.String(), lo: lo, hi: hi, f: oracle[u].f, run: func(y, x []Float) { u.Forward(y, x, 0.3) }}
}

// eights calls f with eights of x and of y.
func eights(y, x []Float, f func(y, x []Float)) {
	for i := 0; i < len(x); i += 8 {
		f(y[i:i+8], x[i:i+8])
	}
}

// scoredExponents sets y to what Attend leaves as sums of one edge each, or with back what
// Retrace has as weights under sums of 1. U and A make scores of eight x.
func scoredExponents(back bool) func(y, x []Float) {
	return func(y, x []Float) {
		const nodes = 64
		for ; len(x) > 0; x, y = x[8*nodes:], y[8*nodes:] {
			s := Scored{Apart: 8, Slope: 1, V: make([]Float, nodes*scoredRow), A: make([]Float, scoredRow), U: make([]Float, nodes*scoredRow)}
			for h := range 8 {
				s.A[8*h+3] = 1
			}
			for v := range nodes {
				s.Offsets, s.Cols, s.Places = append(s.Offsets, int64(v)), append(s.Cols, int32(v)), append(s.Places, int32(v))
				for h := range 8 {
					s.U[v*scoredRow+8*h+3] = x[8*v+h]
				}
			}
			s.Offsets = append(s.Offsets, nodes)
			s.Top, s.Sum = make([]Float, 8*nodes), make([]Float, 8*nodes)
			if !back {
				s.Y = make([]Float, nodes*scoredRow)
				s.Attend()
				copy(y, s.Sum)
				continue
			}
			for i := range s.Sum {
				s.Sum[i] = 1
			}
			s.R, s.DV, s.DA = make([]Float, nodes*scoredRow), make([]Float, nodes*scoredRow), make([]Float, scoredRow)
			s.Z, s.Signs, s.Work = make([]Float, nodes*16), make([]uint8, nodes*8), make([]Float, ScoredWork)
			s.Retrace()
			for i := range 8 * nodes {
				y[i] = s.Z[2*i+1]
			}
		}
	}
}

// tileExponents sets y to the weights of logits x under a largest of zero, forward or back.
func tileExponents(lanes int, back bool) func(y, x []Float) {
	return func(y, x []Float) {
		const edges = 64
		per := edges*lanes - lanes // the first edge has the largest logit
		for len(x) > 0 {
			n := min(per, len(x))
			room := func() []Float { return make([]Float, edges*lanes+16) }
			s := Tile{Offsets: []int64{0, edges}, Cols: make([]int32, edges), Z: room(), A: room(), B: room(), T: room(), Rec: room(), RecStride: Record * lanes,
				Last: edges - 1, Slots: Groups(edges, lanes), Slope: 1, Lanes: lanes}
			copy(s.Z[lanes:], x[:n])
			if back {
				for i := range s.A {
					s.A[i] = 1
				}
				s.Weigh()
				copy(y[:n], s.A[lanes:])
			} else {
				s.Soften()
				copy(y[:n], s.Z[lanes:])
			}
			x, y = x[n:], y[n:]
		}
	}
}

// powersOf sets y to powers of x, up or down.
func powersOf(slope Float, column bool) func(y, x []Float) {
	return func(y, x []Float) {
		at := func(i int) (up, down int) { return i/8*16 + i%8, i/8*16 + 8 + i%8 }
		p := Powers{X: x, Y: make([]Float, 4*len(x)), XStride: 8, YStride: 16}
		if column {
			at = func(i int) (up, down int) { return 4*i + 1, 4*i + 2 }
			p.Column(len(x), slope)
		} else {
			p.Rows(len(x)/8, slope)
		}
		for i := range y {
			up, down := at(i)
			if y[i] = p.Y[up]; slope == 0.5 {
				y[i] = p.Y[down]
			}
		}
	}
}

// softened sets y to a softmax over x and a zero, which takes all but a rounding, each in a
// column of eight.
func softened(f func(y, x []Float)) func(y, x []Float) {
	return func(y, x []Float) {
		eights(y, x, func(y, x []Float) {
			var in, out [16]Float
			copy(in[8:], x)
			f(out[:], in[:])
			copy(y, out[8:])
		})
	}
}

// exponentials are the places.
func exponentials() []exponentiated {
	half := func(x float64) float64 { return x / 2 }
	zeros, ones := make([]Float, 8), []Float{1, 1, 1, 1, 1, 1, 1, 1}
	small := func(name string, run func(y, x []Float)) exponentiated {
		return exponentiated{name: name, lo: -math.Ln2 / 2, hi: -0.02, f: math.Expm1, bound: 3e-8, run: run}
	}
	places := []exponentiated{
		ofUnary(Exp, -86, 86), ofUnary(Exp, 87.1, 88.6), ofUnary(Sigmoid, -80, -18), ofUnary(Softplus, -80, -18),
		ofUnary(SiLU, -80, -18), ofUnary(SiLU, -90, -87.2),
		{name: "the sigmoid's slope", lo: -80, hi: -18, run: func(y, x []Float) {
			one := make([]Float, len(x))
			for i := range one {
				one[i] = 1
			}
			Sigmoid.Forward(y, x, 0)
			Softplus.SetBackward(y, one, x, y, 0)
		}},
		small("ELU", func(y, x []Float) { ELU.Forward(y, x, 1) }),
		small("ELU under a dropout", func(y, x []Float) {
			d := NewDropout(1, 2, 3, 0)
			d.Scale = 1
			d.ELU(y, x, zeros, 0)
		}),
		{name: "Softmax of a row", lo: -80, hi: -18, run: func(y, x []Float) {
			in := append([]Float{0}, x...)
			out := make([]Float, len(in))
			expInto(out, in, 0)
			copy(y, out[1:])
		}},
		{name: "ExpRows", lo: -80, hi: 0, run: func(y, x []Float) { ExpRows(y, x, zeros) }},
		{name: "WeighRows", lo: -80, hi: 0, run: func(y, x []Float) { WeighRows(y, x, zeros, make([]Float, 8)) }},
		{name: "Segments.Softmax", lo: -80, hi: -18, run: softened(func(y, x []Float) {
			(&Segments{Offsets: []int64{0, 2}, X: x, Y: y, Work: make([]Float, SegmentWork(8)), N: 8}).Softmax()
		})},
		{name: "Ranges.Softmax", lo: -80, hi: -18, run: softened(func(y, x []Float) {
			(&Ranges{Off: []int64{0, 2}, W: 8, Top: make([]Float, 8), Sum: make([]Float, 8), Apart: 8}).Softmax(y, x)
		})},
		{name: "Ranges.Weights", lo: -80, hi: 0, run: func(y, x []Float) {
			(&Ranges{Off: []int64{0, int64(len(x) / 8)}, W: 8, Top: zeros, Sum: ones, Apart: 8}).Weights(y, x)
		}},
		{name: "Scored.Attend", lo: -24, hi: 24, run: scoredExponents(false)},
		{name: "Scored.Retrace", lo: -24, hi: 24, run: scoredExponents(true)},
		{name: "Powers.Rows up", lo: -24, hi: 24, run: powersOf(0.25, false)},
		{name: "Powers.Rows down", lo: -24, hi: 24, f: func(x float64) float64 { return math.Exp(x / 2) }, z: half, run: powersOf(0.5, false)},
		{name: "Powers.Column up", lo: -24, hi: 24, run: powersOf(0.25, true)},
		{name: "Powers.Column down", lo: -24, hi: 24, f: func(x float64) float64 { return math.Exp(x / 2) }, z: half, run: powersOf(0.5, true)},
	}
	for _, lanes := range []int{1, 2, 4, 8} {
		places = append(places, exponentiated{name: "Tile.Soften", lo: -80, hi: 0, run: tileExponents(lanes, false)},
			exponentiated{name: "Tile.Weigh", lo: -80, hi: 0, run: tileExponents(lanes, true)})
	}
	return places
}

func TestExponentials(t *testing.T) {
	if unsafe.Sizeof(Float(0)) == 8 {
		t.Skip("no polynomial")
	}
	check := func(t *testing.T) {
		rng := rand.New(rand.NewPCG(15, 4))
		for _, p := range exponentials() {
			if p.f == nil {
				p.f = math.Exp
			}
			p.check(t, rng)
		}
	}
	t.Run(Path(), check)
	t.Run("narrow", func(t *testing.T) { defer Narrow()(); check(t) })
	t.Run("go", func(t *testing.T) { defer Disable()(); check(t) })
}
