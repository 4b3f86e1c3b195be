package bench

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// Scale is the name of a run that shows how a dozen benchmarks grow with the number of threads.
const Scale = "scale"

// ScaleEpochs is how many epochs of a training it times on each number of threads.
const ScaleEpochs = 40

// scaled are the benchmarks of that run: a kernel, products, layers, recurrent networks and trainings.
var scaled = []string{
	"copy_u_sum/arxiv/64", "gemm/1024x1024x1024", "gemm/169343x128x256", "gemm_ta/128x169343x256",
	"layer/gcn/pubmed/1x64", "layer/gat/arxiv/8x8", "layer/gat/arxiv/4x64",
	"sequence/lstm/50x64x128x128", "sequence/gru/50x64x128x128", "attention/encoder_layer/16x512x512x8",
	"train/cora", "sample/step/1000000x10000000",
}

// ScaleBudget returns the rule for that run.
func ScaleBudget() Budget {
	return Budget{WarmUps: 2, AtLeast: 5, AtMost: 1000, Enough: 300 * time.Millisecond, Limit: 1500 * time.Millisecond, Alone: true}
}

// Scaled returns the benchmarks of the run of that name.
func Scaled(all []Benchmark) []Benchmark {
	var out []Benchmark
	for _, name := range scaled {
		if i := slices.IndexFunc(all, func(b Benchmark) bool { return b.Name == name }); i >= 0 {
			out = append(out, all[i])
		}
	}
	return out
}

// Powers returns 1, 2, 4 and so on below a number of threads, and that number.
func Powers(threads int) (out []int) {
	for n := 1; n < threads; n *= 2 {
		out = append(out, n)
	}
	return append(out, threads)
}

// Scale times a benchmark on several numbers of threads, the first of which its growth is over. The busy
// share is that of the last.
func (t *Timer) Scale(ctx context.Context, b *Benchmark, threads []int) ([]*Line, error) {
	defer par.SetThreads(par.Threads())()
	var out []*Line
	for _, n := range threads {
		par.SetThreads(n)
		line, err := t.Time(ctx, b)
		if err != nil {
			return nil, err
		}
		line.Params = maps.Clone(line.Params)
		line.Params["threads"] = n
		out = append(out, line)
		line.Extra.Growth = out[0].whole() / line.whole()
	}
	r, err := t.Record(ctx, b)
	if err != nil {
		return nil, err
	}
	out[len(out)-1].Extra.Busy = r.Measured().Busy
	return out, nil
}

// ScaleTable is the lines of that run as a table, in milliseconds.
type ScaleTable struct {
	threads []int
	shown   []int // the columns: places in threads
	name    int   // the width of the first
}

// NewScaleTable returns the table of some benchmarks. If it is wider than a terminal of so many columns, numbers of
// threads between one and all are left out; 0 is no terminal.
func NewScaleTable(bs []Benchmark, threads []int, width int) *ScaleTable {
	t := &ScaleTable{threads: threads}
	for i := range bs {
		t.name = max(t.name, len(bs[i].Name))
	}
	for i := range threads {
		t.shown = append(t.shown, i)
	}
	for width > 0 && len(t.shown) > 2 && t.name+len(t.shown)*scaleColumn+2*scaleColumn > width {
		t.shown = slices.Delete(t.shown, len(t.shown)-2, len(t.shown)-1)
	}
	return t
}

// scaleColumn is the width of a column of numbers.
const scaleColumn = 8

// Head returns the names of the columns.
func (t *ScaleTable) Head() string {
	s := fmt.Sprintf("%-*s", t.name, "name")
	for _, i := range t.shown {
		s += fmt.Sprintf("%*d", scaleColumn, t.threads[i])
	}
	return s + fmt.Sprintf("%*s%*s", scaleColumn, "growth", scaleColumn, "busy")
}

// Row returns the line of a benchmark.
func (t *ScaleTable) Row(b *Benchmark, lines []*Line) string {
	s := fmt.Sprintf("%-*s", t.name, b.Name)
	for _, i := range t.shown {
		s += fmt.Sprintf("%*s", scaleColumn, digits(lines[i].whole()))
	}
	last := lines[len(lines)-1].Extra
	return s + fmt.Sprintf("%*.1f%*.0f %%", scaleColumn, last.Growth, scaleColumn-2, 100*last.Busy)
}

// whole is the time of a call or, of a training, of an epoch.
func (l *Line) whole() float64 { return cmp.Or(l.Extra.EpochMS, l.MedianMS) }

// digits is a number with three digits or more.
func digits(v float64) string {
	decimals := 3
	for _, bound := range []float64{1, 10, 100} {
		if v >= bound {
			decimals--
		}
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
