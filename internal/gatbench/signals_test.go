package gatbench

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// TestInterruptedAtOnce: commands that have nothing to keep say one word, and
// those that load what they train on too.
func TestInterruptedAtOnce(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m")
	tasktest.OK(t, "train", "--model", "mlp", "--epochs", "1", "--save", model, "--checkpoint", model+".run")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range []string{
		"train", "train --resume " + model + ".run", "eval " + model, "predict " + model, "explain --node 1 " + model, "predict --out " + model + ".csv " + model,
		"data list", "data describe cora", "data check " + model, "data convert cora -o " + model + ".npz", "bench dropout",
	} {
		var out, errOut bytes.Buffer
		status := Run(cli.Env{Ctx: ctx, Out: &out, ErrOut: &errOut}, strings.Fields(args))
		if status != cli.Failed || out.Len() > 0 || errOut.String() != "gatbench: interrupted\n" {
			t.Errorf("gatbench %s: status %d, output %q, error %q", args, status, &out, &errOut)
		}
	}
	if left, _ := filepath.Glob(model + "*"); len(left) != 2 {
		t.Errorf("there are %q", left)
	}
}
