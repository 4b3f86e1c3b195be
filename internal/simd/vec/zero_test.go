package vec

import (
	"math"
	"testing"
)

// plainZero is the loop that HasZero equals.
func plainZero(x []Float) bool {
	for _, v := range x {
		if v == 0 {
			return true
		}
	}
	return false
}

// TestHasZero looks at every place of every small length, with zeros on either
// side of the slice.
func TestHasZero(t *testing.T) {
	odd := []Float{1, Float(math.NaN()), Float(math.Inf(1)), Float(math.Inf(-1)), -3, math.SmallestNonzeroFloat32}
	for n := range 201 {
		for shift := range 9 {
			all := make([]Float, shift+n+40)
			x := all[shift : shift+n]
			for i := range x {
				x[i] = odd[(i+shift)%len(odd)]
			}
			if HasZero(x) {
				t.Fatalf("found a zero in %d elements from %d on, which are %v", n, shift, x)
			}
			for i, v := range x {
				for _, zero := range []Float{0, Float(math.Copysign(0, -1))} {
					if x[i] = zero; !HasZero(x) {
						t.Fatalf("%v at %d of %d elements was not found", zero, i, n)
					}
				}
				x[i] = v
			}
		}
	}
}

// What is more than one call is given is looked at to the end.
func TestHasZeroOfMany(t *testing.T) {
	x := make([]Float, 1<<16+45)
	for i := range x {
		x[i] = 1
	}
	for at := 0; at < len(x); at += 501 {
		if HasZero(x) {
			t.Fatalf("found a zero before element %d had one", at)
		}
		if x[at] = 0; !HasZero(x) {
			t.Fatalf("a zero at %d was not found", at)
		}
		x[at] = 1
	}
}

func FuzzHasZero(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0, 5})
	f.Add(make([]byte, 70))
	f.Fuzz(func(t *testing.T, b []byte) {
		x := make([]Float, len(b))
		for i, v := range b {
			x[i] = Float(int8(v))
		}
		if got, want := HasZero(x), plainZero(x); got != want {
			t.Fatalf("HasZero is %t, want %t", got, want)
		}
	})
}

func BenchmarkHasZero(b *testing.B) {
	x := make([]Float, 1<<12)
	for i := range x {
		x[i] = 1
	}
	for b.Loop() {
		if HasZero(x) {
			b.Fatal("there is none")
		}
	}
}
