package gatbench

import (
	"context"
	"sync"
	"time"

	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
)

// manySeeds trains every recipe, as sideBySide does.
func manySeeds(ctx context.Context, k *task, rs []recipe, done func(int, report.Summary) error) ([]report.Summary, error) {
	return sideBySide(ctx, rs, k.once, done)
}

// sideBySide trains every recipe, with some trainings side by side: each has a
// tape and an optimiser of its own, so the results are those of one after
// another, to the bit. done is called for each, one at a time but in any order,
// with its place among the recipes; an error of it ends all. The result is in the
// order of the recipes.
func sideBySide[R, S any](ctx context.Context, rs []R, once func(context.Context, R) (S, error), done func(int, S) error) ([]S, error) {
	workers := min(par.Threads(), len(rs))
	if workers > 1 { // each training has one thread: that is n times as fast, and kernels are not
		defer par.SetThreads(1)()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	runs, next := make([]S, len(rs)), make(chan int)
	var turn sync.Mutex
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range next {
				s, err := once(ctx, rs[i])
				if err == nil {
					turn.Lock()
					runs[i], err = s, done(i, s)
					turn.Unlock()
				}
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range rs {
		next <- i
	}
	close(next)
	wg.Wait()
	return runs, context.Cause(ctx)
}

// seedsOf returns a recipe n times, with the seeds from its own on.
func seedsOf(r recipe, n int) []recipe {
	rs := make([]recipe, n)
	for i := range rs {
		rs[i] = r
		rs[i].Seed += uint64(i)
	}
	return rs
}

// once trains one network and keeps nothing of it.
func (k *task) once(ctx context.Context, r recipe) (report.Summary, error) {
	if err := ctx.Err(); err != nil {
		return report.Summary{}, err
	}
	own := *k
	if r.choice().bySeed() {
		err := own.setSplit(r.choice())
		if err == nil {
			err = own.suit(&r)
		}
		if err != nil {
			return report.Summary{}, err
		}
	}
	if err := own.aim(&r); err != nil {
		return report.Summary{}, err
	}
	fit, _, err := own.fit(r)
	if err != nil {
		return report.Summary{}, err
	}
	start := time.Now()
	history, err := fit.Run(ctx)
	if err != nil {
		return report.Summary{}, err
	}
	return summarise(history, r, time.Since(start)), nil
}
