package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// benchCommand is gatbench bench.
type benchCommand struct {
	Pattern string `arg:"" optional:"" name:"name-pattern" help:"A name, the front of a path (gemm) or a pattern (exp/*). Default: all."`
	Threads int    `default:"0" placeholder:"N" help:"Use at most N threads (0: all there are)."`
	Isolate bool   `help:"Run each name in a process of its own, so that memory is its own."`
	Graph   string `type:"path" placeholder:"FILE.npz" help:"Kernels and layers on a graph: on this one instead of their own."`
	Size    string `placeholder:"NAME" help:"The same with a graph of a size: cora, pubmed, arxiv, reddit-tenth or NODESxEDGES."`
	Dim     int    `placeholder:"D" help:"Columns of a head, of kernels and layers on a graph."`
	Heads   int    `placeholder:"H" help:"Heads, of kernels and layers on a graph."`
	Data    string `placeholder:"DIR" help:"Folder of the datasets' files, for train, ablation and read."`
	Epochs  int    `default:"0" placeholder:"N" help:"Epochs of train/* (0: 200)."`
	Seed    uint64 `default:"0" placeholder:"N" help:"Seed of train/* and ablation/*."`
	Rows    string `default:"needed" placeholder:"NAME" help:"Which rows of each layer a training step of train/* computes: those that its loss depends on (needed, the default) or all, as the peers do."`
	JSON    bool   `name:"json" help:"Print one JSON object a line, as the scripts in peers do."`
	List    bool   `help:"Print the names and do nothing."`

	budget budget      // the zero value is the peers'
	all    []benchmark // nil is all there are
	self   func(ctx context.Context, args ...string) ([]byte, error)
}

func (c *benchCommand) endsItself() {}

// Run times what the pattern selects.
func (c *benchCommand) Run(e env) error {
	if c.Threads < 0 {
		return misuse("--threads %d: it must be at least 1, or 0 for all there are", c.Threads)
	}
	began := newUsage()
	defer par.SetThreads(c.Threads)()
	defer par.Hot()()
	if c.Epochs < 0 {
		return misuse("--epochs %d: it must be at least 1, or 0 for %d", c.Epochs, trainEpochs)
	}
	if err := oneOf("--rows", string(c.training().rows), extents); err != nil {
		return err
	}
	if _, err := promptly(e.ctx, func() (any, error) { return nil, c.defaults() }); err != nil {
		return err
	}
	chosen, err := choose(c.all, c.Pattern)
	if err != nil {
		return err
	}
	if c.List {
		return list(e.out, chosen)
	}
	if !c.JSON {
		chosen = withMachine(c.all, chosen)
	}
	return c.timeAll(e, chosen, began)
}

func (c *benchCommand) defaults() error {
	if c.all == nil {
		choice, err := c.choice()
		if err != nil {
			return err
		}
		c.all = benchmarks(par.Threads(), choice, c.training())
	}
	if c.budget == (budget{}) {
		c.budget = peersBudget
	}
	if c.self == nil {
		c.self = runSelf
	}
	return nil
}

// training returns what the flags say of trainings.
func (c *benchCommand) training() trainChoice {
	out := trainChoice{data: c.Data, epochs: c.Epochs, seed: c.Seed, rows: cmp.Or(extent(c.Rows), rowsNeeded)}
	if out.epochs == 0 {
		out.epochs = trainEpochs
	}
	return out
}

// choice returns what the flags say of graphs and widths.
func (c *benchCommand) choice() (sparseChoice, error) {
	out := sparseChoice{heads: c.Heads, dim: c.Dim}
	var g *benchGraph
	var err error
	switch {
	case c.Heads < 0 || c.Dim < 0:
		return out, misuse("--heads %d --dim %d: they must be at least 1", c.Heads, c.Dim)
	case c.Graph != "" && c.Size != "":
		return out, misuse("--graph and --size both name a graph: leave one of them out")
	case c.Graph != "":
		g, err = graphOfFile(c.Graph)
	case c.Size != "":
		g, err = graphOfSize(c.Size)
	default:
		return out, nil
	}
	out.graphs = []*benchGraph{g}
	return out, err
}

// selfArgs are the arguments with which another process times one benchmark.
func (c *benchCommand) selfArgs(name string) []string {
	args := []string{"bench", "--json", fmt.Sprintf("--threads=%d", par.Threads())}
	for flag, value := range map[string]string{"graph": c.Graph, "size": c.Size, "data": c.Data} {
		if value != "" {
			args = append(args, "--"+flag+"="+value)
		}
	}
	for flag, value := range map[string]int{"dim": c.Dim, "heads": c.Heads, "epochs": c.Epochs} {
		if value != 0 {
			args = append(args, fmt.Sprintf("--%s=%d", flag, value))
		}
	}
	if c.Seed != 0 {
		args = append(args, fmt.Sprintf("--seed=%d", c.Seed))
	}
	if rows := c.training().rows; rows != rowsNeeded {
		args = append(args, "--rows="+string(rows))
	}
	return append(args, name)
}

func list(w io.Writer, bs []benchmark) error {
	p := &printer{w: w}
	for _, b := range bs {
		p.printf("%s\n", b.name)
	}
	return p.err
}

// withMachine puts the ceilings of the machine before what was chosen, which a
// table compares with them.
func withMachine(all, chosen []benchmark) []benchmark {
	var out []benchmark
	for _, b := range all {
		if b.machine() {
			out = append(out, b)
		}
	}
	for _, b := range chosen {
		if !b.machine() {
			out = append(out, b)
		}
	}
	return out
}

// timeAll times benchmarks in order and prints each when it is done, so that
// what is interrupted leaves what it had.
func (c *benchCommand) timeAll(e env, bs []benchmark, began usage) error {
	limits := ceilings{}
	table := newBenchTable(e.out, bs)
	progress := newProgress(e.errOut)
	for i := range bs {
		progress.show("%d/%d  %s", i+1, len(bs), bs[i].name)
		line, err := c.timeOne(e.ctx, &bs[i], began)
		progress.clear()
		if e.ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d of %d benchmarks", i, len(bs))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", bs[i].name, err)
		}
		limits.learn(&bs[i], line)
		limits.judge(&bs[i], line)
		if c.JSON {
			err = table.line(line)
		} else {
			err = table.row(&bs[i], line)
		}
		if err != nil {
			return err
		}
		debug.FreeOSMemory() // the operands of a product may be most of the memory
	}
	if c.JSON {
		return nil
	}
	return table.legend()
}

func (c *benchCommand) timeOne(ctx context.Context, b *benchmark, began usage) (*benchLine, error) {
	if !c.Isolate { // else its process has to be ended
		return promptly(ctx, func() (*benchLine, error) { return b.time(ctx, c.budget, began) })
	}
	out, err := c.self(ctx, c.selfArgs(b.name)...)
	if err != nil {
		return nil, err
	}
	line := new(benchLine)
	if err := json.Unmarshal(out, line); err != nil {
		return nil, fmt.Errorf("its process printed %q: %w", strings.TrimSpace(string(out)), err)
	}
	return line, nil
}
