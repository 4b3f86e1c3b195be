package gatbench

import (
	"encoding/json"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/train"
)

// savedTask returns the task of the model in a file, which most files name, or else the usual one.
func savedTask(path string) room {
	name := ""
	if p, err := models.Open(path); err == nil {
		name = taskIn(p)
	} else {
		var text json.RawMessage
		var head struct{ Task string }
		if train.LoadConfig(path, &text) == nil && jsonread.Unmarshal(text, &head) == nil {
			name = head.Task
		}
	}
	for _, r := range rooms {
		if r.Name() == name {
			return r
		}
	}
	return rooms[0]
}

// onDataset is how a command goes on that is to train on the data that flags name.
func (c *trainFlags) onDataset() (flags string) {
	if c.Dataset != nil {
		flags = " --dataset " + cli.Word(*c.Dataset)
	}
	if c.Data != "" {
		flags += " --data " + cli.Word(c.Data)
	}
	return flags
}

// located returns where the data of a run that goes on is, or that which flags name if it is not there.
func (c *trainFlags) located(e cli.Env, of places) (places, error) {
	return savedModel{c.Resume, c.Data}.places(e, origin{Dataset: of.dataset, Splits: of.splits}, c.Dataset, c.Splits)
}

// anew returns the dataset or split that a flag names for a run, whose own it is, too, if the flag only
// says where its own is now.
func (c *trainFlags) anew(flag *string, at, own string) string {
	if flag == nil || c.Resume != "" && *flag == at {
		return own
	}
	return *flag
}

// sameRun returns an error if flags ask for another setting than the run of a checkpoint has: own are
// its settings, and asked are these with the flags that were given. Only how long it is may change.
func sameRun[R any](path string, own, asked R) error {
	switch flag, was, is := differs(own, asked); {
	case flag == "":
		return nil
	case was == "":
		return cli.Misuse("--resume %s: its run has no --%s: leave the flag out", path, flag)
	case is == "":
		return cli.Misuse("--resume %s: its run has --%s %s: leave the flag out", path, flag, was)
	default:
		return cli.Misuse("--resume %s: its run has --%s %s, not %s: leave the flag out", path, flag, was, is)
	}
}

// unused returns an error for flags of a saved model of which its task has no use: each a
// flag, whether it was given, and what to do.
func unused(flags ...unusedFlag) error {
	for _, f := range flags {
		if f.given {
			return cli.Misuse("--%s: %s", f.name, f.remedy)
		}
	}
	return nil
}

type unusedFlag struct {
	name   string
	given  bool
	remedy string
}

// divided are the flags about splits, of models whose examples the seed divides.
func (f *savedFlags) divided(what string) error {
	remedy := what + " are divided by the seed of the training: leave it out"
	return unused(unusedFlag{"splits", f.Splits != nil, remedy}, unusedFlag{"split-number", f.Number != nil, remedy}, unusedFlag{"threads", f.Threads < 0, "it must be at least 1, or 0 for all processors"})
}
