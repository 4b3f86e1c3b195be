package bench

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/edgewise-ml/edgewise/lanes"
)

// Budget says how long to repeat a call: some calls to warm up, then at least
// AtLeast calls and Enough time, but no more than AtMost calls; after the Limit
// three calls do.
type Budget struct {
	WarmUps, AtLeast, AtMost int
	Enough, Limit            time.Duration
	Alone                    bool // what a call is compared with is not timed
}

// PeersBudget returns the rule by which the scripts in peers time.
func PeersBudget() Budget {
	return Budget{WarmUps: 3, AtLeast: 10, AtMost: 1000, Enough: 500 * time.Millisecond, Limit: 8 * time.Second}
}

// SweepBudget returns the rule for a sweep, which has many rows in little time. They are
// timed alone.
func SweepBudget() Budget {
	return Budget{WarmUps: 2, AtLeast: 5, AtMost: 1000, Enough: 100 * time.Millisecond, Limit: 2 * time.Second}
}

// brief is the budget for what a call is compared with.
func (b Budget) brief() Budget {
	return Budget{WarmUps: 1, AtLeast: 3, AtMost: b.AtMost, Enough: b.Enough / 5, Limit: b.Limit / 8}
}

// A call shorter than tooShort is timed in groups that take about a groupTime:
// the clock itself takes a twentieth of a microsecond.
const (
	tooShort  = time.Microsecond
	groupTime = 20 * time.Microsecond
)

// Timing is what came of repeating a call.
type Timing struct {
	ms    []float64 // of a call, sorted
	group int       // calls to a sample
}

// repeat times f by the budget. It ends early with the context.
func (b Budget) repeat(ctx context.Context, f func()) (Timing, error) {
	t := Timing{group: 1}
	for range b.WarmUps {
		if err := ctx.Err(); err != nil {
			return t, err
		}
		f()
	}
	if one := fastest(f); one < tooShort {
		t.group = int(groupTime/max(one, time.Nanosecond)) + 1
	}
	for began := time.Now(); ; {
		if err := ctx.Err(); err != nil {
			return t, err
		}
		start := time.Now()
		for range t.group {
			f()
		}
		t.ms = append(t.ms, float64(time.Since(start).Nanoseconds())/1e6/float64(t.group))
		n, took := len(t.ms), time.Since(began)
		if n >= b.AtMost || n >= 3 && took > b.Limit || n >= b.AtLeast && took > b.Enough {
			slices.Sort(t.ms)
			return t, nil
		}
	}
}

// Times are the milliseconds of each epoch, and what came of them all.
type Times struct {
	Step, Epoch Timing // the training step; that and a validation forward
	Scores      Scores
}

// Add takes a sample.
func (t *Timing) Add(d time.Duration) { t.ms = append(t.ms, float64(d.Nanoseconds())/1e6) }

// fastest returns the time of a call, the best of three if it is short.
func fastest(f func()) time.Duration {
	best := time.Duration(1<<63 - 1)
	for range 3 {
		start := time.Now()
		f()
		if best = min(best, time.Since(start)); best > tooShort {
			break
		}
	}
	return best
}

// median returns the middle sample, or the mean of the middle two.
func (t Timing) median() float64 {
	n := len(t.ms)
	return (t.ms[(n-1)/2] + t.ms[n/2]) / 2
}

// percentile returns a sample by its rank, as the scripts in peers do.
func (t Timing) percentile(p int) float64 { return t.ms[len(t.ms)*p/100] }

// records is of how many calls, or epochs, the middle one is shown.
const records = 15

// Recorder keeps records of calls or epochs. A nil one records nothing.
type Recorder struct {
	all  []*lanes.Record
	stop func() *lanes.Record
}

// Begin begins a record.
func (r *Recorder) Begin() {
	if r != nil {
		r.drop()
		r.stop = lanes.Start()
	}
}

// End ends it and keeps it.
func (r *Recorder) End() {
	if r != nil && r.stop != nil {
		r.all = append(r.all, r.stop())
		r.stop = nil
	}
}

// drop ends a record that has begun and forgets it.
func (r *Recorder) drop() {
	if r.stop != nil {
		r.stop()
		r.stop = nil
	}
}

// Record returns the record of a call's loops, or of an epoch's: of several the one of median time. Its others
// are cut for other numbers of threads.
func (t *Timer) Record(ctx context.Context, b *Benchmark, cuts ...int) (*lanes.Record, error) {
	calls := func(to *Recorder) error {
		_, err := b.Train(ctx, to)
		to.all = to.all[len(to.all)/2:] // the first epochs make the memory
		return err
	}
	if b.Train == nil {
		w, err := b.workload()
		if err != nil {
			return nil, err
		}
		calls = func(to *Recorder) error { return t.recordCalls(ctx, &w, to) }
	}
	r, err := recordOf(calls)
	if err != nil {
		return nil, err
	}
	r.Name = b.Name
	for _, threads := range cuts {
		undo := lanes.CutFor(threads)
		o, err := recordOf(calls)
		if undo(); err != nil {
			return nil, err
		}
		r.Add(o, threads)
	}
	return r, nil
}

// recordOf returns the record of median time of those that calls makes.
func recordOf(calls func(to *Recorder) error) (*lanes.Record, error) {
	to := new(Recorder)
	defer to.drop()
	if err := calls(to); err != nil {
		return nil, err
	}
	r := lanes.Middle(to.all)
	if r == nil {
		return nil, errors.New("no epoch ended: nothing was recorded")
	}
	return r, nil
}

// recordCalls records calls of a benchmark.
func (t *Timer) recordCalls(ctx context.Context, w *Work, to *Recorder) error {
	for range t.rule.WarmUps {
		if ctx.Err() == nil {
			w.Call()
		}
	}
	for began := time.Now(); len(to.all) < records && (len(to.all) < 3 || time.Since(began) < t.rule.Limit/4); {
		if err := ctx.Err(); err != nil {
			return err
		}
		w.Call() // threads that slept while a record was put in order are awake
		to.Begin()
		w.Call()
		to.End()
	}
	if w.Failed != nil {
		return w.Failed()
	}
	return nil
}
