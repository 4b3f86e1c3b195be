package main

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// manySeeds trains every recipe, with some trainings side by side: each has a
// tape and an optimiser of its own, so the results are those of one after
// another, to the bit. done is called for each, one at a time but in any order,
// with its place among the recipes; an error of it ends all. The result is in the
// order of the recipes.
func manySeeds(ctx context.Context, k *task, rs []recipe, done func(int, summary) error) ([]summary, error) {
	workers := min(par.Threads(), len(rs))
	if workers > 1 { // each training has one thread: that is n times as fast, and kernels are not
		defer par.SetThreads(1)()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	runs, next := make([]summary, len(rs)), make(chan int)
	var turn sync.Mutex
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range next {
				s, err := k.once(ctx, rs[i])
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
func (k *task) once(ctx context.Context, r recipe) (summary, error) {
	if err := ctx.Err(); err != nil {
		return summary{}, err
	}
	if r.choice().bySeed() {
		own := *k
		if err := own.setSplit(r.choice()); err != nil {
			return summary{}, err
		}
		k = &own
	}
	fit, _, err := k.fit(r)
	if err != nil {
		return summary{}, err
	}
	start := time.Now()
	history, err := fit.Run(ctx)
	if err != nil {
		return summary{}, err
	}
	return summarise(history, r, time.Since(start)), nil
}

// halfWidth returns half the width of the 95 % confidence interval of a mean of
// n numbers with that standard deviation, by Student's distribution; 0 of one.
func halfWidth(n int, std float64) float64 {
	if n < 2 {
		return 0
	}
	return student95(n-1) * std / math.Sqrt(float64(n))
}

// student95 returns the 97.5 % quantile of Student's distribution. From four
// degrees of freedom on it is the expansion around the normal distribution's,
// good to 0.3 %.
func student95(freedom int) float64 {
	if few := [...]float64{12.7062, 4.3027, 3.1824}; freedom <= len(few) {
		return few[freedom-1]
	}
	const z = 1.959964
	v := float64(freedom)
	z2 := z * z
	g1 := z * (z2 + 1) / 4
	g2 := z * ((5*z2+16)*z2 + 3) / 96
	g3 := z * (((3*z2+19)*z2+17)*z2 - 15) / 384
	return z + g1/v + g2/(v*v) + g3/(v*v*v)
}
