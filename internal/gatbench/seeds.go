package gatbench

import (
	"context"
	"time"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
)

// manySeeds trains every recipe, as sideBySide does.
func manySeeds(ctx context.Context, k *task, rs []recipe, done func(int, report.Summary) error) ([]report.Summary, error) {
	return cli.SideBySide(ctx, rs, k.once, done)
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
	s := summaryOf(r)
	s.Take(history, time.Since(start))
	return s, nil
}
