package gatbench

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// Every command line that is advised begins with the program as it was called.
func TestAdviceNamesProgram(t *testing.T) {
	defer func(was string) { cli.Program = was }(cli.Program)
	cli.Program = "go run ./cmd/gatbench"
	tasktest.Nowhere(t)
	dir := t.TempDir()
	saved := filepath.Join(dir, "m.safetensors")
	for args, want := range map[string]string{
		"train --model mlp --epochs 1":                 "\nnext: go run ./cmd/gatbench train --model mlp --epochs 1 --seeds 10\n",
		"train --model mlp --epochs 1 --seeds 2":       "\nnext: go run ./cmd/gatbench train --model mlp --epochs 1 --save cora.safetensors\n",
		"train --model mlp --epochs 1 --save " + saved: "\nnext: go run ./cmd/gatbench eval " + saved + "\n",
		"data list":                          "not here: go run ./cmd/gatbench data fetch pubmed\n",
		"data describe pubmed --data " + dir: ": get it with go run ./cmd/gatbench data fetch pubmed, or",
		"train --dataset pubmed":             ": get it with go run ./cmd/gatbench data fetch pubmed, or",
		"data fetch texas":                   "; go run ./cmd/gatbench data list shows",
		"data fetch MUTAG":                   "; then go run ./cmd/gatbench train MUTAG",
		"train --task graph --dataset MUTAG": "; then go run ./cmd/gatbench train MUTAG",
		"zzz":                                "; go run ./cmd/gatbench --help lists",
		"--help":                             "Usage: go run ./cmd/gatbench <command>",
	} {
		stdout, stderr, _ := tasktest.Gatbench(t, strings.Fields(args)...)
		if !strings.Contains(stdout+stderr, want) {
			t.Errorf("%s: no %q in\n%s%s", args, want, stdout, stderr)
		}
	}
}
