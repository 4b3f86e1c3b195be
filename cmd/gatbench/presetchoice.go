package main

import (
	"cmp"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/models"
)

// presetDeep is the preset of the deeper networks with norms and residuals that models.Advise gives data with many labels, or whose
// neighbours differ.
const presetDeep = "deep"

// suited names the preset for a dataset, and the reason for the choice.
type suited struct{ preset, because string }

// suits returns the preset of a training of a model that names none.
func (k *task) suits(model string) suited {
	if k.words.Words() && hasPlanetoidSplit(k.Dataset) {
		return suited{"quick", "the features are words, and the split is like Planetoid's"}
	}
	switch a := k.advised(model); {
	case a.Deep && a.Many:
		return suited{presetDeep, a.Because + "; --preset graphsaint takes two layers without norms and residuals"}
	case a.Deep:
		return suited{presetDeep, a.Because + "; --preset shchur takes two layers without norms and residuals"}
	case a.Many:
		return suited{"graphsaint", a.Because}
	default:
		return suited{"shchur", a.Because}
	}
}

// advised is the advice of package models for the task's split, which takes a look at all edges and features: of a model or, if none is named, of any.
func (k *task) advised(model string) models.Advice {
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
	d := &models.Data{Dataset: k.Dataset, Goal: &k.goal.Goal}
	if k.pairs != nil {
		d.Pairing = k.pairs.Pairing
	}
	if k.advice == nil {
		k.advice = map[string]models.Advice{}
	}
	k.advice[model] = models.Advise(d, k.split, m)
	return k.advice[model]
}

// preset is newRecipe for the task: what presetDeep says follows from the data.
func (k *task) preset(preset, model, dataset string) (recipe, error) {
	r, err := newRecipe(preset, model, dataset)
	if err != nil || preset != presetDeep {
		return r, err
	}
	a := k.advised(model).Deeper()
	s := models.SettingsOf(a.Model)
	r.Hidden, r.Layers, r.Heads, r.OutHeads = s.Hidden, s.Layers, s.Heads, s.OutHeads
	r.Dropout, r.AttnDrop = grad.Preset(s.Dropout, 0), grad.Preset(s.AttentionDropout, 0)
	r.Norm, r.Linear, r.Input, r.Output = s.Norm, s.ResidualLinear, s.Input, s.Output
	r.NoBias, r.ValueDrop, r.Start, r.Decayed = s.NoBias, s.ValueDrop, cmp.Or(s.Start, models.StartGlorot), decayAll
	r.LR, r.WeightDecay, r.Epochs, r.Patience = a.Rate, a.Decay, a.Epochs, a.Patience
	return r, nil
}

// usual is what the preset of a recipe says on the task's data.
func (k *task) usual(r *recipe) recipe {
	usual, err := k.preset(r.Preset, r.Model, r.Dataset)
	if err != nil {
		panic(err) // flags and files are checked
	}
	return usual
}

// batched makes the layers of presetDeep, unless --layers gives their number, those that --fanout speaks of, or few enough that a
// batch does not read most of the graph.
func (r *recipe) batched() {
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
		if n != of[0] || n > trainPerClass {
			return false
		}
	}
	return true
}

// formFor returns the form of the features that a preset means: of words that of
// the papers, whose settings go with it. Shchur and others ask of words only whether
// they are there, and do not divide: rows that sum to one are too small for a
// training that ends early or decays much. With GraphSAINT's settings nothing is
// done either.
func (k *task) formFor(preset string) featureForm {
	if preset == presetTuned {
		for _, d := range tunedOn {
			if d.name == stemOf(k.name) {
				return d.form
			}
		}
	}
	switch {
	case preset == presetDeep:
		return featureForm(k.advised("gat").Deeper().Form)
	case preset == "shchur" && k.words.Words() && k.words.Counts:
		return formBinary
	case preset == "shchur" || preset == "graphsaint":
		return formRaw
	}
	return formOf(k.words)
}

// because says why the features have their form if nobody asked for it.
func (k *task) because(r *recipe) string {
	switch {
	case r.Features != k.formFor(r.Preset):
		return ""
	case r.Features == formRaw && k.words.Words():
		return "the form that this preset is for"
	case r.Features == formStandard:
		return "the columns have different scales"
	case r.Features == formBinary:
		return "the form that this preset is for; the data has counts"
	}
	return k.words.String()
}
