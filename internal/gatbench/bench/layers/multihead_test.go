package layers

import (
	"fmt"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
)

// Small relatives of the rows run, with their gradients.
func TestAttend(t *testing.T) {
	s := attendShape{2, 3, 16, 8}
	if s.String() != "2x3x16x8" {
		t.Errorf("the name is %v", s)
	}
	for _, w := range []bench.Work{
		s.task(newMultiHead(s.d, s.heads)).workload(), s.task(newEncoderLayer(s, encoderDrop)).workload(), window(7, 2),
	} {
		w.Call()
		w.Forward()
	}
}

// Steps one after the other attend as all at once do: the two rows are the same work.
func TestAdditiveSteps(t *testing.T) {
	s := additiveShape{3, 4, 5, 6}
	whole, steps := s.task(s.t).forward(grad.NewEval().Input).Value(), s.task(1).forward(grad.NewEval().Input).Value()
	for b := range s.b {
		for at := range s.t {
			x, y := whole.Row(b*s.t+at), steps.Row(at*s.b+b)
			compare.Near(t, fmt.Sprintf("sentence %d, step %d, at once and alone", b, at), x, y, compare.Off(1e-6, 0))
		}
	}
	for _, at := range []int{1, s.t} {
		w := s.task(at).workload()
		w.Call()
		w.Forward()
	}
}

// A small relative of the generating rows runs.
func TestGenerate(t *testing.T) {
	s := generateShape{2, 5, 8, 2, 1, 7}
	if s.String() != "2x5x8x2x1" {
		t.Errorf("the name is %v", s)
	}
	w := s.workload()
	w.Call()
	w.Call()
}
