package tensor

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestShapes(t *testing.T) {
	x := New(2, 3, 4)
	for i := range x.Data {
		x.Data[i] = Float(i)
	}
	if x.Axes() != 3 || x.Rows() != 2 || x.RowLen() != 12 || x.Dim(1) != 3 || x.Dim(-1) != 4 || !slices.Equal(x.Shape(), []int{2, 3, 4}) {
		t.Errorf("shape %v", x.Shape())
	}
	if r := x.RowRange(1, 2); !slices.Equal(r.Shape(), []int{1, 3, 4}) || r.Data[0] != 12 || cap(r.Data) != 12 {
		t.Errorf("RowRange is %v", r)
	}
	if x.RowRange(2, 2).Rows() != 0 || x.Row(1)[11] != 23 || New(5).RowLen() != 1 {
		t.Error("an empty range, a row or a vector")
	}
	for _, c := range []struct{ ask, want []int }{
		{[]int{-1}, []int{24}}, {[]int{4, -1}, []int{4, 6}}, {[]int{-1, 2, 3, 4}, []int{1, 2, 3, 4}}, {[]int{6, 4}, []int{6, 4}},
	} {
		if got := x.Reshape(c.ask...).Shape(); !slices.Equal(got, c.want) {
			t.Errorf("Reshape%v is %v", c.ask, got)
		}
	}
	if got := New(0, 3).Reshape(-1, 3).Shape(); !slices.Equal(got, []int{0, 3}) {
		t.Errorf("Reshape of nothing is %v", got)
	}
	view := x.Reshape(24)
	view.Data[0] = 7
	if c := x.Clone(); x.Data[0] != 7 || &c.Data[0] == &x.Data[0] || !slices.Equal(c.Data, x.Data) {
		t.Error("Reshape copies, or Clone does not")
	}
}

// TestRefused names the operation and the shapes.
func TestRefused(t *testing.T) {
	x := New(2, 3)
	for want, f := range map[string]func(){
		"tensor.Size: cannot take shape []":                    func() { New() },
		"tensor.Size: cannot take shape [1 1 1 1 1]":           func() { New(1, 1, 1, 1, 1) },
		"tensor.Size: cannot take shape [2 -1]":                func() { New(2, -1) },
		": the size overflows":                                 func() { New(math.MaxInt/2+1, math.MaxInt/2+1) },
		fmt.Sprintf("[%d]: the size overflows", math.MaxInt):   func() { New(math.MaxInt) },
		"tensor.Of: cannot take shape [3] with [2 2]":          func() { Of(make([]Float, 3), 2, 2) },
		"tensor.Reshape: cannot take shape [2 3] with [4 -1]":  func() { x.Reshape(4, -1) },
		"tensor.Reshape: cannot take shape [2 3] with [-1 -1]": func() { x.Reshape(-1, -1) },
		"tensor.Reshape: cannot take shape [2 3] with [-2 -3]": func() { x.Reshape(-2, -3) },
		"tensor.Reshape: cannot take shape [2 3] with [5]":     func() { x.Reshape(5) },
		"tensor.RowRange: cannot take shape [2 3] with [1 3]":  func() { x.RowRange(1, 3) },
		"tensor.RowRange: cannot take shape [2 3] with [2 1]":  func() { x.RowRange(2, 1) },
		"tensor.Add: cannot take shape [2 3] with [3 2]":       func() { x.Add(New(3, 2)) },
	} {
		if err := Try(f); !errors.As(err, new(*ShapeError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	if err := Try(func() { x.Reshape(-1, -1) }); err == nil {
		t.Error("two holes in a shape: no error")
	}
	if err := Try(func() {}); err != nil {
		t.Errorf("nothing went wrong, but: %v", err)
	}
	defer func() {
		if recover() != "other" {
			t.Error("Try swallows other panics")
		}
	}()
	_ = Try(func() { panic("other") })
}

func TestBroadcast(t *testing.T) {
	for _, c := range []struct{ a, b, want []int }{
		{[]int{4, 3}, []int{3}, []int{4, 3}}, {[]int{1}, []int{5, 0}, []int{5, 0}}, {[]int{2, 1, 4}, []int{3, 1}, []int{2, 3, 4}},
		{[]int{0, 3}, []int{1, 3}, []int{0, 3}}, {[]int{2, 3}, []int{2}, nil}, {[]int{0}, []int{2}, nil}, {[]int{4, 3}, []int{3, 3}, nil},
	} {
		for range 2 {
			if got, ok := Broadcast(c.a, c.b); ok != (c.want != nil) || !slices.Equal(got, c.want) {
				t.Errorf("%v with %v is %v, %v", c.a, c.b, got, ok)
			}
			c.a, c.b = c.b, c.a
		}
	}
}

func TestStretch(t *testing.T) {
	for _, c := range []struct {
		from, to []int
		want     []int32
	}{
		{[]int{2, 3}, []int{2, 3}, nil},
		{[]int{3}, []int{2, 3}, []int32{0, 1, 2, 0, 1, 2}},
		{[]int{2, 1}, []int{2, 3}, []int32{0, 0, 0, 1, 1, 1}},
		{[]int{2, 1, 2}, []int{2, 2, 2}, []int32{0, 1, 0, 1, 2, 3, 2, 3}},
		{[]int{1}, []int{0, 2}, []int32{}},
	} {
		if got := Stretch(c.from, c.to); !slices.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%v to %v is %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

// TestInitialisers checks bounds, and mean and deviation to five of their own
// standard errors.
func TestInitialisers(t *testing.T) {
	const n = 40_000
	for name, c := range map[string]struct {
		fill          func(d *Dense, rng *rand.Rand)
		mean, std     float64
		bound, fourth float64 // the largest size, and E[x⁴]/σ⁴
	}{
		"Uniform":       {func(d *Dense, r *rand.Rand) { d.Uniform(r, -1, 3) }, 1, 4 / math.Sqrt(12), 3, 1.8},
		"Normal":        {func(d *Dense, r *rand.Rand) { d.Normal(r, 2, 0.5) }, 2, 0.5, math.Inf(1), 3},
		"GlorotUniform": {func(d *Dense, r *rand.Rand) { d.GlorotUniform(r, 100, 50, 2) }, 0, 2 * math.Sqrt(2.0/150), 2 * math.Sqrt(6.0/150), 1.8},
		"GlorotNormal":  {func(d *Dense, r *rand.Rand) { d.GlorotNormal(r, 100, 50, 2) }, 0, 2 * math.Sqrt(2.0/150), math.Inf(1), 3},
	} {
		d, same := New(n), New(n)
		c.fill(d, rand.New(rand.NewPCG(1, 9)))
		c.fill(same, rand.New(rand.NewPCG(1, 9)))
		if !slices.Equal(d.Data, same.Data) {
			t.Errorf("%s: the same seed gives other numbers", name)
		}
		mean, square, biggest := 0.0, 0.0, 0.0
		for _, v := range d.Data {
			x := float64(v)
			mean += x / n
			square += (x - c.mean) * (x - c.mean) / n
			biggest = max(biggest, math.Abs(x))
		}
		if math.Abs(mean-c.mean) > 5*c.std/math.Sqrt(n) || math.Abs(square/(c.std*c.std)-1) > 5*math.Sqrt((c.fourth-1)/n) || biggest > c.bound*(1+1e-6) {
			t.Errorf("%s: mean %v, deviation %v, largest %v; want %v, %v, %v", name, mean, math.Sqrt(square), biggest, c.mean, c.std, c.bound)
		}
		if !math.IsInf(c.bound, 1) && biggest < 0.99*c.bound {
			t.Errorf("%s: never near its bound %v: %v", name, c.bound, biggest)
		}
	}
}

func TestOrthogonal(t *testing.T) {
	for _, s := range [][2]int{{1, 1}, {5, 5}, {3, 9}, {32, 64}, {0, 4}, {9, 3}, {64, 32}} {
		d := New(s[0], s[1])
		d.Orthogonal(rand.New(rand.NewPCG(2, 9)))
		n, flags := d.Rows(), TransB
		if s[0] > s[1] {
			n, flags = d.RowLen(), TransA
		}
		gram := New(n, n)
		MatMul(gram, d, d, flags)
		for i := range gram.Rows() {
			for j, v := range gram.Row(i) {
				want := Float(0)
				if i == j {
					want = 1
				}
				if math.Abs(float64(v-want)) > 1e-5 {
					t.Fatalf("%v: product of %d and %d is %v", s, i, j, v)
				}
			}
		}
	}
}

func TestString(t *testing.T) {
	if got := Of([]Float{1, 2}, 1, 2).String(); got != "Dense[1 2][1 2]" {
		t.Errorf("a small array is %q", got)
	}
	if got := New(100).String(); got != "Dense[100]" {
		t.Errorf("a large array is %q", got)
	}
}

func ExampleDense() {
	x := Of([]Float{1, 2, 3, 4, 5, 6}, 3, 2)
	w := Of([]Float{10, 1}, 2, 1)
	y := New(3, 1)
	MatMul(y, x, w, 0) // y += xw
	fmt.Println(y.Shape(), y.Data)
	fmt.Println(x.RowRange(1, 3).Reshape(-1).Data)
	// Output:
	// [3 1] [12 34 56]
	// [3 4 5 6]
}
