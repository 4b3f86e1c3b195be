package node

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/sparse"
)

// PresetDeep is the preset of the deeper networks with norms and residuals that models.Advise gives data with many labels, or whose
// neighbours differ.
const PresetDeep = "deep"

// suited names the preset for a dataset, and the reason for the choice.
type suited struct{ Preset, because string }

// Suits returns the preset of a training of a model that names none.
func (k *Examples) Suits(model string) suited {
	if k.words.Words() && hasPlanetoidSplit(k.Dataset) {
		return suited{"quick", "the features are words, and the split is like Planetoid's"}
	}
	switch a := k.advised(model); {
	case a.Deep && a.Many:
		return suited{PresetDeep, a.Because + "; --preset graphsaint takes two layers without norms and residuals"}
	case a.Deep:
		return suited{PresetDeep, a.Because + "; --preset shchur takes two layers without norms and residuals"}
	case a.Many:
		return suited{"graphsaint", a.Because}
	default:
		return suited{"shchur", a.Because}
	}
}

// advised is the advice of package models for the task's split, which takes a look at all edges and features: of a model or, if none is named, of any.
func (k *Examples) advised(model string) models.Advice {
	if a, ok := k.advice[model]; ok {
		return a
	}
	var m models.Model // any
	if model != "" {
		var err error
		if m, err = models.Named(model); err != nil {
			panic(err) // flags and files are checked
		}
	}
	d := &models.Data{Dataset: k.Dataset, Goal: &k.Goal.Goal, Pairing: k.Pairing}
	if k.advice == nil {
		k.advice = map[string]models.Advice{}
	}
	k.advice[model] = models.Advise(d, k.Parts, m)
	return k.advice[model]
}

// Preset is NewRecipe for the task: what PresetDeep says follows from the data.
func (k *Examples) Preset(preset, model, dataset string) (Recipe, error) {
	r, err := NewRecipe(preset, model, dataset)
	if err != nil || preset != PresetDeep {
		return r, err
	}
	a := k.advised(model).Deeper()
	s := models.SettingsOf(a.Model)
	r.Hidden, r.Layers, r.Heads, r.OutHeads = s.Hidden, s.Layers, s.Heads, s.OutHeads
	r.Dropout, r.AttnDrop = grad.Preset(s.Dropout, 0), grad.Preset(s.AttentionDropout, 0)
	r.Norm, r.Linear, r.Input, r.Output = s.Norm, s.ResidualLinear, s.Input, s.Output
	r.NoBias, r.ValueDrop, r.Start, r.Decayed = s.NoBias, s.ValueDrop, cmp.Or(s.Start, models.StartGlorot), DecayAll
	r.LR, r.WeightDecay, r.Epochs, r.Patience = a.Rate, a.Decay, a.Epochs, a.Patience
	return r, nil
}

// usual is what the preset of a recipe says on the task's data, and how a training without flags is cut into steps.
func (k *Examples) usual(r *Recipe) Recipe {
	usual, err := k.Preset(r.Preset, r.Model, r.Dataset)
	if err != nil {
		panic(err) // flags and files are checked
	}
	usual.Batch = r.Batch
	k.paced(&usual)
	c := k.cut(r)
	if usual.Batch, usual.Fanout = c.batch, c.fanout; c.batch > 0 {
		usual.Layers = min(usual.Layers, cutLayers)
	}
	return usual
}

// cut says how a training is cut into steps: all examples in each, or batches of so many with drawn neighbours.
type cut struct {
	batch           int // 0: all
	fanout, because string
}

// The batches of a training that need not have any, and when it has them. docs/use/training.md has the measurements: in batches a training
// took three to eight times as many steps to learn the same, so one must cost far less.
const (
	usualBatch  = 1024
	usualFanout = 10      // neighbours of a node, in each layer
	batchGain   = 16      // times what a batch costs
	longStep    = 2e10    // multiplications, some seconds on two processors: a training on all takes hours
	longGain    = 4       // times what a batch costs, of such a step
	cutLayers   = 3       // of a network that is cut, at most
	stepMost    = 8 << 30 // bytes
)

// cut decides how a training by a recipe is cut where no flag says so. Only networks are cut that learn the same in batches: of at most cutLayers
// layers that look at one hop each. A preset that is asked for has the steps of its source.
func (k *Examples) cut(r *Recipe) cut {
	if r.Traits().Whole != "" || r.Layers > cutLayers || r.Rows != RowsNeeded {
		return cut{}
	}
	s := stepShape{
		nodes: k.Looped.NumNodes(), edges: k.Looped.NumEdges(), examples: len(k.Parts.Train), ends: 1, columns: k.Rows.Shape()[1], width: r.width(), layers: r.Layers,
		kinds: r.Kinds, noun: k.Goal.Example,
	}
	if x, ok := k.Rows.(*sparse.CSR); ok {
		s.columns, s.sparse = x.NNZ()/max(1, x.NumRows), true
	}
	if k.Pairing != nil {
		s.ends = 2
	}
	if r.Traits().Alone {
		s.edges = s.nodes // the loops
	}
	return s.cut()
}

// stepShape is what decides how large the steps of a training are.
type stepShape struct {
	nodes, edges   int // loops are edges
	examples, ends int // that train, and nodes of each
	columns, width int // of features, of which only those of a row count that are not zero, and of hidden layers
	layers         int
	kinds          int  // of edges, each of which has a matrix; 0: there is one for all
	sparse         bool // features are
	noun           string
}

// cut is the rule. It looks at sizes alone, so that it is the same on all machines.
func (s stepShape) cut() cut {
	size := min(usualBatch, s.examples)
	whole, bytes := s.cost(s.examples, math.MaxInt)
	batch, _ := s.cost(size, usualFanout)
	gain, all := whole/batch, fmt.Sprintf("all %d training %ss", s.examples, s.noun)
	switch {
	case gain >= batchGain, whole >= longStep && gain >= longGain:
		all += fmt.Sprintf(" costs about %.0f times as much", gain)
	case bytes >= stepMost:
		all += fmt.Sprintf(" takes about %.0f GiB", bytes/(1<<30))
	case s.examples <= usualBatch:
		return cut{because: fmt.Sprintf("each step is on %s: a batch has %d", all, usualBatch)}
	default:
		return cut{because: fmt.Sprintf("each step is on %s: it costs about %.1f times a step on %d with drawn neighbours, and batches pay from %d times", all, gain, size, batchGain)}
	}
	list := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%d,", usualFanout), s.layers), ",")
	return cut{size, list, "a step on " + all + "; --batch 0 takes them"}
}

// cost returns about what a step on so many examples costs, in multiplications of features by weights, and the bytes that it takes, where a
// layer reads at most so many neighbours of a node.
func (s stepShape) cost(examples, most int) (cost, bytes float64) {
	const (
		edge   = 25 // multiplications that take as long as an element which an edge brings
		number = 4
		copies = 8 // of a row, for both passes, and twice for the collector of garbage
	)
	n, width := float64(s.nodes), float64(s.width)
	reads := min(float64(s.edges)/n, float64(most)*max(1, float64(s.kinds))+1) // of a node, with its loop; relations have draws of their own
	rows := min(n, float64(s.ends)*float64(examples))
	for i := s.layers - 1; i >= 0; i-- {
		in, first := width, i == 0
		if first {
			in = float64(s.columns)
		}
		edges := rows * reads
		rows = n * -math.Expm1(-edges/n) // so many of as many ends differ
		products := rows * in
		switch {
		case s.kinds > 0 && first && s.sparse:
			products *= float64(s.kinds)
		case s.kinds > 0:
			products = edges * in
		}
		cost += width * (products + edge*edges)
		bytes += number * copies * (rows*(in+width) + edges)
	}
	return cost, bytes
}

// paced gives the preset of our own, whose epochs are steps, the epochs of a training in batches: each has several steps.
func (k *Examples) paced(r *Recipe) {
	if r.Batch == 0 || r.Preset != PresetDeep {
		return
	}
	steps := (len(k.Parts.Train) + r.Batch - 1) / r.Batch
	r.Epochs, r.Patience = min(r.Epochs, max(50, 5*r.Epochs/steps)), min(r.Patience, max(10, 2*r.Patience/steps))
}

// batched makes the layers of presetDeep, unless --layers gives their number, those that --fanout speaks of, or few enough that a
// batch does not read most of the graph.
func (r *Recipe) batched() {
	switch {
	case r.Fanout != "":
		r.Layers = len(r.fanout())
	case r.Batch > 0:
		r.Layers = min(r.Layers, 3)
	}
}

// hasPlanetoidSplit reports whether a dataset comes with a split like those of
// Cora, CiteSeer and PubMed, for which the papers of the networks chose their
// settings: as many training nodes of each class, at most 20, and 500 to validate.
func hasPlanetoidSplit(d *datasets.Dataset) bool {
	if d.Classes == 0 || len(d.Labels) == 0 || len(d.Split.Val) != randomVal {
		return false
	}
	of := make([]int, d.Classes)
	for _, v := range d.Split.Train {
		if c := d.Labels[v]; c >= 0 {
			of[c]++
		}
	}
	for _, n := range of {
		if n != of[0] || n > TrainPerClass {
			return false
		}
	}
	return true
}

// FormFor returns the form of the features that a preset means: of words that of
// the papers, whose settings go with it. Shchur and others ask of words only whether
// they are there, and do not divide: rows that sum to one are too small for a
// training that ends early or decays much. With GraphSAINT's settings nothing is
// done either.
func (k *Examples) FormFor(preset string) task.Form {
	if preset == PresetTuned {
		for _, d := range TunedOn {
			if d.Name == stemOf(k.Called) {
				return d.Form
			}
		}
	}
	switch {
	case preset == PresetDeep:
		return task.Form(k.advised("gat").Deeper().Form)
	case preset == "shchur" && k.words.Words() && k.words.Counts:
		return task.FormBinary
	case preset == "shchur" || preset == "graphsaint":
		return task.FormRaw
	}
	return task.FormOf(k.words)
}

// because says why the features have their form if nobody asked for it.
func (k *Examples) because(r *Recipe) string {
	switch {
	case r.Features != k.FormFor(r.Preset):
		return ""
	case r.Features == task.FormRaw && k.words.Words():
		return "the form that this preset is for"
	case r.Features == task.FormStandard:
		return "the columns have different scales"
	case r.Features == task.FormBinary:
		return "the form that this preset is for; the data has counts"
	}
	return k.words.String()
}
