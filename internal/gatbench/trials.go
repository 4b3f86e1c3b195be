package gatbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/train"
)

// trial is one training of a run: that of a seed.
type trial struct {
	fit  *train.Fit
	rate float64 // of the optimiser
	// usual is the rate that a training without flags has.
	usual float64

	// summary is what came of it. The task sets what it is of, and train what all trainings have.
	summary report.Summary
	metric  report.Metric // what its scores are

	// measure completes the summary with what the network that was kept can do. It is not called for a training that was cut short.
	measure func(ctx context.Context, t *grad.Tape, h *train.History)
	// keep writes the model and whatever else flags name.
	keep func() error

	epoch  func(e train.Epoch) any    // for machines
	scores func(e train.Epoch) string // for people, beside the number of the epoch
	line   func() any                 // the summary for machines
	short  func(p *report.Printer)    // a line for people, one of several
	page   func(p *report.Printer)    // all there is to say
	// partial says that the summary means something even of a training that was cut short.
	partial bool
}

// trials are the trainings of a run, one for each seed.
type trials struct {
	// of returns the training of a seed, which is so many after the first.
	of func(i int) (*trial, error)
	// together says what they have in common.
	together func(p *report.Printer, all []*trial)
	// score is the name of the only score that an epoch has, of the validation part; empty: it has those of all parts.
	score string
}

// run trains once for each seed and says what came of it.
func (f *trainFlags) run(e cli.Env, of trials) error {
	p, progress := report.NewPrinter(e.Out), report.NewProgress(e.ErrOut)
	var all []*trial
	var histories []seeded
	csv := func(err error) error {
		if f.CSV == "" || len(histories) == 0 || f.Seeds == 1 {
			return err
		}
		return errors.Join(err, writeEpochs(f.CSV, histories, of.score))
	}
	for i := range f.Seeds {
		t, err := of.of(i)
		if err != nil {
			return csv(err)
		}
		progress.Run(i, f.Seeds)
		h, err := f.train(e, t, p, progress)
		if h != nil {
			histories = append(histories, seeded{t, h})
			if f.Seeds == 1 && f.CSV != "" {
				failed := writeEpochs(f.CSV, histories, of.score)
				if failed == nil {
					t.summary.CSV = f.CSV
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
		of.together(p, all)
	}
	return csv(p.Err())
}

// train runs one training, measures it and keeps what flags ask for. It returns no history if there is nothing to be said of it.
func (f *trainFlags) train(e cli.Env, t *trial, p *report.Printer, progress *report.Progress) (*train.History, error) {
	fit, s := t.fit, &t.summary
	fit.Checkpoint, fit.Every, fit.Resume, fit.Team = f.Checkpoint, f.Every, f.Resume, f.team
	log := f.logDir()
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
	start := time.Now()
	h, err := fit.Run(e.Ctx)
	took := time.Since(start)
	logged := events.Close()
	progress.Clear()
	if h == nil || f.team.Err() != nil { // without the other ranks nothing more can be computed
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
		tape, ctx := grad.NewEval(), cli.Uncut(e.Ctx, f.team)
		if cut := tape.Within(ctx, func() { t.measure(ctx, tape, h) }); cut != nil && err == nil {
			s.Interrupted, err = true, cut
		}
		err = errors.Join(err, logged, t.keep())
	}
	return h, err
}

// watch shows how a training gets on.
func (f *trainFlags) watch(t *trial, events *report.Events, usage *report.Usage, p *report.Printer, progress *report.Progress) {
	fit, scores := t.fit, ""
	length := report.Length{Epochs: fit.Epochs, Steps: fit.Steps, Patience: fit.Patience}
	fit.OnEpoch = func(e train.Epoch) {
		usage.EpochIsOver(e.N)
		if scores = t.scores(e); f.JSON {
			p.Encode(t.epoch(e))
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
func (f *trainFlags) tell(t *trial, p *report.Printer, err error) error {
	s := &t.summary
	switch {
	case s.Interrupted:
		cut := fmt.Errorf("interrupted after %d of %d epochs", s.Epochs, t.fit.Epochs)
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
		all[0] = fmt.Errorf("%w; %s", diverged(all[0], t.rate, t.usual), left)
		err = errors.Join(all...)
	}
	whole := !s.Interrupted && !s.Diverged
	switch {
	case f.JSON && (whole || t.partial):
		p.Encode(t.line())
	case f.JSON || s.BestEpoch == 0 || s.Diverged || !whole && !t.partial: // what came of it is in the error
	case f.Seeds > 1:
		t.short(p)
	default:
		t.page(p)
	}
	return errors.Join(err, p.Err())
}

// diverged returns what to say of a training that diverged at a rate, and what to try: the rate that is
// usual, or a tenth of it. Any other error it returns as it is.
func diverged(err error, rate, usual float64) error {
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
func (f *trainFlags) goesOn(checkpoint string) string {
	from := trainFlags{Data: f.Data}
	return cli.Program + " train --resume " + cli.Word(checkpoint) + from.onDataset()
}

// usage follows what the ranks spend, and prints each epoch of it for machines.
func (f *trainFlags) usage(p *report.Printer) *report.Usage {
	var each func(*report.Ranks)
	if f.JSON {
		each = func(r *report.Ranks) { p.Encode(r) }
	}
	return report.NewUsage(f.team, each)
}

// seeded is a training and its history.
type seeded struct {
	of      *trial
	history *train.History
}

// writeEpochs writes the epochs of all trainings as a table. score is the name of the only score, that of the validation part; empty: there
// are those of all parts.
func writeEpochs(path string, runs []seeded, score string) error {
	head, form := "loss,"+score, func(e train.Epoch) string { return fmt.Sprintf("%g,%g", e.Loss, e.Val.Accuracy) }
	if score == "" {
		head = strings.ReplaceAll("loss,train_accuracy,val_loss,val_accuracy,test_accuracy", "accuracy", cmp.Or(runs[0].of.metric.Key, "accuracy"))
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
				p.Printf("%d,%d,%s,%d,%.3f\n", r.of.fit.Seed, e.N, form(e), best, report.Milliseconds(e.Took))
			}
		}
		return p.Err()
	})
}

// save writes the model of a training, if a flag asks for it, with the recipe and the scores on the parts of its data.
func (f *trainFlags) save(t *trial, m *models.Trained, recipe any, scores map[string]map[string]float64) error {
	if f.Save == "" {
		return nil
	}
	err := save(f.Save, m, recipe, scores)
	if err == nil {
		t.summary.Saved = f.Save
	}
	return err
}

// next is the command to try after a training whose settings line says: the one that measures the model that was saved, or else the one that
// trains and saves it.
func (f *trainFlags) next(saved, line, data string) string {
	base := strings.TrimSuffix(filepath.Base(data), filepath.Ext(data))
	command := fmt.Sprintf("%s train%s --save %s", cli.Program, line, cli.Word(base+".safetensors"))
	if saved != "" {
		command = cli.Program + " eval " + cli.Word(saved)
	}
	if f.Data != "" {
		command += " --data " + cli.Word(f.Data)
	}
	return command
}

// summaries are what came of several trainings.
func summaries(all []*trial) (out []report.Summary) {
	for _, t := range all {
		out = append(out, t.summary)
	}
	return out
}
