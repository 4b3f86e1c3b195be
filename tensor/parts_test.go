package tensor

import (
	"testing"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// The tiles of a product cover each of its elements once, none is empty, and where there is
// the work they keep the threads busy.
func TestGrid(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 8, 16, 33, 200} {
		back := par.SetThreads(threads)
		for _, size := range [][4]int{ // of c, and the steps and parts of k
			{1, 1, 100, 1}, {128, 512, 3200, 2}, {128, 128, 3200, 2}, {1024, 1024, 1024, 1}, {500, 64, 19717, 8}, {16, 300, 4200, 2},
			{97, 33, 5000, 2}, {7, 600, 4096, 2}, {2000, 7, 20000, 8}, {256, 256, 1024, 1},
		} {
			m, n, k, parts := size[0], size[1], size[2], size[3]
			g := gemm{m: m, n: n, k: k, a: view{rs: 1, cs: m}, b: view{rs: n, cs: 1}, part: parts > 1}
			most := m * n * (k / parts) / chunkWork
			rows, columns := g.grid(parts, most)
			covers(t, m, 6, rows)
			covers(t, n, tileColumns, columns)
			if chunks := parts * rows * columns; chunks < threads && m >= 128 && n >= 64 && threads <= 16 {
				t.Errorf("%v: %d chunks for %d threads", size, chunks, threads)
			} else if rows*columns > max(1, most) || threads == 2 && parts%2 == 0 && rows*columns > 1 {
				t.Errorf("%v: %d×%d tiles on %d threads", size, rows, columns, threads)
			}
		}
		back()
	}
}

// A loop's chunks are a multiple of the threads where that makes them no shorter than half.
func TestEven(t *testing.T) {
	for _, c := range [][4]int{{100_000, 4_000, 16, 3_136}, {100_000, 4_000, 4, 3_584}, {64_000, 1_000, 16, 1_000}, {9, 3, 16, 2}, {10, 5, 16, 3}, {40, 1, 16, 1}, {5_000, 2_500, 200, 1_264}} {
		step := even(c[0], c[1], c[2])
		if step != c[3] || step > c[1] {
			t.Errorf("%d in steps of %d on %d threads: %d, want %d", c[0], c[1], c[2], step, c[3])
		}
	}
}

// covers checks that portions cut n into so many parts.
func covers(t *testing.T, n, unit, parts int) {
	t.Helper()
	end := 0
	for i := range parts {
		lo, hi := portion(n, unit, i, parts)
		if lo != end || hi <= lo || hi-lo > longest(n, unit, parts) {
			t.Errorf("part %d of %d of %d is %d to %d", i, parts, n, lo, hi)
		}
		end = hi
	}
	if end != n {
		t.Errorf("%d parts of %d end at %d", parts, n, end)
	}
}
