package gatbench

import (
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/models"
)

// The models that others name.
const (
	modelGIN      = "gin"
	modelGPS      = "gps"
	modelH2GCN    = "h2gcn"
	modelLightGCN = "lightgcn"
	modelGAE      = "gae"
	modelVGAE     = "vgae"
	modelTransE   = "transe"
	modelDistMult = "distmult"
	modelComplEx  = "complex"
	modelRotatE   = "rotate"
)

// settingOf are the settings of models that flags set, of those that only some models have.
var settingOf = map[string]string{
	"heads": "Heads", "out-heads": "OutHeads", "attention": "Heads", "attention-dropout": "AttentionDropout",
	"residual": "Residual", "residual-linear": "ResidualLinear", "norm": "Norm", "input": "Input", "output": "Output", "start": "Start", "value-drop": "ValueDrop", "no-bias": "NoBias",
}

// takes reports whether a flag is for a model.
func takes(m models.Traits, flag string) bool { return m.Has(settingOf[flag]) }

// having returns the names of the models that take a flag.
func having(flag string) string { return strings.Join(models.Having(settingOf[flag]), ", ") }

// findModel returns what the model of that name is like.
func findModel(name string) (models.Traits, error) {
	if err := modelNamed(taskNode, name, ""); err != nil {
		return models.Traits{}, err
	}
	m, err := models.Named(name)
	if err != nil {
		return models.Traits{}, err
	}
	return models.TraitsOf(m), nil
}

// modelsOf is what the models of a task are called.
type modelsOf struct {
	task, flag, noun string // flag is what train says of the task, after a space
	names            []string
}

// modelsOfTasks returns the models of every task.
func modelsOfTasks() []modelsOf {
	return []modelsOf{
		{taskNode, "", "nodes and edges", models.Names()}, {taskGraph, " --task graph", "whole graphs", models.GraphNames()},
		{taskFacts, " --task link", "facts", models.FactNames()}, {taskLink, " --task link", "links", slices.Concat(models.LinkNames(), models.FactNames())},
	}
}

// modelNamed returns an error if a task has no model of that name. Of a model of another task it has the
// command that trains it, which ends in more.
func modelNamed(task, name, more string) error {
	var own, other modelsOf
	lower := strings.ToLower(name)
	for _, of := range modelsOfTasks() {
		if of.task == task {
			own = of
		} else if other.task == "" && slices.Contains(of.names, lower) {
			other = of
		}
	}
	if other.task == "" || slices.Contains(own.names, lower) {
		return oneOf("--model", name, own.names)
	}
	return misuse("--model %s: it is a model of %s, not of %s: write %s train%s --model %s%s", name, other.noun, own.noun, program, other.flag, lower, more)
}
