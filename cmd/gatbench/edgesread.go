package main

import (
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/tensor"
)

// edgesRead is what a network reads of edges beside their ends.
type edgesRead int

const (
	readsNone    edgesRead = iota
	mayNumbers             // features, where there are any
	wantsNumbers           // features
	mayKinds               // kinds, where there are any
	wantsKinds             // kinds
)

func (e edgesRead) numbers() bool { return e == mayNumbers || e == wantsNumbers }
func (e edgesRead) kinds() bool   { return e == mayKinds || e == wantsKinds }

// check returns an error for a model, as a file has it, that does not read what the file says of
// edges.
func (e edgesRead) check(model string, width, kinds int) error {
	const most = 1 << 16
	switch {
	case width < 0 || width > most || kinds < 0 || kinds > most:
		return fmt.Errorf("%d features and %d kinds of edges: there can be at most %d", width, kinds, most)
	case e == wantsNumbers && width == 0:
		return fmt.Errorf("%s without features of edges", model)
	case e == wantsKinds && kinds == 0:
		return fmt.Errorf("%s without kinds of edges", model)
	case width > 0 && !e.numbers() || kinds > 0 && !e.kinds():
		return fmt.Errorf("%s with %d features and %d kinds of edges, which it does not read", model, width, kinds)
	}
	return nil
}

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
func (d edgesThere) read(model string, by edgesRead, without bool) (width, kinds int, err error) {
	if without && d.width == 0 {
		return 0, 0, misuse("--no-edge-features: the edges of %s have none: leave it out", d.data)
	}
	width, kinds = d.width, d.kinds
	if without {
		width, kinds = 0, 0
	}
	const leaves = "; --no-edge-features leaves them out"
	switch {
	case d.beside && width > 0 && (by == readsNone || by == mayKinds && kinds == 0):
		return 0, 0, nil
	case by == readsNone && width > 0:
		return 0, 0, misuse("--model %s: it reads no features of edges, and those of %s have %d: %s read them%s", model, d.data, width, strings.Join(d.readers, ", "), leaves)
	case by == wantsNumbers && width == 0:
		return 0, 0, misuse("--model %s: it reads the features of edges, and there are none: take %s", model, d.instead)
	case by == wantsKinds && kinds == 0:
		return 0, 0, misuse("--model %s: it reads the kinds of edges, one of each, and those of %s have none: %s", model, d.data, d.how)
	case by == mayKinds && kinds == 0 && width > 0:
		return 0, 0, misuse("--model %s: it reads the kinds of edges alone, and those of %s have %d numbers and no kinds%s", model, d.data, width, leaves)
	case by.kinds():
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
