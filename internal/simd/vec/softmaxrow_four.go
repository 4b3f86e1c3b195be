//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package vec

import (
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

// inColumns calls do for parts of a matrix that no call takes too long for: where a part begins, its first column, and its rows
// and columns. One or two columns come as four, each more than once.
func inColumns(size, n int, do func(at, column, rows, n int)) {
	if n < 3 {
		n = 4
	}
	for column := 0; column < n; column += cpu.AtOnce {
		width, rows := next(n, column), size/n
		step := max(1, cpu.AtOnce/width)
		for r := 0; r < rows; r += step {
			do(r*n+column, column, min(step, rows-r), width)
		}
	}
	if rest := size % n; rest > 0 {
		do(size-rest, 0, 1, rest)
	}
}

// fourOf are the numbers of columns, those of one or two as four.
func fourOf(to *[4]Float, x []Float) []Float {
	if len(x) > 2 {
		return x
	}
	for i := range to {
		to[i] = x[i%len(x)]
	}
	return to[:]
}

// strideOf is how many bytes are from row to row for inColumns.
func strideOf(n int) int {
	if n < 3 {
		n = 4
	}
	return n * floatSize
}

// few is how many elements plain Go has raised or divided by the time that a kernel has begun.
const few = 24

func topRowsFast(top, x []Float) bool {
	if len(x) < few {
		return false
	}
	var own [4]Float
	to, n := fourOf(&own, top), len(top)
	inColumns(len(x), n, func(at, column, rows, width int) {
		four.TopRows(begin(to, column), begin(x, at), rows, width, strideOf(n))
	})
	if n < 3 {
		for i, v := range to {
			if v > top[i%n] {
				top[i%n] = v
			}
		}
	}
	return true
}

func weighRowsFast(y, x, top, sum []Float) bool {
	n := len(top)
	if n < 3 { // the sums are chains in the order of rows, as those of a part of them are
		expRowsFast(y, x, top)
		for i, v := range y {
			sum[i%n] += v
		}
		return true
	}
	inColumns(len(x), n, func(at, column, rows, width int) {
		four.WeighRows(begin(y, at), begin(x, at), begin(top, column), begin(sum, column), constants(), rows, width, strideOf(n))
	})
	return true
}

func expRowsFast(y, x, top []Float) bool {
	var own [4]Float
	most, n := fourOf(&own, top), len(top)
	inColumns(len(x), n, func(at, column, rows, width int) {
		four.WeighRows(begin(y, at), begin(x, at), begin(most, column), nil, constants(), rows, width, strideOf(n))
	})
	return true
}

func divideRowsFast(y, sum []Float) bool {
	if len(y) < few {
		return false
	}
	var own [4]Float
	by, n := fourOf(&own, sum), len(sum)
	inColumns(len(y), n, func(at, column, rows, width int) {
		four.DivideRows(begin(y, at), begin(by, column), rows, width, strideOf(n))
	})
	return true
}
