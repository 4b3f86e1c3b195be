package gatbench

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/node"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
)

// tableCommand is gatbench table.
type tableCommand struct {
	Names     []string `arg:"" optional:"" name:"data" help:"The datasets: names that gatbench data list shows, files or folders. Default: cora, and citeseer and pubmed if their files are found."`
	Datasets  []string `hidden:"" placeholder:"NAME" help:"The same as DATA, separated by commas."`
	Models    []string `name:"model" aliases:"models" default:"gat,gcn,mlp" placeholder:"NAME" help:"The models, separated by commas; gatbench train --help lists them. Default: gat,gcn,mlp."`
	Preset    *string  `placeholder:"NAME" help:"Where the settings come from: paper, dgl, pyg, shchur, graphsaint, tuned, deep, or quick, which is paper but usually with 200 epochs. gatbench train --help describes them. Default: the data decides; Cora, CiteSeer and PubMed get paper."`
	Features  *string  `placeholder:"FORM" group:"training" help:"How to scale the node features: raw, rows, standard, binary or binary-rows. gatbench train --help describes them. Default: the data and the preset decide."`
	Splits    *string  `placeholder:"NAME" help:"How to divide the data into training, validation and test parts: own (the dataset's own split, the default), shares such as 60/20/20, random or shchur (a different split for each seed), or a .json or .npz file with the lists train, val and test."`
	Number    *string  `name:"split-number" placeholder:"K" group:"training" help:"Which split to use if a dataset has several, counted from 0, or each: a different one for each seed. Default: 0."`
	Seeds     int      `default:"10" placeholder:"N" help:"Train every model N times. Default: 10."`
	Seed      uint64   `default:"0" placeholder:"N" group:"training" help:"The first seed. Default: 0."`
	Epochs    *int     `placeholder:"N" group:"training" help:"Train for at most N epochs. Default: set by the preset."`
	Patience  *int     `placeholder:"N" group:"training" help:"Stop after N epochs without improvement. Default: set by the preset."`
	Select    *string  `placeholder:"RULE" group:"training" help:"Which epoch's model to keep: accuracy, loss, either or last. gatbench train --help describes them. Default: set by the preset."`
	Rows      *string  `placeholder:"NAME" group:"training" help:"Which rows of each layer a training step computes: needed (those that its loss depends on, the default) or all."`
	Suite     string   `placeholder:"NAME" group:"program" help:"Repeat a published table: tuned (GCN and GAT on six datasets, Luo and others, 2024). It says first how long it takes. With five seeds, or the ten published splits; --seeds N takes fewer."`
	variation `embed:""`

	source.ColumnFlags `embed:""`

	NoEdgeFeatures bool `group:"training" help:"Ignore the features and kinds of edges. Without this flag, models that can read them do."`

	Resume  string `placeholder:"FILE" help:"Keep the result of each seed in this file, and train only the seeds that it does not hold yet."`
	Data    string `placeholder:"DIR" group:"program" help:"Look for the datasets in this folder first, then in $$EDGEWISE_DATA and in the user's cache."`
	Threads int    `default:"0" placeholder:"N" group:"program" help:"Use at most N threads. The result is the same for any number. Default: all processors."`
	JSON    bool   `name:"json" group:"program" help:"Print JSON objects, one a line."`
}

// variation are settings that have no flag elsewhere: each shows what one part of
// a preset is worth.
type variation struct {
	Start     *string `placeholder:"NAME" group:"parts" help:"Initial weights of GAT: glorot, glorot-heads (each head by itself) or xavier-normal. Default: set by the preset."`
	Decayed   *string `placeholder:"NAME" group:"parts" help:"Which parameters get weight decay: all, weights (all but biases) or first-weights (the first layer's weights). Default: set by the preset."`
	ValueDrop *bool   `negatable:"" group:"parts" help:"Apply dropout also to the features that GAT's attention sums, or do not. Default: set by the preset."`
	NoBias    *bool   `group:"parts" help:"Give GCN and MLP no biases, as in their paper; --no-bias=false gives them biases. Default: set by the preset."`
}

// check returns an error for a flag that none of the models has.
func (v *variation) check(names []string) error {
	for _, f := range []struct {
		flag  string
		given bool
	}{{"start", v.Start != nil}, {"value-drop", v.ValueDrop != nil}, {"no-bias", v.NoBias != nil}} {
		has := func(name string) bool {
			m, err := node.FindModel(name)
			return err == nil && node.Takes(m, f.flag)
		}
		if f.given && !slices.ContainsFunc(names, has) {
			return cli.Misuse("--%s: it is for %s, and --model %s has none of these", f.flag, node.Having(f.flag), strings.Join(names, ","))
		}
	}
	return nil
}

// override gives r the settings that flags were given for.
func (v *variation) override(r *node.Recipe) {
	cli.Set(&r.Start, (*models.Start)(v.Start))
	cli.Set(&r.Decayed, (*node.Decayed)(v.Decayed))
	cli.Set(&r.ValueDrop, v.ValueDrop)
	cli.Set(&r.NoBias, v.NoBias)
}

func (c *tableCommand) endsItself() {}

// Run trains each model on each dataset and prints a row for each.
func (c *tableCommand) Run(e cli.Env) error {
	c.Datasets = append(c.Datasets, c.Names...)
	recipes, err := c.recipes()
	if err == nil {
		err = c.apart(recipes)
	}
	if err != nil {
		return err
	}
	kept := tableLedger(c.Resume)
	if err := kept.Open(); err != nil {
		return err
	}
	defer kept.Close()
	kept.Unlocked(e.ErrOut)
	if c.Resume != "" {
		cli.OutliveReader()
	}
	defer par.SetThreads(c.Threads)()
	defer par.Hot()()
	t := newAccuracyTable(c, report.NewPrinter(e.Out), report.NewProgress(e.ErrOut), kept)
	if c.Suite != "" {
		return c.runSuite(e, t)
	}
	for _, rs := range recipes {
		k, err := cli.Reading(e, rs[0].Dataset, func() (*node.Examples, error) {
			return node.OpenExamples(c.Data, rs[0].Dataset, rs[0].Undirected, rs[0].Choice().Fresh(true))
		})
		if errors.Is(err, cli.ErrInterrupted) {
			return t.interrupted(t.kept(rs[0]))
		}
		if err != nil && len(c.Datasets) == 0 && rs[0].Dataset != "cora" {
			t.missed = append(t.missed, err)
			continue
		}
		if err != nil {
			return err
		}
		if source.OwnSplit(rs[0].Splits) && k.Division.Says != "" {
			return cli.Misuse("--dataset %s: it has no whole split of its own, as published figures are of: use --splits %s", k.Called, models.SplitUsual)
		}
		if rs, err = c.settled(k, rs); err != nil {
			return err
		}
		for _, r := range rs {
			if err := k.Suit(&r); err != nil {
				return err
			}
			if err := t.add(e, k, r); err != nil {
				return err
			}
		}
		t.note(k, rs)
	}
	return t.end()
}

// kept is how many seeds of a row have results already. Which settings it has is not
// known before the dataset is read, so any will do.
func (t *accuracyTable) kept(r node.Recipe) int {
	seeds := map[uint64]bool{}
	for one := range t.Of {
		if one.Dataset == r.Dataset && one.Model == r.Model && one.Seed-r.Seed < uint64(t.Seeds) {
			seeds[one.Seed] = true
		}
	}
	return len(seeds)
}

// apart returns an error if the results would be written over what is read.
func (c *tableCommand) apart(recipes [][]node.Recipe) error {
	var in []cli.File
	if c.Suite != "" {
		for _, d := range node.TunedOn {
			in = append(in, source.DatasetFiles("--suite", c.Data, d.Name)...)
			if path, err := splitFile(c.Data, d.Splits); err == nil && d.Splits != "" {
				in = append(in, cli.File{Flag: "--suite", Path: path})
			}
		}
	} else {
		splits := source.SplitsFile(recipes[0][0].Splits)
		if err := cli.Ordinary(splits); err != nil {
			return err
		}
		in = append(in, splits)
	}
	for _, rs := range recipes {
		in = append(in, source.DatasetFiles("--datasets", c.Data, rs[0].Dataset)...)
	}
	return cli.Apart(in, []cli.File{{Flag: "--resume", Path: c.Resume}})
}

// recipes returns the trainings of the table, a list for each dataset.
func (c *tableCommand) recipes() ([][]node.Recipe, error) {
	switch {
	case c.Seeds < 1:
		return nil, cli.Misuse("--seeds %d: it must be at least 1", c.Seeds)
	case c.Threads < 0:
		return nil, cli.Misuse("--threads %d: it must be at least 1, or 0 for all processors", c.Threads)
	}
	if c.Features != nil {
		if err := cli.OneOf("--features", *c.Features, task.Forms); err != nil {
			return nil, err
		}
	}
	if err := c.variation.check(c.Models); err != nil {
		return nil, err
	}
	if c.Suite != "" {
		return nil, c.checkSuite()
	}
	var out [][]node.Recipe
	for _, d := range c.datasets() {
		var rs []node.Recipe
		for _, m := range c.Models {
			r, err := c.recipe(node.NewRecipe, cli.Or(c.Preset, "paper"), m, source.DatasetNamed(d))
			if err != nil {
				return nil, err
			}
			rs = append(rs, r)
		}
		out = append(out, rs)
	}
	return out, nil
}

// recipe returns a training by a preset and what the flags change of it. make is node.NewRecipe, or that of examples.
func (c *tableCommand) recipe(make func(preset, model, dataset string) (node.Recipe, error), preset, model, dataset string) (node.Recipe, error) {
	r, err := make(preset, model, dataset)
	if err != nil {
		return r, err
	}
	r.Seed = c.Seed
	cli.Set(&r.Splits, c.Splits)
	r.SetNumber(c.Number)
	cli.Set(&r.Epochs, c.Epochs)
	cli.Set(&r.Patience, c.Patience)
	cli.Set(&r.Select, c.Select)
	cli.Set(&r.Rows, (*node.Extent)(c.Rows))
	cli.Set(&r.Features, (*task.Form)(c.Features))
	c.variation.override(&r)
	c.Choose(&r.Columns)
	return r, r.Check()
}

// settled gives the trainings on a dataset what the data decides where no flag
// does. It is as train has it, but for the end of quick.
func (c *tableCommand) settled(k *node.Examples, rs []node.Recipe) ([]node.Recipe, error) {
	out := make([]node.Recipe, len(rs))
	for i, r := range rs {
		if c.Preset == nil || *c.Preset == node.PresetDeep {
			preset := cli.Or(c.Preset, k.Suits(r.Model).Preset)
			if preset == "quick" && c.Preset == nil {
				preset = "paper"
			}
			var err error
			if r, err = c.recipe(k.Preset, preset, r.Model, r.Dataset); err != nil {
				return nil, err
			}
		}
		r.Features = cli.Or((*task.Form)(c.Features), k.FormFor(r.Preset))
		if err := c.readEdges(k, &r); err != nil {
			return nil, err
		}
		out[i] = r
	}
	return out, nil
}

// readEdges decides what a model reads of edges, as train has it; but models that read none leave
// them out beside those that do, and the table says so.
func (c *tableCommand) readEdges(k *node.Examples, r *node.Recipe) (err error) {
	m, there := r.Traits(), k.There()
	if m.Edges == models.ReadsNone && there.Width > 0 {
		return nil
	}
	r.NoEdges = c.NoEdgeFeatures
	r.EdgeIn, r.Kinds, err = there.Read(m.Name, m.Edges, r.NoEdges)
	return err
}

// datasets returns the names of those in the table.
func (c *tableCommand) datasets() []string {
	if len(c.Datasets) == 0 {
		return []string{"cora", "citeseer", "pubmed"}
	}
	return c.Datasets
}

// accuracyTable prints the rows as they come.
type accuracyTable struct {
	*tableCommand
	*cli.Ledger[node.Recipe, report.Summary]
	out      *report.Printer
	progress *report.Progress
	table    *report.Table
	rows     int
	used     []noted  // a row for each preset
	missed   []error  // datasets that are not there
	unread   []string // datasets and models that leave weights or features of edges out
	best     struct { // of the rows of the first dataset
		recipe node.Recipe
		mean   float64
	}
}

func newAccuracyTable(c *tableCommand, out *report.Printer, p *report.Progress, kept *cli.Ledger[node.Recipe, report.Summary]) *accuracyTable {
	return &accuracyTable{tableCommand: c, Ledger: kept, out: out, progress: p, table: report.NewTable(c.titles(), c.Models)}
}

// titles returns the titles of the datasets in the table.
func (c *tableCommand) titles() []string {
	var titles []string
	if c.Suite != "" {
		for _, d := range node.TunedOn {
			titles = append(titles, d.Title)
		}
		return titles
	}
	for _, name := range c.datasets() {
		title := filepath.Base(name) // of a file the title is at most that
		for _, i := range datasets.Catalogue() {
			if i.Name == strings.ToLower(name) {
				title = i.Title
			}
		}
		titles = append(titles, title)
	}
	return titles
}

// noted is what a preset was used for.
type noted struct {
	preset string
	names  []string      // of datasets
	of     []node.Recipe // on the first of them
}

// note keeps which preset a dataset had.
func (t *accuracyTable) note(k *node.Examples, rs []node.Recipe) {
	for i := range t.used {
		if u := &t.used[i]; u.preset == rs[0].Preset {
			u.names = append(u.names, k.Name)
			return
		}
	}
	t.used = append(t.used, noted{rs[0].Preset, []string{k.Name}, rs})
}

// add trains what is not known of one cell and prints it.
func (t *accuracyTable) add(e cli.Env, k *node.Examples, r node.Recipe) error {
	all := node.SeedsOf(r, t.Seeds)
	rest := t.Missing(all)
	ready := t.Seeds - len(rest)
	progress := t.progress.Part()
	progress.Left(ready, t.Seeds)
	stop := progress.During(fmt.Sprintf("%d of %d seeds  %s on %s", ready, t.Seeds, r.Model, k.Name))
	_, err := node.ManySeeds(e.Ctx, k, rest, func(i int, s report.Summary) error {
		ready++
		progress.Show("%d of %d seeds%s  %s on %s", ready, t.Seeds, progress.Left(ready, t.Seeds), r.Model, k.Name)
		return t.Keep(rest[i], s)
	})
	stop()
	if k.Weighing(r.Traits()) == "not used" {
		t.unread = append(t.unread, fmt.Sprintf("edge weights of %s: not used by %s", k.Name, r.Model))
	}
	if k.EdgeFeatures != nil && r.EdgeIn == 0 && r.Kinds == 0 {
		t.unread = append(t.unread, fmt.Sprintf("edge features of %s: not read by %s", k.Name, r.Model))
	}
	if e.Ctx.Err() != nil {
		return t.interrupted(ready)
	}
	if err != nil {
		return fmt.Errorf("%s on %s: %w", r.Model, k.Name, err)
	}
	cell := t.cell(all)
	if b := &t.best; b.recipe.Model == "" || b.recipe.Dataset == r.Dataset && cell.Mean > b.mean {
		b.recipe, b.mean = r, cell.Mean
	}
	return t.print(k.Name, cell)
}

// interrupted says how far the table has come.
func (t *accuracyTable) interrupted(ready int) error {
	err := fmt.Errorf("interrupted after %d rows and %d of %d seeds of the next", t.rows, ready, t.Seeds)
	if t.Resume != "" {
		err = fmt.Errorf("%w; run the same command again to continue from %s", err, t.Resume)
	}
	return err
}

// cell sums up the results of a recipe's seeds.
func (t *accuracyTable) cell(seeds []node.Recipe) report.Cell {
	var tests []float64
	r := seeds[0]
	l := report.Cell{Dataset: r.Dataset, Model: r.Model, Splits: r.Splits, Number: r.SplitNumber, Preset: r.Preset, Select: r.Select, Form: string(r.Features)}
	for _, one := range seeds {
		s := t.Of[one]
		tests = append(tests, float64(s.TestAccuracy))
		l.TotalMS += s.TotalMS
	}
	l.Take(tests)
	return l
}

// print prints a cell of the dataset of that title.
func (t *accuracyTable) print(title string, l report.Cell) error {
	t.rows++
	if t.JSON {
		t.out.Encode(l)
	} else {
		t.table.Row(t.out, title, publishedOn(l.Splits), &l)
	}
	return t.out.Err()
}

// publishedOn says which published figures are of such splits.
func publishedOn(splits string) report.Published {
	switch splits {
	case source.SplitsOwn:
		return report.OnPlanetoid
	case source.SplitsShchur:
		return report.OnShchur
	}
	return report.NonePublished
}

// end says how to read the table.
func (t *accuracyTable) end() error {
	if t.rows == 0 {
		return errors.Join(t.missed...)
	}
	if t.JSON {
		return t.out.Err()
	}
	noun := "seeds"
	if t.Seeds == 1 {
		noun = "seed"
	}
	t.out.Printf("\n")
	t.out.Paragraph("Test accuracy in per cent: mean ± standard deviation [95 %% confidence interval of the mean] over %d %s, starting at %d. "+
		"%s. The time is the sum over all seeds. A dash means that no published figure is known.", t.Seeds, noun, t.Seed, splitsWords(t.used[0].of[0].Splits))
	for _, u := range t.used {
		on := ""
		if len(t.used) > 1 {
			on = " on " + strings.Join(u.names, ", ")
		}
		t.out.Paragraph("Preset%s: %s; features: %s.", on, u.preset, u.of[0].Features)
		for _, line := range rules(u.of) {
			t.out.Paragraph("%s", line)
		}
	}
	for _, line := range t.unread {
		t.out.Line("%s", line)
	}
	for _, err := range t.missed {
		t.out.Line("left out: %v", err)
	}
	r := &t.best.recipe
	line := fmt.Sprintf("%s train %s --model %s%s", cli.Program, cli.Word(r.Dataset), r.Model, r.Columns.Flags())
	if !source.OwnSplit(r.Splits) {
		line += " --splits " + cli.Word(r.Splits)
	}
	t.out.Next(line + source.Flagged(nil, t.Data) + " --save " + cli.Word(r.Model+".safetensors"))
	return t.out.Err()
}

// splitsWords says what --splits names.
func splitsWords(name string) string {
	switch name {
	case source.SplitsOwn:
		return "The splits are the datasets' own"
	case source.SplitsRandom:
		return fmt.Sprintf("A random split for each seed, with %d nodes of each class to train", node.TrainPerClass)
	case source.SplitsShchur:
		return fmt.Sprintf("A random split of the largest component for each seed: %d nodes of each class train, %d validate and the rest test; the column paper is Shchur and others, 2018", node.TrainPerClass, node.ValPerClass)
	}
	if models.IsShares(name) {
		return "A random split for each seed, " + name + " per cent of each class"
	}
	if models.IsByTime(name) {
		return "A split by time, " + name
	}
	return "The split of " + name
}

// rules says how each of the models was chosen, once for those that share it.
func rules(rs []node.Recipe) []string {
	models, order := map[string][]string{}, []string(nil)
	for _, r := range rs {
		_, says, waits := task.Criterion(r.Select)
		rule := fmt.Sprintf("%s. At most %d epochs", says, r.Epochs)
		if r.Patience > 0 {
			rule += fmt.Sprintf("; training stops after %d %s", r.Patience, waits)
		}
		if models[rule] == nil {
			order = append(order, rule)
		}
		models[rule] = append(models[rule], r.Model)
	}
	var lines []string
	for _, rule := range order {
		lines = append(lines, fmt.Sprintf("%s: the epoch kept is %s.", strings.Join(models[rule], ", "), rule))
	}
	return lines
}

// tableLedger is that of trainings of gatbench table.
func tableLedger(path string) *cli.Ledger[node.Recipe, report.Summary] {
	return &cli.Ledger[node.Recipe, report.Summary]{Path: path, Who: "table", Check: func(r *node.Recipe, s report.Summary) error {
		r.Date()
		if err := r.Check(); err != nil {
			return err
		}
		if a := float64(s.TestAccuracy); !(a >= 0 && a <= 1) {
			return fmt.Errorf("its test accuracy is %v", a)
		}
		return nil
	}}
}
