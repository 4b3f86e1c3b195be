package gatbench

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// TestPromptly: what hangs is left behind.
func TestPromptly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hangs := make(chan struct{})
	defer close(hangs)
	_, err := promptly(ctx, func() (int, error) {
		cancel()
		<-hangs
		return 0, nil
	})
	if !errors.Is(err, errInterrupted) {
		t.Errorf("error %v", err)
	}
	if n, err := promptly(t.Context(), func() (int, error) { return 7, errors.ErrUnsupported }); n != 7 || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %d, error %v", n, err)
	}
	if _, err := promptly(ctx, func() (int, error) { t.Error("begun after the signal"); return 0, nil }); !errors.Is(err, errInterrupted) {
		t.Errorf("error %v", err)
	}
}

// TestInterruptedAtOnce: commands that have nothing to keep say one word, and
// those that load what they train on too.
func TestInterruptedAtOnce(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m")
	ok(t, "train", "--model", "mlp", "--epochs", "1", "--save", model, "--checkpoint", model+".run")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range []string{
		"train", "train --resume " + model + ".run", "eval " + model, "predict " + model, "predict --out " + model + ".csv " + model,
		"data list", "data describe cora", "data check " + model, "data convert cora -o " + model + ".npz", "bench dropout",
	} {
		var out, errOut bytes.Buffer
		status := run(env{ctx: ctx, out: &out, errOut: &errOut}, strings.Fields(args))
		if status != failed || out.Len() > 0 || errOut.String() != "gatbench: interrupted\n" {
			t.Errorf("gatbench %s: status %d, output %q, error %q", args, status, &out, &errOut)
		}
	}
	if left, _ := filepath.Glob(model + "*"); len(left) != 2 {
		t.Errorf("there are %q", left)
	}
}
