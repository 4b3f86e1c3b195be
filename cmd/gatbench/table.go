package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// tableCommand is gatbench table.
type tableCommand struct {
	Datasets []string `placeholder:"NAME" help:"The datasets (cora, and citeseer and pubmed where their files are)."`
	Models   []string `default:"gat,gcn,mlp" placeholder:"NAME" help:"The models (gat,gcn,mlp)."`
	Preset   string   `default:"paper" placeholder:"NAME" help:"Whose settings: paper, dgl or pyg."`
	Seeds    int      `default:"10" placeholder:"N" help:"Train each N times (10)."`
	Seed     uint64   `default:"0" placeholder:"N" help:"The first seed (0)."`
	Epochs   *int     `placeholder:"N" help:"Number of epochs at most (the preset's)."`
	Patience *int     `placeholder:"N" help:"Stop after N epochs without progress (the preset's)."`
	Select   *string  `placeholder:"RULE" help:"Which epoch's model is kept: accuracy, loss, either or last (the preset's)."`
	Data     string   `placeholder:"DIR" help:"Folder of the datasets' files (else $$EDGEWISE_DATA, else the user's cache)."`
	Threads  int      `default:"0" placeholder:"N" help:"Use at most N threads (0: all there are). Never changes a result."`
	JSON     bool     `name:"json" help:"Print JSON objects, one a line."`
}

// cell is a model on a dataset.
type cell struct {
	Event   string  `json:"event"` // "cell"
	Dataset string  `json:"dataset"`
	Model   string  `json:"model"`
	Preset  string  `json:"preset"`
	Select  string  `json:"select"`
	Seeds   int     `json:"seeds"`
	Mean    float64 `json:"test_accuracy_mean"`
	Std     float64 `json:"test_accuracy_std"`
	Low     float64 `json:"test_accuracy_low"` // of the mean's 95 % interval
	High    float64 `json:"test_accuracy_high"`
	TotalMS float64 `json:"total_ms"`
}

// Run trains each model on each dataset and prints a row for each.
func (c *tableCommand) Run(e env) error {
	recipes, err := c.recipes()
	if err != nil {
		return err
	}
	defer par.SetThreads(c.Threads)()
	defer par.Hot()()
	t := &accuracyTable{tableCommand: c, printer: printer{w: e.out}, progress: newProgress(e.errOut)}
	for _, rs := range recipes {
		k, err := openTask(c.Data, rs[0].Dataset, "planetoid", 0)
		if err != nil && len(c.Datasets) == 0 && rs[0].Dataset != "cora" {
			t.missing = append(t.missing, err)
			continue
		}
		if err != nil {
			return err
		}
		for _, r := range rs {
			if err := t.add(e, k, r); err != nil {
				return err
			}
		}
	}
	return t.end(recipes)
}

// recipes returns the trainings of the table, a list for each dataset.
func (c *tableCommand) recipes() ([][]recipe, error) {
	switch {
	case c.Seeds < 1:
		return nil, misuse("--seeds %d: it must be at least 1", c.Seeds)
	case c.Threads < 0:
		return nil, misuse("--threads %d: it must be at least 1, or 0 for all there are", c.Threads)
	}
	datasets := c.Datasets
	if len(datasets) == 0 {
		datasets = []string{"cora", "citeseer", "pubmed"}
	}
	var out [][]recipe
	for _, d := range datasets {
		var rs []recipe
		for _, m := range c.Models {
			r, err := newRecipe(c.Preset, m, strings.ToLower(d))
			if err != nil {
				return nil, err
			}
			r.Seed = c.Seed
			set(&r.Epochs, c.Epochs)
			set(&r.Patience, c.Patience)
			set(&r.Select, c.Select)
			if err := r.check(); err != nil {
				return nil, err
			}
			rs = append(rs, r)
		}
		out = append(out, rs)
	}
	return out, nil
}

// accuracyTable prints the rows as they come.
type accuracyTable struct {
	*tableCommand
	printer
	progress *progress
	rows     int
	missing  []error // datasets that are not there
}

// add trains one cell and prints it.
func (t *accuracyTable) add(e env, k *task, r recipe) error {
	start, ready := time.Now(), 0
	runs, err := manySeeds(e.ctx, k, r, t.Seeds, func(summary) {
		ready++
		t.progress.show("%s on %s: %d of %d seeds", r.Model, k.Name, ready, t.Seeds)
	})
	t.progress.clear()
	if e.ctx.Err() != nil {
		return fmt.Errorf("interrupted after %d rows and %d of %d seeds of the next", t.rows, ready, t.Seeds)
	}
	if err != nil {
		return fmt.Errorf("%s on %s: %w", r.Model, k.Name, err)
	}
	var tests []float64
	for _, s := range runs {
		tests = append(tests, s.TestAccuracy)
	}
	l := cell{Event: "cell", Dataset: r.Dataset, Model: r.Model, Preset: r.Preset, Select: r.Select, Seeds: len(runs), TotalMS: milliseconds(time.Since(start))}
	l.Mean, l.Std = meanStd(tests)
	half := halfWidth(len(tests), l.Std)
	l.Low, l.High = l.Mean-half, l.Mean+half
	t.rows++
	if t.JSON {
		return json.NewEncoder(t.w).Encode(l)
	}
	t.row(k.Name, l)
	return t.err
}

// row prints a cell for people, and before the first the head.
func (t *accuracyTable) row(name string, l cell) {
	if t.rows == 1 {
		t.printf("%-9s %-12s %-26s %-12s %-12s %-12s %8s\n", "dataset", "model", "here", "paper", "DGL", "PyG", "time")
	}
	p := reported[l.Model][l.Dataset]
	here := fmt.Sprintf("%.1f ± %.1f [%.1f, %.1f]", 100*l.Mean, 100*l.Std, 100*l.Low, 100*l.High)
	t.printf("%-9s %-12s %-26s %-12s %-12s %-12s %6.1f s\n", name, l.Model, here, p.paper, p.dgl, p.pyg, l.TotalMS/1000)
}

// String is mean ± std, or a dash.
func (f figure) String() string {
	switch {
	case f == figure{}:
		return "–"
	case f.std == 0:
		return fmt.Sprintf("%.1f", f.mean)
	}
	return fmt.Sprintf("%.1f ± %.1f", f.mean, f.std)
}

// end says how to read the table.
func (t *accuracyTable) end(recipes [][]recipe) error {
	if t.rows == 0 {
		return errors.Join(t.missing...)
	}
	if t.JSON {
		return t.err
	}
	t.printf("\nTest accuracy in per cent, mean ± standard deviation [95 %% interval of the mean] over %d seeds from %d on;\n", t.Seeds, t.Seed)
	t.printf("Planetoid's split, settings: %s. Time is that of all seeds. The paper, DGL and PyG are as they published.\n", t.Preset)
	var rules []string
	for _, r := range recipes[0] {
		_, says := criterion(r.Select)
		rule := fmt.Sprintf("The model is that of %s, of at most %d epochs", says, r.Epochs)
		if r.Patience > 0 {
			rule += fmt.Sprintf(", and training stops after %d without progress", r.Patience)
		}
		if !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	t.printf("%s.\n", strings.Join(rules, ".\n"))
	for _, err := range t.missing {
		t.printf("left out: %v\n", err)
	}
	return t.err
}
