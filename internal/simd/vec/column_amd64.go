//go:build !noasm && !f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func addRowsFast(y, x []Float) bool {
	n := len(y)
	step := max(cpu.AtOnce/n, 1)
	for ; len(x) > 0; x = x[min(step*n, len(x)):] {
		rows := min(step, len(x)/n)
		j := 0
		for ; n-j >= 32; j += 32 {
			addRows32AVX2(&y[j], &x[j], rows, n)
		}
		for ; j < n; j += 8 {
			addRowsAVX2(&y[j], &x[j], rows, n, min(8, n-j))
		}
	}
	return true
}

func (b *Best) takeFast(x []Float, rows, first int) bool {
	n := len(b.Value)
	row := b.Row[:n]
	for step := max(cpu.AtOnce/n, 1); rows > 0; rows -= step {
		some := min(step, rows)
		for j := 0; j < n; j += 8 {
			if w := min(8, n-j); b.Least {
				leastRowsAVX2(&b.Value[j], &row[j], &x[j], some, b.Stride, w, first)
			} else {
				mostRowsAVX2(&b.Value[j], &row[j], &x[j], some, b.Stride, w, first)
			}
		}
		if rows > step {
			x = x[step*b.Stride:]
		}
		first += step
	}
	return true
}
