package sparing

import (
	"math/rand/v2"
	"sync"
)

// drawn are normal random numbers, a prime number of them, so that rows of no width begin
// at the same ones.
var drawn = sync.OnceValue(func() []float64 {
	rng, x := rand.New(rand.NewPCG(8, 8)), make([]float64, 16381)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
})

// Normals sets x to normal random numbers, of which few are drawn: they follow one another
// from a place that rng draws, and begin again after 16,381. To draw each takes longer than
// most kernels take to compute with it.
func Normals[F ~float32 | ~float64](rng *rand.Rand, x []F) {
	from := drawn()
	at := rng.IntN(len(from))
	for i := range x {
		x[i] = F(from[at])
		if at++; at == len(from) {
			at = 0
		}
	}
}
