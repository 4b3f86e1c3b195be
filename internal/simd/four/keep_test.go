//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// keepValues is the twin of DropValues and KeepValues.
func keepValues(cols []int32, from []float32, offsets []int64, factor func(row, col int) float32) (dropped []float64, toCols []int32, to []float64, ends []int64) {
	dropped = wide(from)
	for i := range len(offsets) - 1 {
		for k := offsets[i]; k < offsets[i+1]; k++ {
			if dropped[k] = float64(from[k]) * float64(factor(i, int(cols[k]))); dropped[k] != 0 {
				toCols, to = append(toCols, cols[k]), append(to, dropped[k])
			}
		}
		ends = append(ends, int64(len(to)))
	}
	return dropped, toCols, to, ends
}

func TestKeepValues(t *testing.T) {
	each(t, 200, func(t *testing.T, rng *rand.Rand) {
		rows, row, first := rng.IntN(6), rng.IntN(1000), rng.IntN(4)
		offsets, cols, _ := list(rng, rows, 5000, 1+rng.IntN(14))
		from := drawn(rng, len(cols), func() float32 { return max(0, rng.Float32()-0.1) })
		k0, k1, below, scale := rng.Uint32(), rng.Uint32(), rng.Uint32(), rng.Float32()+1
		dropped, wantCols, want, wantEnds := keepValues(cols, from.x, offsets, func(i, j int) float32 { return factorOf(k0, k1, below, scale, row+i, j) })
		m := NewMask(k0, k1, below, columnKey, scale, 1)
		const more = 4
		to, toCols := drawn(rng, first+len(want)+more, normal(rng)), make([]int32, first+len(want)+more+1)
		toCols[first+len(want)+more] = -9
		ends := append(make([]int64, rows), -9)
		KeepValues(begin(toCols), to.at(0), begin(ends), begin(cols), from.at(0), begin(offsets), unsafe.Pointer(&m), rows, row, first)
		to.intact(t, "KeepValues")
		near(t, "KeepValues", to.x[first:first+len(want)], want, 1)
		for i, end := range wantEnds {
			if ends[i] != end+int64(first) {
				t.Fatalf("KeepValues: row %d ends at %d, want %d", i, ends[i], end+int64(first))
			}
		}
		if !slices.Equal(toCols[first:first+len(want)], wantCols) || ends[rows] != -9 || toCols[len(toCols)-1] != -9 {
			t.Fatalf("KeepValues: columns %v, want %v after %d; ends %v", toCols, wantCols, first, ends)
		}
		out := drawn(rng, len(cols), normal(rng))
		if rng.IntN(2) == 0 { // in place
			out = from
		}
		copy(out.x[:offsets[0]], from.x)
		DropValues(out.at(0), begin(cols), from.at(0), begin(offsets), unsafe.Pointer(&m), rows, row)
		out.intact(t, "DropValues")
		near(t, "DropValues", out.x, dropped, 1)
	})
}

func TestPick(t *testing.T) {
	each(t, 100, func(t *testing.T, rng *rand.Rand) {
		n := rng.IntN(20)
		w, cols, edges := drawn(rng, n, func() float32 { return max(0, rng.Float32()-0.5) }), make([]int32, n), make([]int32, n)
		for i, e := range rng.Perm(n) {
			cols[i], edges[i] = rng.Int32N(99), int32(e)
		}
		given := edges
		if rng.IntN(2) == 0 {
			given = nil
		}
		var wantCols []int32
		var want []float64
		for k, c := range cols {
			e := k
			if given != nil {
				e = int(edges[k])
			}
			if v := w.x[e]; v != 0 {
				wantCols, want = append(wantCols, c), append(want, float64(v))
			}
		}
		to, toCols, list := drawn(rng, n, normal(rng)), make([]int32, n), begin(given)
		if given == nil {
			list = nil
			if rng.IntN(2) == 0 { // in place
				to, toCols = w, cols
			}
		}
		got := Pick(begin(toCols), to.at(0), begin(cols), w.at(0), list, n)
		to.intact(t, "Pick")
		if got != len(want) || !slices.Equal(toCols[:got], wantCols) {
			t.Fatalf("Pick: %d columns %v, want %v", got, toCols, wantCols)
		}
		near(t, "Pick", to.x[:got], want, 0)
	})
}
