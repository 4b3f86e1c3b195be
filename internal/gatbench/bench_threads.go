package gatbench

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/gatbench/usage"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/lanes"
)

// drawnMost is how many records a picture shows.
const drawnMost = 12

// tablesOnly is the name of a file that is not written.
const tablesOnly = "-"

// tracing reports whether threads are to be shown.
func (c *benchCommand) tracing() bool { return c.Trace+c.From != "" }

// checkTrace returns an error for flags that do not fit each other, or a file that cannot be written.
func (c *benchCommand) checkTrace() error {
	flag := "--trace"
	if c.Trace == "" {
		flag = "--from"
	}
	ending := filepath.Ext(c.Trace)
	switch {
	case !c.tracing() && c.At != nil:
		return cli.Misuse("--at %d: it says what --trace FILE lists and draws; give that too", *c.At)
	case !c.tracing() && c.Growth != "":
		return cli.Misuse("--growth %s: it says what --trace FILE predicts; give that too", c.Growth)
	case !c.tracing():
		return nil
	case c.At != nil && (*c.At < 1 || *c.At > lanes.ThreadsMost):
		return cli.Misuse("--at %d: it must be 1 to %d", *c.At, lanes.ThreadsMost)
	case c.Trace != "" && c.Trace != tablesOnly && !cli.IsPicture(c.Trace) && ending != ".json":
		return cli.Misuse("--trace %s: its name must end in .svg or .png for a picture, or in .json to keep the record; %s writes no file", c.Trace, tablesOnly)
	case c.JSON:
		return cli.Misuse("--json: %s prints tables; --trace FILE.json keeps the record", flag)
	case c.List:
		return cli.Misuse("--list: it prints names and does nothing; leave it or %s out", flag)
	case c.Isolate:
		return cli.Misuse("--isolate: %s records in this process; leave one of them out", flag)
	case c.Picture+c.Beside != "":
		return cli.Misuse("--picture, --beside: %s draws another picture; leave one of them out", flag)
	case c.From != "" && (len(c.Patterns) > 0 || c.Graph+c.Size != ""):
		return cli.Misuse("--from %s: what was recorded is shown and nothing is run; leave names, --graph and --size out", c.From)
	case c.From != "" && ending == ".json":
		return cli.Misuse("--trace %s: --from %s is such a file already; name a picture, or copy the file", c.Trace, c.From)
	case c.From == "" && c.everything():
		return cli.Misuse("--trace %s: name what to record, such as layer/gat/arxiv/4x64; %s bench --list prints the names", c.Trace, cli.Program)
	case slices.Contains(c.Patterns, bench.Scale):
		return cli.Misuse("--trace %s: %s times many numbers of threads; name what to record", c.Trace, bench.Scale)
	}
	if _, err := c.growing(lanes.Costs{}); err != nil {
		return err
	}
	if c.Trace == tablesOnly {
		return nil
	}
	if err := cli.Target("trace", c.Trace); err != nil {
		return err
	}
	return cli.Apart([]cli.File{{Flag: "--from", Path: c.From}, {Flag: "--graph", Path: c.Graph}}, []cli.File{{Flag: "--trace", Path: c.Trace}})
}

// growing returns costs for a machine that grows as --growth says.
func (c *benchCommand) growing(costs lanes.Costs) (lanes.Costs, error) {
	if c.Growth == "" {
		return costs, nil
	}
	before, after, ok := strings.Cut(c.Growth, ":")
	threads, err1 := strconv.Atoi(before)
	times, err2 := strconv.ParseFloat(after, 64)
	if !ok || err1 != nil || err2 != nil || threads < 2 || threads > lanes.ThreadsMost || !(times >= 1) || math.IsInf(times, 0) || times > float64(threads) {
		return costs, cli.Misuse("--growth %s: write a number of threads and how many times as much as one they do, such as 16:11", c.Growth)
	}
	return costs.Growing(threads, times), nil
}

// trace records benchmarks and shows each when it is recorded.
func (c *benchCommand) trace(e cli.Env, timer *bench.Timer, bs []bench.Benchmark) error {
	if cli.IsPicture(c.Trace) && len(bs) > drawnMost {
		return cli.Misuse("--trace %s: these are %d names, and a picture shows %d: name fewer, or keep all in a .json file", c.Trace, len(bs), drawnMost)
	}
	costs, err := c.growing(lanes.Measure()) // the usual ones on one thread
	if err != nil {
		return err
	}
	progress := report.NewProgress(e.ErrOut)
	var all []*lanes.Record
	for i := range bs {
		progress.Show("%d/%d  %s%s", i+1, len(bs), bs[i].Name(), progress.Left(i, len(bs)))
		r, err := cli.Promptly(e.Ctx, func() (*lanes.Record, error) { return timer.Record(e.Ctx, &bs[i], c.cuts()...) })
		progress.Clear()
		if e.Ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d of %d records: %s is not written", i, len(bs), c.Trace)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", bs[i].Name(), err)
		}
		if i > 0 {
			fmt.Fprintln(e.Out)
		}
		if err := c.showRecord(e, r, costs); err != nil {
			return err
		}
		all = append(all, r)
		debug.FreeOSMemory()
	}
	return c.keep(e, all, costs)
}

// traceFrom shows records of a file.
func (c *benchCommand) traceFrom(e cli.Env) error {
	costs, err := c.growing(lanes.Usual())
	if err != nil {
		return err
	}
	if err := regular.File(c.From); err != nil {
		return fmt.Errorf("--from %w", err)
	}
	f, err := os.Open(c.From)
	if err != nil {
		return fmt.Errorf("--from %w", err)
	}
	all, err := lanes.Read(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("--from %s: %w", c.From, err)
	}
	if cli.IsPicture(c.Trace) && len(all) > drawnMost {
		return cli.Misuse("--trace %s: %s has %d records, and a picture shows %d", c.Trace, c.From, len(all), drawnMost)
	}
	for i, r := range all {
		if i > 0 {
			fmt.Fprintln(e.Out)
		}
		if err := c.showRecord(e, r, costs); err != nil {
			return err
		}
	}
	return c.keep(e, all, costs)
}

// lossesAt is the number of threads on which losses are listed, if no other is asked for.
const lossesAt = 16

// drawnAt are the numbers of threads that are drawn.
var drawnAt = []int{4, 8, lossesAt, 32}

// cuts are the numbers of threads for which loops are cut and recorded once more: those that are listed or drawn.
func (c *benchCommand) cuts() []int {
	out := append([]int{1, 2}, drawnAt...)
	if c.At != nil {
		out = append(out, *c.At)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(n int) bool { return n == par.Threads() })
}

// showRecord prints the tables of a record.
func (c *benchCommand) showRecord(e cli.Env, r *lanes.Record, costs lanes.Costs) error {
	var text bytes.Buffer
	if err := r.WriteTable(&text, cli.Or(c.At, lossesAt), costs); err != nil {
		return err
	}
	out := report.NewPrinter(e.Out)
	out.Lines(report.Fitted(strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n"), report.Width(e.Out)))
	return out.Err()
}

// keep writes records to the file that --trace names.
func (c *benchCommand) keep(e cli.Env, all []*lanes.Record, costs lanes.Costs) error {
	out := report.NewPrinter(e.Out)
	out.Printf("\n")
	out.Paragraph("The prediction assumes %s", assumes(costs))
	if c.Trace == "" || c.Trace == tablesOnly {
		return out.Err()
	}
	threads := drawnAt
	if c.At != nil {
		threads = []int{*c.At}
	}
	form := strings.TrimPrefix(filepath.Ext(c.Trace), ".")
	err := atomicfile.Write(c.Trace, func(w io.Writer) error {
		if form == "json" {
			return lanes.Write(w, all...)
		}
		return lanes.Draw(w, form, all, costs, threads...)
	})
	if err != nil {
		return err
	}
	what := "picture"
	if form == "json" {
		what = "record"
	}
	out.Printf("%s in %s\n", what, c.Trace)
	return out.Err()
}

// assumes is what a prediction assumes, in words.
func assumes(c lanes.Costs) string {
	us := func(d time.Duration) string { return fmt.Sprintf("%.3g µs", float64(d)/1e3) }
	text := fmt.Sprintf("that a thread sees work after %s, takes some in %s, and is there %s after it is woken, which takes %s.", us(c.See), us(c.Take), us(c.Wake), us(c.Ring))
	if c.Slow > 0 {
		return text + fmt.Sprintf(" A chunk takes %.1f %% longer for each other thread at work.", 100*c.Slow)
	}
	return text + " It does not know that chunks take longer where all processors work; --growth says how much."
}

// scaling reports whether the run is the one that shows growth.
func (c *benchCommand) scaling() bool { return slices.Contains(c.Patterns, bench.Scale) }

// checkScale returns an error for what such a run has no use for.
func (c *benchCommand) checkScale() error {
	switch {
	case !c.scaling():
		return nil
	case len(c.Patterns) > 1:
		return cli.Misuse("%s: it has names of its own; give it alone", bench.Scale)
	case c.Graph+c.Size != "" || len(c.Dim) > 0 || c.Heads != nil:
		return cli.Misuse("%s: its sizes are fixed, so that machines can be compared; leave --graph, --size, --dim and --heads out", bench.Scale)
	case c.Isolate:
		return cli.Misuse("%s: it runs each name on several numbers of threads; leave --isolate out", bench.Scale)
	}
	c.Epochs = cmp.Or(c.Epochs, bench.ScaleEpochs)
	return nil
}

// scale times a dozen names on 1, 2, 4 … threads.
func (c *benchCommand) scale(e cli.Env, timer *bench.Timer, bs []bench.Benchmark) error {
	threads := bench.Powers(par.Threads())
	out, progress := report.NewPrinter(e.Out), report.NewProgress(e.ErrOut)
	table := bench.NewScaleTable(bs, threads, report.Width(e.Out))
	if !c.JSON {
		for _, line := range machineSays(threads) {
			out.Paragraph("%s", line)
		}
		out.Printf("\n")
		out.Line("%s", table.Head())
	}
	idlest, share := "", 2.
	for i := range bs {
		progress.Show("%d/%d  %s%s", i+1, len(bs), bs[i].Name(), progress.Left(i, len(bs)))
		lines, err := cli.Promptly(e.Ctx, func() ([]*bench.Line, error) { return timer.Scale(e.Ctx, &bs[i], threads) })
		progress.Clear()
		if e.Ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d of %d names", i, len(bs))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", bs[i].Name(), err)
		}
		if busy := lines[len(lines)-1].Extra.Busy; busy < share {
			idlest, share = bs[i].Name(), busy
		}
		if c.JSON {
			for _, l := range lines {
				out.Encode(l)
			}
		} else {
			out.Line("%s", table.Row(&bs[i], lines))
		}
		if err := out.Err(); err != nil {
			return err
		}
		debug.FreeOSMemory()
	}
	if !c.JSON && len(threads) > 1 {
		out.Printf("\n")
		out.Paragraph("Threads have least work in %s. Why, as a table and a picture: %s bench --trace lanes.svg %[1]s", idlest, cli.Program)
	}
	return out.Err()
}

// machineSays says which threads are timed, and why these.
func machineSays(threads []int) []string {
	l, most := par.LimitsNow(), threads[len(threads)-1]
	text := fmt.Sprintf("milliseconds on 1 to %d threads: GOMAXPROCS %d", most, l.Go)
	if l.Processors > 0 {
		text += fmt.Sprintf(", %d processors for this process", l.Processors)
	}
	if l.Quota > 0 {
		text += fmt.Sprintf(", a quota of %.4g", l.Quota)
	}
	out := []string{text + "; growth is over one thread, and busy the share of all threads' time with work, on most threads"}
	if most == 1 {
		out = []string{text, "One thread grows to nothing: these are its times. --threads 2 would take turns on one processor."}
	}
	if n := usage.Nodes(); n > 1 {
		out = append(out, fmt.Sprintf("This machine has %d NUMA nodes. Memory of another node is slower; numactl --cpunodebind=0 --membind=0 keeps a run on one.", n))
	}
	return out
}
