package gatbench

import (
	"context"
	"fmt"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/train"
)

// factEpoch is what is said of one epoch.
type factEpoch struct {
	Event   string  `json:"event"` // "epoch"
	Dataset string  `json:"dataset"`
	Seed    uint64  `json:"seed"`
	Epoch   int     `json:"epoch"`
	Loss    float64 `json:"loss"`
	ValMRR  float64 `json:"val_mrr"` // of val_ranked of the facts, as the summary says
	MS      float64 `json:"ms"`
}

// factSummary is what came of one training. Ranks are filtered, those of heads and of tails.
type factSummary struct {
	Event     string  `json:"event"` // "summary"
	Dataset   string  `json:"dataset"`
	Model     string  `json:"model"`
	Seed      uint64  `json:"seed"`
	BestEpoch int     `json:"best_epoch"`
	ValMRR    float64 `json:"val_mrr"`
	ValRanked int     `json:"val_ranked"` // so many of the facts that validate val_mrr is the mean of
	ValFacts  int     `json:"val_facts"`
	TestMRR   float64 `json:"test_mrr"`
	Hits1     float64 `json:"test_hits_at_1"`
	Hits3     float64 `json:"test_hits_at_3"`
	Hits10    float64 `json:"test_hits_at_10"`
	EpochMS   float64 `json:"epoch_ms"` // the median
	TotalMS   float64 `json:"total_ms"`
	Saved     string  `json:"saved,omitempty"`
	CSV       string  `json:"csv,omitempty"`

	Checkpoint string `json:"checkpoint,omitempty"`
	Log        string `json:"log,omitempty"`
}

// factOverall is what several trainings have in common.
type factOverall struct {
	Event   string  `json:"event"` // "seeds"
	Dataset string  `json:"dataset"`
	Model   string  `json:"model"`
	Seeds   int     `json:"seeds"`
	MRR     float64 `json:"test_mrr_mean"`
	MRRStd  float64 `json:"test_mrr_std"` // of the sample
	Hits10  float64 `json:"test_hits_at_10_mean"`
}

// facts trains scorers of facts, one for each seed.
func (c *trainCommand) facts(e cli.Env) error {
	r, err := c.factRecipe(e)
	if err != nil {
		return err
	}
	name := r.Dataset
	k, err := cli.Promptly(e.Ctx, func() (*datasets.Knowledge, error) { return openFacts(c.Data, c.at.dataset, &r) })
	if err != nil {
		return err
	}
	if err := e.SameData(c.at.dataset, &datasets.Dataset{Graph: k.Train, NodeIDs: k.EntityNames, EdgeKinds: &datasets.Kinds{Of: k.Train.Kinds()}}); err != nil {
		return err
	}
	defer par.SetThreads(c.Threads)()
	defer par.Hot()()
	out, progress := report.NewPrinter(e.Out), report.NewProgress(e.ErrOut)
	var mrrs, hits []float64
	var all []seeded
	for i := range c.Seeds {
		one := r
		one.Seed += uint64(i)
		progress.Run(i, c.Seeds)
		s, history, err := c.learntFacts(e.Ctx, k, &one, watcher{out, progress, func(ep train.Epoch) string {
			if c.JSON {
				out.Encode(factEpoch{"epoch", name, one.Seed, ep.N, ep.Loss, ep.Val.Accuracy, report.Milliseconds(ep.Took)})
			}
			return fmt.Sprintf("  validation MRR %.3f  loss %.4f  %s", ep.Val.Accuracy, ep.Loss, name)
		}})
		if err != nil {
			return err
		}
		s.Dataset, s.CSV = name, c.CSV
		all, mrrs, hits = append(all, seeded{one.Seed, history}), append(mrrs, s.TestMRR), append(hits, s.Hits10)
		switch {
		case c.JSON:
			out.Encode(s)
		case c.Seeds > 1:
			out.Printf("seed %d: test MRR %.3f, hits@10 %.1f %%, epoch %d\n", s.Seed, s.TestMRR, 100*s.Hits10, s.BestEpoch)
		default:
			factPage(out, k, &one, s)
		}
	}
	if c.Seeds > 1 {
		o := factOverall{Event: "seeds", Dataset: name, Model: r.Model, Seeds: c.Seeds}
		o.MRR, o.MRRStd = report.MeanStd(mrrs)
		o.Hits10, _ = report.MeanStd(hits)
		if c.JSON {
			out.Encode(o)
		} else {
			out.Printf("%s on %s, %d seeds: test MRR %.3f ± %.3f, hits@10 %.1f %%\n", r.Model, name, c.Seeds, o.MRR, o.MRRStd, 100*o.Hits10)
		}
	}
	if err := c.writeScores(all, "val_mrr"); err != nil {
		return err
	}
	return out.Err()
}

// learntFacts trains once.
func (c *trainCommand) learntFacts(ctx context.Context, k *datasets.Knowledge, r *factRecipe, w watcher) (s factSummary, h *train.History, err error) {
	fit, net := fitFacts(k, r)
	l, err := c.learn(ctx, fit, r.Seed, w)
	h = l.history
	if err != nil {
		return s, h, diverged(err, r.LR, rotateRecipe(r.Model).LR)
	}
	all := l.summary
	var ranks train.Ranks
	if err := l.measure(ctx, func(t *grad.Tape) { ranks = net.ranks(t, k, k.Test) }); err != nil {
		return s, h, err
	}
	s = factSummary{
		Event: "summary", Model: r.Model, Seed: r.Seed, BestEpoch: all.BestEpoch, ValMRR: float64(all.ValAccuracy), ValRanked: chosenBy(k), ValFacts: k.Val.NumEdges(), EpochMS: all.EpochMS, TotalMS: all.TotalMS,
		Checkpoint: l.checkpoint, Log: l.log, TestMRR: ranks.MRR(), Hits1: ranks.Hits(1), Hits3: ranks.Hits(3), Hits10: ranks.Hits(10),
	}
	if c.Save != "" {
		if err := save(c.Save, net.trained(k), net.Recipe, map[string]map[string]float64{"val": {"mrr": s.ValMRR}, "test": {"mrr": s.TestMRR}}); err != nil {
			return s, h, err
		}
		s.Saved = c.Save
	}
	return s, h, nil
}

// title is the model's name for people.
func (r *factRecipe) title() string {
	return (&models.FactNetwork{Model: r.Model}).String()
}

// rankedFacts says what the ranks of facts are, and of how many they are worth nothing.
func rankedFacts(k *datasets.Knowledge) string {
	const says = "Heads and tails are ranked among all entities, leaving out those that form another known fact (filtered)."
	if n := untaughtFacts(k); n > 0 {
		return fmt.Sprintf("%s Of the validation and test facts, %d have an entity or a relation that no training fact has: a model can be right about them only by chance.", says, n)
	}
	return says
}

// untaughtFacts returns how many facts that validate or test have an entity or a relation that
// no fact that trains has.
func untaughtFacts(k *datasets.Knowledge) (n int) {
	entities, relations := make([]bool, k.Entities), make([]bool, k.Relations())
	for e, v := range k.Train.Destinations() {
		entities[v], entities[k.Train.In().Cols[e]], relations[k.Train.Kinds()[e]] = true, true, true
	}
	for _, g := range []*graph.Graph{k.Val, k.Test} {
		for e, v := range g.Destinations() {
			if !entities[v] || !entities[g.In().Cols[e]] || !relations[g.Kinds()[e]] {
				n++
			}
		}
	}
	return n
}

// factPage is all there is to say of one training.
func factPage(out *report.Printer, k *datasets.Knowledge, r *factRecipe, s factSummary) {
	out.Printf("%s: %s, rows of %d; %d entities, %d relations\n", s.Dataset, r.title(), r.Hidden, k.Entities, k.Relations())
	out.Line("facts: %d for training, %d for validation and %d for testing; %d false facts are drawn for each",
		k.Train.NumEdges(), k.Val.NumEdges(), k.Test.NumEdges(), r.Drawn)
	out.Printf("\ntest MRR  %6.3f\nhits@1    %6.1f %%\nhits@3    %6.1f %%\nhits@10   %6.1f %%\n\n", s.TestMRR, 100*s.Hits1, 100*s.Hits3, 100*s.Hits10)
	out.Paragraph("%s", rankedFacts(k))
	by := ""
	if s.ValRanked < s.ValFacts {
		by = fmt.Sprintf(" over %d of the %d validation facts (eval ranks all)", s.ValRanked, s.ValFacts)
	}
	out.Paragraph("kept the model of epoch %d of %d, with the best validation MRR, %.3f%s; %.1f ms per epoch (median), %.1f s in all", s.BestEpoch, r.Epochs, s.ValMRR, by, s.EpochMS, s.TotalMS/1000)
	for _, f := range []struct{ what, path string }{{"saved to", s.Saved}, {"checkpoint in", s.Checkpoint}, {"epochs in", s.CSV}, {"log in", s.Log}} {
		if f.path != "" {
			out.Printf("%s %s\n", f.what, f.path)
		}
	}
}
