package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestLinkTask trains autoencoders of both kinds, which tell links from what is none.
func TestLinkTask(t *testing.T) {
	for _, model := range []string{modelGAE, modelVGAE} {
		args := []string{"train", "--task", "link", "--model", model, "--epochs", "20", "--hidden", "16", "--json"}
		out, errOut, status := gatbench(t, args...)
		if status != succeeded {
			t.Fatalf("%s: status %d: %s", model, status, errOut)
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		var s linkSummary
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &s); err != nil {
			t.Fatal(err)
		}
		if len(lines) != 21 || s.Event != "summary" || s.TestAUC < 0.75 || s.TestAP < 0.75 || s.BestEpoch < 1 {
			t.Errorf("%s: %d lines, the last of which is %+v", model, len(lines), s)
		}
		if again, _, _ := gatbench(t, append(args, "--threads", "1")...); lastAUC(t, again) != s.TestAUC {
			t.Errorf("%s: another run has AUC %v, not %v", model, lastAUC(t, again), s.TestAUC)
		}
	}
	out, errOut, _ := gatbench(t, "train", "--task", "link", "--epochs", "2", "--seeds", "2")
	if !strings.Contains(out, "2 seeds: test AUC") {
		t.Errorf("two seeds: %s%s", out, errOut)
	}
	if out, errOut, _ = gatbench(t, "train", "--task", "link", "--epochs", "2"); !strings.Contains(out, "263 to validate and 527 to test") {
		t.Errorf("one seed: %s%s", out, errOut)
	}
}

func lastAUC(t *testing.T, out string) float64 {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var s linkSummary
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &s); err != nil {
		t.Fatal(err)
	}
	return s.TestAUC
}

func TestLinkMisuse(t *testing.T) {
	for args, want := range map[string]string{
		"--model gat":            "--model gat: there is none of that name; there are gae, vgae, transe",
		"--heads 2":              "--heads: a graph autoencoder has none: leave it out",
		"--hidden 0":             "--hidden 0: it must be at least 1",
		"--epochs 0":             "--epochs 0: it must be at least 1",
		"--lr 0":                 "--lr 0: it must be a number above 0",
		"--seeds 0":              "--seeds 0: it must be at least 1",
		"--threads=-1":           "--threads -1: it must be at least 1",
		"--features sums":        "--features sums: there is none of that name",
		"--seeds 2 --save x.st":  "--save keeps one model and --seeds 2 trains 2",
		"--dataset nothing":      `there is no dataset "nothing"`,
		"--data /nowhere/at/all": "--data /nowhere/at/all: there is no such folder",
	} {
		_, errOut, status := gatbench(t, append([]string{"train", "--task", "link"}, strings.Fields(args)...)...)
		if status != misused || !strings.Contains(errOut, want) {
			t.Errorf("%s: status %d, %q, want %q", args, status, errOut, want)
		}
	}
	if _, errOut, status := gatbench(t, "train", "--task", "graphs"); status != misused || !strings.Contains(errOut, "task") {
		t.Errorf("--task graphs: status %d, %q", status, errOut)
	}
}
