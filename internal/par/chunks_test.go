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
				for i, ok := take(); ok; i, ok = take() {
					took[g] = append(took[g], i)
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

func TestChunksEnds(t *testing.T) {
	var c chunks
	c.open(5)
	a, _ := c.first()
	b, _ := c.last()
	if a != 0 || b != 4 || c.left() != 3 {
		t.Errorf("took %d and %d of 5, and %d are left; want 0, 4 and 3", a, b, c.left())
	}
	if k := c.drop(); k != 3 {
		t.Errorf("dropped %d, want 3", k)
	}
	if _, ok := c.first(); ok {
		t.Error("took one of none")
	}
}
