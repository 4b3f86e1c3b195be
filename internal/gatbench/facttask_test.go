package gatbench

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
)

// RotatE finds the rules that were planted.
func TestPlantedRules(t *testing.T) {
	lines := results(t, "train", "--task", "link", "--dataset", planted, "--hidden", "16", "--lr", "0.05", "--json", "--epochs", "60")
	if s := lines[len(lines)-1]; s["event"] != "summary" || s["model"] != "rotate" || s["test_mrr"].(float64) < 0.9 || s["test_hits_at_10"].(float64) < 0.95 || len(lines) != 61 {
		t.Errorf("%d lines, the last of which is %v", len(lines), s)
	}
	if text := ok(t, "train", "--task", "link", "--dataset", planted, "--model", "transe", "--epochs", "1"); !strings.Contains(text, "TransE, rows of 64; 120 entities, 6 relations") {
		t.Errorf("%s", text)
	}
	for args, want := range map[string]string{
		"--model rotate --dataset nothing.tsv": "--dataset nothing.tsv: there is no such file or folder: name a text of head, relation and tail a line",
		"--model complex --hidden 3":           "--hidden 3: want a width from 1 to 65536, and an even one",
		"--model rotate --epochs 0":            "--epochs 0",
		"--model rotate --heads 2":             "--heads: a scorer of facts has none",
	} {
		if _, stderr, status := gatbench(t, append([]string{"train", "--task", "link"}, strings.Fields(args)...)...); status != cli.Misused || !strings.Contains(stderr, want) {
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
		one := &trial{line: func() any { return factSummary{ValMRR: 0.25, ValRanked: ranked, ValFacts: 3034} }}
		(&factTraining{trainFlags: new(trainFlags), data: k}).page(report.NewPrinter(&b), &factRecipe{Epochs: 9}, one)
		if text := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(text, want) {
			t.Errorf("%s\nwant %s", text, want)
		}
	}
	lines := results(t, "train", "--task", "link", "--dataset", planted, "--epochs", "1", "--json")
	if s := lines[1]; s["val_ranked"] != 60.0 || s["val_facts"] != 60.0 {
		t.Errorf("%v", s)
	}
}
