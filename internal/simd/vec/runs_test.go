package vec

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

func checkGroups(t *testing.T, rng *rand.Rand, n, d int) {
	t.Helper()
	for name, f := range map[string]func(y, c, x []Float){
		"Spread":      func(y, c, _ []Float) { Runs(d).Spread(y, c) },
		"SpreadAdd":   func(y, c, _ []Float) { Runs(d).SpreadAdd(y, c) },
		"ScaleGroups": func(y, c, x []Float) { Runs(d).Scale(y, c, x) },
	} {
		simdtest.Trial(t, fmt.Sprintf("%s, %d runs,", name, n), 0, [][]Float{simdtest.Draw(n*d, simdtest.Some(rng)), simdtest.Draw(n, simdtest.Some(rng)), simdtest.Draw(n*d, simdtest.Some(rng))},
			func(s [][]Float) { f(s[0], s[1], s[2]) })
	}
	// What is summed is positive, so that nothing cancels.
	y, c, x := simdtest.Draw(n*d, simdtest.NearOne(rng)), simdtest.Draw(n, simdtest.NearOne(rng)), simdtest.Draw(n*d, simdtest.NearOne(rng))
	simdtest.Trial(t, fmt.Sprintf("AxpyGroups, %d runs,", n), 1e-6, [][]Float{y, c, x}, func(s [][]Float) { Runs(d).Axpy(s[0], s[1], s[2]) })
	simdtest.Trial(t, fmt.Sprintf("DotGroups, %d runs,", n), 1e-5, [][]Float{c, x, y}, func(s [][]Float) { Runs(d).Dot(s[0], s[1], s[2]) })
	simdtest.Trial(t, fmt.Sprintf("SumGroups, %d runs,", n), 1e-5, [][]Float{c, x}, func(s [][]Float) { Runs(d).Sum(s[0], s[1]) })
	odd := simdtest.Draw(n*d, simdtest.Some(rng))
	for i := range odd {
		if odd[i] < 0 { // a NaN or +Inf must show; infinities of two signs too
			odd[i] = -odd[i]
		}
	}
	simdtest.Trial(t, fmt.Sprintf("SumGroups of extremes, %d runs,", n), 1e-5, [][]Float{c, odd}, func(s [][]Float) { Runs(d).Sum(s[0], s[1]) })
}

func TestTileGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 1))
	for _, d := range simdtest.Lengths() {
		for _, n := range []int{0, 1, 2, 9} {
			checkGroups(t, rng, n, d)
		}
	}
	for _, n := range simdtest.Lengths() {
		checkGroups(t, rng, n, 5)
	}
	checkGroups(t, rng, 9000, 3)
	checkGroups(t, rng, 2, 20000)
}

func checkBest(t *testing.T, rng *rand.Rand, rows, w int) {
	t.Helper()
	stride := w + rng.IntN(3)
	for _, least := range []bool{false, true} {
		x := simdtest.Draw(rows*stride+w, simdtest.Some(rng))
		start := simdtest.Draw(w, simdtest.Some(rng))
		var got, want []int32
		simdtest.Trial(t, fmt.Sprintf("Best of %d rows,", rows), 0, [][]Float{start, x}, func(s [][]Float) {
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
	for _, w := range simdtest.Lengths() {
		for _, rows := range []int{0, 1, 2, 13} {
			checkBest(t, rng, rows, w)
		}
	}
	for _, rows := range simdtest.Lengths() {
		checkBest(t, rng, rows, 11)
	}
	checkBest(t, rng, 20000, 2)
}

func FuzzRuns(f *testing.F) {
	f.Add(uint64(1), uint16(3), uint16(8))
	f.Add(uint64(2), uint16(200), uint16(65))
	f.Fuzz(func(t *testing.T, seed uint64, n, w uint16) {
		rng := rand.New(rand.NewPCG(seed, 2))
		rows, width := int(n%300), int(w%300)
		checkGroups(t, rng, rows, width)
		checkBest(t, rng, rows, width)
	})
}

func BenchmarkRuns(b *testing.B) {
	rng := rand.New(rand.NewPCG(24, 1))
	const n, w, d = 32, 64, 8
	x, y, z, c := simdtest.Draw(n*w, simdtest.Plain(rng)), simdtest.Draw(n*w, simdtest.Plain(rng)), simdtest.Draw(n*w, simdtest.Plain(rng)), simdtest.Draw(n*d, simdtest.Plain(rng))
	for name, f := range map[string]func(){
		"add":    func() { AddRows(y[:w], x) },
		"spread": func() { Runs(d).Spread(y, c) },
		"scale":  func() { Runs(d).Scale(y, c, x) },
		"axpy":   func() { Runs(d).Axpy(y, c, x) },
		"dot":    func() { Runs(d).Dot(c, x, z) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
		})
	}
}
