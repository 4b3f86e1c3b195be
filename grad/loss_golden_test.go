package grad_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
)

// goldenFiles returns the names of n golden files.
func goldenFiles(t *testing.T, pattern string, n int) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/" + pattern + ".json")
	if err != nil || len(files) != n {
		t.Fatalf("%d files are %s, want %d (%v)", len(files), pattern, n, err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".json")
	}
	return files
}

func TestNLLGolden(t *testing.T) {
	for _, name := range goldenFiles(t, "nll_loss_*", 4) {
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			labels := s.Ints(t, "inputs", "target")
			for i, l := range labels {
				if l < 0 || float64(l) == s.number("ignore_index", -100) {
					labels[i] = grad.NoLabel
				}
			}
			s.check(crossEntropyOf(t, s.Case).OfLog(s.in("input"), labels))
		})
	}
}

func TestBCEGolden(t *testing.T) {
	for _, name := range goldenFiles(t, "bce_with_logits_*", 8) {
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			b := grad.BCE{Loss: grad.Loss{Reduction: reductionOf(s.Case)}}
			if s.Has("inputs", "pos_weight") {
				for _, v := range s.Tensor(t, "inputs", "pos_weight").Data {
					b.PosWeight = append(b.PosWeight, float64(v))
				}
			}
			if s.Has("inputs", "weight") {
				b.Weights = s.Tensor(t, "inputs", "weight")
			}
			s.check(b.Of(s.in("input"), s.in("target")))
		})
	}
}

func TestElementLossGolden(t *testing.T) {
	for pattern, c := range map[string]struct {
		files int
		f     func(s *sample, l grad.Loss, x, y *grad.Var) *grad.Var
	}{
		"mse_loss_*":     {3, func(_ *sample, l grad.Loss, x, y *grad.Var) *grad.Var { return l.MSE(x, y) }},
		"l1_loss":        {1, func(_ *sample, l grad.Loss, x, y *grad.Var) *grad.Var { return l.L1(x, y) }},
		"huber_loss_*":   {3, func(s *sample, l grad.Loss, x, y *grad.Var) *grad.Var { return l.Huber(x, y, s.number("delta", 1)) }},
		"smooth_l1_loss": {1, func(s *sample, l grad.Loss, x, y *grad.Var) *grad.Var { return l.SmoothL1(x, y, s.number("beta", 1)) }},
	} {
		for _, name := range goldenFiles(t, pattern, c.files) {
			t.Run(name, func(t *testing.T) {
				s := load(t, name)
				s.check(c.f(s, grad.Loss{Reduction: reductionOf(s.Case)}, s.in("input"), s.in("target")))
			})
		}
	}
}
