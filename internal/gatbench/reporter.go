package gatbench

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/train"
)

// summarise returns what came of a training by a recipe.
func summarise(h *train.History, r recipe, took time.Duration) report.Summary {
	s := report.Summary{
		Dataset: r.Dataset, Model: r.Model, Preset: r.Preset, Features: string(r.Features), Encoding: r.Encoding, EdgeFeatures: r.EdgeIn, EdgeKinds: r.Kinds, Seed: r.Seed, Select: r.Select, Batch: r.Batch, Fanout: r.Fanout,
	}
	s.Take(h, took)
	return s
}

// reporter tells people or machines how train gets on.
type reporter struct {
	*trainCommand
	out       *report.Printer
	task      *task
	recipe    recipe // of the first run
	progress  *report.Progress
	histories []seeded
	last      *train.Epoch // of this training; nil: none is over
	divided   string       // what was decided about the split; empty: nothing
	heads     string       // what the heads of watched nodes attend to, drawn; "": none were asked for
}

func newReporter(e cli.Env, c *trainCommand, k *task, r recipe) *reporter {
	return &reporter{trainCommand: c, task: k, recipe: r, divided: sentence(k.division), out: report.NewPrinter(e.Out), progress: report.NewProgress(e.ErrOut)}
}

// epoch reports one epoch.
func (r *reporter) epoch(seed uint64, e train.Epoch, steps int) {
	r.last = &e
	line := report.NewEpochLine(r.recipe.Dataset, seed, e)
	line.Metric = r.task.goal.metric()
	if r.JSON {
		r.out.Encode(line.Metric.JSON(line))
		return
	}
	r.progress.Show("%s%s", r.progress.Epoch(e, r.length(steps)), line.Scores())
}

// batch shows which batch of which epoch a step is on; steps count from 1.
func (r *reporter) batch(step uint64, steps int) {
	if !r.JSON {
		before := ""
		if r.last != nil {
			m := r.task.goal.metric()
			before = fmt.Sprintf("  validation %s %s", m.Name(), strings.TrimSpace(m.Shown(r.last.Val.Accuracy)))
		}
		r.progress.Show("%s%s  %s", r.progress.Step(step, r.length(steps)), before, r.recipe.Dataset)
	}
}

// length is how long a training is, whose epochs have so many steps.
func (r *reporter) length(steps int) report.Length {
	return report.Length{Epochs: r.recipe.Epochs, Steps: steps, Patience: r.recipe.Patience}
}

// run reports one training: in full if it is the only one.
func (r *reporter) run(s report.Summary) error {
	r.last = nil
	switch r.progress.Clear(); {
	case r.JSON:
		if r.divided != "" {
			s.Splits = r.recipe.Splits
		}
		r.out.Encode(s.Metric.JSON(s))
	case s.BestEpoch == 0 || s.Diverged: // what came of it is in the error
	case r.Seeds > 1:
		s.Line(r.out)
	default:
		r.page(s).Print(r.out)
	}
	return r.out.Err()
}

// page is all there is to say of one training.
func (r *reporter) page(s report.Summary) *report.Training {
	k, model := r.task, r.recipe.model()
	what := describe(&r.recipe, k.goal.Outputs, k.head(&r.recipe))
	_, says, _ := criterion(s.Select)
	page := &report.Training{
		Summary:  s,
		Title:    fmt.Sprintf("%s: %s; %d nodes, %d edges", k.Name, what, k.Graph.NumNodes(), k.Graph.NumEdges()),
		Learns:   k.learns(),
		Settings: r.settings(), Batching: r.steps(),
		Nodes: [3]int{len(k.split.Train), len(k.split.Val), len(k.split.Test)}, What: k.goal.example + "s",
		Network: model.Title, Chosen: says, Drawn: r.heads, Longer: s.Longer(r.recipe.Epochs, r.recipe.Patience),
		Rescale: k.rescale(r.recipe.Features),
		Next:    r.command(r.advice(s)),
	}
	page.Split = r.divided
	if n := len(k.Splits); n > 0 && r.recipe.Splits == splitsOwn {
		page.Split = fmt.Sprintf("split %d of %d (counted from 0); --split-number chooses another", r.recipe.choice().index(n), n)
	}
	return page
}

// steps says how the training is cut into steps and, if the data decided that, why.
func (r *reporter) steps() string {
	text := r.recipe.batching(r.task.goal.example)
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
func (k *task) learns() string {
	says := []string{k.goal.says(), k.goal.untaught(k.split, k.ClassNames)}
	return strings.Join(slices.DeleteFunc(says, func(s string) bool { return s == "" }), "\n")
}

// settings says whose settings the run has, in which form it reads the features,
// and why, as far as the data decided.
func (r *reporter) settings() string {
	part := func(name, because string) string {
		if because == "" {
			return name
		}
		return fmt.Sprintf("%s (%s)", name, because)
	}
	because := ""
	if own := r.task.suits(r.recipe.Model); r.Preset == nil && own.preset == r.recipe.Preset {
		because = own.because
	}
	ways := ""
	if r.recipe.Undirected && r.Undirected == nil && r.recipe.Preset != presetTuned {
		ways = "; edges lead both ways (--directed keeps their direction)"
	}
	all, _ := encodingsOf(r.recipe.Encoding)
	return fmt.Sprintf("preset: %s; features: %s%s", part(r.recipe.Preset, because), part(string(r.recipe.Features), r.task.because(&r.recipe)), all.Says()+r.recipe.ofEdges()) + ways
}

// advice returns the flags to try next.
func (r *reporter) advice(s report.Summary) string {
	if s.Saved != "" {
		return ""
	}
	return "--seeds 10"
}

// all reports what several trainings have in common.
func (r *reporter) all(runs []report.Summary) error {
	o := report.NewOverall(r.recipe.Dataset, runs)
	if r.JSON {
		r.out.Encode(o.Metric.JSON(o))
	} else {
		o.Print(r.out, r.task.Name, r.command("--save "+cli.Word(r.fileName()+".safetensors")))
	}
	return r.out.Err()
}

// fileName returns what a file about the dataset may be called.
func (r *reporter) fileName() string {
	base := filepath.Base(r.recipe.Dataset)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// command returns the command line to try next; without flags that which uses
// the saved model.
func (r *reporter) command(flags string) string {
	line := cli.Program + " eval " + cli.Word(r.Save)
	if flags != "" {
		usual := r.task.usual(&r.recipe)
		usual.Preset, usual.Features = r.task.suits(r.recipe.Model).preset, r.task.formFor(r.recipe.Preset)
		line = cli.Program + " train" + r.recipe.flags(usual)
	}
	if r.Data != "" {
		line += " --data " + cli.Word(r.Data)
	}
	return strings.TrimSpace(line + " " + flags)
}
