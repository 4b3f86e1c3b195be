package gatbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/ranks"
	"github.com/edgewise-ml/edgewise/train"
)

// learnt is one training that was run, of a task other than nodes.
type learnt struct {
	history    *train.History
	summary    report.Summary
	checkpoint string
	goesOn     string // the command that goes on from the checkpoint
	log        string
	epochs     int
	team       *ranks.Team
}

// cut says how far a training came that was interrupted, and what is left of it.
func (l *learnt) cut() error {
	err := fmt.Errorf("interrupted after %d of %d epochs", len(l.history.Epochs), l.epochs)
	if l.goesOn != "" {
		err = fmt.Errorf("%w; to continue: %s", err, l.goesOn)
	}
	return cli.Stopped(err)
}

// measure calls f with the tape of an evaluation after the training, which ends with the context.
func (l *learnt) measure(ctx context.Context, f func(t *grad.Tape)) error {
	t := grad.NewEval()
	if err := t.Within(cli.Uncut(ctx, l.team), func() { f(t) }); err != nil {
		return l.cut()
	}
	return nil
}

// watcher shows how a training gets on: epoch prints a line for machines, or returns the scores for people.
type watcher struct {
	out      *report.Printer
	progress *report.Progress
	epoch    func(train.Epoch) (scores string)
}

// learn runs a training with the checkpoint and the log that were asked for. An error of a
// training that was cut short says what is left of it.
func (c *trainCommand) learn(ctx context.Context, f *train.Fit, seed uint64, w watcher) (l learnt, err error) {
	f.Checkpoint, f.Every, f.Resume, l.epochs, l.team = c.Checkpoint, c.Every, c.Resume, f.Epochs, c.team
	if l.log = c.logDir(); l.log != "" && c.Seeds > 1 {
		l.log = filepath.Join(l.log, fmt.Sprintf("seed-%d", seed))
	}
	var events *report.Events
	if l.log != "" {
		if events, err = report.CreateEvents(l.log); err != nil {
			return l, err
		}
	}
	length, scores := report.Length{Epochs: f.Epochs, Steps: f.Steps, Patience: f.Patience}, ""
	f.Team = c.team
	usage := c.usage(w.out)
	f.OnEpoch = func(e train.Epoch) {
		usage.EpochIsOver(e.N)
		if scores = w.epoch(e); !c.JSON {
			w.progress.Show("%s%s", w.progress.Epoch(e, length), scores)
		}
		events.Epoch(e)
	}
	if loss := f.Loss; f.Steps > 1 && !c.JSON {
		f.Loss = func(t *grad.Tape) *grad.Var {
			w.progress.Show("%s%s", w.progress.Step(t.Step(), length), scores)
			return loss(t)
		}
	}
	start := time.Now()
	l.history, err = f.Run(ctx)
	w.progress.Clear()
	logged := events.Close()
	if l.history != nil {
		l.summary.Take(l.history, time.Since(start))
		l.summary.Ranks = usage.All()
		if done := len(l.history.Epochs); done > f.Epochs && err == nil {
			err = cli.Misuse("--epochs %d: the run of %s has %d already", f.Epochs, c.Resume, done)
		}
	}
	if _, missing := os.Stat(c.Checkpoint); c.Checkpoint != "" && missing == nil {
		l.checkpoint, l.goesOn = c.Checkpoint, c.goesOn(c.Checkpoint)
	}
	if errors.Is(err, context.Canceled) {
		err = errors.Join(l.cut(), cli.Without(err, context.Canceled))
	}
	return l, errors.Join(err, logged)
}

// goesOn returns the command that goes on with the run of a checkpoint, which knows its own settings, but
// not where the data is.
func (c *trainCommand) goesOn(checkpoint string) string {
	from := trainCommand{Data: c.Data}
	return cli.Program + " train --resume " + cli.Word(checkpoint) + from.onDataset()
}

// checkFiles returns an error for files that cannot be written, or that are also read.
func (o *outputFlags) checkFiles(in []cli.File) error {
	if err := o.checkEvery(); err != nil {
		return err
	}
	if err := o.targets(0); err != nil {
		return err
	}
	if err := cli.Ordinary(cli.File{Flag: "--resume", Path: o.Resume}); err != nil {
		return err
	}
	return cli.Apart(in, append(o.files(), cli.File{Flag: "--log", Path: o.logDir()}))
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
