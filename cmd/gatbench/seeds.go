package main

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// manySeeds trains a recipe for n seeds, from its own on, with some trainings
// side by side: each has a tape and an optimiser of its own, so the results are
// those of one after another, to the bit. done is called for each, one at a time
// but in any order. The result is in the order of the seeds.
func manySeeds(ctx context.Context, k *task, r recipe, n int, done func(summary)) ([]summary, error) {
	workers := min(par.Threads(), n)
	if workers > 1 { // each training has one thread: that is n times as fast, and kernels are not
		defer par.SetThreads(1)()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	runs, next := make([]summary, n), make(chan int)
	var turn sync.Mutex
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range next {
				one := r
				one.Seed += uint64(i)
				s, err := k.once(ctx, one)
				if err != nil {
					cancel(err)
					continue
				}
				turn.Lock()
				runs[i] = s
				done(s)
				turn.Unlock()
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	return runs, context.Cause(ctx)
}

// once trains one network and keeps nothing of it.
func (k *task) once(ctx context.Context, r recipe) (summary, error) {
	if err := ctx.Err(); err != nil {
		return summary{}, err
	}
	if r.Splits == "random" {
		own := *k
		if err := own.setSplit(r.Splits, r.Seed); err != nil {
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
