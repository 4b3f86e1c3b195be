package memories

import (
	"fmt"
	"io"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/train"
)

// silent is a bitReader whose answers are all alike.
type silent struct{ B *grad.Param }

func (n *silent) Forward(t *grad.Tape, g *graph.Graph, _ *grad.Var) *grad.Var {
	return t.Use(n.B).Rows(make([]int32, g.NumNodes()))
}

// Two demos with neighbouring seeds learn from other sequences at every step, and are tried on
// others than any of these.
func TestNeighboursShareNoData(t *testing.T) {
	seen := map[uint64]string{}
	for seed := range uint64(4) {
		s := &stage.Stage{Ctx: t.Context(), Out: report.NewPrinter(io.Discard), Progress: report.NewProgress(io.Discard)}
		s.Seed, s.Epochs = seed, 1
		task := func(count, lo, hi int, stream uint64) text.Bits {
			what := fmt.Sprintf("seed %d, sequences %d", seed, len(seen))
			if other, ok := seen[stream]; ok {
				t.Fatalf("%s are those of %s", what, other)
			}
			seen[stream] = what
			return text.Task{Count: count, Min: 1, Symbols: 2, Seed: stream}.CopyBits()
		}
		l := onBits(s, &silent{grad.NewParam(1, 2)}, 1, 1, 1, task)
		l.Optimiser = &train.SGD{LR: 1}
		if err := l.Run(); err != nil {
			t.Fatal(err)
		}
	}
	if want := 4 * (100 + 1); len(seen) != want {
		t.Errorf("%d draws of sequences, want %d", len(seen), want)
	}
}
