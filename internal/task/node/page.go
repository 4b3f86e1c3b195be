package node

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
)

// summaryOf is what is said of a training by a recipe, before it has begun.
func summaryOf(r Recipe) report.Summary {
	return report.Summary{
		Dataset: r.Dataset, Model: r.Model, Preset: r.Preset, Features: string(r.Features), Encoding: r.Encoding, EdgeFeatures: r.EdgeIn, EdgeKinds: r.Kinds, Seed: r.Seed, Select: r.Select, Batch: r.Batch, Fanout: r.Fanout,
	}
}

// divided says what was decided about the split; empty: nothing.
func (c *Training) divided() string { return task.Sentence(c.task.Division) }

// page is all there is to say of one training.
func (s *session) page(p *report.Printer) *report.Training {
	k, r, sum := s.Examples, s.Training, s.trial.Summary
	what := describe(&r.recipe, k.Goal.Outputs, k.head(&r.recipe))
	_, says, _ := task.Criterion(sum.Select)
	heads := ""
	for _, table := range s.heads {
		heads += table.Text(0, p.Coloured()) + "\n"
	}
	page := &report.Training{
		Summary:  sum,
		Title:    fmt.Sprintf("%s: %s; %d nodes, %d edges", k.Name, what, k.Graph.NumNodes(), k.Graph.NumEdges()),
		Learns:   k.learns(),
		Settings: r.says(), Batching: r.steps(),
		Nodes: [3]int{len(k.Parts.Train), len(k.Parts.Val), len(k.Parts.Test)}, What: k.Goal.Example + "s",
		Network: r.recipe.Traits().Title, Chosen: says, Drawn: heads, Longer: sum.Longer(r.recipe.Epochs, r.recipe.Patience),
		Rescale: k.rescale(r.recipe.Features),
		Next:    r.command(r.advice(sum)),
	}
	page.Split = r.divided()
	if n := len(k.Splits); n > 0 && r.recipe.Splits == source.SplitsOwn {
		page.Split = fmt.Sprintf("split %d of %d (counted from 0); --split-number chooses another", r.recipe.Choice().index(n), n)
	}
	return page
}

// steps says how the training is cut into steps and, if the data decided that, why.
func (r *Training) steps() string {
	text := r.recipe.batching(r.task.Goal.Example)
	if r.Resume != "" || !r.cuts() {
		return text
	}
	because := r.task.cut(&r.recipe).because
	if text == "" {
		return because
	}
	return text + " (" + because + ")"
}

// learns says what is learnt, and why, as far as the data decided.
func (k *Examples) learns() string {
	says := []string{k.Goal.Says(), k.Goal.Untaught(k.Parts)}
	return strings.Join(slices.DeleteFunc(says, func(s string) bool { return s == "" }), "\n")
}

// says says whose settings the run has, in which form it reads the features,
// and why, as far as the data decided.
func (r *Training) says() string {
	part := func(name, because string) string {
		if because == "" {
			return name
		}
		return fmt.Sprintf("%s (%s)", name, because)
	}
	because := ""
	if own := r.task.Suits(r.recipe.Model); r.Preset == nil && own.Preset == r.recipe.Preset {
		because = own.because
	}
	ways := ""
	if r.recipe.Undirected && r.Undirected == nil && r.recipe.Preset != PresetTuned {
		ways = "; edges lead both ways (--directed keeps their direction)"
	}
	all, _ := task.EncodingsOf(r.recipe.Encoding)
	return fmt.Sprintf("preset: %s; features: %s%s", part(r.recipe.Preset, because), part(string(r.recipe.Features), r.task.because(&r.recipe)), all.Says()+r.recipe.ofEdges()) + ways
}

// advice returns the flags to try next.
func (r *Training) advice(s report.Summary) string {
	if s.Saved != "" {
		return ""
	}
	return "--seeds 10"
}

// together reports what several trainings have in common.
func (r *Training) together(p *report.Printer, all []*task.Trial) {
	o := report.NewOverall(r.recipe.Dataset, task.Summaries(all))
	if r.JSON {
		p.Encode(o.Metric.JSON(o))
	} else {
		o.Print(p, r.task.Name, r.command("--save "+cli.Word(r.fileName()+".safetensors")))
	}
}

// fileName returns what a file about the dataset may be called.
func (r *Training) fileName() string {
	base := filepath.Base(r.recipe.Dataset)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// command returns the command line to try next; without flags that which uses
// the saved model.
func (r *Training) command(flags string) string {
	line := cli.Program + " eval " + cli.Word(r.Save)
	if flags != "" {
		usual := r.task.usual(&r.recipe)
		usual.Preset, usual.Features = r.task.Suits(r.recipe.Model).Preset, r.task.FormFor(r.recipe.Preset)
		line = cli.Program + " train" + r.recipe.flags(usual)
	}
	return strings.TrimSpace(line + source.Flagged(nil, r.Data) + " " + flags)
}
