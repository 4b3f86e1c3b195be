package task

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
)

// TakeFolds makes --splits folds:K what it stands for, --folds K, unless one of the folds is meant.
func (c *Flags) TakeFolds() error {
	if c.Splits == nil || !source.IsFolds(*c.Splits) || c.SplitNumber != nil || c.Resume != "" {
		return nil
	}
	k, err := strconv.Atoi(strings.TrimPrefix(*c.Splits, source.SplitsFolds))
	switch {
	case err != nil:
		return cli.Misuse("--splits %.40s: want a number of folds after the colon, such as %s5", *c.Splits, source.SplitsFolds)
	case k < 3:
		return cli.Misuse("--splits %s: there must be at least 3 folds, because one tests and another validates", *c.Splits)
	case c.Folds != nil:
		return cli.Misuse("--folds %d and --splits %s: they say the same: leave one of the two flags out", *c.Folds, *c.Splits)
	}
	c.Folds, c.Splits = &k, nil
	return nil
}

// Sentence says of a division what was decided, and which flag divides otherwise.
func Sentence(d *models.Division) string {
	switch {
	case d == nil || d.Says == "":
		return ""
	case models.IsByTime(d.Rule):
		return d.Says + " (--splits " + models.SplitUsual + " draws them)"
	}
	return d.Says + " (--splits divides otherwise)"
}

// ReadSplit reads {"train": […], "val": […], "test": […]}, the numbers of nodes.
func ReadSplit(path, name string, g *Goal) (datasets.Split, error) {
	var s datasets.Split
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer f.Close()
	const most = 1 << 30 // bytes
	b, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return s, err
	}
	var lists struct{ Train, Val, Test []int32 }
	if err := jsonread.Strict(b, &lists); err != nil {
		return s, fmt.Errorf("it is no JSON object of the lists train, val and test: %w", err)
	}
	owner := map[int32]string{}
	for _, part := range []struct {
		name string
		from []int32
		into *[]int32
	}{{"train", lists.Train, &s.Train}, {"val", lists.Val, &s.Val}, {"test", lists.Test, &s.Test}} {
		for i, v := range part.from {
			switch {
			case v < 0 || int(v) >= g.Len():
				return s, fmt.Errorf("%s[%d] is %s %d; %s has the %ss 0 to %d", part.name, i, g.Example, v, name, g.Example, g.Len()-1)
			case owner[v] != "":
				return s, fmt.Errorf("%s[%d] is %s %d, which is in %s already", part.name, i, g.Example, v, owner[v])
			case !g.Known(v):
				return s, fmt.Errorf("%s[%d] is %s %d, which has no %s", part.name, i, g.Example, v, g.Kind)
			}
			owner[v] = part.name
		}
		if len(part.from) == 0 {
			return s, fmt.Errorf("its list %s is empty", part.name)
		}
		*part.into = slices.Sorted(slices.Values(part.from))
	}
	return s, nil
}
