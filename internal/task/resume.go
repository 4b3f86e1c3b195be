package task

import (
	"encoding/json"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/train"
)

// Saved returns the task of the model in a file, which most files name, or else the usual one.
func Saved(path string) Task {
	name := ""
	if p, err := models.Open(path); err == nil {
		name = TaskIn(p)
	} else {
		var text json.RawMessage
		var head struct{ Task string }
		if train.LoadConfig(path, &text) == nil && jsonread.Unmarshal(text, &head) == nil {
			name = head.Task
		}
	}
	return Named(name)
}

// Located returns where the data of a run that goes on is, or that which flags name if it is not there.
func (c *Flags) Located(e cli.Env, of Places) (Places, error) {
	return SavedModel{c.Resume, c.Data}.Places(e, Origin{Dataset: of.Dataset, Splits: of.Splits}, c.Dataset, c.Splits)
}

// Anew returns the dataset or split that a flag names for a run, whose own it is, too, if the flag only
// says where its own is now.
func (c *Flags) Anew(flag *string, at, own string) string {
	if flag == nil || c.Resume != "" && *flag == at {
		return own
	}
	return *flag
}

// SameRun returns an error if flags ask for another setting than the run of a checkpoint has: own are
// its settings, and asked are these with the flags that were given. Only how long it is may change.
func SameRun[R any](path string, own, asked R) error {
	switch flag, was, is := Differs(own, asked); {
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

// Unused returns an error for flags of a saved model of which its task has no use: each a
// flag, whether it was given, and what to do.
func Unused(flags ...UnusedFlag) error {
	for _, f := range flags {
		if f.Given {
			return cli.Misuse("--%s: %s", f.Name, f.Remedy)
		}
	}
	return nil
}

// UnusedFlag is a flag that may be of no use.
type UnusedFlag struct {
	Name   string
	Given  bool
	Remedy string
}

// Divided are the flags about splits, of models whose examples the seed divides.
func (f *SavedFlags) Divided(what string) error {
	remedy := what + " are divided by the seed of the training: leave it out"
	return Unused(UnusedFlag{"splits", f.Splits != nil, remedy}, UnusedFlag{"split-number", f.Number != nil, remedy}, UnusedFlag{"threads", f.Threads < 0, "it must be at least 1, or 0 for all processors"})
}
