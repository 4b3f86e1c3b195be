package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/draw"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/train"
)

// Trial is one training of a run: that of a seed.
type Trial struct {
	Fit  *train.Fit
	Rate float64 // of the optimiser
	// Usual is the rate that a training without flags has.
	Usual float64

	// Summary is what came of it. The task sets what it is of, and train what all trainings have.
	Summary report.Summary
	Metric  report.Metric // what its scores are
	// Progress shows how Measure gets on. TrainAll sets it.
	Progress *report.Progress

	// Measure completes the summary with what the network that was kept can do. It is not called for a training that was cut short.
	Measure func(ctx context.Context, t *grad.Tape, h *train.History)
	// Keep writes the model and whatever else flags name.
	Keep func() error
	// Draw completes the picture of the epochs; nil: there is nothing else to draw.
	Draw func(p *draw.Training)

	Title, Network string // of the data and the model, in pictures; empty: their names

	Epoch  func(e train.Epoch) any    // for machines
	Scores func(e train.Epoch) string // for people, beside the number of the epoch
	Line   func() any                 // the summary for machines
	Short  func(p *report.Printer)    // a line for people, one of several
	Page   func(p *report.Printer)    // all there is to say
	// Partial says that the summary means something even of a training that was cut short.
	Partial bool
	// Once says that an epoch has one score alone, that of the validation part.
	Once bool

	picture *draw.Training // nil: no flag asks for it
}

// Told sets what is said of each epoch and of what came of a training on a dataset: its scores of all parts.
func (t *Trial) Told(dataset string) {
	line := func(e train.Epoch) report.EpochLine {
		l := report.NewEpochLine(dataset, t.Fit.Seed, e)
		l.Metric = t.Metric
		return l
	}
	t.Epoch = func(e train.Epoch) any { return t.Metric.JSON(line(e)) }
	t.Scores = func(e train.Epoch) string { l := line(e); return l.Scores() }
	t.Line, t.Short = func() any { return t.Metric.JSON(t.Summary) }, t.Summary.Line
}

// Trials are the trainings of a run, one for each seed.
type Trials struct {
	// Of returns the training of a seed, which is so many after the first.
	Of func(i int) (*Trial, error)
	// Together says what they have in common.
	Together func(p *report.Printer, all []*Trial)
	// Score is the name of the only score that an epoch has, of the validation part; empty: it has those of all parts.
	Score string
}

// TrainAll trains once for each seed and says what came of it.
func (f *Flags) TrainAll(e cli.Env, of Trials) error {
	p, progress := report.NewPrinter(e.Out), report.NewProgress(e.ErrOut)
	var all []*Trial
	var histories []seeded
	csv := func(err error) error {
		if f.Out == "" || len(histories) == 0 || f.Seeds == 1 {
			return err
		}
		return errors.Join(err, writeEpochs(f.Out, histories, of.Score))
	}
	for i := range f.Seeds {
		stop := progress.During("preparing the network")
		t, err := of.Of(i)
		stop()
		if err != nil {
			return csv(err)
		}
		progress.Run(i, f.Seeds)
		h, err := f.train(e, t, p, progress)
		if h != nil {
			histories = append(histories, seeded{t, h})
			if f.Seeds == 1 && f.Out != "" {
				failed := writeEpochs(f.Out, histories, of.Score)
				if failed == nil {
					t.Summary.CSV = f.Out
				}
				err = errors.Join(err, failed)
			}
			err = f.tell(t, p, err)
		}
		if err != nil {
			return csv(err)
		}
		all = append(all, t)
	}
	if f.Seeds > 1 {
		of.Together(p, all)
	}
	return csv(p.Err())
}

// train runs one training, measures it and keeps what flags ask for. It returns no history if there is nothing to be said of it.
func (f *Flags) train(e cli.Env, t *Trial, p *report.Printer, progress *report.Progress) (*train.History, error) {
	fit, s := t.Fit, &t.Summary
	fit.Checkpoint, fit.Every, fit.Resume, fit.Team = f.Checkpoint, f.Every, f.Resume, f.Team
	log := f.LogDir()
	if log != "" && f.Seeds > 1 {
		log = filepath.Join(log, fmt.Sprintf("seed-%d", fit.Seed))
	}
	var events *report.Events
	if log != "" {
		var err error
		if events, err = report.CreateEvents(log); err != nil {
			return nil, err
		}
	}
	usage := f.usage(p)
	f.watch(t, events, usage, p, progress)
	stop := func() {}
	if !f.JSON {
		stop = progress.During("training in its first epoch")
	}
	start := time.Now()
	h, err := fit.Run(e.Ctx)
	took := time.Since(start)
	logged := events.Close()
	stop()
	if h == nil || f.Team.Err() != nil { // without the other ranks nothing more can be computed
		return nil, errors.Join(err, logged)
	}
	if done := len(h.Epochs); done > fit.Epochs {
		return nil, cli.Misuse("--epochs %d: the run of %s has %d already", fit.Epochs, f.Resume, done)
	}
	s.Take(h, took)
	s.Ranks, s.Interrupted, s.Diverged = usage.All(), errors.Is(err, context.Canceled), errors.As(err, new(*train.DivergedError))
	if logged == nil {
		s.Log = log
	}
	if f.Checkpoint != "" && !errors.As(err, new(*atomicfile.Error)) {
		if _, missing := os.Stat(f.Checkpoint); missing == nil {
			s.Checkpoint = f.Checkpoint
		}
	}
	if s.BestEpoch > 0 {
		stop, t.Progress = progress.During("measuring the network"), progress
		tape, ctx := grad.NewEval(), cli.Uncut(e.Ctx, f.Team)
		if cut := tape.Within(ctx, func() { t.Measure(ctx, tape, h) }); cut != nil && err == nil {
			s.Interrupted, err = true, cut
		}
		err = errors.Join(err, logged, t.Keep(), f.draw(t, h))
		stop()
	}
	return h, err
}

// draw draws a training, if a flag asks for it.
func (f *Flags) draw(t *Trial, h *train.History) error {
	if f.Picture == "" && !f.Plot {
		return nil
	}
	p := &draw.Training{Title: cmp.Or(t.Title, t.Summary.Dataset), Model: cmp.Or(t.Network, t.Summary.Model), Epochs: h.Epochs, Best: t.Summary.BestEpoch, Score: t.Metric.Says, Once: t.Once}
	if t.Draw != nil {
		t.Draw(p)
	}
	t.picture = p
	if f.Picture == "" {
		return nil
	}
	err := p.Write(f.Picture)
	if err == nil {
		t.Summary.Picture = f.Picture
	}
	return err
}

// watch shows how a training gets on.
func (f *Flags) watch(t *Trial, events *report.Events, usage *report.Usage, p *report.Printer, progress *report.Progress) {
	fit, scores := t.Fit, ""
	length := report.Length{Epochs: fit.Epochs, Steps: fit.Steps, Patience: fit.Patience}
	fit.OnEpoch = func(e train.Epoch) {
		usage.EpochIsOver(e.N)
		if scores = t.Scores(e); f.JSON {
			p.Encode(t.Epoch(e))
		} else {
			progress.Show("%s%s", progress.Epoch(e, length), scores)
		}
		events.Epoch(e)
	}
	if loss := fit.Loss; fit.Steps > 1 && !f.JSON {
		fit.Loss = func(tape *grad.Tape) *grad.Var {
			progress.Show("%s%s", progress.Step(tape.Step(), length), scores)
			return loss(tape)
		}
	}
}

// tell says what came of a training. Of one that was cut short it returns how far it came and what is left of it.
func (f *Flags) tell(t *Trial, p *report.Printer, err error) error {
	s := &t.Summary
	switch {
	case s.Interrupted:
		cut := fmt.Errorf("interrupted after %d of %d epochs", s.Epochs, t.Fit.Epochs)
		if s.Checkpoint != "" {
			cut = fmt.Errorf("%w; to continue: %s", cut, f.goesOn(s.Checkpoint))
		}
		err = errors.Join(cli.Stopped(cut), cli.Without(err, context.Canceled))
	case s.Diverged:
		left := "nothing was saved"
		if s.Saved != "" {
			left = fmt.Sprintf("the model of epoch %d is saved in %s", s.BestEpoch, s.Saved)
		}
		all := cli.Parts(err) // the training's first
		all[0] = fmt.Errorf("%w; %s", Diverged(all[0], t.Rate, t.Usual), left)
		err = errors.Join(all...)
	}
	whole := !s.Interrupted && !s.Diverged
	switch {
	case f.JSON && (whole || t.Partial):
		p.Encode(t.Line())
	case f.JSON || s.BestEpoch == 0 || s.Diverged || !whole && !t.Partial: // what came of it is in the error
	case f.Seeds > 1:
		t.Short(p)
	default:
		if f.Plot {
			p.Drawn(t.picture.Text(p.Columns(), p.Coloured()) + "\n")
		}
		t.Page(p)
	}
	return errors.Join(err, p.Err())
}

// Diverged returns what to say of a training that diverged at a rate, and what to try: the rate that is
// usual, or a tenth of it. Any other error it returns as it is.
func Diverged(err error, rate, usual float64) error {
	d := (*train.DivergedError)(nil)
	if !errors.As(err, &d) {
		return err
	}
	text := fmt.Sprintf("the training diverged: in epoch %d %s is %.4g", d.Epoch, d.What, d.Value)
	if d.Limit > 0 {
		text += fmt.Sprintf(", above %g", d.Limit)
	}
	if d.Op != "" {
		text += fmt.Sprintf(" (first: %s)", d.Op)
	}
	if d.Saved != "" {
		text += "; the last checkpoint is " + d.Saved
	}
	if rate > usual {
		return fmt.Errorf("%s; --lr %g is too high: try --lr %g", text, rate, usual)
	}
	return fmt.Errorf("%s; try a lower rate, such as --lr %g, or look for very large numbers in the data", text, rate/10)
}

// goesOn returns the command that goes on with the run of a checkpoint, which knows its own settings, but
// not where the data is.
func (f *Flags) goesOn(checkpoint string) string {
	return cli.Program + " train --resume " + cli.Word(checkpoint) + source.Flagged(nil, f.Data)
}

// usage follows what the ranks spend, and prints each epoch of it for machines.
func (f *Flags) usage(p *report.Printer) *report.Usage {
	var each func(*report.Ranks)
	if f.JSON {
		each = func(r *report.Ranks) { p.Encode(r) }
	}
	return report.NewUsage(f.Team, each)
}

// seeded is a training and its history.
type seeded struct {
	of      *Trial
	history *train.History
}

// writeEpochs writes the epochs of all trainings as a table. score is the name of the only score, that of the validation part; empty: there
// are those of all parts.
func writeEpochs(path string, runs []seeded, score string) error {
	head, form := "loss,"+score, func(e train.Epoch) string { return fmt.Sprintf("%g,%g", e.Loss, e.Val.Accuracy) }
	if score == "" {
		head = strings.ReplaceAll("loss,train_accuracy,val_loss,val_accuracy,test_accuracy", "accuracy", cmp.Or(runs[0].of.Metric.Key, "accuracy"))
		form = func(e train.Epoch) string {
			return fmt.Sprintf("%g,%g,%g,%g,%g", e.Loss, e.Train.Accuracy, e.Val.Loss, e.Val.Accuracy, e.Test.Accuracy)
		}
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		p := report.NewPrinter(w)
		p.Printf("seed,epoch,%s,best,ms\n", head)
		for _, r := range runs {
			for _, e := range r.history.Epochs {
				best := 0
				if e.Best {
					best = 1
				}
				p.Printf("%d,%d,%s,%d,%.3f\n", r.of.Fit.Seed, e.N, form(e), best, report.Milliseconds(e.Took))
			}
		}
		return p.Err()
	})
}

// SaveModel writes the model of a training, if a flag asks for it, with the recipe and the scores on the parts of its data.
func (f *Flags) SaveModel(t *Trial, m *models.Trained, recipe any, scores map[string]map[string]float64) error {
	if f.Save == "" {
		return nil
	}
	err := Save(f.Save, m, recipe, scores)
	if err == nil {
		t.Summary.Saved = f.Save
	}
	return err
}

// Next is the command to try after a training on data of that name: the one that measures the model that was saved, or else what was
// typed, so that it saves the model.
func (f *Flags) Next(saved, data string) string {
	if saved == "" {
		base := strings.TrimSuffix(filepath.Base(data), filepath.Ext(data))
		return f.Again(data, " --save "+cli.Word(base+".safetensors"))
	}
	return cli.Program + " eval " + cli.Word(saved) + source.Flagged(nil, f.Data)
}

// Again is the command line that was typed, with more at its end and without those flags. Whatever it wrote or drew, it does not again.
func (f *Flags) Again(data, more string, without ...string) string {
	if f.Resume != "" { // what was typed is nothing without the checkpoint
		return fmt.Sprintf("%s train%s --task %s%s", cli.Program, source.Flagged(&data, f.Data), f.Task, more)
	}
	return f.Retyped(append(without, "--dry-run", "--plot", "--seeds=", "--save=", "--out=", "--csv=", "--picture=", "--log=", "--checkpoint=", "--every=", "--profile=")...) + more
}

// Retyped is the command line that was typed, without those flags. One whose name ends in = goes with what it says.
func (f *Flags) Retyped(without ...string) string {
	words := []string{cli.Program}
	for i := 0; i < len(f.Typed); i++ {
		switch name, _, whole := strings.Cut(f.Typed[i], "="); {
		case slices.Contains(without, name):
		case !slices.Contains(without, name+"="):
			words = append(words, cli.Word(f.Typed[i]))
		case !whole:
			i++
		}
	}
	return strings.Join(words, " ")
}

// Summaries are what came of several trainings.
func Summaries(all []*Trial) (out []report.Summary) {
	for _, t := range all {
		out = append(out, t.Summary)
	}
	return out
}
