package node

import (
	"context"
	"time"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
)

// ManySeeds trains every recipe, as sideBySide does.
func ManySeeds(ctx context.Context, k *Examples, rs []Recipe, done func(int, report.Summary) error) ([]report.Summary, error) {
	return cli.SideBySide(ctx, rs, k.TrainOnce, done)
}

// SeedsOf returns a recipe n times, with the seeds from its own on.
func SeedsOf(r Recipe, n int) []Recipe {
	rs := make([]Recipe, n)
	for i := range rs {
		rs[i] = r
		rs[i].Seed += uint64(i)
	}
	return rs
}

// TrainOnce trains one network and keeps nothing of it.
func (k *Examples) TrainOnce(ctx context.Context, r Recipe) (report.Summary, error) {
	if err := ctx.Err(); err != nil {
		return report.Summary{}, err
	}
	own := *k
	if r.Choice().bySeed() {
		err := own.setSplit(r.Choice())
		if err == nil {
			err = own.Suit(&r)
		}
		if err != nil {
			return report.Summary{}, err
		}
	}
	if err := own.aim(&r); err != nil {
		return report.Summary{}, err
	}
	fit, _, err := own.NewFit(r)
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
