package task

import (
	"io"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/spell"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
)

// Task is a task: a kind of thing that can be learnt of data. Commands know tasks by this alone.
type Task interface {
	// About says what the task is.
	About() About
	// Takes reports whether flags, or the data that they name, ask for the task.
	Takes(f *Flags) bool
	// Recipe returns a training with the settings of flags, of which the data has not been read.
	Recipe(e cli.Env, f *Flags) (Training, error)
	// Model returns the model in a file, which has not been read.
	Model(f *SavedFlags) Model
}

// About is what a task is called, and what it has.
type About struct {
	Name    string            // in files
	Flag    string            // what --task says, which several tasks may share
	Noun    string            // what its models are of, such as "whole graphs"
	Models  []string          // their names, the usual one first
	Refuses map[string]string // the flags of train that it has no use for, and what to do instead
}

// Training is a training of a task.
type Training interface {
	// Open reads the data and settles what it decides.
	Open(e cli.Env) error
	// Plan says what was found and what Train will do, a line each.
	Plan() []string
	// Train trains, once for each seed, says what came of it, and saves what flags name.
	Train(e cli.Env) error
}

// Model is a model in a file, and the data that flags name for it.
type Model interface {
	// Eval measures it and prints how good it is. It returns the flags of a question that predict can be asked.
	Eval(e cli.Env) (question string, err error)
	// Predict returns what writes its answers.
	Predict(e cli.Env, q *Questions) (func(w io.Writer) error, error)
	// Embed returns what it has learnt of the rows with these ids, or of all.
	Embed(e cli.Env, ids []string) (*models.Embeddings, error)
}

// Named returns the task of that name, or the usual one.
func Named(name string) Task {
	for _, r := range All {
		if r.About().Name == name {
			return r
		}
	}
	return All[0]
}

// All are all tasks, the usual one first.
var All []Task

// Choose returns the task that flags and data ask for.
func Choose(f *Flags) (Task, error) {
	var flags []string
	for _, r := range All {
		if !slices.Contains(flags, r.About().Flag) {
			flags = append(flags, r.About().Flag)
		}
	}
	if f.Task != "" && !slices.Contains(flags, f.Task) {
		return nil, f.noSuchTask(flags)
	}
	if f.Resume != "" {
		return f.learnt()
	}
	task := All[0]
	for _, r := range All {
		if r.Takes(f) {
			task = r
			break
		}
	}
	if f.Model == nil {
		return task, nil
	}
	if name := cli.Or(f.Dataset, ""); !slices.Contains(task.About().Models, strings.ToLower(*f.Model)) {
		if kind := source.KindOf(f.Data, name); kind == source.Facts || kind == source.UsersAndItems {
			return nil, cli.Misuse("--model %.60s: %s has %s, and the models that learn from them are %s", *f.Model, name, kind, strings.Join(task.About().Models, ", "))
		}
	}
	return task, ModelNamed(task.About().Name, *f.Model, source.Flagged(f.Dataset, f.Data))
}

// noSuchTask returns the error for a --task that is none.
func (f *Flags) noSuchTask(flags []string) error {
	for _, r := range All {
		if r.About().Name != r.About().Flag && spell.Meant(f.Task, append(slices.Clone(flags), r.About().Name)) == r.About().Name {
			return cli.Misuse("--task %.60s: there is no such task; facts are links of several kinds: write %s train --task %s --model %s%s", f.Task, cli.Program, r.About().Flag, cli.Or(f.Model, r.About().Models[0]), source.Flagged(f.Dataset, f.Data))
		}
	}
	return cli.OneOf("--task", f.Task, flags)
}

// learnt returns the task of the run that --resume goes on with.
func (f *Flags) learnt() (Task, error) {
	if err := cli.Ordinary(cli.File{Flag: "--resume", Path: f.Resume}); err != nil {
		return nil, err
	}
	task := Saved(f.Resume)
	if f.Task != "" && f.Task != task.About().Flag {
		return nil, cli.Misuse("--resume %s: its run has --task %.20s, not %s: leave the flag out", f.Resume, task.About().Flag, f.Task)
	}
	f.Task = task.About().Flag
	return task, nil
}

// ModelNamed returns an error if a task has no model of that name. Of a model of another task it has the
// command that trains it, which ends in more.
func ModelNamed(task, name, more string) error {
	var own, other Task
	lower := strings.ToLower(name)
	for _, r := range All {
		if r.About().Name == task {
			own = r
		} else if other == nil && slices.Contains(r.About().Models, lower) {
			other = r
		}
	}
	if other == nil || slices.Contains(own.About().Models, lower) {
		var known []string
		for _, r := range All {
			if r == own || r.About().Flag == own.About().Flag {
				known = append(known, r.About().Models...)
			}
		}
		return cli.OneOf("--model", name, known)
	}
	flag := ""
	if other != All[0] {
		flag = " --task " + other.About().Flag
	}
	return cli.Misuse("--model %s: it is a model of %s, not of %s: write %s train%s --model %s%s", name, other.About().Noun, own.About().Noun, cli.Program, flag, lower, more)
}
