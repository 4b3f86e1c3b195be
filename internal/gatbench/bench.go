package gatbench

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/gatbench/draw"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/task/node"
)

// benchCommand is gatbench bench.
type benchCommand struct {
	Patterns []string `arg:"" optional:"" name:"name-pattern" help:"What to time: sparse (kernels on graphs of few and many edges a node, as one table), scale (a dozen names on 1, 2, 4 … threads), kernels (all on a graph), spmm (its products of a sparse and a dense matrix), sddmm (inner products at its elements), a name that --list prints, the front of one (gemm) or a pattern (exp/*). Default: sparse with --graph or --size, else everything, which takes ten to twenty minutes."`
	Threads  int      `default:"0" placeholder:"N" help:"Use at most N threads (0: all there are)."`
	Isolate  bool     `help:"Run each name in a process of its own, so that memory is its own."`
	Graph    string   `placeholder:"FILE" help:"Time kernels and layers on this graph or matrix instead of generated ones: an .mtx file, with its values, or anything else that gatbench train --dataset reads."`
	Size     string   `placeholder:"NAME" help:"Time them on a generated graph of this size: cora, pubmed, arxiv, grid, reddit-tenth, reddit-small, reddit, proteins-small, ogbn-proteins, NODESxEDGES, uniform:NODESxEDGES or grid:SIDE."`
	Dim      []int    `placeholder:"D" help:"Columns of each head of kernels and layers on a graph; several, 16,64,128, are timed one after the other."`
	Heads    *int     `placeholder:"H" help:"Heads of kernels and layers on a graph."`
	Data     string   `placeholder:"DIR" help:"Folder of the datasets' files, for train, ablation and read."`
	Epochs   int      `default:"0" placeholder:"N" help:"Epochs of train/* (0: 200, of scale 40)."`
	Seed     uint64   `default:"0" placeholder:"N" help:"Seed of train/* and ablation/*."`
	Rows     string   `default:"needed" placeholder:"NAME" help:"Which rows of each layer a training step of train/* computes: those that its loss depends on (needed, the default) or all, as the peers do."`
	JSON     bool     `name:"json" help:"Print one JSON object a line, as the scripts in peers do."`
	List     bool     `help:"Print the names and do nothing."`
	Picture  string   `placeholder:"FILE" help:"Draw a sweep to this .svg or .png file: for each kernel, a cell for each graph and width."`
	Beside   string   `placeholder:"OUT.tsv" help:"Time nothing, and draw to --picture the table that peers/compare.py wrote: who is ahead of whom."`
	Trace    string   `placeholder:"FILE" group:"threads" help:"Instead of timing, record which thread does what and when, list what loses most, and draw it to this .svg or .png file, or keep the record as .json; - only lists."`
	From     string   `placeholder:"FILE" group:"threads" help:"Show the records of this .json file, from this or another machine, as --trace does. --trace FILE.svg draws them."`
	At       *int     `placeholder:"N" group:"threads" help:"List what loses most on N threads, and draw the record and N threads alone. Default: list 16, draw 4, 8, 16 and 32."`
	Growth   string   `placeholder:"N:TIMES" group:"threads" help:"Predict for a machine of which N threads do TIMES as much as one, such as 16:11. Default: N times as much."`

	budget bench.Budget      // the zero value is the peers'
	all    []bench.Benchmark // nil is all there are
	on     *bench.Graph      // the graph of Graph or Size; nil: neither
	self   func(ctx context.Context, args ...string) ([]byte, error)
}

func (c *benchCommand) endsItself() {}

// Run times what the patterns select.
func (c *benchCommand) Run(e cli.Env) error {
	if c.Threads < 0 {
		return cli.Misuse("--threads %d: it must be at least 1, or 0 for all there are", c.Threads)
	}
	rule := bench.PeersBudget()
	switch {
	case c.sweeps():
		rule = bench.SweepBudget()
	case c.scaling():
		rule = bench.ScaleBudget()
	}
	rule = cmp.Or(c.budget, rule)
	rule.Alone = c.sweeps() || c.scaling()
	timer := bench.NewTimer(thisBuild().Version, rule)
	defer par.SetThreads(c.Threads)()
	defer par.Hot()()
	if c.Epochs < 0 {
		return cli.Misuse("--epochs %d: it must be at least 1, or 0 for %d", c.Epochs, trainEpochs)
	}
	if err := cli.OneOf("--rows", string(c.rows()), node.Extents); err != nil {
		return err
	}
	if err := cmp.Or(c.checkTrace(), c.checkScale(), c.checkPicture()); err != nil {
		return err
	}
	switch {
	case c.Beside != "":
		return c.drawBeside(e)
	case c.From != "":
		return c.traceFrom(e)
	}
	if _, err := cli.Promptly(e.Ctx, func() (any, error) { return nil, c.defaults() }); err != nil {
		return err
	}
	chosen, err := c.chosen()
	if err != nil {
		return err
	}
	if c.List {
		return list(e.Out, chosen)
	}
	switch {
	case c.Trace != "":
		return c.trace(e, timer, chosen)
	case c.scaling():
		return c.scale(e, timer, chosen)
	}
	if c.everything() {
		fmt.Fprintf(e.ErrOut, "gatbench: %d names take ten to twenty minutes; Ctrl-C keeps the rows that are done. In about a minute: %s bench %s\n", len(chosen), cli.Program, bench.Sparse)
	}
	return c.timeAll(e, timer, chosen)
}

// everything reports whether nothing says what to time.
func (c *benchCommand) everything() bool {
	return len(c.Patterns) == 0 && c.Graph == "" && c.Size == ""
}

// sweeps reports whether the sweep alone is to be timed.
func (c *benchCommand) sweeps() bool {
	return !c.everything() && !slices.ContainsFunc(c.Patterns, func(p string) bool { return p != bench.Sparse })
}

func (c *benchCommand) defaults() error {
	if c.all == nil {
		choice, err := c.choice()
		if err != nil {
			return err
		}
		c.all, c.on = bench.All(choice), choice.Graph
	}
	if c.self == nil {
		c.self = runSelf
	}
	return nil
}

// mostColumns is how wide rows of kernels may be.
const mostColumns = 1 << 16

// choice returns what the flags say of what is timed.
func (c *benchCommand) choice() (bench.Choice, error) {
	out := bench.Choice{Threads: par.Threads(), Heads: cli.Or(c.Heads, 0), Dims: c.Dim, Data: c.Data, Trainings: c.trainings()}
	var err error
	dim := slices.Max(append([]int{0}, c.Dim...))
	switch {
	case cli.Or(c.Heads, 1) < 1:
		return out, cli.Misuse("--heads %d: it must be at least 1", *c.Heads)
	case len(c.Dim) > 0 && slices.Min(c.Dim) < 1:
		return out, cli.Misuse("--dim %d: it must be at least 1", slices.Min(c.Dim))
	case max(out.Heads, dim) > mostColumns || max(out.Heads, 1)*max(dim, 1) > mostColumns:
		return out, cli.Misuse("--heads %d --dim %d: rows have at most %d columns, those of all heads together", out.Heads, dim, mostColumns)
	case c.Graph != "" && c.Size != "":
		return out, cli.Misuse("--graph and --size both name a graph: leave one of them out")
	case c.Graph != "":
		out.Graph, err = c.ownGraph()
	case c.Size != "":
		if out.Graph, err = bench.GraphOfSize(c.Size); err != nil {
			err = cli.Misuse("--size %s: %w", c.Size, err)
		}
	}
	return out, err
}

// chosen returns the benchmarks that the patterns select, each once, in the order of all or, of
// the sweep, in its own.
func (c *benchCommand) chosen() ([]bench.Benchmark, error) {
	wanted, patterns := map[string]bool{}, c.Patterns
	switch {
	case len(patterns) == 0 && c.Graph+c.Size != "":
		patterns = []string{bench.Sparse}
	case c.everything() && !c.JSON && !c.List: // people see the ceilings below the table
		return bench.WithoutMachine(bench.Listed(c.all)), nil
	case c.everything():
		return bench.Listed(c.all), nil
	case c.scaling():
		return bench.Scaled(c.all), nil
	}
	var some []bench.Benchmark
	for _, pattern := range patterns {
		var err error
		if some, err = bench.Choose(c.all, pattern); err != nil {
			return nil, cli.Misuse("%w", err)
		}
		if len(some) == 0 {
			name := strings.TrimSuffix(pattern, "/")
			return nil, cli.Misuse("there is no benchmark %q; did you mean %q? %s bench --list names them all", name, bench.Nearest(c.all, name), cli.Program)
		}
		for i := range some {
			wanted[some[i].Name()] = true
		}
	}
	if len(patterns) == 1 {
		return some, nil
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

// benchRun is a run of the command: what was measured so far, and where it is shown.
type benchRun struct {
	*benchCommand
	e        cli.Env
	timer    *bench.Timer
	limits   bench.Ceilings
	table    *bench.Table
	out      *report.Printer
	progress *report.Progress
	failed   []error
	cells    []draw.Cell // for the picture
}

// timeAll times benchmarks in order and prints each when it is done, so that what
// is interrupted leaves what it had. A table for people begins with nothing but the
// graph: what its rows are compared with is measured first and said last.
func (c *benchCommand) timeAll(e cli.Env, timer *bench.Timer, bs []bench.Benchmark) error {
	r := &benchRun{
		benchCommand: c, e: e, timer: timer, limits: bench.Ceilings{},
		table: bench.NewTable(bs, report.Width(e.Out)), out: report.NewPrinter(e.Out), progress: report.NewProgress(e.ErrOut),
	}
	if c.sweeps() {
		r.table = bench.NewSweepTable(bs, report.Width(e.Out))
	}
	err := r.measure(bs)
	done := 0
	for i := 0; err == nil && i < len(bs); i++ {
		r.progress.Show("%d/%d  %s%s", i+1, len(bs), bs[i].Name(), r.progress.Left(i, len(bs)))
		line, failed := r.one(&bs[i])
		switch {
		case failed == nil:
			done++
			r.cell(&bs[i], line)
			err = r.show(&bs[i], line)
		case c.everything() && e.Ctx.Err() == nil: // it may need data that is not here
			r.failed = append(r.failed, failed)
		default:
			err = failed
		}
	}
	if !c.JSON && done > 0 {
		r.out.Printf("\n")
		for _, says := range r.table.Legend(r.limits) {
			r.out.Paragraph("%s", says)
		}
	}
	if len(r.cells) > 0 {
		err = cmp.Or(err, r.draw())
	}
	switch {
	case e.Ctx.Err() != nil:
		return fmt.Errorf("interrupted after %d of %d benchmarks", done, len(bs))
	case err == nil && len(r.failed) > 0:
		return fmt.Errorf("%d of %d names could not be timed, the first of them %w", len(r.failed), len(bs), r.failed[0])
	}
	return cmp.Or(err, r.out.Err())
}

// measure says which graph is timed, and times what the rows are compared with.
func (r *benchRun) measure(bs []bench.Benchmark) error {
	if r.JSON && !r.sweeps() {
		return nil
	}
	if r.on != nil && !r.JSON {
		r.out.Line("%v", r.on)
		r.out.Printf("\n")
	}
	ceilings := bench.Limits(r.all, bs)
	if r.sweeps() {
		ceilings = bench.SweepLimits(r.all, bs)
	}
	for i := range ceilings {
		r.progress.Show("measuring this machine first  %d/%d  %s", i+1, len(ceilings), ceilings[i].Name())
		if _, err := r.one(&ceilings[i]); err != nil {
			return err
		}
	}
	return nil
}

// one times a benchmark.
func (r *benchRun) one(b *bench.Benchmark) (*bench.Line, error) {
	line, err := r.timeOne(r.e.Ctx, r.timer, b)
	r.progress.Clear()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name(), err)
	}
	r.limits.Compare(b, line)
	debug.FreeOSMemory() // the operands of a product may be most of the memory
	return line, r.e.Ctx.Err()
}

// show prints what came of a benchmark.
func (r *benchRun) show(b *bench.Benchmark, line *bench.Line) error {
	if r.JSON {
		r.out.Encode(line)
	} else {
		r.out.Lines(r.table.Row(b, line))
	}
	return r.out.Err()
}

func (c *benchCommand) timeOne(ctx context.Context, timer *bench.Timer, b *bench.Benchmark) (*bench.Line, error) {
	if !c.Isolate { // else its process has to be ended
		return cli.Promptly(ctx, func() (*bench.Line, error) { return timer.Time(ctx, b) })
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
