package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// AddRows adds the rows of x, each as long as y, to y, in order:
//
//	y[j] += Σ_i x[i·len(y)+j]
func AddRows(y, x []Float) {
	if cpu.Fast && whole(x, y) && addRowsFast(y, x) {
		return
	}
	for n := len(y); len(x) > 0; x = x[n:] {
		for j, v := range x[:n] {
			y[j] += v
		}
	}
}

// Best keeps the largest or smallest element of each column of rows that come
// in parts, and which row it was. Ties go to the first; a NaN beats all others.
type Best struct {
	Least  bool    // keep the smallest
	Stride int     // between the rows
	Value  []Float // of each column
	Row    []int32 // of each column; −1: none yet, then Value is anything
}

// Take compares the columns with those of rows that stand Stride apart in x,
// whose numbers count from first.
func (b *Best) Take(x []Float, rows, first int) {
	if rows <= 0 || len(b.Value) == 0 {
		return
	}
	_ = x[(rows-1)*b.Stride+len(b.Value)-1]
	if cpu.Fast && len(b.Value) <= cpu.AtOnce && b.takeFast(x, rows, first) {
		return
	}
	for i := range rows {
		for j, v := range x[i*b.Stride : i*b.Stride+len(b.Value)] {
			best := &b.Value[j]
			better := v > *best
			if b.Least {
				better = v < *best
			}
			if b.Row[j] < 0 || better || v != v && *best == *best {
				*best, b.Row[j] = v, int32(first+i)
			}
		}
	}
}
