package bench

import (
	"context"
	"runtime/debug"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/gatbench/usage"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// Line is one result, in the form that the scripts in peers print.
type Line struct {
	Peer     string         `json:"peer"`
	Version  string         `json:"version"`
	Op       string         `json:"op"`
	Params   map[string]any `json:"params"`
	MedianMS float64        `json:"median_ms"`
	MinMS    float64        `json:"min_ms"`
	Reps     int            `json:"reps"`
	PeakMiB  *float64       `json:"peak_rss_mib"` // null off Linux
	Extra    extra          `json:"extra"`
}

// extra is what else is known. A null is not known, what is missing does
// not apply.
type extra struct {
	P10MS     float64 `json:"p10_ms"`
	P90MS     float64 `json:"p90_ms"`
	Group     int     `json:"calls_per_sample"`
	GFLOPS    float64 `json:"gflops,omitempty"`
	GBPerS    float64 `json:"gb_per_s,omitempty"`
	StepsPerS float64 `json:"steps_per_s,omitempty"`
	ForwardMS float64 `json:"forward_median_ms,omitempty"`
	EpochMS   float64 `json:"epoch_median_ms,omitempty"`
	Growth    float64 `json:"growth,omitempty"` // over one thread
	Busy      float64 `json:"busy,omitempty"`   // the share of the threads' time
	Scores
	Gathered  float64  `json:"gathered_gb_per_s,omitempty"`
	WalkMS    float64  `json:"walk_ms,omitempty"`
	WalkPct   float64  `json:"walk_pct,omitempty"`
	PlainMS   float64  `json:"plain_ms,omitempty"`
	OverPlain float64  `json:"over_plain,omitempty"`
	Rival     string   `json:"rival,omitempty"`
	RivalMS   float64  `json:"rival_ms,omitempty"`
	OverRival float64  `json:"over_rival,omitempty"`
	Way       string   `json:"way,omitempty"`
	Table     string   `json:"table,omitempty"` // where the rows that are gathered lie, all of them together
	TableRate float64  `json:"table_gb_per_s,omitempty"`
	TablePct  float64  `json:"table_pct,omitempty"`
	Limit     string   `json:"limit,omitempty"`
	LimitPct  float64  `json:"limit_pct,omitempty"`
	Kernels   string   `json:"kernels"`
	ImportMiB *float64 `json:"import_rss_mib"`
	WorkMiB   *float64 `json:"work_rss_mib"`
	TotalS    *float64 `json:"total_s"`
	OthersPct *float64 `json:"others_cpu_pct"`
}

// Scores are what came of a training, under the names of the peers'.
type Scores struct {
	LastLoss    float64 `json:"last_loss,omitempty"`
	LastTest    float64 `json:"last_test_acc,omitempty"`
	BestVal     float64 `json:"best_val_acc,omitempty"` // the first epoch with the highest
	BestValTest float64 `json:"best_val_test_acc,omitempty"`
}

// Timer times benchmarks.
type Timer struct {
	version string
	rule    Budget
	began   usage.Usage // before any benchmark had its operands
}

// NewTimer returns a timer for a version of the program. What memory the process
// takes beyond what it has now counts as the benchmarks'.
func NewTimer(version string, rule Budget) *Timer {
	return &Timer{version: version, rule: rule, began: usage.Now()}
}

// Time makes the operands of a benchmark, times it and then what it is compared
// with, and returns the line.
func (t *Timer) Time(ctx context.Context, b *Benchmark) (*Line, error) {
	before := usage.Now()
	if b.Train != nil {
		return t.timeTraining(ctx, b, before)
	}
	w, err := b.workload()
	if err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // what making the operands left is none of the work
	took, err := t.rule.repeat(ctx, w.Call)
	if err == nil && w.Failed != nil {
		err = w.Failed()
	}
	if err != nil {
		return nil, err
	}
	line := b.line(took, t.version)
	line.memory(t.began, before, usage.Now()) // before the others add theirs
	line.Extra.Way = w.Way
	if t.rule.Alone {
		return line, nil
	}
	if err := t.compare(ctx, &w, line); err != nil {
		return nil, err
	}
	return line, nil
}

// compare times what a benchmark is compared with.
func (t *Timer) compare(ctx context.Context, w *Work, line *Line) error {
	x := &line.Extra
	for _, c := range []struct {
		of       Reference
		ms, over *float64
	}{
		{Reference{Share: 1, Call: w.Forward, Equal: true}, &x.ForwardMS, new(float64)},
		{Reference{Share: 1, Call: w.Walk}, &x.WalkMS, &x.WalkPct},
		{w.Plain, &x.PlainMS, &x.OverPlain},
		{w.Rival, &x.RivalMS, &x.OverRival},
	} {
		if c.of.Call == nil {
			continue
		}
		ms, err := c.of.time(ctx, t.rule)
		if err != nil {
			return err
		}
		*c.ms, *c.over = ms, ms/line.MedianMS
	}
	x.Rival, x.WalkPct = w.Rival.Name, 100*x.WalkPct
	return nil
}

// workload returns the operands.
func (b *Benchmark) workload() (Work, error) {
	if b.Open != nil {
		return b.Open()
	}
	return b.Prepare(), nil
}

// timeTraining trains once and returns the line of its steps.
func (t *Timer) timeTraining(ctx context.Context, b *Benchmark, before usage.Usage) (*Line, error) {
	times, err := b.Train(ctx, nil)
	if err != nil {
		return nil, err
	}
	slices.Sort(times.Step.ms)
	slices.Sort(times.Epoch.ms)
	line := b.line(times.Step, t.version)
	line.memory(t.began, before, usage.Now())
	line.Extra.EpochMS, line.Extra.Scores = times.Epoch.median(), times.Scores
	return line, nil
}

// line returns what the samples say.
func (b *Benchmark) line(t Timing, version string) *Line {
	l := &Line{
		Peer: "edgewise", Version: "edgewise " + version, Op: b.Op, Params: b.Params,
		MedianMS: t.median(), MinMS: t.ms[0], Reps: len(t.ms),
	}
	l.Extra = extra{P10MS: t.percentile(10), P90MS: t.percentile(90), Group: max(t.group, 1), Kernels: cpu.Path()}
	l.Extra.GFLOPS, l.Extra.GBPerS = b.Flops/l.MedianMS/1e6, b.Bytes/l.MedianMS/1e6
	l.Extra.StepsPerS = b.Steps / l.MedianMS * 1e3
	l.Extra.Gathered = b.Gathered / l.MedianMS / 1e6
	return l
}

func (l *Line) memory(began, before, after usage.Usage) {
	l.Extra.OthersPct = before.Others(after)
	if !after.OK {
		return
	}
	work := after.PeakMiB - began.PeakMiB
	l.PeakMiB, l.Extra.ImportMiB, l.Extra.WorkMiB = &after.PeakMiB, &began.PeakMiB, &work
	l.Extra.TotalS = &after.SinceStart
}

// time returns the milliseconds that the whole work would take.
func (r Reference) time(ctx context.Context, rule Budget) (float64, error) {
	if !r.Equal {
		rule = rule.brief()
	}
	t, err := rule.repeat(ctx, r.Call)
	if err != nil {
		return 0, err
	}
	return t.median() / r.Share, nil
}
