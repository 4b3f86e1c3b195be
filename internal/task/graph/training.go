package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Training is a training on whole graphs.
type Training struct {
	*task.Flags
	recipe Recipe
	task   *Graphs
}

// settings returns the settings of a run, or an error for flags that it has none of.
func (c *Training) settings(e cli.Env) (r Recipe, err error) {
	if err := c.Refused(Remedies); err != nil {
		return r, err
	}
	r = GIN()
	if c.Resume != "" {
		n, err := Open(c.Resume)
		if err != nil {
			return r, err
		}
		r = n.Recipe
		if c.At, err = c.Located(e, task.Places{Dataset: r.Dataset, Splits: r.Splits}); err != nil {
			return r, err
		}
	}
	before := r
	if c.Resume == "" {
		r.Preset = presetQuick
	}
	c.Override(&r, "dataset", "splits", "epochs", "patience")
	if r.Model == modelGIN {
		r.Model = ""
	}
	r.Dataset = c.Anew(c.Dataset, c.At.Dataset, cmp.Or(r.Dataset, "MUTAG"))
	r.Splits = c.Anew(c.Splits, c.At.Splits, r.Splits)
	if len(c.Column) > 0 {
		r.Column = strings.Join(c.Column, ",")
	}
	if r.Readout == readSum {
		r.Readout = ""
	}
	if c.Resume != "" {
		asked := r
		asked.Model, before.Model = r.model().Name, before.model().Name
		asked.Preset, before.Preset = r.preset(), before.preset()
		asked.Readout, before.Readout = cmp.Or(r.Readout, readSum), cmp.Or(before.Readout, readSum)
		if err := task.SameRun(c.Resume, before, asked); err != nil {
			return r, err
		}
	} else if c.At = (task.Places{Dataset: r.Dataset, Splits: r.Splits}); r.preset() == presetQuick {
		r.Steps = 0
	}
	cli.Set(&r.Epochs, c.Epochs)
	cli.Set(&r.Patience, c.Patience)
	if err := r.check(); err != nil {
		return r, err
	}
	switch {
	case c.Folds != nil && c.Splits != nil:
		return r, cli.Misuse("--folds %d and --splits %s: each fold is a split: leave one of the two flags out", *c.Folds, *c.Splits)
	}
	return r, c.OutputFlags.CheckFiles([]cli.File{{Flag: "--resume", Path: c.Resume}, {Flag: "--dataset", Path: datasets.FindGraphs(c.Data, c.At.Dataset)}})
}

// check returns an error for settings that cannot be.
func (r *Recipe) check() error {
	const most = 1 << 16
	if err := cmp.Or(task.AtLeast("hidden", r.Hidden, 1), task.AtLeast("epochs", r.Epochs, 1), task.AtLeast("batch", r.Batch, 2),
		task.AtLeast("accumulate", r.Accumulate, 0), task.AtLeast("folds", r.Folds, 2), task.AtLeast("patience", r.Patience, 0)); err != nil {
		return err
	}
	switch {
	case r.Layers < 2:
		return cli.Misuse("--layers %d: it must be at least 2 (the features are the first layer)", r.Layers)
	case r.Hidden > most || r.Layers > 100:
		return cli.Misuse("--hidden %d, --layers %d: they can be at most %d and 100", r.Hidden, r.Layers, most)
	case !(r.LR > 0) || math.IsInf(r.LR, 0) || !(r.Dropout >= 0 && r.Dropout < 1) || !(r.WeightDecay >= 0) || math.IsInf(r.WeightDecay, 0):
		return cli.Misuse("--lr %v, --dropout %v, --weight-decay %v: the rate must be a number above 0, dropout from 0 to less than 1, and the decay not negative", r.LR, r.Dropout, r.WeightDecay)
	}
	if err := cli.OneOf("--preset", r.preset(), []string{presetQuick, presetPaper}); err != nil {
		return err
	}
	if r.Model != "" {
		if err := task.ModelNamed(task.Graph, r.Model, ""); err != nil {
			return err
		}
	}
	return cmp.Or(task.NoneOrOneOf("--loss", r.Loss, task.LossMSE, task.LossMAE), task.NoneOrOneOf("--readout", r.Readout, models.Readouts()...),
		task.NoneOrOneOf("--pool", r.Pool, models.Pools()...), cli.OneOf("--select", r.Select, task.RuleNames()))
}

// graphFold is what is said of one training, a line of JSON for each epoch.
type graphFold struct {
	Event   string  `json:"event"` // "epoch"
	Dataset string  `json:"dataset"`
	Fold    int     `json:"fold"` // from 0
	Epoch   int     `json:"epoch"`
	Loss    float64 `json:"loss"`
	Test    float64 `json:"test_accuracy"`
	MS      float64 `json:"ms"`
}

// graphSummary is what came of all folds.
type graphSummary struct {
	Event          string    `json:"event"` // "folds"
	Dataset        string    `json:"dataset"`
	Model          string    `json:"model"`
	Preset         string    `json:"preset"`
	Encoding       string    `json:"encoding,omitempty"`
	Readout        string    `json:"readout,omitempty"`
	Pool           string    `json:"pool,omitempty"`
	EdgeFeatures   int       `json:"edge_features,omitempty"`
	EdgeKinds      int       `json:"edge_kinds,omitempty"`
	Seed           uint64    `json:"seed"`
	Folds          int       `json:"folds"`
	Epochs         int       `json:"epochs"`
	Best           int       `json:"best_epoch"` // of the mean over the folds
	Mean           float64   `json:"test_accuracy_mean"`
	Std            float64   `json:"test_accuracy_std"` // over the folds, divided by their number, as NumPy does
	Last           float64   `json:"last_accuracy_mean"`
	LastStd        float64   `json:"last_accuracy_std"`
	EpochMS        float64   `json:"epoch_ms"` // the median
	TotalMS        float64   `json:"total_ms"`
	PerFold        []float64 `json:"test_accuracies"` // in the best epoch; of labels the micro F1, of numbers R²
	Learns         string    `json:"learns,omitempty"`
	report.Metrics           // of labels and numbers: means over the folds, after the last epoch
}

// Open reads the graphs and settles what they decide.
func (c *Training) Open(e cli.Env) error {
	r := &c.recipe
	k, err := cli.Reading(e, c.At.Dataset, func() (*Graphs, error) { return OpenGraphs(c.Data, c.At.Dataset, r) })
	if err != nil {
		return err
	}
	c.task, k.team = k, e.Team
	defer report.NewProgress(e.ErrOut).During("preparing " + c.At.Dataset)()
	if err := e.SameData(c.At.Dataset, &datasets.Dataset{Graph: k.source.Graph, Labels: k.Labels, Targets: k.Targets, EdgeFeatures: k.source.EdgeFeatures}); err != nil {
		return err
	}
	task.SayDoubt(e, k.Doubt())
	c.SayColumns(e, k.Schema, c.found(), k.Warnings)
	if err := c.edges(k, r); err != nil {
		return err
	}
	if r.Splits == "" && c.Folds == nil && len(k.Split.Train) > 0 {
		r.Splits, c.At.Splits = source.SplitsOwn, source.SplitsOwn
	}
	if err := k.goal.Takes(r.Loss); err != nil {
		return err
	}
	if c.Resume == "" && c.Epochs == nil && r.preset() == presetQuick {
		r.Epochs = k.quickEpochs(r)
	}
	if r.Splits != "" {
		r.Folds, r.Steps = 10, 0 // an epoch goes over all graphs
		return c.OutputFlags.Single(c.Seeds)
	}
	if err := c.OneRun(fmt.Sprintf("%d folds train %d: --splits 60/20/20 trains one", r.Folds, r.Folds)); err != nil {
		return err
	}
	for _, flag := range c.Given() {
		switch flag {
		case "seeds":
			return cli.Misuse("--seeds %d: %d folds train as many networks: use --seed to draw other folds", c.Seeds, r.Folds)
		case "patience", "select":
			return cli.Misuse("--%s: folds have no validation graphs, and all share one epoch: use --splits 60/20/20", flag)
		}
	}
	return nil
}

// found says what the data is.
func (c *Training) found() string {
	k := c.task
	return fmt.Sprintf("found: %d graphs, %d nodes, %d edges; %d %s", k.Len(), k.Graph.NumNodes(), k.listed, k.goal.Outputs, k.goal.Noun())
}

// Plan implements [task.Training].
func (c *Training) Plan() []string {
	k, r := c.task, &c.recipe
	how := fmt.Sprintf("%d folds, for %d epochs each", r.Folds, r.Epochs)
	if r.Splits != "" {
		how = fmt.Sprintf("for at most %d epochs; split: %s", r.Epochs, c.At.Splits)
	}
	return []string{
		c.found(), "learns: " + k.goal.What(),
		fmt.Sprintf("trains: %s, %d layers of width %d, on %s; %s", r.title(), r.Layers, r.Hidden, k.reads(r), how),
	}
}

// Train trains one network for each seed if there is a split, or else one for each fold.
func (c *Training) Train(e cli.Env) error {
	defer par.SetThreads(c.Threads)()
	if c.recipe.Splits != "" {
		return c.TrainAll(e, task.Trials{Of: func(i int) (*task.Trial, error) { return c.trial(e, i) }, Together: c.together})
	}
	return c.byFold(e)
}

// Task is the task of whole graphs.
type Task struct{}

// About implements [task.Task].
func (Task) About() task.About {
	return task.About{Name: task.Graph, Flag: task.Graph, Noun: "whole graphs", Models: models.GraphNames(), Refuses: Remedies}
}

// Takes reports whether graphs are asked for, or the data is many graphs.
func (Task) Takes(f *task.Flags) bool {
	return f.Task == task.Graph || f.Task == "" && source.HoldsGraphs(f.Data, cli.Or(f.Dataset, ""))
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

// byFold trains a network for each fold, some side by side: the results are those of
// one after another, to the bit.
func (c *Training) byFold(e cli.Env) error {
	k, r := c.task, c.recipe
	folds, err := k.Folds(rand.New(rand.NewPCG(r.Seed, 2)), r.Folds)
	if err == nil && c.Folds != nil {
		err = k.eachFold(r.Folds)
	}
	if err != nil {
		return cli.Misuse("--folds %d: %w", r.Folds, err)
	}
	out, progress, metric := report.NewPrinter(e.Out), report.NewProgress(e.ErrOut), k.goal.ScoredBy()
	defer progress.During("training in the first epochs of the folds")()
	var turn sync.Mutex
	done := 0 // epochs of all folds
	start := time.Now()
	histories, tested, err := k.allFolds(e.Ctx, r, folds, func(fold int, ep train.Epoch) {
		turn.Lock()
		defer turn.Unlock()
		if c.JSON {
			out.Encode(metric.JSON(graphFold{"epoch", r.Dataset, fold, ep.N, ep.Loss, ep.Test.Accuracy, report.Milliseconds(ep.Took)}))
			return
		}
		done++
		progress.Show("%s  held out %s  loss %.4f  %s", progress.Fold(fold, r.Folds, ep, r.Epochs, done), strings.TrimSpace(metric.Shown(ep.Test.Accuracy)), ep.Loss, r.Dataset)
	})
	progress.Clear()
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted after %d of %d folds; nothing was kept", complete(histories, r.Epochs), r.Folds)
	}
	if err != nil {
		return task.Diverged(err, r.LR, GIN().LR)
	}
	s := summariseFolds(histories)
	s.EdgeFeatures, s.EdgeKinds, s.Model = r.EdgeIn, r.Kinds, r.model().Name
	s.Preset, s.Readout, s.Pool = r.preset(), r.Readout, r.Pool
	s.Dataset, s.Encoding, s.Seed, s.TotalMS = r.Dataset, r.Encoding, r.Seed, report.Milliseconds(time.Since(start))
	s.Learns = string(k.goal.Learns)
	if k.goal.Learns != task.OneClass {
		s.Metrics = meanMetrics(tested)
	}
	if err := c.writeFolds(histories, metric); err != nil {
		return err
	}
	if c.JSON {
		out.Encode(metric.JSON(s))
	} else {
		k.printFolds(out, r, &s)
		out.Next(c.Again(r.Dataset, " --splits 60/20/20 --save graphs.safetensors", "--splits=", "--folds="))
	}
	return out.Err()
}

// meanMetrics is the mean over folds of what they have.
func meanMetrics(all []report.Metrics) (mean report.Metrics) {
	n := report.Number(len(all))
	for _, m := range all {
		if m.Labels != nil {
			if mean.Labels == nil {
				mean.Labels = new(report.Labels)
			}
			l := mean.Labels
			l.AUC, l.AP = l.AUC+m.Labels.AUC/n, l.AP+m.Labels.AP/n
			l.MicroF1, l.MacroF1 = l.MicroF1+m.Labels.MicroF1/float64(n), l.MacroF1+m.Labels.MacroF1/float64(n)
		}
		if m.Numbers != nil {
			if mean.Numbers == nil {
				mean.Numbers = new(report.Numbers)
			}
			x := mean.Numbers
			x.MAE, x.RMSE, x.R2 = x.MAE+m.Numbers.MAE/n, x.RMSE+m.Numbers.RMSE/n, x.R2+m.Numbers.R2/n
		}
	}
	return mean
}

// allFolds trains on each fold.
func (k *Graphs) allFolds(ctx context.Context, r Recipe, folds []datasets.Split, epoch func(int, train.Epoch)) ([]*train.History, []report.Metrics, error) {
	workers := min(par.Threads(), len(folds))
	if k.team.Size() > 1 {
		workers = 1 // each fold is trained by all ranks
	}
	if workers > 1 {
		defer par.SetThreads(1)()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	histories, tested, next := make([]*train.History, len(folds)), make([]report.Metrics, len(folds)), make(chan int)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			fit := new(train.Fit) // one after the other, whose memory is used again
			for i := range next {
				one := r
				one.Seed = r.Seed + uint64(i)<<32
				err := ctx.Err()
				if err == nil {
					histories[i], tested[i], err = k.fold(ctx, fit, one, folds[i], func(e train.Epoch) { epoch(i, e) })
				}
				if err != nil {
					cancel(fmt.Errorf("fold %d: %w", i+1, err))
				}
			}
		})
	}
	for i := range folds {
		next <- i
	}
	close(next)
	wg.Wait()
	return histories, tested, context.Cause(ctx)
}

// fold trains on one fold, and measures the network that came of it.
func (k *Graphs) fold(ctx context.Context, f *train.Fit, r Recipe, s datasets.Split, epoch func(train.Epoch)) (h *train.History, m report.Metrics, err error) {
	if k, err = k.on(&r, s); err != nil {
		return nil, m, err
	}
	net, own, err := k.NewFit(f, r, s)
	if err != nil {
		return nil, m, err
	}
	f.OnEpoch = epoch
	if h, err = f.Run(ctx); err != nil || own.Learns == task.OneClass {
		return h, m, err
	}
	y := tensor.New(k.Len(), own.Outputs)
	t := grad.NewEval()
	if err := t.Within(cli.Uncut(ctx, k.team), func() { k.fill(t, net, y, k.held(&r, s.Test)) }); err != nil {
		return h, m, err
	}
	return h, own.Quality(y, s.Test), nil
}

// complete returns how many trainings had all their epochs.
func complete(histories []*train.History, epochs int) (n int) {
	for _, h := range histories {
		if h != nil && len(h.Epochs) == epochs {
			n++
		}
	}
	return n
}

// summariseFolds chooses one epoch for all folds, as GIN's authors do: that whose mean
// accuracy is the best.
func summariseFolds(histories []*train.History) graphSummary {
	s := graphSummary{Event: "folds", Folds: len(histories), Epochs: len(histories[0].Epochs)}
	var times []time.Duration
	for n := range s.Epochs {
		var tests []float64
		for _, h := range histories {
			tests = append(tests, h.Epochs[n].Test.Accuracy)
			times = append(times, h.Epochs[n].Took)
		}
		s.Last, s.LastStd = report.MeanStd(tests)
		s.LastStd *= math.Sqrt(float64(len(tests)-1) / float64(len(tests)))
		if s.Best == 0 || s.Last > s.Mean {
			s.Best, s.Mean, s.Std, s.PerFold = n+1, s.Last, s.LastStd, tests
		}
	}
	slices.Sort(times)
	s.EpochMS = report.Milliseconds(times[len(times)/2])
	return s
}

// printFolds says what came of all folds.
func (k *Graphs) printFolds(p *report.Printer, r Recipe, s *graphSummary) {
	p.Line("%s: %s, %d layers of width %d (the input features count as one); %d graphs, %d nodes, %d edges, %d %s",
		k.Name, r.title(), r.Layers, r.Hidden, k.Len(), k.Graph.NumNodes(), k.listed, k.goal.Outputs, k.goal.Noun())
	p.Printf("features: %s\npreset: %s; batches of %d graphs\n", k.reads(&r), r.preset(), r.Batch)
	if k.goal.Learns != task.OneClass {
		p.Paragraph("%s", k.goal.Says())
		p.Printf("\n%s\n", p.Strong(fmt.Sprintf("%d folds: %s %.4f ± %.4f in epoch %d", s.Folds, k.goal.ScoredBy().Says, s.Mean, s.Std, s.Best)))
		p.Printf("after the last epoch: %.4f ± %.4f\n", s.Last, s.LastStd)
		p.Paragraph("%s", s.Metrics.Line(0))
		p.Printf("\n")
	} else {
		p.Printf("\n%s\n", p.Strong(fmt.Sprintf("%d folds: %.1f ± %.1f %% in epoch %d", s.Folds, 100*s.Mean, 100*s.Std, s.Best)))
		p.Printf("after the last epoch: %.1f ± %.1f %%\n\n", 100*s.Last, 100*s.LastStd)
	}
	protocol := "this is the protocol behind the figures that GIN's authors published."
	if paper := GIN(); r.preset() == presetQuick {
		steps := (k.Len() - k.Len()/r.Folds + r.Batch - 1) / r.Batch
		times := float64(paper.Epochs*paper.Steps) / float64(r.Epochs*steps)
		protocol = fmt.Sprintf("this is the protocol of GIN's authors, but shorter: %d epochs over all graphs. --preset paper trains for their %d epochs of %d steps, which takes about %.0f min.", r.Epochs, paper.Epochs, paper.Steps, max(1, math.Ceil(times*s.TotalMS/60_000)))
	}
	p.Paragraph("The epoch is the one with the best mean over the held-out folds, and ± is the standard deviation over the folds: %s Because the same graphs choose the epoch and test it, expect slightly worse results on new graphs.", protocol)
	p.Printf("\n%.1f ms per epoch of a fold (median), %.1f s in all\n", s.EpochMS, s.TotalMS/1000)
}

// writeFolds writes the epochs of all folds to the file of --out.
func (c *Training) writeFolds(histories []*train.History, m report.Metric) error {
	if c.Out == "" {
		return nil
	}
	return atomicfile.Write(c.Out, func(w io.Writer) error {
		if _, err := fmt.Fprintln(w, "fold,epoch,loss,test_loss,test_"+cmp.Or(m.Key, "accuracy")+",ms"); err != nil {
			return err
		}
		for fold, h := range histories {
			for _, e := range h.Epochs {
				if _, err := fmt.Fprintf(w, "%d,%d,%g,%g,%g,%.3f\n", fold, e.N, e.Loss, e.Test.Loss, e.Test.Accuracy, report.Milliseconds(e.Took)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
