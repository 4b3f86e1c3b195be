package gatbench

import (
	"bytes"
	"context"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"path/filepath"
	"strings"
	"testing"
)

// TestInterruptedAtOnce: commands that have nothing to keep say one word, and
// those that load what they train on too.
func TestInterruptedAtOnce(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m")
	Ok(t, "train", "--model", "mlp", "--epochs", "1", "--save", model, "--checkpoint", model+".run")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range []string{
		"train", "train --resume " + model + ".run", "eval " + model, "predict " + model, "predict --out " + model + ".csv " + model,
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
