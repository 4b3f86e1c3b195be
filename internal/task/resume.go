package task

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/train"
)

// Saved returns the task of the model or checkpoint in a file, which most files name, or else the usual one.
func Saved(path string) Task {
	if p, err := models.Load(path); err == nil {
		return Named(TaskIn(p))
	}
	var text json.RawMessage
	var head struct{ Task string }
	if train.LoadConfig(path, &text) == nil && jsonread.Unmarshal(text, &head) == nil {
		return Named(head.Task)
	}
	return All[0]
}

// Load returns the model in a file, which has not been read, and its task; or an error for what is no model.
func Load(f *SavedFlags) (Model, Task, error) {
	info, err := os.Stat(f.File)
	switch {
	case f.Threads < 0:
		return nil, nil, cli.Misuse("--threads %d: it must be at least 1, or 0 for all processors", f.Threads)
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fmt.Errorf("%s: there is no such file; %s train DATA --save FILE writes a model", f.File, cli.Program)
	case err == nil && info.IsDir():
		return nil, nil, notModel(f.File, "a folder")
	case err == nil && info.Mode().IsRegular() && isData(f.File):
		return nil, nil, notModel(f.File, "data")
	}
	of := Saved(f.File)
	return of.Model(f), of, nil
}

// notModel returns the error for data where a model is asked for.
func notModel(path, what string) error {
	return cli.Misuse("%s is %s, and no model: %s train %s --save model.safetensors trains one", path, what, cli.Program, cli.Word(path))
}

// isData reports whether a file is data, as far as its name tells.
func isData(path string) bool {
	name := strings.ToLower(path)
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	for _, f := range append(form.All(), source.OtherForms()...) {
		for _, ending := range f.Endings {
			if strings.HasPrefix(ending, ".") && strings.HasSuffix(name, ending) {
				return true
			}
		}
	}
	return false
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

// Unused returns an error for a flag that was given and is of no use, with what to do.
func Unused(flag string, given bool, remedy string) error {
	if !given {
		return nil
	}
	return cli.Misuse("--%s: %s", flag, remedy)
}

// Divided are the flags about splits, of models whose examples the seed divides.
func (f *SavedFlags) Divided(what string) error {
	remedy := what + " are divided by the seed of the training: leave it out"
	return cmp.Or(Unused("splits", f.Splits != nil, remedy), Unused("split-number", f.Number != nil, remedy))
}
