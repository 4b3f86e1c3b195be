package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
)

// benchLine is one result, in the form that the scripts in peers print.
type benchLine struct {
	Peer     string         `json:"peer"`
	Version  string         `json:"version"`
	Op       string         `json:"op"`
	Params   map[string]any `json:"params"`
	MedianMS float64        `json:"median_ms"`
	MinMS    float64        `json:"min_ms"`
	Reps     int            `json:"reps"`
	PeakMiB  *float64       `json:"peak_rss_mib"` // null off Linux
	Extra    benchExtra     `json:"extra"`
}

// benchExtra is what else is known. A null is not known, what is missing does
// not apply.
type benchExtra struct {
	P10MS     float64 `json:"p10_ms"`
	P90MS     float64 `json:"p90_ms"`
	Group     int     `json:"calls_per_sample"`
	GFLOPS    float64 `json:"gflops,omitempty"`
	GBPerS    float64 `json:"gb_per_s,omitempty"`
	ForwardMS float64 `json:"forward_median_ms,omitempty"`
	EpochMS   float64 `json:"epoch_median_ms,omitempty"`
	benchScores
	Gathered  float64  `json:"gathered_gb_per_s,omitempty"`
	WalkMS    float64  `json:"walk_ms,omitempty"`
	WalkPct   float64  `json:"walk_pct,omitempty"`
	PlainMS   float64  `json:"plain_ms,omitempty"`
	OverPlain float64  `json:"over_plain,omitempty"`
	Rival     string   `json:"rival,omitempty"`
	RivalMS   float64  `json:"rival_ms,omitempty"`
	OverRival float64  `json:"over_rival,omitempty"`
	Limit     string   `json:"limit,omitempty"`
	LimitPct  float64  `json:"limit_pct,omitempty"`
	Kernels   string   `json:"kernels"`
	ImportMiB *float64 `json:"import_rss_mib"`
	WorkMiB   *float64 `json:"work_rss_mib"`
	TotalS    *float64 `json:"total_s"`
	OthersPct *float64 `json:"others_cpu_pct"`
}

// benchScores are what came of a training, under the names of the peers'.
type benchScores struct {
	LastLoss    float64 `json:"last_loss,omitempty"`
	LastTest    float64 `json:"last_test_acc,omitempty"`
	BestVal     float64 `json:"best_val_acc,omitempty"` // the first epoch with the highest
	BestValTest float64 `json:"best_val_test_acc,omitempty"`
}

// time makes the operands of a benchmark, times it and then what it is compared
// with, and returns the line.
func (b *benchmark) time(ctx context.Context, rule budget, began usage) (*benchLine, error) {
	before := newUsage()
	if b.train != nil {
		return b.timeTraining(ctx, began, before)
	}
	w, err := b.workload()
	if err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // what making the operands left is none of the work
	t, err := rule.repeat(ctx, w.call)
	if err == nil && w.failed != nil {
		err = w.failed()
	}
	if err != nil {
		return nil, err
	}
	line := b.line(t)
	line.memory(began, before, newUsage()) // before the others add theirs
	if w.forward != nil {
		t, err := rule.repeat(ctx, w.forward)
		if err != nil {
			return nil, err
		}
		line.Extra.ForwardMS = t.median()
	}
	if w.walk != nil {
		if line.Extra.WalkMS, err = (reference{share: 1, call: w.walk}).time(ctx, rule); err != nil {
			return nil, err
		}
		line.Extra.WalkPct = 100 * line.Extra.WalkMS / line.MedianMS
	}
	if w.plain.call != nil {
		if line.Extra.PlainMS, err = w.plain.time(ctx, rule); err != nil {
			return nil, err
		}
		line.Extra.OverPlain = line.Extra.PlainMS / line.MedianMS
	}
	if w.rival.call != nil {
		if line.Extra.RivalMS, err = w.rival.time(ctx, rule); err != nil {
			return nil, err
		}
		line.Extra.Rival, line.Extra.OverRival = w.rival.name, line.Extra.RivalMS/line.MedianMS
	}
	return line, nil
}

// workload returns the operands.
func (b *benchmark) workload() (workload, error) {
	if b.open != nil {
		return b.open()
	}
	return b.prepare(), nil
}

// timeTraining trains once and returns the line of its steps.
func (b *benchmark) timeTraining(ctx context.Context, began, before usage) (*benchLine, error) {
	times, err := b.train(ctx)
	if err != nil {
		return nil, err
	}
	line := b.line(times.step)
	line.memory(began, before, newUsage())
	line.Extra.EpochMS, line.Extra.benchScores = times.epoch.median(), times.scores
	return line, nil
}

// line returns what the samples say.
func (b *benchmark) line(t timing) *benchLine {
	build := thisBuild()
	l := &benchLine{
		Peer: "edgewise", Version: "edgewise " + build.Version, Op: b.op, Params: b.params,
		MedianMS: t.median(), MinMS: t.ms[0], Reps: len(t.ms),
	}
	l.Extra = benchExtra{P10MS: t.percentile(10), P90MS: t.percentile(90), Group: t.group, Kernels: build.Kernels}
	l.Extra.GFLOPS, l.Extra.GBPerS = b.flops/l.MedianMS/1e6, b.bytes/l.MedianMS/1e6
	l.Extra.Gathered = b.gathered / l.MedianMS / 1e6
	return l
}

func (l *benchLine) memory(began, before, after usage) {
	l.Extra.OthersPct = before.others(after)
	if !after.ok {
		return
	}
	work := after.peakMiB - began.peakMiB
	l.PeakMiB, l.Extra.ImportMiB, l.Extra.WorkMiB = &after.peakMiB, &began.peakMiB, &work
	l.Extra.TotalS = &after.sinceStart
}

// time returns the milliseconds that the whole work would take.
func (r reference) time(ctx context.Context, rule budget) (float64, error) {
	if !r.equal {
		rule = rule.brief()
	}
	t, err := rule.repeat(ctx, r.call)
	if err != nil {
		return 0, err
	}
	return t.median() / r.share, nil
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
