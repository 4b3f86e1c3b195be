//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package gemm

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

// mulAddFast is MulAdd of a product that is ready: of four rows and up to sixteen columns at a time, or of
// one row and up to 32.
func (p *Product) mulAddFast() bool {
	for j := 0; j < p.N; {
		n := p.N - j
		switch {
		case p.M == 1 && n >= 16:
			n = min(n, 32)
		case n >= 4:
			n = min(n, ProductPanel)
		default:
			n = 1
		}
		for i := 0; i < p.M; i += 4 {
			p.tile(i, j, n)
		}
		j += n
	}
	return true
}

// tile adds the product of four rows from i on and n columns from j on. A row that is not there is computed
// as the last.
func (p *Product) tile(i, j, n int) {
	var rows, to [4]int // bytes from the first row of A, and of C
	for r := range rows {
		k := min(i+r, p.M-1)
		rows[r] = (k/ProductGroup*p.Tile + k%ProductGroup*p.RS) * size
		to[r] = (k - i) * p.LDC * size
	}
	c, a, b := unsafe.Pointer(&p.C[i*p.LDC+j]), unsafe.Add(unsafe.Pointer(&p.A[0]), rows[0]), unsafe.Pointer(&p.B[j])
	r1, r2, r3, cs, ldb, set := rows[1]-rows[0], rows[2]-rows[0], rows[3]-rows[0], p.CS*size, p.LDB*size, 0
	if p.Set {
		set = 1
	}
	switch {
	case n > ProductPanel || p.M == 1 && n == ProductPanel:
		four.Tile1x32(c, a, b, n, p.K, cs, ldb, set)
	case n >= 8:
		four.Tile4x16(c, a, b, n, p.K, r1, r2, r3, cs, ldb, to[1], to[2], to[3], set)
	case n >= 4:
		four.Tile4x8(c, a, b, n, p.K, r1, r2, r3, cs, ldb, to[1], to[2], to[3], set)
	default:
		four.Tile4x1(c, a, b, p.K, r1, r2, r3, cs, ldb, to[1], to[2], to[3], set)
	}
}
