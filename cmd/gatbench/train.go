package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/train"
)

// trainCommand is gatbench train.
type trainCommand struct {
	Dataset string `default:"cora" placeholder:"NAME" help:"cora (the default, part of the program), citeseer or pubmed."`
	Data    string `placeholder:"DIR" help:"Folder of the dataset's files (else $$EDGEWISE_DATA, else the user's cache)."`
	Seed    uint64 `default:"0" placeholder:"N" help:"Fixes everything that is random (0)."`
	Seeds   int    `default:"1" placeholder:"N" help:"Train N times, with the seeds from --seed on (1)."`
	Epochs  int    `default:"200" placeholder:"N" help:"Number of epochs (200)."`
	Threads int    `default:"0" placeholder:"N" help:"Use at most N threads (0: all there are). Never changes a result."`
	Save    string `placeholder:"FILE" help:"Save the best model to this safetensors file."`
	JSON    bool   `name:"json" help:"Print a JSON object for each epoch and for the summary, one a line."`
}

// Run trains and prints what came of it.
func (c *trainCommand) Run(e env) error {
	c.Dataset = strings.ToLower(c.Dataset)
	if err := c.check(); err != nil {
		return err
	}
	defer par.SetThreads(c.Threads)()
	defer par.Hot()()
	k, err := openTask(c.Data, c.Dataset)
	if err != nil {
		return err
	}
	report := newReporter(e, c, k)
	var runs []summary
	for i := range c.Seeds {
		s, err := c.once(e.ctx, k, c.Seed+uint64(i), report)
		if err != nil {
			return err
		}
		runs = append(runs, s)
	}
	return report.all(runs)
}

// check returns an error for flags that ask for what cannot be, before any work
// is done.
func (c *trainCommand) check() error {
	switch {
	case c.Epochs < 1:
		return misuse("--epochs %d: it must be at least 1", c.Epochs)
	case c.Seeds < 1:
		return misuse("--seeds %d: it must be at least 1", c.Seeds)
	case c.Threads < 0:
		return misuse("--threads %d: it must be at least 1, or 0 for all there are", c.Threads)
	case c.Save != "" && c.Seeds > 1:
		return misuse("--save keeps one model and --seeds %d trains %d: leave one of them out", c.Seeds, c.Seeds)
	case c.Data != "" && c.Dataset == "karate":
		return misuse("--data: karate is part of the program and is read from no folder")
	}
	if c.Save == "" {
		return nil
	}
	if isFolder(c.Save) {
		return misuse("--save %s: it is a folder; name a file", c.Save)
	}
	if dir := filepath.Dir(c.Save); !isFolder(dir) {
		return misuse("--save %s: there is no folder %s to put it in", c.Save, dir)
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// once trains one network, saves it where asked, and reports on it, even if the
// training was cut short; then it returns an error too.
func (c *trainCommand) once(ctx context.Context, k *task, seed uint64, report *reporter) (summary, error) {
	fit, net := k.fit(seed, c.Epochs)
	fit.OnEpoch = func(e train.Epoch) { report.epoch(seed, e) }
	start := time.Now()
	history, err := fit.Run(ctx)
	if history == nil {
		return summary{}, err
	}
	s := summarise(history, c.Dataset, seed, time.Since(start))
	s.Interrupted = errors.Is(err, context.Canceled)
	if c.Save != "" && s.BestEpoch > 0 {
		if saveErr := train.Save(c.Save, net); saveErr != nil {
			err = errors.Join(err, saveErr)
		} else {
			s.Saved = c.Save
		}
	}
	if s.Interrupted {
		err = fmt.Errorf("interrupted after %d of %d epochs", s.Epochs, c.Epochs)
	}
	return s, errors.Join(err, report.run(s))
}
