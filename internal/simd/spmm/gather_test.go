package spmm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// short is a list of indices that fit.
func short(rows []int32) []uint16 {
	out := make([]uint16, len(rows))
	for i, r := range rows {
		out[i] = uint16(r)
	}
	return out
}

func checkTileRows(t *testing.T, rng *rand.Rand, n, w int) {
	t.Helper()
	table := n + 3
	rows := simdtest.Index(rng, n+rng.IntN(40), table)
	simdtest.Trial(t, fmt.Sprintf("GatherRows of %d by", n), 0, [][]Float{simdtest.Draw(n*w, simdtest.Some(rng)), simdtest.Draw(table*w, simdtest.Some(rng))}, func(s [][]Float) {
		Rows(w).Gather(s[0], s[1], rows)
	})
	to, from := simdtest.Index(rng, table, n+1), short(simdtest.Index(rng, n, table))
	simdtest.Trial(t, fmt.Sprintf("ScatterRows of %d by", n), 0, [][]Float{simdtest.Draw((n+1)*w, simdtest.Some(rng)), simdtest.Draw(table*w, simdtest.Some(rng))}, func(s [][]Float) {
		Rows(w).Scatter(s[0], s[1], to, from)
	})
	simdtest.Trial(t, fmt.Sprintf("AddRows of %d by", n), 0, [][]Float{simdtest.Draw(w, simdtest.Some(rng)), simdtest.Draw(n*w, simdtest.Some(rng))}, func(s [][]Float) {
		if w > 0 {
			vec.AddRows(s[0], s[1])
		}
	})
}

func TestTileRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	for _, w := range simdtest.Lengths() {
		for _, n := range []int{0, 1, 2, 7, 30} {
			checkTileRows(t, rng, n, w)
		}
	}
	for _, n := range simdtest.Lengths() {
		checkTileRows(t, rng, n, 3)
	}
	checkTileRows(t, rng, 70000, 3) // more than one call, and an array beyond the cache
	checkTileRows(t, rng, 3000, 64) // beyond the cache, too
	checkTileRows(t, rng, 3, 20000)
}

func FuzzRowLists(f *testing.F) {
	f.Add(uint64(1), uint16(3), uint16(8))
	f.Add(uint64(2), uint16(200), uint16(65))
	f.Fuzz(func(t *testing.T, seed uint64, n, w uint16) {
		rng := rand.New(rand.NewPCG(seed, 2))
		checkTileRows(t, rng, int(n%300), int(w%300))
	})
}

func BenchmarkRowLists(b *testing.B) {
	rng := rand.New(rand.NewPCG(24, 1))
	const n, w = 32, 64
	x, y := simdtest.Draw(n*w, simdtest.Plain(rng)), simdtest.Draw(n*w, simdtest.Plain(rng))
	rows := simdtest.Index(rng, n, n)
	for name, f := range map[string]func(){
		"gather":  func() { Rows(w).Gather(y, x, rows) },
		"scatter": func() { Rows(w).Scatter(y, x, rows, short(rows)) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
		})
	}
}

// Asking for a slice changes nothing, and reads nothing beyond it.
func TestFetch(t *testing.T) {
	rng := rand.New(rand.NewPCG(47, 1))
	for _, n := range simdtest.Lengths() {
		simdtest.Trial(t, fmt.Sprintf("Fetch of %d", n), 0, [][]Float{simdtest.Draw(n, simdtest.Some(rng))}, func(s [][]Float) { Fetch(s[0]) })
	}
}
