package runs

import (
	"cmp"
	"fmt"
	"path"
	"runtime/debug"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/gatbench/draw"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
)

// rows is a run that prints a row or a line for each benchmark: what was measured so far, and where
// it is shown.
type rows struct {
	*Settings
	e        cli.Env
	timer    *bench.Timer
	on       *bench.Graph // the graph that was chosen; nil: none
	limits   bench.Ceilings
	table    *bench.Table
	out      *report.Printer
	progress *report.Progress
	failed   []error
	cells    draw.Sweep   // for the picture,
	spans    draw.Lengths // or for that of lengths

	furthest string // the name that is furthest from its limit,
	share    float64
}

// timeAll times benchmarks in order and prints each when it is done, so that what
// is interrupted leaves what it had. A table for people begins with nothing but the
// graph: what its rows are compared with is measured first and said last.
func (s *Settings) timeAll(e cli.Env, timer *bench.Timer, on *bench.Graph, bs []bench.Benchmark) error {
	r := &rows{
		Settings: s, e: e, timer: timer, on: on, limits: bench.Ceilings{},
		table: bench.NewTable(bs, report.Width(e.Out)), out: report.NewPrinter(e.Out), progress: report.NewProgress(e.ErrOut),
	}
	if s.sweeps() {
		r.table = bench.NewSweepTable(bs, report.Width(e.Out))
	}
	err := r.measure(bs)
	done := 0
	for i := 0; err == nil && i < len(bs); i++ {
		r.progress.Show("%d/%d  %s%s", i+1, len(bs), bs[i].Name, r.progress.Left(i, len(bs)))
		line, failed := r.one(&bs[i])
		switch {
		case failed == nil:
			done++
			err = r.show(&bs[i], line)
		case s.everything() && e.Ctx.Err() == nil: // it may need data that is not here
			r.failed = append(r.failed, failed)
		default:
			err = failed
		}
	}
	if done > 0 {
		err = cmp.Or(err, r.end(err == nil && e.Ctx.Err() == nil))
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
func (r *rows) measure(bs []bench.Benchmark) error {
	if r.JSON && !r.sweeps() {
		return nil
	}
	if r.on != nil && !r.JSON {
		r.out.Line("%v", r.on)
		r.out.Printf("\n")
	}
	ceilings := bench.Limits(r.All, bs)
	if r.sweeps() {
		ceilings = bench.SweepLimits(r.All, bs)
	}
	for i := range ceilings {
		r.progress.Show("measuring this machine first  %d/%d  %s", i+1, len(ceilings), ceilings[i].Name)
		if _, err := r.one(&ceilings[i]); err != nil {
			return err
		}
	}
	return nil
}

// one times a benchmark.
func (r *rows) one(b *bench.Benchmark) (line *bench.Line, err error) {
	if r.Isolate { // its process can be ended
		line, err = r.isolated(r.e.Ctx, b.Name)
	} else {
		line, err = cli.Promptly(r.e.Ctx, func() (*bench.Line, error) { return r.timer.Time(r.e.Ctx, b) })
	}
	r.progress.Clear()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name, err)
	}
	r.limits.Compare(b, line)
	debug.FreeOSMemory() // the operands of a product may be most of the memory
	return line, r.e.Ctx.Err()
}

// show prints what came of a benchmark.
func (r *rows) show(b *bench.Benchmark, line *bench.Line) error {
	if share := line.Extra.LimitPct; share > 0 && b.Lanes == par.Threads() && (r.furthest == "" || share < r.share) {
		r.furthest, r.share = b.Name, share
	}
	switch {
	case r.sweeps():
		r.cells = append(r.cells, cell(b, line))
	case r.byLength():
		r.spans.Add(path.Base(b.Op), b.Params["t"].(int), line.Extra.P10MS) // which other processes disturb least
	}
	if r.JSON {
		r.out.Encode(line)
	} else {
		r.out.Lines(r.table.Row(b, line))
	}
	return r.out.Err()
}

// end explains the table, draws what it shows and, if that is whole, says what to do next.
func (r *rows) end(whole bool) error {
	if !r.JSON {
		r.out.Printf("\n")
		for _, says := range r.table.Legend(r.limits) {
			r.out.Paragraph("%s", says)
		}
	}
	var err error
	switch {
	case r.byLength():
		err = r.draw(r.e, r.out, &r.spans)
	case len(r.cells) > 0:
		err = r.draw(r.e, r.out, r.cells)
	}
	if !r.JSON && whole && err == nil {
		r.out.Next(cli.Program + " bench " + r.next())
	}
	return err
}

// next are the arguments of what to do after a table: look at the row that is furthest from its limit.
func (r *rows) next() string {
	threads := par.Threads()
	switch {
	case r.everything() && threads > 1:
		return bench.Scale
	case r.furthest == "":
		return bench.Sparse
	case !r.sweeps() && threads > 1:
		return "--trace - " + r.given() + cli.Word(r.furthest)
	case threads > 1:
		return "--threads 1 " + r.given() + cli.Word(r.furthest)
	case r.sweeps():
		return r.given() + cli.Word(r.furthest)
	}
	return bench.Sparse
}
