package runs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/trainings"
	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/internal/par"
)

// isolated returns the line of a benchmark that another process times.
func (s *Settings) isolated(ctx context.Context, name string) (*bench.Line, error) {
	out, err := s.self(ctx, s.selfArgs(name)...)
	if err != nil {
		return nil, err
	}
	line := new(bench.Line)
	if err := jsonread.Unmarshal(out, line); err != nil {
		return nil, fmt.Errorf("its process printed %q: %w", strings.TrimSpace(string(out)), err)
	}
	return line, nil
}

// selfArgs are the arguments with which another process times one benchmark.
func (s *Settings) selfArgs(name string) []string {
	args := append([]string{"bench", "--json", fmt.Sprintf("--threads=%d", par.Threads())}, s.choosing()...)
	if s.Epochs != 0 {
		args = append(args, fmt.Sprintf("--epochs=%d", s.Epochs))
	}
	if s.Seed != 0 {
		args = append(args, fmt.Sprintf("--seed=%d", s.Seed))
	}
	if s.Rows == trainings.RowsAll {
		args = append(args, "--rows="+s.Rows)
	}
	return append(args, name)
}

// choosing are the flags without which a name means nothing, or something else.
func (s *Settings) choosing() (args []string) {
	for _, f := range []struct{ flag, value string }{{"graph", s.Graph}, {"size", s.Size}, {"data", s.Data}} {
		if f.value != "" {
			args = append(args, "--"+f.flag+"="+f.value)
		}
	}
	if s.Heads != nil {
		args = append(args, fmt.Sprintf("--heads=%d", *s.Heads))
	}
	for _, dim := range s.Dims {
		args = append(args, fmt.Sprintf("--dim=%d", dim))
	}
	return args
}

// given are these flags as they are to be given again, each with a blank behind it.
func (s *Settings) given() string {
	text := ""
	for _, arg := range s.choosing() {
		text += cli.Word(arg) + " "
	}
	return text
}

// runSelf runs this program with other arguments and returns what it prints.
func runSelf(ctx context.Context, args ...string) ([]byte, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, cli.Misuse("--isolate: no process of its own can be started here (%w); leave it out", err)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, fmt.Errorf("its process ended with %w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}
