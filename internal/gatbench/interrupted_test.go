package gatbench

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// countingScorer cancels a context in its second call.
type countingScorer struct {
	knowledge.Scorer
	cancel func()
	calls  *int
}

func (s countingScorer) Forward(t *grad.Tape, facts *graph.Graph, x *grad.Var) *grad.Var {
	if *s.calls++; *s.calls == 2 {
		s.cancel()
	}
	return s.Scorer.Forward(t, facts, x)
}

// An evaluation that is interrupted ends before its next part: the ranks of facts, of links, and
// whatever is measured after a training.
func TestEvaluationInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := rotateRecipe(modelTransE)
	k, err := openFacts("", planted, &r)
	if err != nil {
		t.Fatal(err)
	}
	net, calls := newFactNet(k, &r), 0
	net.Scorer = countingScorer{net.Scorer, cancel, &calls}
	tape := grad.NewEval()
	if err := tape.Within(ctx, func() { net.ranks(tape, k, k.Train) }); !errors.Is(err, context.Canceled) || calls != 2 {
		t.Errorf("facts: %v after %d calls of the scorer, want 2", err, calls)
	}

	ctx, cancel = context.WithCancel(t.Context())
	if err := tape.Within(ctx, func() {
		s := &linkScores{tape: tape, rows: tensor.New(3, 2)}
		s.of(0)
		cancel()
		s.of(1)
		t.Error("the scores of another node")
	}); !errors.Is(err, context.Canceled) {
		t.Error("links:", err)
	}

	var out bytes.Buffer
	one := &trial{fit: &train.Fit{Epochs: 5}, summary: report.Summary{Interrupted: true, Epochs: 5, Checkpoint: "run"}}
	err = new(trainFlags).tell(one, report.NewPrinter(&out), context.Canceled)
	if err == nil || err.Error() != "interrupted after 5 of 5 epochs; to continue: gatbench train --resume run" || out.Len() > 0 {
		t.Error(err, out.String())
	}
}

// A signal in the first epoch of a task ends its training there.
func TestTasksInterrupted(t *testing.T) {
	for _, args := range []string{
		"--task link --dataset planted-rules --hidden 8 --batch 100 --epochs 9",
		"--task link --dataset karate --epochs 9",
		"--task graph --dataset " + molecules(t) + " --splits random --hidden 4 --epochs 9",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		out, errOut := &cancelling{cancel: cancel}, new(bytes.Buffer)
		status := run(cli.Env{Ctx: ctx, Out: out, ErrOut: errOut}, append([]string{"train", "--json"}, strings.Fields(args)...))
		if status != cli.Failed || errOut.String() != "gatbench: interrupted after 1 of 9 epochs\n" {
			t.Errorf("%s: status %d, error %q", args, status, errOut)
		}
	}
}
