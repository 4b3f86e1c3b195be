package edge

import (
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/node"
)

// Task is the task of edges: that of nodes, whose networks have a head that reads the rows of both ends.
type Task struct{ node.Task }

// About implements [task.Task].
func (Task) About() task.About {
	about := node.Task{}.About()
	about.Name, about.Flag, about.Noun, about.Refuses = task.Edge, task.Edge, "edges", Remedies
	return about
}

// Takes implements [task.Task].
func (Task) Takes(f *task.Flags) bool { return f.Task == task.Edge }

// Model returns a model that explains nothing: explanations are of nodes.
func (r Task) Model(f *task.SavedFlags) task.Model { return struct{ task.Model }{r.Task.Model(f)} }

// Remedies say which flags of train a training on edges has no use for, and what to do.
var Remedies = task.Remedies(map[string]string{
	"it is for --task graph: leave it out": "readout pool",
	"test edges carry messages like all others, and only their classes are held back: leave it out": "inductive",
	"it is for --task node: leave it out":                  "attention",
	"it is for --attention with --task node: leave it out": "nodes",
})
