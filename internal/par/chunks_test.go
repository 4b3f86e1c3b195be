package par

import (
	"sync"
	"testing"
)

// Whoever takes, and from whichever range, each part is taken once, of one loop after the other.
func TestChunksOnce(t *testing.T) {
	c := newChunks()
	for _, n := range []int{1, 2, 3, 1000, 7, 1 << 16} {
		for _, ranges := range []int{1, 2, 3, 16} {
			c.open(n, min(n, ranges))
			l := c.current()
			took := make([][]int, 4)
			var wg sync.WaitGroup
			for g := range took {
				wg.Go(func() {
					for i := range int(l.ranges) {
						r := (g + i) % int(l.ranges)
						for lo, hi := c.take(l, r); lo < hi; lo, hi = c.take(l, r) {
							for i := lo; i < hi; i++ {
								took[g] = append(took[g], i)
							}
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
					t.Errorf("of %d parts in %d ranges, %d was taken %d times", n, ranges, i, k)
				}
			}
			if k := c.drop(l); k != 0 {
				t.Errorf("of %d parts in %d ranges, %d are left", n, ranges, k)
			}
		}
	}
}

// A range is taken by fewer and fewer parts at a time, and who comes late, for an older loop,
// takes none of a newer one.
func TestChunksOrder(t *testing.T) {
	c := newChunks()
	c.open(20, 2)
	first := c.current()
	for _, want := range [][2]int{{10, 13}, {13, 15}, {15, 17}, {17, 18}, {18, 19}, {19, 20}, {0, 0}} {
		if lo, hi := c.take(first, 1); lo != want[0] || hi != want[1] {
			t.Errorf("took %d to %d, want %d to %d", lo, hi, want[0], want[1])
		}
	}
	c.take(first, 0)
	if k := c.drop(first); k != 7 {
		t.Errorf("dropped %d, want 7", k)
	}
	c.open(20, 2)
	if lo, hi := c.take(c.current(), 0); lo != 0 || hi != 3 {
		t.Errorf("took %d to %d of the next loop, want 0 to 3", lo, hi)
	}
	for r := range 2 {
		if lo, hi := c.take(first, r); lo != hi {
			t.Errorf("took %d to %d of a loop that is over", lo, hi)
		}
	}
}

// A range that no loop had for a very long time can be taken.
func TestChunksForLong(t *testing.T) {
	c := newChunks()
	c.open(16, 16)
	c.drop(c.current())
	for number := uint32(renewed); number < 3<<30; number += renewed {
		c.head.Store(uint64(number-1) << 32)
		c.open(2, 2)
		c.drop(c.current())
	}
	c.open(16, 16)
	if k := c.drop(c.current()); k != 16 {
		t.Errorf("%d of 16 parts can be taken", k)
	}
}
