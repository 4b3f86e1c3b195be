package main

import (
	"strings"
	"testing"
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
		if _, stderr, status := gatbench(t, append([]string{"train", "--task", "link"}, strings.Fields(args)...)...); status != misused || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, want %s", args, status, stderr, want)
		}
	}
}
