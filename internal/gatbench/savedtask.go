package gatbench

import (
	"encoding/json"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/internal/spell"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/train"
)

// savedTask returns what the model in a file was trained for: taskEdge, taskGraph, taskLink or
// taskFacts, which their files name, or else taskNode.
func savedTask(path string) string {
	if p, err := models.Open(path); err == nil {
		return taskIn(p)
	}
	var text json.RawMessage
	var head struct{ Task string }
	if train.LoadConfig(path, &text) == nil && jsonread.Unmarshal(text, &head) == nil && head.Task != "" {
		return head.Task
	}
	return taskNode
}

// learns returns what is trained: what the checkpoint of --resume was, what --task and --model say, or
// what the data is for; empty: nodes or edges, as the data says.
func (c *trainCommand) learns() (string, error) {
	tasks := []string{taskNode, taskEdge, taskLink, taskGraph}
	switch {
	case c.Task == "" || slices.Contains(tasks, c.Task):
	case spell.Meant(c.Task, append(tasks, taskFacts)) == taskFacts:
		return "", cli.Misuse("--task %.60s: there is no such task; facts are links of several kinds: write %s train --task link --model %s%s", c.Task, cli.Program, cli.Or(c.Model, modelRotatE), c.onDataset())
	default:
		return "", cli.OneOf("--task", c.Task, tasks)
	}
	if c.Resume != "" {
		return c.learnt()
	}
	task := c.Task
	switch {
	case task == taskLink && c.onFacts():
		task = taskFacts
	case task == "" && holdsGraphs(c.Data, cli.Or(c.Dataset, "")):
		task = taskGraph
	}
	if c.Model == nil {
		return task, nil
	}
	of := task
	if of == taskEdge || of == "" {
		of = taskNode
	}
	return task, modelNamed(of, *c.Model, c.onDataset())
}

// onDataset is how a command goes on that is to train on the data that flags name.
func (c *trainCommand) onDataset() (flags string) {
	if c.Dataset != nil {
		flags = " --dataset " + cli.Word(*c.Dataset)
	}
	if c.Data != "" {
		flags += " --data " + cli.Word(c.Data)
	}
	return flags
}

// learnt returns the task of the run that --resume goes on with.
func (c *trainCommand) learnt() (string, error) {
	if err := cli.Ordinary(cli.File{Flag: "--resume", Path: c.Resume}); err != nil {
		return "", err
	}
	task := savedTask(c.Resume)
	said := task
	if task == taskFacts {
		said = taskLink
	}
	if c.Task != "" && c.Task != said {
		return "", cli.Misuse("--resume %s: its run has --task %.20s, not %s: leave the flag out", c.Resume, said, c.Task)
	}
	c.Task = said
	return task, nil
}

// located returns where the data of a run that goes on is, or that which flags name if it is not there.
func (c *trainCommand) located(e cli.Env, of places) (places, error) {
	return savedModel{c.Resume, c.Data}.places(e, &recipe{Dataset: of.dataset, Splits: of.splits}, c.Dataset, c.Splits)
}

// anew returns the dataset or split that a flag names for a run, whose own it is, too, if the flag only
// says where its own is now.
func (c *trainCommand) anew(flag *string, at, own string) string {
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
