package writing

import (
	"io"
	"os"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/layers/attention"
)

// Without positions a Transformer cannot reverse a word; without the causal mask it learns
// to copy what it is told, and writes nothing right by itself.
func TestReverseLacks(t *testing.T) {
	if os.Getenv("EDGEWISE_LONG") == "" {
		t.Skip("trains two Transformers: set EDGEWISE_LONG=1")
	}
	s := &stage.Stage{Ctx: t.Context(), Out: report.NewPrinter(io.Discard), Progress: report.NewProgress(io.Discard)}
	test := reverseWords(200, 1<<32)
	lost, leak := newReverser(s, "without positions", attention.NoPositions), newReverser(s, "without the causal mask", attention.Sinusoidal)
	leak.Leak = true
	for i, r := range []*reverser{lost, leak} {
		l, err := r.train(s, test, []int{4, 6}[i])
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: loss %.4f, exact %.3f", r.Name, stage.Last(l.Losses), stage.Last(l.Scores))
		if most := []float64{0.2, 0.5}[i]; !(stage.Last(l.Scores) < most) {
			t.Errorf("%s: %v are right, want less than %v", r.Name, stage.Last(l.Scores), most)
		}
		if r.Leak && !(stage.Last(l.Losses) < 0.05) {
			t.Errorf("%s: the loss is %v: it has not learnt to copy", r.Name, stage.Last(l.Losses))
		}
	}
}
