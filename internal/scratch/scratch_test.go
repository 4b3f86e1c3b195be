package scratch

import (
	"runtime"
	"testing"
)

// A large request takes the smallest buffer that is large enough, and small ones
// take none of these.
func TestBorrowLarge(t *testing.T) {
	const n = 1 << largeBits
	a, b := Borrow(2*n), Borrow(3*n)
	Repay(b)
	Repay(a)
	c := Borrow(n + 1)
	if c != a || len(*c) != n+1 {
		t.Errorf("%d elements came out of %d, want the smaller of the two", len(*c), cap(*c))
	}
	if d := Borrow(n + 1); d != b {
		t.Error("the other buffer was not taken")
	}
	small := Borrow(10)
	if len(*small) != 10 || cap(*small) > n {
		t.Errorf("10 elements came out of %d", cap(*small))
	}
	Repay(small)
	Repay(c)
	Repay(b)
	runtime.KeepAlive(a)
}

// What is in use belongs to one caller, and a buffer that the collector took is
// not handed out.
func TestBorrowCollected(t *testing.T) {
	const n = 1 << (largeBits + 2)
	Repay(Borrow(n))
	runtime.GC()
	runtime.GC()
	a, b := Borrow(n), Borrow(n)
	if &(*a)[0] == &(*b)[0] {
		t.Fatal("two callers have the same elements")
	}
	(*a)[n-1], (*b)[n-1] = 1, 2
	if (*a)[n-1] != 1 {
		t.Error("the elements of one are the other's")
	}
	for _, n := range []int{0, 1, 2, 1 << largeBits} {
		s := Borrow(n)
		if len(*s) != n {
			t.Errorf("%d elements, want %d", len(*s), n)
		}
		Repay(s)
	}
}
