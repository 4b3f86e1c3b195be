package gatbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/datadir"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/task/node"
	"github.com/edgewise-ml/edgewise/internal/task/source"
)

// suites are the published tables that --suite repeats.
var suites = []string{node.PresetTuned}

// How a suite is trained: with so many seeds on one official split, as the paper has it, or once on each of several published ones. All
// of it must be done in so many hours; else there are fewer seeds.
const (
	suiteSeeds  = 5
	suiteSplits = 10
	suiteHours  = 8
)

// suiteRow is a row of a suite.
type suiteRow struct {
	node.TunedRow
	title string
	task  *node.Examples
	seeds []node.Recipe
	epoch float64 // milliseconds that one takes, beside other trainings
}

// suiteRun is one training of a suite.
type suiteRun struct {
	*suiteRow
	node.Recipe
}

// checkSuite returns an error for flags that say what a suite says itself.
func (c *tableCommand) checkSuite() error {
	if err := cli.OneOf("--suite", c.Suite, suites); err != nil {
		return err
	}
	for _, f := range []struct {
		flag  string
		given bool
	}{
		{"datasets", len(c.Datasets) > 0}, {"preset", c.Preset != nil}, {"features", c.Features != nil}, {"splits", c.Splits != nil}, {"split-number", c.Number != nil},
		{"patience", c.Patience != nil}, {"select", c.Select != nil}, {"rows", c.Rows != nil}, {"no-edge-features", c.NoEdgeFeatures},
		{"start", c.Start != nil}, {"decayed", c.Decayed != nil}, {"value-drop", c.ValueDrop != nil}, {"no-bias", c.NoBias != nil}, {"column", !reflect.DeepEqual(c.ColumnFlags, source.ColumnFlags{})},
	} {
		if f.given {
			return cli.Misuse("--suite %s and --%s: a suite has the settings of a published table: leave one of the two flags out", c.Suite, f.flag)
		}
	}
	for _, m := range c.suiteModels() {
		if !slices.ContainsFunc(node.TunedRows, func(t node.TunedRow) bool { return t.Model == m }) {
			return cli.Misuse("--model %s: the suite %s has gcn, gat and sage", m, c.Suite)
		}
	}
	return nil
}

// runSuite trains the rows of a published table and prints them beside what was published. The first seed of each row comes first, so
// that there is something of all rows when it is interrupted.
func (c *tableCommand) runSuite(e cli.Env, t *accuracyTable) error {
	rows, err := c.suiteRows(e, t)
	if err != nil {
		return err
	}
	runs, err := t.planned(e.Ctx, slices.Clone(rows))
	if err != nil {
		return t.halted(e.Ctx, err, runs)
	}
	todo := t.left(runs)
	done, all := len(runs)-len(todo), len(runs)
	t.progress.Left(done, all)
	stop := t.progress.During(fmt.Sprintf("%d of %d trainings", done, all))
	_, err = cli.SideBySide(e.Ctx, todo, onceOf, func(i int, s report.Summary) error {
		done++
		t.progress.Show("%d of %d trainings%s  %s on %s", done, all, t.progress.Left(done, all), todo[i].Recipe.Model, todo[i].title)
		return t.Keep(todo[i].Recipe, s)
	})
	stop()
	return errors.Join(t.compared(rows), t.halted(e.Ctx, err, runs))
}

// onceOf trains one network and keeps nothing of it.
func onceOf(ctx context.Context, r suiteRun) (report.Summary, error) {
	return r.task.TrainOnce(ctx, r.Recipe)
}

// halted is the error of a suite that was interrupted, or err.
func (t *accuracyTable) halted(ctx context.Context, err error, runs []suiteRun) error {
	if ctx.Err() == nil {
		return err
	}
	err = fmt.Errorf("interrupted after %d of %d trainings", len(runs)-len(t.left(runs)), len(runs))
	if t.Resume != "" {
		err = fmt.Errorf("%w; run the same command again to continue from %s", err, t.Resume)
	}
	return err
}

// suiteRows opens the data of a suite. What is missing is left out, and said at the end.
func (c *tableCommand) suiteRows(e cli.Env, t *accuracyTable) ([]*suiteRow, error) {
	var rows []*suiteRow
	for _, d := range node.TunedOn {
		at := node.Choice{Splits: source.SplitsOwn}
		k, err := cli.Reading(e, d.Name, func() (k *node.Examples, err error) {
			if d.Splits != "" {
				at.Splits, err = splitFile(c.Data, d.Splits)
			}
			if err == nil {
				k, err = node.OpenExamples(c.Data, d.Name, true, at)
			}
			return k, err
		})
		if errors.Is(err, cli.ErrInterrupted) {
			return nil, err
		}
		if err != nil {
			t.missed = append(t.missed, err)
			continue
		}
		for _, row := range node.TunedRows {
			if row.Dataset != d.Name || !slices.Contains(c.suiteModels(), row.Model) {
				continue
			}
			r, err := node.NewRecipe(c.Suite, row.Model, row.Dataset)
			if err != nil {
				return nil, err
			}
			n := suiteSeeds
			if r.Splits, r.Seed, r.Features = at.Splits, c.Seed, d.Form; d.Splits == "" {
				n, r.SplitNumber = suiteSplits, source.SplitsEach
			}
			if cli.Set(&r.Epochs, c.Epochs); r.Epochs < 1 {
				return nil, cli.Misuse("--epochs %d: it must be at least 1", r.Epochs)
			}
			if err := k.Suit(&r); err != nil {
				return nil, err
			}
			rows = append(rows, &suiteRow{TunedRow: row, title: d.Title, task: k, seeds: node.SeedsOf(r, min(n, c.Seeds))})
		}
	}
	if len(rows) == 0 {
		return nil, errors.Join(t.missed...)
	}
	return rows, nil
}

// suiteModels are those of --models, or else those that the suite is about.
func (c *tableCommand) suiteModels() []string {
	if slices.Equal(c.Models, []string{"gat", "gcn", "mlp"}) { // nothing was asked for
		return []string{"gcn", "gat"}
	}
	return c.Models
}

// splitFile finds the file of a published split.
func splitFile(dir, name string) (string, error) {
	folders := datadir.Folders(dir)
	for _, dir := range folders {
		for _, path := range []string{filepath.Join(dir, "tuned_splits", name), filepath.Join(dir, name)} {
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("no file %s in %s, nor in tuned_splits there: get it from github.com/LUOyk1999/tunedGNN (folder medium_graph/data), or name the folder it is in with --data or EDGEWISE_DATA", name, strings.Join(folders, ", "))
}

// planned returns the trainings in their order, in which short ones come first, and says how many there are and how long those take that are not done. If that is too
// long, the rows have fewer seeds.
func (t *accuracyTable) planned(ctx context.Context, rows []*suiteRow) ([]suiteRun, error) {
	runs := inTurn(rows, suiteSplits)
	if len(t.left(runs)) == 0 {
		return runs, nil
	}
	stop := t.progress.During("measuring an epoch of each row")
	err := t.measured(ctx, t.left(runs))
	stop()
	if err != nil {
		return runs, err
	}
	slices.SortStableFunc(rows, func(a, b *suiteRow) int { return cmp.Compare(a.epoch*float64(a.Epochs), b.epoch*float64(b.Epochs)) })
	runs = inTurn(rows, suiteSplits)
	all, seeds := len(runs), suiteSplits
	for seeds > 1 && hours(t.left(runs)) > suiteHours {
		seeds--
		runs = inTurn(rows, seeds)
	}
	if t.JSON {
		return runs, nil
	}
	t.out.Paragraph("%d trainings in %d rows, of which %d are done already. The others take about %s.", len(runs), len(rows), len(runs)-len(t.left(runs)), cli.InWords(time.Duration(hours(t.left(runs))*float64(time.Hour))))
	if fewer := all - len(runs); fewer > 0 {
		t.out.Paragraph("%d trainings more are left out, because all would take more than %d hours: there are at most %d a row. Run the same command again for the others.", fewer, suiteHours, seeds)
	}
	t.out.Printf("\n")
	return runs, nil
}

// inTurn returns the first seed of each row, then the second, and so on.
func inTurn(rows []*suiteRow, most int) (runs []suiteRun) {
	for i := range most {
		for _, row := range rows {
			if i < len(row.seeds) {
				runs = append(runs, suiteRun{row, row.seeds[i]})
			}
		}
	}
	return runs
}

// left returns the trainings that there is no result of.
func (t *accuracyTable) left(runs []suiteRun) (out []suiteRun) {
	for _, r := range runs {
		if _, done := t.Of[r.Recipe]; !done {
			out = append(out, r)
		}
	}
	return out
}

// measured finds what an epoch of each row takes: of a training that was kept, or of one of two epochs.
func (t *accuracyTable) measured(ctx context.Context, runs []suiteRun) error {
	var short []suiteRun
	for _, r := range runs {
		for _, one := range r.seeds {
			if s, there := t.Of[one]; there && s.Epochs > 0 {
				r.epoch = s.TotalMS / float64(s.Epochs)
			}
		}
		if r.epoch == 0 {
			r.epoch = -1 // it is measured
			r.Recipe.Epochs = min(2, r.Recipe.Epochs)
			short = append(short, r)
		}
	}
	_, err := cli.SideBySide(ctx, short, onceOf, func(i int, s report.Summary) error {
		short[i].epoch = s.EpochMS
		return nil
	})
	return err
}

// hours is how long trainings take, some of them side by side.
func hours(runs []suiteRun) float64 {
	ms := 0.0
	for _, r := range runs {
		ms += r.epoch * float64(r.Recipe.Epochs)
	}
	return ms / float64(max(1, min(par.Threads(), len(runs)))) / 3.6e6
}

// compared prints what is known of each row beside what was published.
func (t *accuracyTable) compared(rows []*suiteRow) error {
	near := 0
	for _, row := range rows {
		var done []node.Recipe
		for _, one := range row.seeds {
			if _, there := t.Of[one]; there {
				done = append(done, one)
			}
		}
		if len(done) == 0 {
			if !t.JSON {
				t.table.Beside(t.out, row.title, &report.Cell{Model: row.Model}, row.Mean, row.Deviation)
			}
			continue
		}
		l := t.cell(done)
		if row.Mean-100*l.Mean <= row.Deviation {
			near++
		}
		if t.rows++; t.JSON {
			t.out.Encode(l)
		} else {
			t.table.Beside(t.out, row.title, &l, row.Mean, row.Deviation)
		}
	}
	if t.JSON || t.rows == 0 {
		return t.out.Err()
	}
	t.out.Printf("\n")
	t.out.Paragraph("Test accuracy in per cent, of Minesweeper the area under the ROC curve: mean ± standard deviation over the trainings that are done. "+
		"Published: Luo, Shi and Wu, Classic GNNs are strong baselines, NeurIPS 2024. In %d of %d rows ours is at most one published deviation lower.", near, t.rows)
	for _, err := range t.missed {
		t.out.Line("left out: %v", err)
	}
	return t.out.Err()
}
