package points

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// MostOnTour is how many points [Tour] takes: it needs 4·n·2ⁿ bytes and n²·2ⁿ/4 steps.
const MostOnTour = 16

// Tour returns the rows of x in the order of the shortest way through all of them and back,
// by the dynamic programme of Held and Karp, "A Dynamic Programming Approach to Sequencing
// Problems", 1962. It begins at row 0, and of its two directions it has the one whose second
// row is lower than its last. The error names a point that is not finite, or says that there
// are too many.
func Tour(x *tensor.Dense) ([]int32, error) {
	at, err := plane("points.Tour", x)
	if err != nil {
		return nil, err
	}
	n := len(at)
	switch {
	case n > MostOnTour:
		return nil, fmt.Errorf("points: a tour of %d points; %d is the most that is found exactly", n, MostOnTour)
	case n == 0:
		return nil, nil
	}
	h := newHeldKarp(at)
	tour := []int32{0}
	// Back from the end: what is left to visit is a set of rows from 1 on, bit i for row i+1.
	for left, last := 1<<(n-1)-1, n-1; left != 0; {
		last = h.before(left, last)
		tour, left = append(tour, int32(last)+1), left&^(1<<last)
	}
	if n > 2 && tour[1] > tour[n-1] {
		slices.Reverse(tour[1:])
	}
	return tour, nil
}

// heldKarp holds how long the shortest way is from row 0 through each set of other rows to
// each of its members.
type heldKarp struct {
	n    int       // rows but 0
	far  []float64 // from each row but 0 to each other, and to row 0: n+1 a row
	best []float64 // by set and last member
}

func newHeldKarp(at []point) *heldKarp {
	n := len(at) - 1
	h := &heldKarp{n: n, far: make([]float64, 0, n*(n+1)), best: make([]float64, n<<n)}
	for _, a := range at[1:] {
		for _, b := range at[1:] {
			h.far = append(h.far, a.to(b))
		}
		h.far = append(h.far, a.to(at[0]))
	}
	for set := 1; set < 1<<n; set++ {
		for last := range n {
			rest := set &^ (1 << last)
			if rest == set {
				continue
			}
			d := h.far[last*(n+1)+n]
			if rest != 0 {
				k := h.before(rest, last)
				d = h.best[rest*n+k] + h.far[k*(n+1)+last]
			}
			h.best[set*n+last] = d
		}
	}
	return h
}

// before returns the member of a set that the shortest way through it to next ends with; a
// next of n is row 0.
func (h *heldKarp) before(set, next int) int {
	found, least := -1, math.Inf(1)
	best := h.best[set*h.n:][:h.n]
	for s := uint(set); s != 0; s &= s - 1 {
		k := bits.TrailingZeros(s)
		if d := best[k] + h.far[k*(h.n+1)+next]; d < least || found < 0 {
			found, least = k, d
		}
	}
	return found
}

// Length returns how long the way is through some rows of x and back to the first of them.
func Length(x *tensor.Dense, tour []int32) float64 {
	wantColumns("points.Length", x, 2)
	sum := 0.0
	for i := range tour {
		sum += row(x, tour[i]).to(row(x, tour[(i+1)%len(tour)]))
	}
	return sum
}
