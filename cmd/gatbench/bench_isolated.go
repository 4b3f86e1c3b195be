package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// selfArgs are the arguments with which another process times one benchmark.
func (c *benchCommand) selfArgs(name string) []string {
	args := []string{"bench", "--json", fmt.Sprintf("--threads=%d", par.Threads())}
	for flag, value := range map[string]string{"graph": c.Graph, "size": c.Size, "data": c.Data} {
		if value != "" {
			args = append(args, "--"+flag+"="+value)
		}
	}
	for flag, value := range map[string]int{"heads": or(c.Heads, 0), "epochs": c.Epochs} {
		if value != 0 {
			args = append(args, fmt.Sprintf("--%s=%d", flag, value))
		}
	}
	for _, dim := range c.Dim {
		args = append(args, fmt.Sprintf("--dim=%d", dim))
	}
	if c.Seed != 0 {
		args = append(args, fmt.Sprintf("--seed=%d", c.Seed))
	}
	if rows := c.rows(); rows != rowsNeeded {
		args = append(args, "--rows="+string(rows))
	}
	return append(args, name)
}

// runSelf runs this program with other arguments and returns what it prints.
func runSelf(ctx context.Context, args ...string) ([]byte, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, fmt.Errorf("its process ended with %w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}
