package gatbench

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// A signal in the first epoch of a task ends its training there.
func TestTasksInterrupted(t *testing.T) {
	for _, args := range []string{
		"--task link --dataset planted-rules --hidden 8 --batch 100 --epochs 9",
		"--task link --dataset karate --epochs 9",
		"--task graph --dataset " + tasktest.Molecules(t) + " --splits random --hidden 4 --epochs 9",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		out, errOut := &cancelling{cancel: cancel}, new(bytes.Buffer)
		status := Run(cli.Env{Ctx: ctx, Out: out, ErrOut: errOut}, append([]string{"train", "--json"}, strings.Fields(args)...))
		if status != cli.Failed || errOut.String() != "gatbench: interrupted after 1 of 9 epochs\n" {
			t.Errorf("%s: status %d, error %q", args, status, errOut)
		}
	}
}
