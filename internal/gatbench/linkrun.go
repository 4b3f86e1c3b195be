package gatbench

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/train"
)

// taskLink is what --task says where links are predicted.
const taskLink = "link"

// linkRecipe returns the settings of a run, or an error for flags that it has none of.
func (c *trainCommand) linkRecipe(e cli.Env) (r linkRecipe, err error) {
	task := taskLink
	switch {
	case c.Resume != "":
		a, err := openAutoencoder(c.Resume)
		if err != nil {
			return r, err
		}
		r = a.Recipe
		if c.at, err = c.located(e, places{r.Dataset, splitsOwn}); err != nil {
			return r, err
		}
	case c.learnsRows():
		r = lightRecipe()
	default:
		r = kipfRecipe()
	}
	own := r
	if r.Model == modelLightGCN {
		task = taskRows
		cli.Set(&r.Layers, c.Layers)
		cli.Set(&r.Batch, c.Batch)
	}
	if err := c.refused(task); err != nil {
		return r, err
	}
	cli.Set(&r.Splits, c.Splits)
	cli.Set(&r.Model, c.Model)
	c.columnFlags.choose(&r.Columns)
	cli.Set(&r.Seed, c.Seed)
	cli.Set(&r.Hidden, c.Hidden)
	cli.Set(&r.LR, c.LR)
	cli.Set(&r.WeightDecay, c.WeightDecay)
	if task == taskRows {
		r.Out = r.Hidden
		if r.Batch == 0 {
			r.Batch = math.MaxInt32
		}
	}
	cli.Set(&r.Features, (*featureForm)(c.Features))
	cli.Set(&r.Encoding, c.Encoding)
	r.Dataset = datasetNamed(c.anew(c.Dataset, c.at.dataset, cmp.Or(r.Dataset, "cora")))
	if c.Resume == "" {
		c.at = places{dataset: r.Dataset}
	} else if err := sameRun(c.Resume, own, r); err != nil {
		return r, err
	}
	cli.Set(&r.Epochs, c.Epochs)
	cli.Set(&r.Patience, c.Patience)
	if err := r.check(); err != nil {
		return r, err
	}
	if err := c.outputFlags.single(c.Seeds); err != nil {
		return r, err
	}
	return r, c.checkFiles(append(datasetFiles("--dataset", c.Data, c.at.dataset), cli.File{Flag: "--resume", Path: c.Resume}))
}

// check returns an error for settings that cannot be.
func (r *linkRecipe) check() error {
	const most = 1 << 16 // of a width
	switch {
	case r.Hidden < 1 || r.Hidden > most || r.Out < 1 || r.Out > most:
		return cli.Misuse("--hidden %d: it must be at least 1, and at most 65536", r.Hidden)
	case r.Splits != "" && !models.IsByTime(r.Splits):
		return cli.Misuse("--splits %.60s: the seed divides the links (85 %% train, 5 %% validate, 10 %% test): use --seed or --seeds for other divisions, or --splits time to divide them by time", r.Splits)
	case r.Degrees && r.Model != modelGAE:
		return cli.Misuse("--model %s: the run counts degrees, which only %s does", r.Model, modelGAE)
	case r.Epochs < 1:
		return cli.Misuse("--epochs %d: it must be at least 1", r.Epochs)
	case r.Patience < 0:
		return cli.Misuse("--patience %d: it must be at least 0", r.Patience)
	case !(r.WeightDecay >= 0) || math.IsInf(r.WeightDecay, 0):
		return cli.Misuse("--weight-decay %v: it must be a number, and not negative", r.WeightDecay)
	case !(r.LR > 0) || r.LR-r.LR != 0:
		return cli.Misuse("--lr %v: it must be a number above 0", r.LR)
	}
	if err := r.checkRows(); err != nil {
		return err
	}
	if r.Features != "" {
		if err := cli.OneOf("--features", string(r.Features), forms); err != nil {
			return err
		}
	}
	if _, err := encodingsOf(r.Encoding); err != nil {
		return err
	}
	return modelNamed(taskLink, r.Model, "")
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

// links trains graph autoencoders, one for each seed, each on a split of its own.
func (c *trainCommand) links(e cli.Env) error {
	r, err := c.linkRecipe(e)
	if err != nil {
		return err
	}
	name := r.Dataset
	d, err := cli.Promptly(e.Ctx, func() (linkData, error) { return openLinkData(c.Data, c.at.dataset, r.Model, r.Columns) })
	if err != nil {
		return err
	}
	if err := e.SameData(c.at.dataset, d.Dataset); err != nil {
		return err
	}
	sayDoubt(e, d.Doubt())
	c.sayColumns(e, d.Schema, d.Warnings)
	if r.Features == "" && r.Model != modelLightGCN {
		r.Features = formRaw // as the authors have it
		if c.Model == nil && d.FeatureKind().Columns {
			r.Degrees, r.Once, r.Directed = true, true, !d.Graph.Symmetric()
		}
	}
	defer par.SetThreads(c.Threads)()
	defer par.Hot()()
	out, progress := report.NewPrinter(e.Out), report.NewProgress(e.ErrOut)
	var aucs, precisions []float64
	var all []seeded
	for i := range c.Seeds {
		one := r
		one.Seed += uint64(i)
		k, err := newLinkTask(d, &one, nil)
		if err != nil {
			return fmt.Errorf("--dataset %s: %w", name, err)
		}
		k.team = e.Team
		progress.Run(i, c.Seeds)
		s, history, err := c.linked(e.Ctx, k, &one, watcher{out, progress, func(ep train.Epoch) string {
			if c.JSON {
				out.Encode(linkEpoch{"epoch", name, one.Seed, ep.N, ep.Loss, ep.Val.Accuracy, report.Milliseconds(ep.Took)})
			}
			return fmt.Sprintf("  validation AUC %.2f %%  loss %.4f  %s", 100*ep.Val.Accuracy, ep.Loss, name)
		}})
		if err != nil {
			return err
		}
		s.Dataset = name
		all = append(all, seeded{one.Seed, history})
		aucs, precisions = append(aucs, 100*s.TestAUC), append(precisions, 100*s.TestAP)
		switch {
		case c.JSON:
			out.Encode(s)
		case c.Seeds > 1:
			out.Printf("seed %d: test AUC %.2f %%, average precision %.2f %%, epoch %d\n", s.Seed, 100*s.TestAUC, 100*s.TestAP, s.BestEpoch)
		default:
			c.linkPage(out, k, &one, s)
		}
	}
	if c.Seeds > 1 {
		o := linkOverall{Event: "seeds", Dataset: name, Model: r.Model, Seeds: c.Seeds}
		o.AUC, o.AUCStd = report.MeanStd(aucs)
		o.AP, o.APStd = report.MeanStd(precisions)
		if c.JSON {
			o.AUC, o.AUCStd, o.AP, o.APStd = o.AUC/100, o.AUCStd/100, o.AP/100, o.APStd/100
			out.Encode(o)
		} else {
			out.Printf("%s on %s, %d seeds: test AUC %.2f ± %.2f %%, average precision %.2f ± %.2f %%\n", r.Model, name, c.Seeds, o.AUC, o.AUCStd, o.AP, o.APStd)
		}
	}
	if err := c.writeScores(all, "val_auc"); err != nil {
		return err
	}
	return out.Err()
}

// linked trains once.
func (c *trainCommand) linked(ctx context.Context, k *linkTask, r *linkRecipe, w watcher) (s linkSummary, h *train.History, err error) {
	fit, net := k.fit(r)
	l, err := c.learn(ctx, fit, r.Seed, w)
	if err != nil {
		usual := kipfRecipe()
		if r.Model == modelLightGCN {
			usual = lightRecipe()
		}
		return s, l.history, diverged(err, r.LR, usual.LR)
	}
	all := l.summary
	s = linkSummary{Event: "summary", Model: r.Model, Encoding: r.Encoding, Seed: r.Seed, BestEpoch: all.BestEpoch, ValAUC: float64(all.ValAccuracy), EpochMS: all.EpochMS, TotalMS: all.TotalMS,
		Checkpoint: l.checkpoint, Log: l.log, CSV: c.CSV}
	err = l.measure(ctx, func(t *grad.Tape) {
		s.TestAUC, s.TestAP = k.measure(t, net, k.Test)
		s.linkQuality = k.quality(t, net)
	})
	if err != nil {
		return s, l.history, err
	}
	if c.Save != "" {
		if err := save(c.Save, k.trained(net), net.Recipe, map[string]map[string]float64{"val": {"auc": s.ValAUC}, "test": {"auc": s.TestAUC, "average_precision": s.TestAP}}); err != nil {
			return s, l.history, err
		}
		s.Saved = c.Save
	}
	return s, l.history, nil
}

// title is the model's name for people.
func (r *linkRecipe) title() string {
	return (&models.LinkNetwork{Model: r.Model}).String()
}

// linkPage is all there is to say of one training.
func (c *trainCommand) linkPage(out *report.Printer, k *linkTask, r *linkRecipe, s linkSummary) {
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
	all, _ := encodingsOf(r.Encoding)
	out.Line("links: %d for training, %d for validation and %d for testing; only the first carry messages; features: %s%s",
		k.Train.NumEdges(), k.Val.Links.NumEdges(), k.Test.Links.NumEdges(), cmp.Or(r.Features, "none"), all.Says())
	out.Printf("\ntest AUC           %6.2f %%\naverage precision  %6.2f %%\nMRR                %6.3f\nhits@1, 3, 10      %6.1f %%, %.1f %%, %.1f %%\nrecall@20, NDCG@20 %6.1f %%, %.1f %%\n\n",
		100*s.TestAUC, 100*s.TestAP, s.TestMRR, 100*s.Hits1, 100*s.Hits3, 100*s.Hits10, 100*s.Recall, 100*s.NDCG)
	out.Paragraph("%s", k.ranked())
	out.Paragraph("kept the model of epoch %d of %d, with the best validation AUC, %.2f %%; %.1f ms per epoch (median), %.1f s in all", s.BestEpoch, r.Epochs, 100*s.ValAUC, s.EpochMS, s.TotalMS/1000)
	for _, f := range []struct{ what, path string }{{"saved to", s.Saved}, {"checkpoint in", s.Checkpoint}, {"epochs in", s.CSV}, {"log in", s.Log}} {
		if f.path != "" {
			out.Printf("%s %s\n", f.what, f.path)
		}
	}
}
