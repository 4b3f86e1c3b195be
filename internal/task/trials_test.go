package task

import (
	"bytes"
	"context"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/train"
)

// A training that was cut short says how far it came and how it goes on, by the name of the program.
func TestTellInterrupted(t *testing.T) {
	defer func(was string) { cli.Program = was }(cli.Program)
	cli.Program = "go run ./cmd/gatbench"
	var out bytes.Buffer
	one := &Trial{Fit: &train.Fit{Epochs: 5}, Summary: report.Summary{Interrupted: true, Epochs: 5, Checkpoint: "a b"}}
	err := new(Flags).tell(one, report.NewPrinter(&out), context.Canceled)
	if err == nil || err.Error() != `interrupted after 5 of 5 epochs; to continue: go run ./cmd/gatbench train --resume "a b"` || out.Len() > 0 {
		t.Error(err, out.String())
	}
}
