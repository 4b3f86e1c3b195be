//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// BenchmarkKernels runs some kernels beside their twins.
func BenchmarkKernels(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	const rows, each, width = 100, 10, 64
	offsets, cols := make([]int64, rows+1), make([]int32, rows*each)
	for i := range offsets {
		offsets[i] = int64(i * each)
	}
	for k := range cols {
		cols[k] = rng.Int32N(rows)
	}
	draw := func(n int) []float32 { return drawn(rng, n, positive(rng)).x }
	x, y, w, far, rec := draw(rows*width), draw(rows*width), draw(len(cols)), draw(rows*16), draw(rows*16)
	signed := drawn(rng, rows*width, normal(rng)).x
	big, small, c := draw(128*64), draw(4*128), draw(4*64)
	der, strides := draw(rows*4), RetraceStrides{16, 64, 64, 16, 16, 64, 4, 0, 0}
	bytes := RetraceStrides{64, 256, 256, 64, 64, 256, 16, 0, 0}
	table := unsafe.Pointer(&Table)
	for _, k := range []struct {
		name         string
		kernel, twin func()
	}{
		{"sums of 100 rows of 64 columns, 1,000 nonzeros", func() {
			RowsSum16(begin(y), begin(x), begin(w), begin(offsets), begin(cols), nil, rows, width, 4*width, 4*width, 4, 0, len(cols), 1)
		}, func() { plainRows(y, x, w, offsets, cols, width) }},
		{"sums of 100 rows of 32 columns, 1,000 nonzeros", func() {
			RowsSum8(begin(y), begin(x), begin(w), begin(offsets), begin(cols), nil, rows, 32, 4*width, 4*width, 4, 0, len(cols), 1)
		}, func() { plainRows(y, x, w, offsets, cols, 32) }},
		{"product of 4 x 128 x 16", func() {
			Tile4x16(begin(c), begin(small), begin(big), 16, 128, 512, 1024, 1536, 4, 64, 64, 128, 192, 1)
		}, func() { product(c, small, big, 4, 16, 128, 128, 1, 16, 16, true) }},
		{"ELU of 6,400 elements", func() { ELU(begin(y), begin(signed), table, len(x), 1) }, func() {
			for i, v := range signed {
				if !(v > 0) {
					v = float32(math.Expm1(float64(v)))
				}
				y[i] = v
			}
		}},
		{"Exp of 6,400 elements", func() { Exp(begin(y), begin(x), table, len(x)) }, func() {
			for i, v := range x {
				y[i] = float32(math.Exp(float64(v)))
			}
		}},
		{"Add of 6,400 elements", func() { Add(begin(y), begin(x), begin(x), len(x)) }, func() {
			for i, v := range x {
				y[i] = v + x[i]
			}
		}},
		{"attention of 100 nodes, 1,000 edges, 4 heads of 8", func() {
			copy(rec, far)
			AttendHeads8(begin(offsets), begin(cols), begin(far), begin(x), begin(y), begin(rec), begin(w), nil, rows, 32, 64, 256, 256, 64)
		}, func() {
			copy(rec, far)
			attendNodes(offsets, cols, far, x, y, rec, w, 4, 8, [4]int{16, 64, 64, 16}, 8, func(_, _ int) float32 { return 1 })
		}},
		{"the way back of attention", func() {
			RetraceHeads8(begin(offsets), begin(cols), nil, begin(far), begin(x), begin(y), begin(rec), begin(far), begin(x), begin(der), nil, unsafe.Pointer(&bytes), rows, 16, 0.2)
		}, func() {
			a := retraced[float32]{far, x, y, rec, far, x, der}
			a.retrace(offsets, cols, nil, strides, 4, 8, 4, 0.2, func(_, _ int) float32 { return 1 })
		}},
	} {
		b.Run(k.name+"/kernel", func(b *testing.B) {
			for b.Loop() {
				k.kernel()
			}
		})
		b.Run(k.name+"/go", func(b *testing.B) {
			for b.Loop() {
				k.twin()
			}
		})
	}
}

// plainRows is sumRows as package spmm writes it: row by row, and not column by column.
func plainRows(y, x, w []float32, offsets []int64, cols []int32, n int) {
	for i := range len(offsets) - 1 {
		to := y[i*n : i*n+n]
		clear(to)
		for k := offsets[i]; k < offsets[i+1]; k++ {
			by := w[k]
			for j, v := range x[int(cols[k])*n:][:n] {
				to[j] += float32(by * v)
			}
		}
	}
}
