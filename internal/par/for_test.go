package par

import (
	"math"
	"testing"
)

func TestForEveryIndexOnce(t *testing.T) {
	each(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 2, 7, 64, 1000} {
			for _, grain := range []int{-1, 0, 1, 3, 64, 1000, math.MaxInt} {
				hits := make([]int32, n)
				For(n, grain, func(lo, hi int) {
					if lo >= hi || hi-lo > max(grain, 1) {
						t.Errorf("range %d to %d of %d, grain %d", lo, hi, n, grain)
					}
					for i := lo; i < hi; i++ {
						hits[i]++
					}
				})
				once(t, hits)
			}
		}
	})
}

func TestForOfHugeRange(t *testing.T) {
	const grain = math.MaxInt/2 + 1
	var end [2]int
	For(math.MaxInt, grain, func(lo, hi int) { end[lo/grain] = hi })
	if end != [2]int{grain, math.MaxInt} {
		t.Errorf("ranges end at %v", end)
	}
}
