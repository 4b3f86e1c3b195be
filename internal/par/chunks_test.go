package par

import (
	"sync"
	"testing"
)

// Whoever takes, at whichever end, each part is taken once.
func TestChunksOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 1000} {
		var c chunks
		c.open(n)
		took := make([][]int, 4)
		var wg sync.WaitGroup
		for g := range took {
			wg.Go(func() {
				take := c.first
				if g%2 == 1 {
					take = c.last
				}
				for lo, hi := take(); lo < hi; lo, hi = take() {
					for i := lo; i < hi; i++ {
						took[g] = append(took[g], i)
					}
				}
			})
		}
		wg.Wait()
		times := make([]int, n)
		for _, list := range took {
			for _, i := range list {
				times[i]++
			}
		}
		for i, k := range times {
			if k != 1 {
				t.Errorf("of %d parts, %d was taken %d times", n, i, k)
			}
		}
		if k := c.left(); k != 0 {
			t.Errorf("of %d parts, %d are left", n, k)
		}
	}
}

// Two threads meet in the middle, by fewer and fewer parts at a time.
func TestChunksEnds(t *testing.T) {
	defer SetThreads(2)()
	var c chunks
	c.open(20)
	for _, want := range [][4]int{{0, 3, 17, 20}, {3, 5, 15, 17}, {5, 7, 14, 15}, {7, 8, 13, 14}, {8, 9, 12, 13}, {9, 10, 11, 12}, {10, 11, 11, 11}} {
		var got [4]int
		got[0], got[1] = c.first()
		if got[2], got[3] = c.last(); got[2] == got[3] {
			got[2], got[3] = got[1], got[1]
		}
		if got != want {
			t.Errorf("took %v of 20, want %v", got, want)
		}
	}
	if lo, hi := c.first(); lo != hi || c.left() != 0 {
		t.Errorf("took %d to %d of none, and %d are left", lo, hi, c.left())
	}
	c.open(5)
	c.first()
	if k := c.drop(); k != 4 {
		t.Errorf("dropped %d, want 4", k)
	}
}
