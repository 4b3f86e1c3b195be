package fact

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
)

// RotatE finds the rules that were planted.
func TestPlantedRules(t *testing.T) {
	lines := tasktest.Results(t, "train", "--task", "link", "--dataset", source.Planted, "--hidden", "16", "--lr", "0.05", "--json", "--epochs", "60")
	if s := lines[len(lines)-1]; s["event"] != "summary" || s["model"] != "rotate" || s["test_mrr"].(float64) < 0.9 || s["test_hits_at_10"].(float64) < 0.95 || len(lines) != 61 {
		t.Errorf("%d lines, the last of which is %v", len(lines), s)
	}
	if text := tasktest.OK(t, "train", "--task", "link", "--dataset", source.Planted, "--model", "transe", "--epochs", "1"); !strings.Contains(text, "TransE, rows of 64; 120 entities, 6 relations") {
		t.Errorf("%s", text)
	}
	for args, want := range map[string]string{
		"--model rotate --dataset nothing.tsv": "nothing.tsv: there is no such file or folder: name a text of head, relation and tail a line",
		"--model complex --hidden 3":           "--hidden 3: want a width from 1 to 65536, and an even one",
		"--model rotate --epochs 0":            "--epochs 0",
		"--model rotate --heads 2":             "--heads: a scorer of facts has none",
	} {
		if _, stderr, status := tasktest.Gatbench(t, append([]string{"train", "--task", "link"}, strings.Fields(args)...)...); status != cli.Misused || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, want %s", args, status, stderr, want)
		}
	}
}

// Of large graphs few facts choose the epoch, and the page says of how many the validation MRR is.
func TestFactsThatChoose(t *testing.T) {
	facts := func(n int) *graph.Graph { return graph.Must(graph.New(2, make([]int32, n), make([]int32, n))) }
	for _, c := range []struct{ entities, val, want int }{{40943, 3034, 50}, {14541, 17535, 72}, {120, 60, 60}, {40943, 20, 20}} {
		if got := chosenBy(&datasets.Knowledge{Entities: c.entities, Val: facts(c.val)}); got != c.want {
			t.Errorf("of %d facts of %d entities %d are ranked, want %d", c.val, c.entities, got, c.want)
		}
	}
	k, err := datasets.PlantedRules(rand.New(rand.NewPCG(0, 7)), 10, 12)
	if err != nil {
		t.Fatal(err)
	}
	for ranked, want := range map[int]string{50: "validation MRR, 0.250 over 50 of the 3034 validation facts (eval ranks all); ", 3034: "validation MRR, 0.250; "} {
		var b strings.Builder
		one := &task.Trial{Line: func() any { return factSummary{ValMRR: 0.25, ValRanked: ranked, ValFacts: 3034} }}
		(&Training{Flags: new(task.Flags), data: k}).page(report.NewPrinter(&b), &Recipe{Epochs: 9}, one)
		if text := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(text, want) {
			t.Errorf("%s\nwant %s", text, want)
		}
	}
	lines := tasktest.Results(t, "train", "--task", "link", "--dataset", source.Planted, "--epochs", "1", "--json")
	if s := lines[1]; s["val_ranked"] != 60.0 || s["val_facts"] != 60.0 {
		t.Errorf("%v", s)
	}
}

func FuzzQuestions(f *testing.F) {
	f.Add("head\trelation\ttail\n3\tnext\t?\n?\topposite\t7\n")
	f.Add("3,next,4\n?,next,?\n")
	k, err := datasets.PlantedRules(rand.New(rand.NewPCG(0, 7)), 10, 12)
	if err != nil {
		f.Fatal(err)
	}
	r := RotatE(modelDistMult)
	r.Hidden = 2
	dir := f.TempDir()
	file := filepath.Join(dir, "m")
	if err := task.Save(file, NewNetwork(k, &r).trained(k), r, nil); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := tasktest.FileWith(t, "q.tsv", text)
		m := &Model{&task.SavedFlags{File: file, DataFlags: task.DataFlags{Dataset: new(string)}}}
		*m.Dataset = source.Planted
		write, err := m.Predict(cli.Env{Ctx: t.Context(), ErrOut: io.Discard}, &task.Questions{Queries: path, Known: true})
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Fatalf("no file is named: %v", err)
			}
			return
		}
		if err := write(io.Discard); err != nil {
			t.Fatal(err)
		}
	})
}

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

// An evaluation that is interrupted ends before the next rank.
func TestRanksInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := RotatE(modelTransE)
	k, err := openFacts("", source.Planted, &r)
	if err != nil {
		t.Fatal(err)
	}
	net, calls := NewNetwork(k, &r), 0
	net.Scorer = countingScorer{net.Scorer, cancel, &calls}
	tape := grad.NewEval()
	if err := tape.Within(ctx, func() { net.ranked(tape, k, k.Train, nil) }); !errors.Is(err, context.Canceled) || calls != 2 {
		t.Errorf("facts: %v after %d calls of the scorer, want 2", err, calls)
	}
}
