package link

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/train"
)

// Training is a training of networks that say which links are missing.
type Training struct {
	*task.Flags
	recipe Recipe
	data   Source
}

// settings returns the settings of a run, or an error for flags that it has none of.
func (c *Training) settings(e cli.Env) (r Recipe, err error) {
	switch {
	case c.Resume != "":
		a, err := Open(c.Resume)
		if err != nil {
			return r, err
		}
		r = a.Recipe
		if c.At, err = c.Located(e, task.Places{Dataset: r.Dataset, Splits: source.SplitsOwn}); err != nil {
			return r, err
		}
	case c.learnsRows():
		r = LightGCN()
	default:
		r = Kipf()
	}
	own, remedies, rows := r, Remedies, r.Model == modelLightGCN
	if rows {
		remedies = LightRemedies()
	}
	if err := c.Refused(remedies); err != nil {
		return r, err
	}
	c.ColumnFlags.Choose(&r.Columns)
	c.Override(&r, "dataset", "epochs", "patience")
	if rows {
		r.Out = r.Hidden
		if r.Batch == 0 {
			r.Batch = math.MaxInt32
		}
	}
	r.Dataset = source.DatasetNamed(c.Anew(c.Dataset, c.At.Dataset, cmp.Or(r.Dataset, "cora")))
	if c.Resume == "" {
		c.At = task.Places{Dataset: r.Dataset}
	} else if err := task.SameRun(c.Resume, own, r); err != nil {
		return r, err
	}
	cli.Set(&r.Epochs, c.Epochs)
	cli.Set(&r.Patience, c.Patience)
	if err := r.check(); err != nil {
		return r, err
	}
	if err := c.OutputFlags.Single(c.Seeds); err != nil {
		return r, err
	}
	return r, c.CheckFiles(append(source.DatasetFiles("--dataset", c.Data, c.At.Dataset), cli.File{Flag: "--resume", Path: c.Resume}))
}

// check returns an error for settings that cannot be.
func (r *Recipe) check() error {
	const most = 1 << 16 // of a width
	switch {
	case r.Hidden < 1 || r.Hidden > most || r.Out < 1 || r.Out > most:
		return cli.Misuse("--hidden %d: it must be at least 1, and at most 65536", r.Hidden)
	case r.Splits != "" && !models.IsByTime(r.Splits):
		return cli.Misuse("--splits %.60s: the seed divides the links (85 %% train, 5 %% validate, 10 %% test): use --seed or --seeds for other divisions, or --splits time to divide them by time", r.Splits)
	case r.Degrees && r.Model != modelGAE:
		return cli.Misuse("--model %s: the run counts degrees, which only %s does", r.Model, modelGAE)
	}
	_, err := task.EncodingsOf(r.Encoding)
	return cmp.Or(task.AtLeast("epochs", r.Epochs, 1), task.AtLeast("patience", r.Patience, 0), task.CheckRates(r.LR, r.WeightDecay), r.checkRows(),
		task.NoneOrOneOf("--features", string(r.Features), task.Forms...), err, task.ModelNamed(task.Link, r.Model, ""))
}

// linkEpoch is what is said of one epoch.
type linkEpoch struct {
	Event   string  `json:"event"` // "epoch"
	Dataset string  `json:"dataset"`
	Seed    uint64  `json:"seed"`
	Epoch   int     `json:"epoch"`
	Loss    float64 `json:"loss"`
	ValAUC  float64 `json:"val_auc"`
	MS      float64 `json:"ms"`
}

// linkSummary is what came of one training.
type linkSummary struct {
	Event     string  `json:"event"` // "summary"
	Dataset   string  `json:"dataset"`
	Model     string  `json:"model"`
	Encoding  string  `json:"encoding,omitempty"`
	Seed      uint64  `json:"seed"`
	BestEpoch int     `json:"best_epoch"`
	ValAUC    float64 `json:"val_auc"`
	TestAUC   float64 `json:"test_auc"`
	TestAP    float64 `json:"test_average_precision"`
	EpochMS   float64 `json:"epoch_ms"` // the median
	TotalMS   float64 `json:"total_ms"`
	linkQuality
	Saved string `json:"saved,omitempty"`

	Checkpoint string `json:"checkpoint,omitempty"`
	CSV        string `json:"csv,omitempty"`
	Picture    string `json:"picture,omitempty"`
	Log        string `json:"log,omitempty"`
}

// linkOverall is what several trainings have in common.
type linkOverall struct {
	Event   string  `json:"event"` // "seeds"
	Dataset string  `json:"dataset"`
	Model   string  `json:"model"`
	Seeds   int     `json:"seeds"`
	AUC     float64 `json:"test_auc_mean"`
	AUCStd  float64 `json:"test_auc_std"` // of the sample
	AP      float64 `json:"test_average_precision_mean"`
	APStd   float64 `json:"test_average_precision_std"`
}

// Open reads the data and settles what it decides.
func (c *Training) Open(e cli.Env) (err error) {
	r := &c.recipe
	if c.data, err = cli.Reading(e, c.At.Dataset, func() (Source, error) { return ReadLinks(c.Data, c.At.Dataset, r.Model, r.Columns) }); err != nil {
		return err
	}
	d := c.data
	defer report.NewProgress(e.ErrOut).During("preparing " + c.At.Dataset)()
	if err := e.SameData(c.At.Dataset, d.Dataset); err != nil {
		return err
	}
	task.SayDoubt(e, d.Doubt())
	c.SayColumns(e, d.Schema, c.Found(d.Schema, d.Dataset), d.Warnings)
	if r.Features == "" && r.Model != modelLightGCN {
		r.Features = task.FormRaw // as the authors have it
		if c.Model == nil && d.FeatureKind().Columns {
			r.Degrees, r.Once, r.Directed = true, true, !d.Graph.Symmetric()
		}
	}
	return nil
}

// Plan implements [task.Training].
func (c *Training) Plan() []string {
	r, d := &c.recipe, c.data
	found := c.Found(d.Schema, d.Dataset)
	if d.users > 0 {
		found = fmt.Sprintf("found: %d users, %d items, %d links", d.users, d.Graph.NumNodes()-d.users, d.Graph.NumEdges())
	}
	return []string{found, "learns: which links are missing", fmt.Sprintf("trains: %s, rows of %d, for at most %d epochs", r.title(), r.Out, r.Epochs)}
}

// Train trains a network for each seed, each on a division of the links of its own.
func (c *Training) Train(e cli.Env) error {
	defer par.SetThreads(c.Threads)()
	defer par.Hot()()
	return c.TrainAll(e, task.Trials{Of: c.trial, Together: c.together, Score: "val_auc"})
}

// trial is the training of a seed.
func (c *Training) trial(i int) (*task.Trial, error) {
	r := c.recipe
	r.Seed += uint64(i)
	k, err := NewLinks(c.data, &r, nil)
	if err != nil {
		return nil, fmt.Errorf("--dataset %s: %w", r.Dataset, err)
	}
	k.team = c.Team
	fit, net := k.NewFit(&r)
	t := &task.Trial{Once: true, Fit: fit, Rate: r.LR, Usual: Kipf().LR, Metric: report.Metric{Says: "AUC", Key: "auc"}}
	if r.Model == modelLightGCN {
		t.Usual = LightGCN().LR
	}
	t.Network = r.title()
	t.Summary = report.Summary{Dataset: r.Dataset, Model: r.Model, Encoding: r.Encoding, Seed: r.Seed}
	measured := linkSummary{Event: "summary", Dataset: r.Dataset, Model: r.Model, Encoding: r.Encoding, Seed: r.Seed}
	whole := func() linkSummary {
		s, all := measured, &t.Summary
		s.BestEpoch, s.ValAUC, s.EpochMS, s.TotalMS = all.BestEpoch, float64(all.ValAccuracy), all.EpochMS, all.TotalMS
		s.Saved, s.Checkpoint, s.CSV, s.Picture, s.Log = all.Saved, all.Checkpoint, all.CSV, all.Picture, all.Log
		return s
	}
	t.Measure = func(_ context.Context, tape *grad.Tape, _ *train.History) {
		measured.TestAUC, measured.TestAP = k.measure(tape, net, k.Test)
		measured.linkQuality = k.quality(tape, net, t.Progress)
	}
	t.Keep = func() error {
		return c.SaveModel(t, k.trained(net), net.Recipe, map[string]map[string]float64{"val": {"auc": float64(t.Summary.ValAccuracy)}, "test": {"auc": measured.TestAUC, "average_precision": measured.TestAP}})
	}
	t.Epoch = func(e train.Epoch) any {
		return linkEpoch{"epoch", r.Dataset, r.Seed, e.N, e.Loss, e.Val.Accuracy, report.Milliseconds(e.Took)}
	}
	t.Scores = func(e train.Epoch) string {
		return fmt.Sprintf("  validation AUC %.2f %%  loss %.4f  %s", 100*e.Val.Accuracy, e.Loss, r.Dataset)
	}
	t.Line = func() any { return whole() }
	t.Short = func(p *report.Printer) {
		s := whole()
		p.Printf("seed %d: test AUC %.2f %%, average precision %.2f %%, epoch %d\n", s.Seed, 100*s.TestAUC, 100*s.TestAP, s.BestEpoch)
	}
	t.Page = func(p *report.Printer) { c.page(p, k, &r, t) }
	return t, nil
}

// together says what several trainings have in common.
func (c *Training) together(p *report.Printer, all []*task.Trial) {
	var aucs, precisions []float64
	for _, t := range all {
		s := t.Line().(linkSummary)
		aucs, precisions = append(aucs, s.TestAUC), append(precisions, s.TestAP)
	}
	r := &c.recipe
	o := linkOverall{Event: "seeds", Dataset: r.Dataset, Model: r.Model, Seeds: c.Seeds}
	o.AUC, o.AUCStd = report.MeanStd(aucs)
	o.AP, o.APStd = report.MeanStd(precisions)
	if c.JSON {
		p.Encode(o)
	} else {
		p.Printf("%s on %s, %d seeds: test AUC %.2f ± %.2f %%, average precision %.2f ± %.2f %%\n", r.Model, r.Dataset, c.Seeds, 100*o.AUC, 100*o.AUCStd, 100*o.AP, 100*o.APStd)
		p.Next(c.Next("", r.Dataset))
	}
}

// title is the model's name for people.
func (r *Recipe) title() string {
	return (&models.LinkNetwork{Model: r.Model}).String()
}

// page is all there is to say of one training.
func (c *Training) page(out *report.Printer, k *Links, r *Recipe, t *task.Trial) {
	s := t.Line().(linkSummary)
	if r.Model == modelLightGCN {
		out.Line("%s: %s, rows of %d, %d propagations; %s", s.Dataset, r.title(), r.Hidden, r.Layers, k.whatLinks())
	} else {
		degrees := ""
		if r.Degrees {
			degrees = ", and of tables a node's own columns and its degree (--model gae leaves these out)"
			if k.oneWay {
				degrees = ", and of tables a node's own columns, its degrees and the direction of links (--model gae leaves these out)"
			}
		}
		out.Line("%s: %s, %d and %d units%s; %s", s.Dataset, r.title(), r.Hidden, r.Out, degrees, k.whatLinks())
	}
	if r.Splits != "" {
		out.Printf("split: %s\n", r.Splits)
	}
	all, _ := task.EncodingsOf(r.Encoding)
	out.Line("links: %d for training, %d for validation and %d for testing; only the first carry messages; features: %s%s",
		k.Train.NumEdges(), k.Val.Links.NumEdges(), k.Test.Links.NumEdges(), cmp.Or(r.Features, "none"), all.Says())
	out.Printf("\ntest AUC           %6.2f %%\naverage precision  %6.2f %%\nMRR                %6.3f\nhits@1, 3, 10      %6.1f %%, %.1f %%, %.1f %%\nrecall@20, NDCG@20 %6.1f %%, %.1f %%\n\n",
		100*s.TestAUC, 100*s.TestAP, s.TestMRR, 100*s.Hits1, 100*s.Hits3, 100*s.Hits10, 100*s.Recall, 100*s.NDCG)
	out.Paragraph("%s", k.ranked())
	out.Paragraph("kept the model of epoch %d of %d, with the best validation AUC, %.2f %%; %.1f ms per epoch (median), %.1f s in all", s.BestEpoch, r.Epochs, 100*s.ValAUC, s.EpochMS, s.TotalMS/1000)
	t.Summary.Ends(out, c.Next(s.Saved, r.Dataset))
}

// Task is the task of links.
type Task struct{}

// About implements [task.Task].
func (Task) About() task.About {
	return task.About{Name: task.Link, Flag: task.Link, Noun: "links", Models: models.LinkNames(), Refuses: Remedies}
}

// Takes reports whether links are asked for, or the data has users and items.
func (Task) Takes(f *task.Flags) bool {
	return f.Task == task.Link || f.Task == "" && source.InteractionsIn(f.Data, cli.Or(f.Dataset, "")) != ""
}

// Recipe implements [task.Task].
func (Task) Recipe(e cli.Env, f *task.Flags) (task.Training, error) {
	c := &Training{Flags: f}
	var err error
	c.recipe, err = c.settings(e)
	return c, err
}

// Model implements [task.Task].
func (Task) Model(f *task.SavedFlags) task.Model { return &Model{f} }
