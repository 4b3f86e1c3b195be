package node

import (
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// Rounds of H2GCN have no Params, which a check of the file's size knows; its layers and SuperGAT's have no batches.
func TestH2GCNCommand(t *testing.T) {
	file := t.TempDir() + "/m"
	args := "train --dataset karate --splits random --model h2gcn --layers 3 --hidden 256 --epochs 1 --save " + file
	tasktest.OK(t, strings.Fields(args)...)
	if text := tasktest.OK(t, "eval", file); !strings.Contains(text, "H2GCN") { // rounds have no Params, which a check of the file's size knows
		t.Errorf("eval says %s", text)
	}
	for args, says := range map[string]string{
		"train --model h2gcn --layers 1":   "--layers 1: h2gcn has a dense layer and from 1 to 6 rounds",
		"train --model h2gcn --batch 10":   "--batch 10: a layer of h2gcn looks several hops far",
		"train --model supergat --batch 9": "--batch 9: a layer of supergat learns from edges and pairs of the whole graph",
	} {
		if _, stderr, status := tasktest.Gatbench(t, strings.Fields(args)...); status != cli.Misused || !strings.Contains(stderr, says) {
			t.Errorf("%s: %s, want %s", args, stderr, says)
		}
	}
}
