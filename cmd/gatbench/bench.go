package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/bench"
	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/report"
	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/internal/par"
)

// benchCommand is gatbench bench.
type benchCommand struct {
	Patterns []string `arg:"" optional:"" name:"name-pattern" help:"Names, fronts of paths (gemm) or patterns (exp/*). Default: all."`
	Threads  int      `default:"0" placeholder:"N" help:"Use at most N threads (0: all there are)."`
	Isolate  bool     `help:"Run each name in a process of its own, so that memory is its own."`
	Graph    string   `type:"path" placeholder:"FILE.npz" help:"Kernels and layers on a graph: on this one instead of their own."`
	Size     string   `placeholder:"NAME" help:"The same with a graph of a size: cora, pubmed, arxiv, reddit-tenth or NODESxEDGES."`
	Dim      int      `placeholder:"D" help:"Columns of a head, of kernels and layers on a graph."`
	Heads    int      `placeholder:"H" help:"Heads, of kernels and layers on a graph."`
	Data     string   `placeholder:"DIR" help:"Folder of the datasets' files, for train, ablation and read."`
	Epochs   int      `default:"0" placeholder:"N" help:"Epochs of train/* (0: 200)."`
	Seed     uint64   `default:"0" placeholder:"N" help:"Seed of train/* and ablation/*."`
	Rows     string   `default:"needed" placeholder:"NAME" help:"Which rows of each layer a training step of train/* computes: those that its loss depends on (needed, the default) or all, as the peers do."`
	JSON     bool     `name:"json" help:"Print one JSON object a line, as the scripts in peers do."`
	List     bool     `help:"Print the names and do nothing."`

	budget bench.Budget      // the zero value is the peers'
	all    []bench.Benchmark // nil is all there are
	self   func(ctx context.Context, args ...string) ([]byte, error)
}

func (c *benchCommand) endsItself() {}

// Run times what the patterns select.
func (c *benchCommand) Run(e env) error {
	if c.Threads < 0 {
		return misuse("--threads %d: it must be at least 1, or 0 for all there are", c.Threads)
	}
	timer := bench.NewTimer(thisBuild().Version, cmp.Or(c.budget, bench.PeersBudget()))
	defer par.SetThreads(c.Threads)()
	defer par.Hot()()
	if c.Epochs < 0 {
		return misuse("--epochs %d: it must be at least 1, or 0 for %d", c.Epochs, trainEpochs)
	}
	if err := oneOf("--rows", string(c.rows()), extents); err != nil {
		return err
	}
	if _, err := promptly(e.ctx, func() (any, error) { return nil, c.defaults() }); err != nil {
		return err
	}
	chosen, err := c.chosen()
	if err != nil {
		return err
	}
	if c.List {
		return list(e.out, chosen)
	}
	if !c.JSON {
		chosen = bench.WithMachine(c.all, chosen)
	}
	return c.timeAll(e, timer, chosen)
}

func (c *benchCommand) defaults() error {
	if c.all == nil {
		choice, err := c.choice()
		if err != nil {
			return err
		}
		c.all = bench.All(choice)
	}
	if c.self == nil {
		c.self = runSelf
	}
	return nil
}

// choice returns what the flags say of what is timed.
func (c *benchCommand) choice() (bench.Choice, error) {
	out := bench.Choice{Threads: par.Threads(), Heads: c.Heads, Dim: c.Dim, Data: c.Data, Trainings: c.trainings()}
	var err error
	switch {
	case c.Heads < 0 || c.Dim < 0:
		return out, misuse("--heads %d --dim %d: they must be at least 1", c.Heads, c.Dim)
	case c.Graph != "" && c.Size != "":
		return out, misuse("--graph and --size both name a graph: leave one of them out")
	case c.Graph != "":
		out.Graph, err = bench.ReadGraph(c.Graph)
	case c.Size != "":
		if out.Graph, err = bench.GraphOfSize(c.Size); err != nil {
			err = misuse("--size %s: %w", c.Size, err)
		}
	}
	return out, err
}

// chosen returns the benchmarks that the patterns select, each once, in the order of all.
func (c *benchCommand) chosen() ([]bench.Benchmark, error) {
	if len(c.Patterns) == 0 {
		return c.all, nil
	}
	wanted := map[string]bool{}
	for _, pattern := range c.Patterns {
		some, err := bench.Choose(c.all, pattern)
		if err != nil {
			return nil, usageError{err}
		}
		if len(some) == 0 {
			name := strings.TrimSuffix(pattern, "/")
			return nil, misuse("there is no benchmark %q; did you mean %q? %s bench --list names them all", name, bench.Nearest(c.all, name), program)
		}
		for i := range some {
			wanted[some[i].Name()] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(c.all), func(b bench.Benchmark) bool { return !wanted[b.Name()] }), nil
}

func list(w io.Writer, bs []bench.Benchmark) error {
	p := report.NewPrinter(w)
	for i := range bs {
		p.Printf("%s\n", bs[i].Name())
	}
	return p.Err()
}

// timeAll times benchmarks in order and prints each when it is done, so that
// what is interrupted leaves what it had.
func (c *benchCommand) timeAll(e env, timer *bench.Timer, bs []bench.Benchmark) error {
	limits, table, p := bench.Ceilings{}, bench.NewTable(bs), report.NewPrinter(e.out)
	progress := report.NewProgress(e.errOut)
	for i := range bs {
		progress.Show("%d/%d  %s", i+1, len(bs), bs[i].Name())
		line, err := c.timeOne(e.ctx, timer, &bs[i])
		progress.Clear()
		if e.ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d of %d benchmarks", i, len(bs))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", bs[i].Name(), err)
		}
		limits.Compare(&bs[i], line)
		if c.JSON {
			p.Encode(line)
		} else {
			p.Lines(table.Row(&bs[i], line))
		}
		if p.Err() != nil {
			return p.Err()
		}
		debug.FreeOSMemory() // the operands of a product may be most of the memory
	}
	if !c.JSON {
		p.Lines(table.Legend())
	}
	return p.Err()
}

func (c *benchCommand) timeOne(ctx context.Context, timer *bench.Timer, b *bench.Benchmark) (*bench.Line, error) {
	if !c.Isolate { // else its process has to be ended
		return promptly(ctx, func() (*bench.Line, error) { return timer.Time(ctx, b) })
	}
	out, err := c.self(ctx, c.selfArgs(b.Name())...)
	if err != nil {
		return nil, err
	}
	line := new(bench.Line)
	if err := jsonread.Unmarshal(out, line); err != nil {
		return nil, fmt.Errorf("its process printed %q: %w", strings.TrimSpace(string(out)), err)
	}
	return line, nil
}
