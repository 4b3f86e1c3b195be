package main

import (
	"encoding/json"
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/train"
)

// savedTask returns what the model in a file was trained for: taskEdge, taskGraph, taskLink or
// taskFacts, which their files name, or else taskNode.
func savedTask(path string) string {
	var text json.RawMessage
	var head struct{ Task string }
	if train.LoadConfig(path, &text) == nil && jsonread.Unmarshal(text, &head) == nil && head.Task != "" {
		return head.Task
	}
	return taskNode
}

// loadParams reads the Params of a model, which have to be finite.
func loadParams(path string, model any) error {
	if err := train.Load(path, model); err != nil {
		return err
	}
	for name, p := range grad.Params(model) {
		for i, v := range p.Value.Data {
			if v-v != 0 { // NaN or infinite
				return fmt.Errorf("%s: element %d of %s is %v: the file is damaged, or its training diverged", path, i, name, v)
			}
		}
	}
	return nil
}

// unused returns an error for flags of a saved model of which its task has no use: each a
// flag, whether it was given, and what to do.
func unused(flags ...unusedFlag) error {
	for _, f := range flags {
		if f.given {
			return misuse("--%s: %s", f.name, f.remedy)
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
	return unused(unusedFlag{"splits", f.Splits != nil, remedy}, unusedFlag{"split-number", f.Number != nil, remedy}, unusedFlag{"threads", f.Threads < 0, "it must be at least 1, or 0 for all there are"})
}
