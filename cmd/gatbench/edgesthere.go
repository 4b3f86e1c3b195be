package main

import (
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// edgesThere is what a dataset has of edges beside their ends, and what errors advise.
type edgesThere struct {
	data         string
	width, kinds int
	readers      []string // models that read features
	instead      string   // of a model that wants features
	how          string   // data says what the kinds are
	beside       bool     // a head reads the features, so that a model need not
}

// widthOf returns how many features edges have.
func widthOf(x *tensor.Dense) int {
	if x == nil {
		return 0
	}
	return x.Dim(1)
}

// read decides what a model reads of edges: features, kinds, or without them neither.
func (d edgesThere) read(model string, by models.EdgesRead, without bool) (width, kinds int, err error) {
	if without && d.width == 0 {
		return 0, 0, misuse("--no-edge-features: the edges of %s have none: leave it out", d.data)
	}
	width, kinds = d.width, d.kinds
	if without {
		width, kinds = 0, 0
	}
	const leaves = "; --no-edge-features leaves them out"
	switch {
	case d.beside && width > 0 && (by == models.ReadsNone || by == models.MayKinds && kinds == 0):
		return 0, 0, nil
	case by == models.ReadsNone && width > 0:
		return 0, 0, misuse("--model %s: it reads no features of edges, and those of %s have %d: %s read them%s", model, d.data, width, strings.Join(d.readers, ", "), leaves)
	case by == models.WantsNumbers && width == 0:
		return 0, 0, misuse("--model %s: it reads the features of edges, and there are none: take %s", model, d.instead)
	case by == models.WantsKinds && kinds == 0:
		return 0, 0, misuse("--model %s: it reads the kinds of edges, one of each, and those of %s have none: %s", model, d.data, d.how)
	case by == models.MayKinds && kinds == 0 && width > 0:
		return 0, 0, misuse("--model %s: it reads the kinds of edges alone, and those of %s have %d numbers and no kinds%s", model, d.data, width, leaves)
	case by.Kinds():
		return 0, kinds, nil
	}
	return width, 0, nil
}

// serve returns an error if a network wants other edges than there are.
func (d edgesThere) serve(width, kinds int) error {
	switch {
	case width > 0 && width != d.width:
		return fmt.Errorf("it is a model for %d features of edges, and those of %s have %d", width, d.data, d.width)
	case kinds > 0 && kinds != d.kinds:
		return fmt.Errorf("it is a model for %d kinds of edges, and those of %s have %d", kinds, d.data, d.kinds)
	}
	return nil
}
