package runs

import (
	"fmt"
	"runtime/debug"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/gatbench/usage"
	"github.com/edgewise-ml/edgewise/internal/par"
)

// scale times a dozen names on 1, 2, 4 … threads.
func (s *Settings) scale(e cli.Env, timer *bench.Timer, bs []bench.Benchmark) error {
	threads := bench.Powers(par.Threads())
	out, progress := report.NewPrinter(e.Out), report.NewProgress(e.ErrOut)
	table := bench.NewScaleTable(bs, threads, report.Width(e.Out))
	if !s.JSON {
		for _, line := range machineSays(threads) {
			out.Paragraph("%s", line)
		}
		out.Printf("\n")
		out.Line("%s", table.Head())
	}
	idlest, share := "", 2.
	for i := range bs {
		progress.Show("%d/%d  %s%s", i+1, len(bs), bs[i].Name, progress.Left(i, len(bs)))
		lines, err := cli.Promptly(e.Ctx, func() ([]*bench.Line, error) { return timer.Scale(e.Ctx, &bs[i], threads) })
		progress.Clear()
		if e.Ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d of %d names", i, len(bs))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", bs[i].Name, err)
		}
		if busy := lines[len(lines)-1].Extra.Busy; busy < share {
			idlest, share = bs[i].Name, busy
		}
		if s.JSON {
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
	if !s.JSON && len(threads) > 1 {
		out.Printf("\n")
		out.Paragraph("Threads have least work in %s. Why, as a table and in pictures:", idlest)
		out.Next(cli.Program + " bench --trace - --plot " + cli.Word(idlest))
	} else if !s.JSON {
		out.Next(cli.Program + " bench " + bench.Sparse)
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
