package cli

import (
	"context"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// SideBySide trains every recipe, with some trainings side by side: each has a
// tape and an optimiser of its own, so the results are those of one after
// another, to the bit. done is called for each, one at a time but in any order,
// with its place among the recipes; an error of it ends all. The result is in the
// order of the recipes.
func SideBySide[R, S any](ctx context.Context, rs []R, once func(context.Context, R) (S, error), done func(int, S) error) ([]S, error) {
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
