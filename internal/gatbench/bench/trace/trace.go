package trace

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
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/lanes"
)

// drawnMost is how many records a picture shows.
const drawnMost = 12

// TablesOnly is the name of a file that is not written.
const TablesOnly = "-"

// Settings are what the flags of gatbench bench say of records.
type Settings struct {
	File   string // that is drawn or kept; TablesOnly: none; empty: none, and nothing is recorded
	From   string // a file whose records are shown instead
	At     *int   // threads whose losses are listed, and which are drawn; nil: 16, and some
	Growth string // of a machine that is predicted, such as 16:11; empty: it is as wide as its threads
	Plot   bool   // draw in the terminal too
	Given  string // flags, each with a blank behind it, without which the names of records mean nothing
}

// On reports whether records are to be shown.
func (s *Settings) On() bool { return s.File+s.From != "" }

// Check returns an error for settings that do not fit each other, or a file that cannot be written:
// over what is read, which is the records and the file of a graph.
func (s *Settings) Check(graph string) error {
	ending := filepath.Ext(s.File)
	switch {
	case !s.On() && s.At != nil:
		return cli.Misuse("--at %d: it says what --trace FILE lists and draws; give that too", *s.At)
	case !s.On() && s.Growth != "":
		return cli.Misuse("--growth %s: it says what --trace FILE predicts; give that too", s.Growth)
	case !s.On():
		return nil
	case s.At != nil && (*s.At < 1 || *s.At > lanes.ThreadsMost):
		return cli.Misuse("--at %d: it must be 1 to %d", *s.At, lanes.ThreadsMost)
	case s.File != "" && s.File != TablesOnly && !cli.IsPicture(s.File) && ending != ".json":
		return cli.Misuse("--trace %s: its name must end in .svg or .png for a picture, or in .json to keep the record; %s writes no file", s.File, TablesOnly)
	case s.From != "" && ending == ".json":
		return cli.Misuse("--trace %s: --from %s is such a file already; name a picture, or copy the file", s.File, s.From)
	}
	if _, err := s.growing(lanes.Costs{}); err != nil {
		return err
	}
	if s.File == TablesOnly {
		return nil
	}
	if err := cli.Target("trace", s.File); err != nil {
		return err
	}
	return cli.Apart([]cli.File{{Flag: "--from", Path: s.From}, {Flag: "--graph", Path: graph}}, []cli.File{{Flag: "--trace", Path: s.File}})
}

// growing returns costs for a machine that grows as --growth says.
func (s *Settings) growing(costs lanes.Costs) (lanes.Costs, error) {
	if s.Growth == "" {
		return costs, nil
	}
	before, after, ok := strings.Cut(s.Growth, ":")
	threads, err1 := strconv.Atoi(before)
	times, err2 := strconv.ParseFloat(after, 64)
	if !ok || err1 != nil || err2 != nil || threads < 2 || threads > lanes.ThreadsMost || !(times >= 1) || math.IsInf(times, 0) || times > float64(threads) {
		return costs, cli.Misuse("--growth %s: write a number of threads and how many times as much as one they do, such as 16:11", s.Growth)
	}
	return costs.Growing(threads, times), nil
}

// Record records benchmarks and shows each when it is recorded.
func (s *Settings) Record(e cli.Env, timer *bench.Timer, bs []bench.Benchmark) error {
	if cli.IsPicture(s.File) && len(bs) > drawnMost {
		return cli.Misuse("--trace %s: these are %d names, and a picture shows %d: name fewer, or keep all in a .json file", s.File, len(bs), drawnMost)
	}
	costs, err := s.growing(lanes.Measure()) // the usual ones on one thread
	if err != nil {
		return err
	}
	progress := report.NewProgress(e.ErrOut)
	var all []*lanes.Record
	for i := range bs {
		progress.Show("%d/%d  %s%s", i+1, len(bs), bs[i].Name, progress.Left(i, len(bs)))
		r, err := cli.Promptly(e.Ctx, func() (*lanes.Record, error) { return timer.Record(e.Ctx, &bs[i], s.cuts()...) })
		progress.Clear()
		if e.Ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d of %d records: %s is not written", i, len(bs), s.File)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", bs[i].Name, err)
		}
		if i > 0 {
			fmt.Fprintln(e.Out)
		}
		if err := s.table(e, r, costs); err != nil {
			return err
		}
		all = append(all, r)
		debug.FreeOSMemory()
	}
	return s.keep(e, all, costs)
}

// Show shows records of a file.
func (s *Settings) Show(e cli.Env) error {
	costs, err := s.growing(lanes.Usual())
	if err != nil {
		return err
	}
	if err := regular.File(s.From); err != nil {
		return fmt.Errorf("--from %w", err)
	}
	f, err := os.Open(s.From)
	if err != nil {
		return fmt.Errorf("--from %w", err)
	}
	all, err := lanes.Read(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("--from %s: %w", s.From, err)
	}
	if cli.IsPicture(s.File) && len(all) > drawnMost {
		return cli.Misuse("--trace %s: %s has %d records, and a picture shows %d", s.File, s.From, len(all), drawnMost)
	}
	for i, r := range all {
		if i > 0 {
			fmt.Fprintln(e.Out)
		}
		if err := s.table(e, r, costs); err != nil {
			return err
		}
	}
	return s.keep(e, all, costs)
}

// lossesAt is the number of threads on which losses are listed, if no other is asked for.
const lossesAt = 16

// drawnAt are the numbers of threads that are drawn.
var drawnAt = []int{4, 8, lossesAt, 32}

// cuts are the numbers of threads for which loops are cut and recorded once more: those that are listed or drawn.
func (s *Settings) cuts() []int {
	out := append([]int{1, 2}, drawnAt...)
	if s.At != nil {
		out = append(out, *s.At)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(n int) bool { return n == par.Threads() })
}

// table prints the tables of a record.
func (s *Settings) table(e cli.Env, r *lanes.Record, costs lanes.Costs) error {
	var text bytes.Buffer
	if err := r.WriteTable(&text, cli.Or(s.At, lossesAt), costs); err != nil {
		return err
	}
	out := report.NewPrinter(e.Out)
	out.Lines(report.Fitted(strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n"), report.Width(e.Out)))
	return out.Err()
}

// keep says what the prediction assumes, draws the records in the terminal or keeps them in the file
// that --trace names, and says what to do next.
func (s *Settings) keep(e cli.Env, all []*lanes.Record, costs lanes.Costs) error {
	out := report.NewPrinter(e.Out)
	out.Printf("\n")
	out.Paragraph("The prediction assumes %s", assumes(costs))
	threads := drawnAt
	if s.At != nil {
		threads = []int{*s.At}
	}
	if s.Plot {
		out.Printf("\n")
		out.Drawn(lanes.Text(cmp.Or(report.Width(e.Out), 80), out.Coloured(), all, costs, threads...))
		out.Printf("\n")
	}
	if s.File != "" && s.File != TablesOnly {
		what, form := "picture", strings.TrimPrefix(filepath.Ext(s.File), ".")
		if form == "json" {
			what = "record"
		}
		err := atomicfile.Write(s.File, func(w io.Writer) error {
			if form == "json" {
				return lanes.Write(w, all...)
			}
			return lanes.Draw(w, form, all, costs, threads...)
		})
		if err != nil {
			return err
		}
		out.Printf("%s in %s\n", what, s.File)
	}
	out.Next(cli.Program + " bench " + s.next(all))
	return out.Err()
}

// next are the arguments of what to do after some records were shown: draw them, or the one whose
// threads have least work, in the terminal and then in a file; and then see how much that matters.
func (s *Settings) next(all []*lanes.Record) string {
	idlest := slices.MinFunc(all, func(a, b *lanes.Record) int { return cmp.Compare(a.Measured().Busy, b.Measured().Busy) })
	kept, again := s.From, s.Given+cli.Word(idlest.Name)
	if filepath.Ext(s.File) == ".json" {
		kept = s.File
	}
	if kept != "" {
		again = "--from " + cli.Word(kept)
	}
	switch {
	case !s.Plot && kept != "":
		return again + " --plot"
	case !s.Plot:
		return "--trace - --plot " + again
	case !cli.IsPicture(s.File):
		return "--trace lanes.svg " + again
	}
	return bench.Scale
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
