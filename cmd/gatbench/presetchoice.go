package main

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/datasets"
)

// manyLabels is how many nodes of a class train, on average, from which on few of
// a network's settings have to keep it from learning them by heart.
const manyLabels = 100

// suited names the preset for a dataset, and the reason for the choice.
type suited struct{ preset, because string }

// suits returns the preset of a training that names none.
func (k *task) suits() suited {
	perClass, example := len(k.split.Train)/max(1, k.Classes), "node"
	if k.goal != nil {
		example = k.goal.example
	}
	switch {
	case k.words.Words() && hasPlanetoidSplit(k.Dataset):
		return suited{"quick", "the features are words, and the split is like Planetoid's"}
	case perClass >= manyLabels:
		return suited{"graphsaint", fmt.Sprintf("many labels: %d training %ss per class", perClass, example)}
	}
	return suited{"shchur", fmt.Sprintf("few labels: %d training %ss per class", perClass, example)}
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
	switch {
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
	case r.Features == formBinary:
		return "the form that this preset is for; the data has counts"
	}
	return k.words.String()
}
