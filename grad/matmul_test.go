package grad_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestMatMulGroups is the product of each group by itself, whose sums are exact, gradients
// included; a group may have no rows.
func TestMatMulGroups(t *testing.T) {
	for _, ends := range [][]int{{0, 3, 3, 10}, {10, 10, 10, 10}, {0, 0, 0, 0}, {2500, 2600, 2601, 5000}} {
		rows := ends[3]
		x, w, dy := whole(rows, 4), whole(4, 4, 3), whole(rows, 3)
		tape := grad.NewTape(1)
		vx, vw := tape.Watch(x), tape.Watch(w)
		y := vx.MatMulGroups(vw, ends)
		other := vx.MatMulGroups(vw.Scale(0), ends) // adds to gradients that are there
		grads := tape.BackwardFrom(y.Add(other), dy)
		dw := make([]float64, len(w.Data))
		for i, k := 0, 0; i < rows; i++ {
			for i >= ends[k] {
				k++
			}
			for b := range 3 {
				sum := tensor.Float(0)
				for a := range 4 {
					sum += x.Data[i*4+a] * w.Data[k*12+a*3+b]
					dw[k*12+a*3+b] += float64(x.Data[i*4+a] * dy.Data[i*3+b])
				}
				if got := y.Value().Data[i*3+b]; got != sum {
					t.Fatalf("%v: row %d, column %d is %v, want %v", ends, i, b, got, sum)
				}
			}
			for a := range 4 {
				sum := tensor.Float(0)
				for b := range 3 {
					sum += dy.Data[i*3+b] * w.Data[k*12+a*3+b]
				}
				if got := grads.Of(vx).Data[i*4+a]; got != sum {
					t.Fatalf("%v: gradient %d of row %d is %v, want %v", ends, a, i, got, sum)
				}
			}
		}
		compare.Near(t, fmt.Sprintf("%v: gradients of the matrices", ends), grads.Of(vw).Data, dw, compare.Off(1e-9, 0))
	}
	x, w := grad.Const(whole(5, 4)), grad.Const(whole(2, 4, 3))
	for why, f := range map[string]func(){
		"do not rise": func() { x.MatMulGroups(w, []int{3, 4}) },
		"cannot take": func() { x.MatMulGroups(w, []int{5}) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("got %v, want an error about %q", err, why)
		}
	}
}
