package fact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
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
	Picture   string  `json:"picture,omitempty"`

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

// Training is a training of scorers of facts.
type Training struct {
	*task.Flags
	recipe Recipe
	data   *datasets.Knowledge
}

// Open reads the facts.
func (c *Training) Open(e cli.Env) (err error) {
	if c.data, err = cli.Reading(e, c.At.Dataset, func() (*datasets.Knowledge, error) { return openFacts(c.Data, c.At.Dataset, &c.recipe) }); err != nil {
		return err
	}
	k := c.data
	return e.SameData(c.At.Dataset, &datasets.Dataset{Graph: k.Train, NodeIDs: k.EntityNames, EdgeKinds: &datasets.Kinds{Of: k.Train.Kinds()}})
}

// Train trains a scorer for each seed.
func (c *Training) Train(e cli.Env) error {
	defer par.SetThreads(c.Threads)()
	defer par.Hot()()
	return c.TrainAll(e, task.Trials{Of: c.trial, Together: c.together, Score: "val_mrr"})
}

// trial is the training of a seed.
func (c *Training) trial(i int) (*task.Trial, error) {
	r, k := c.recipe, c.data
	r.Seed += uint64(i)
	fit, net := fitFacts(k, &r)
	var ranks train.Ranks
	t := &task.Trial{Once: true, Fit: fit, Rate: r.LR, Usual: RotatE(r.Model).LR, Metric: report.Metric{Says: "MRR", Key: "mrr"}}
	t.Network = r.title()
	t.Summary = report.Summary{Dataset: r.Dataset, Model: r.Model, Seed: r.Seed}
	whole := func() factSummary {
		all := &t.Summary
		return factSummary{
			Event: "summary", Dataset: r.Dataset, Model: r.Model, Seed: r.Seed, BestEpoch: all.BestEpoch, ValMRR: float64(all.ValAccuracy), ValRanked: chosenBy(k), ValFacts: k.Val.NumEdges(),
			TestMRR: ranks.MRR(), Hits1: ranks.Hits(1), Hits3: ranks.Hits(3), Hits10: ranks.Hits(10),
			EpochMS: all.EpochMS, TotalMS: all.TotalMS, Saved: all.Saved, CSV: all.CSV, Picture: all.Picture, Checkpoint: all.Checkpoint, Log: all.Log,
		}
	}
	t.Measure = func(_ context.Context, tape *grad.Tape, _ *train.History) {
		ranks = net.ranked(tape, k, k.Test, t.Progress)
		t.Summary.TestAccuracy = report.Number(ranks.MRR())
	}
	t.Keep = func() error {
		return c.SaveModel(t, net.trained(k), net.Recipe, map[string]map[string]float64{"val": {"mrr": float64(t.Summary.ValAccuracy)}, "test": {"mrr": ranks.MRR()}})
	}
	t.Epoch = func(e train.Epoch) any {
		return factEpoch{"epoch", r.Dataset, r.Seed, e.N, e.Loss, e.Val.Accuracy, report.Milliseconds(e.Took)}
	}
	t.Scores = func(e train.Epoch) string {
		return fmt.Sprintf("  validation MRR %.3f  loss %.4f  %s", e.Val.Accuracy, e.Loss, r.Dataset)
	}
	t.Line = func() any { return whole() }
	t.Short = func(p *report.Printer) {
		s := whole()
		p.Printf("seed %d: test MRR %.3f, hits@10 %.1f %%, epoch %d\n", s.Seed, s.TestMRR, 100*s.Hits10, s.BestEpoch)
	}
	t.Page = func(p *report.Printer) { c.page(p, &r, t) }
	return t, nil
}

// together says what several trainings have in common.
func (c *Training) together(p *report.Printer, all []*task.Trial) {
	var mrrs, hits []float64
	for _, t := range all {
		s := t.Line().(factSummary)
		mrrs, hits = append(mrrs, s.TestMRR), append(hits, s.Hits10)
	}
	r := &c.recipe
	o := factOverall{Event: "seeds", Dataset: r.Dataset, Model: r.Model, Seeds: c.Seeds}
	o.MRR, o.MRRStd = report.MeanStd(mrrs)
	o.Hits10, _ = report.MeanStd(hits)
	if c.JSON {
		p.Encode(o)
	} else {
		p.Printf("%s on %s, %d seeds: test MRR %.3f ± %.3f, hits@10 %.1f %%\n", r.Model, r.Dataset, c.Seeds, o.MRR, o.MRRStd, 100*o.Hits10)
		p.Next(c.Next("", r.Dataset))
	}
}

// title is the model's name for people.
func (r *Recipe) title() string {
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

// page is all there is to say of one training.
func (c *Training) page(out *report.Printer, r *Recipe, t *task.Trial) {
	s := t.Line().(factSummary)
	k := c.data
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
	t.Summary.Ends(out, c.Next(s.Saved, r.Dataset))
}

// Task is the task of facts, which are links of several kinds.
type Task struct{}

// About implements [task.Task].
func (Task) About() task.About {
	names := append([]string{modelRotatE}, slices.DeleteFunc(models.FactNames(), func(name string) bool { return name == modelRotatE })...)
	return task.About{Name: task.Facts, Flag: task.Link, Noun: "facts", Models: names, Refuses: Remedies}
}

// Takes reports whether the links to predict are facts of a knowledge graph.
func (Task) Takes(f *task.Flags) bool {
	there := source.IsFacts(f.Data, cli.Or(f.Dataset, ""))
	return there && f.Task == "" || f.Task == task.Link && (there || slices.Contains(models.FactNames(), strings.ToLower(cli.Or(f.Model, ""))))
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

// Plan implements [task.Training].
func (c *Training) Plan() []string {
	k, r := c.data, &c.recipe
	return []string{
		fmt.Sprintf("found: %d entities, %d relations; %d facts for training, %d for validation and %d for testing", k.Entities, k.Relations(), k.Train.NumEdges(), k.Val.NumEdges(), k.Test.NumEdges()),
		"learns: which facts are missing",
		fmt.Sprintf("trains: %s, rows of %d, for at most %d epochs", r.title(), r.Hidden, r.Epochs),
	}
}
