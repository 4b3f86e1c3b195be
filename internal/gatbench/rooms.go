package gatbench

import (
	"io"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/spell"
	"github.com/edgewise-ml/edgewise/models"
)

// room is a task: a kind of thing that can be learnt of data. Commands know tasks by this alone.
type room interface {
	// Name is what files call the task, and Flag what --task says, which several tasks may share.
	Name() string
	Flag() string
	// Noun is what its models are of, such as "whole graphs", and Models their names.
	Noun() string
	Models() []string
	// Takes reports whether flags, or the data that they name, ask for the task.
	Takes(f *trainFlags) bool
	// Recipe returns a training with the settings of flags, of which the data has not been read.
	Recipe(e cli.Env, f *trainFlags) (training, error)
	// Model returns the model in a file, which has not been read.
	Model(f *savedFlags) model
}

// training is a training of a task.
type training interface {
	// Open reads the data and settles what it decides.
	Open(e cli.Env) error
	// Plan says what was found and what Train will do, a line each.
	Plan() []string
	// Train trains, once for each seed, says what came of it, and saves what flags name.
	Train(e cli.Env) error
}

// model is a model in a file, and the data that flags name for it.
type model interface {
	// Eval measures it and prints how good it is.
	Eval(e cli.Env) error
	// Predict returns what writes its answers.
	Predict(e cli.Env, q *questions) (func(w io.Writer) error, error)
	// Embed returns what it has learnt of the rows with these ids, or of all.
	Embed(e cli.Env, ids []string) (*models.Embeddings, error)
}

// rooms are all tasks, the usual one first.
var rooms []room

// chosenTask returns the task that flags and data ask for.
func chosenTask(f *trainFlags) (room, error) {
	var flags []string
	for _, r := range rooms {
		if !slices.Contains(flags, r.Flag()) {
			flags = append(flags, r.Flag())
		}
	}
	if f.Task != "" && !slices.Contains(flags, f.Task) {
		return nil, f.noSuchTask(flags)
	}
	if f.Resume != "" {
		return f.learnt()
	}
	task := rooms[0]
	for _, r := range rooms {
		if r.Takes(f) {
			task = r
			break
		}
	}
	if f.Model == nil {
		return task, nil
	}
	return task, modelNamed(task.Name(), *f.Model, f.onDataset())
}

// noSuchTask returns the error for a --task that is none.
func (f *trainFlags) noSuchTask(flags []string) error {
	for _, r := range rooms {
		if r.Name() != r.Flag() && spell.Meant(f.Task, append(slices.Clone(flags), r.Name())) == r.Name() {
			return cli.Misuse("--task %.60s: there is no such task; facts are links of several kinds: write %s train --task %s --model %s%s", f.Task, cli.Program, r.Flag(), cli.Or(f.Model, r.Models()[0]), f.onDataset())
		}
	}
	return cli.OneOf("--task", f.Task, flags)
}

// learnt returns the task of the run that --resume goes on with.
func (f *trainFlags) learnt() (room, error) {
	if err := cli.Ordinary(cli.File{Flag: "--resume", Path: f.Resume}); err != nil {
		return nil, err
	}
	task := savedTask(f.Resume)
	if f.Task != "" && f.Task != task.Flag() {
		return nil, cli.Misuse("--resume %s: its run has --task %.20s, not %s: leave the flag out", f.Resume, task.Flag(), f.Task)
	}
	f.Task = task.Flag()
	return task, nil
}

// modelNamed returns an error if a task has no model of that name. Of a model of another task it has the
// command that trains it, which ends in more.
func modelNamed(task, name, more string) error {
	var own, other room
	lower := strings.ToLower(name)
	for _, r := range rooms {
		if r.Name() == task {
			own = r
		} else if other == nil && slices.Contains(r.Models(), lower) {
			other = r
		}
	}
	if other == nil || slices.Contains(own.Models(), lower) {
		var known []string
		for _, r := range rooms {
			if r == own || r.Flag() == own.Flag() {
				known = append(known, r.Models()...)
			}
		}
		return cli.OneOf("--model", name, known)
	}
	flag := ""
	if other != rooms[0] {
		flag = " --task " + other.Flag()
	}
	return cli.Misuse("--model %s: it is a model of %s, not of %s: write %s train%s --model %s%s", name, other.Noun(), own.Noun(), cli.Program, flag, lower, more)
}
