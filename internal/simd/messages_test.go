package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// index returns n numbers below most.
func index(rng *rand.Rand, n, most int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = rng.Int32N(int32(most))
	}
	return out
}

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
	rows := index(rng, n+rng.IntN(40), table)
	trial(t, fmt.Sprintf("GatherRows of %d by", n), 0, [][]Float{draw(n*w, some(rng)), draw(table*w, some(rng))}, func(s [][]Float) {
		Rows(w).Gather(s[0], s[1], rows)
	})
	to, from := index(rng, table, n+1), short(index(rng, n, table))
	trial(t, fmt.Sprintf("ScatterRows of %d by", n), 0, [][]Float{draw((n+1)*w, some(rng)), draw(table*w, some(rng))}, func(s [][]Float) {
		Rows(w).Scatter(s[0], s[1], to, from)
	})
	trial(t, fmt.Sprintf("AddRows of %d by", n), 0, [][]Float{draw(w, some(rng)), draw(n*w, some(rng))}, func(s [][]Float) {
		if w > 0 {
			AddRows(s[0], s[1])
		}
	})
}

func checkGroups(t *testing.T, rng *rand.Rand, n, d int) {
	t.Helper()
	for name, f := range map[string]func(y, c, x []Float){
		"Spread":      func(y, c, _ []Float) { Runs(d).Spread(y, c) },
		"SpreadAdd":   func(y, c, _ []Float) { Runs(d).SpreadAdd(y, c) },
		"ScaleGroups": func(y, c, x []Float) { Runs(d).Scale(y, c, x) },
	} {
		trial(t, fmt.Sprintf("%s, %d runs,", name, n), 0, [][]Float{draw(n*d, some(rng)), draw(n, some(rng)), draw(n*d, some(rng))},
			func(s [][]Float) { f(s[0], s[1], s[2]) })
	}
	// What is summed is positive, so that nothing cancels.
	y, c, x := draw(n*d, rng64(rng)), draw(n, rng64(rng)), draw(n*d, rng64(rng))
	trial(t, fmt.Sprintf("AxpyGroups, %d runs,", n), 1e-6, [][]Float{y, c, x}, func(s [][]Float) { Runs(d).Axpy(s[0], s[1], s[2]) })
	trial(t, fmt.Sprintf("DotGroups, %d runs,", n), 1e-5, [][]Float{c, x, y}, func(s [][]Float) { Runs(d).Dot(s[0], s[1], s[2]) })
	trial(t, fmt.Sprintf("SumGroups, %d runs,", n), 1e-5, [][]Float{c, x}, func(s [][]Float) { Runs(d).Sum(s[0], s[1]) })
	odd := draw(n*d, some(rng))
	for i := range odd {
		if odd[i] < 0 { // a NaN or +Inf must show; infinities of two signs too
			odd[i] = -odd[i]
		}
	}
	trial(t, fmt.Sprintf("SumGroups of extremes, %d runs,", n), 1e-5, [][]Float{c, odd}, func(s [][]Float) { Runs(d).Sum(s[0], s[1]) })
}

func TestTileRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	for w := range 201 {
		for _, n := range []int{0, 1, 2, 7, 30} {
			checkTileRows(t, rng, n, w)
		}
	}
	for n := range 201 {
		checkTileRows(t, rng, n, 3)
	}
	checkTileRows(t, rng, 70000, 3) // more than one call, and an array beyond the cache
	checkTileRows(t, rng, 3000, 64) // beyond the cache, too
	checkTileRows(t, rng, 3, 20000)
}

func TestTileGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 1))
	for d := range 201 {
		for _, n := range []int{0, 1, 2, 9} {
			checkGroups(t, rng, n, d)
		}
	}
	for n := range 201 {
		checkGroups(t, rng, n, 5)
	}
	checkGroups(t, rng, 9000, 3)
	checkGroups(t, rng, 2, 20000)
}

func checkBest(t *testing.T, rng *rand.Rand, rows, w int) {
	t.Helper()
	stride := w + rng.IntN(3)
	for _, least := range []bool{false, true} {
		x := draw(rows*stride+w, some(rng))
		start := draw(w, some(rng))
		var got, want []int32
		trial(t, fmt.Sprintf("Best of %d rows,", rows), 0, [][]Float{start, x}, func(s [][]Float) {
			b := Best{Least: least, Stride: stride, Value: s[0], Row: make([]int32, w)}
			for j := range b.Row {
				b.Row[j] = int32(j%3 - 1)
			}
			half := rows / 2
			b.Take(s[1], half, 5)
			b.Take(s[1][half*stride:], rows-half, 5+half)
			got, want = b.Row, got
		})
		for j := range got {
			if got[j] != want[j] {
				t.Fatalf("Best of %d rows of %d: column %d is of row %d, in assembly %d", rows, w, j, got[j], want[j])
			}
		}
	}
}

func TestTileBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 1))
	for w := range 201 {
		for _, rows := range []int{0, 1, 2, 13} {
			checkBest(t, rng, rows, w)
		}
	}
	for rows := range 201 {
		checkBest(t, rng, rows, 11)
	}
	checkBest(t, rng, 20000, 2)
}

func FuzzMessages(f *testing.F) {
	f.Add(uint64(1), uint16(3), uint16(8))
	f.Add(uint64(2), uint16(200), uint16(65))
	f.Fuzz(func(t *testing.T, seed uint64, n, w uint16) {
		rng := rand.New(rand.NewPCG(seed, 2))
		rows, width := int(n%300), int(w%300)
		checkTileRows(t, rng, rows, width)
		checkGroups(t, rng, rows, width)
		checkBest(t, rng, rows, width)
	})
}

func BenchmarkMessages(b *testing.B) {
	rng := rand.New(rand.NewPCG(24, 1))
	const n, w, d = 32, 64, 8
	x, y, z, c := draw(n*w, plain(rng)), draw(n*w, plain(rng)), draw(n*w, plain(rng)), draw(n*d, plain(rng))
	rows := index(rng, n, n)
	for name, f := range map[string]func(){
		"gather":  func() { Rows(w).Gather(y, x, rows) },
		"scatter": func() { Rows(w).Scatter(y, x, rows, short(rows)) },
		"add":     func() { AddRows(y[:w], x) },
		"spread":  func() { Runs(d).Spread(y, c) },
		"scale":   func() { Runs(d).Scale(y, c, x) },
		"axpy":    func() { Runs(d).Axpy(y, c, x) },
		"dot":     func() { Runs(d).Dot(c, x, z) },
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
	for n := range 201 {
		trial(t, fmt.Sprintf("Fetch of %d", n), 0, [][]Float{draw(n, some(rng))}, func(s [][]Float) { Fetch(s[0]) })
	}
}
