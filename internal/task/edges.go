package task

import (
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// EdgesThere is what a dataset has of edges beside their ends, and what errors advise.
type EdgesThere struct {
	Data         string
	Width, Kinds int
	Readers      []string // models that read features
	Instead      string   // of a model that wants features
	How          string   // data says what the kinds are
	Beside       bool     // a head reads the features, so that a model need not
}

// WidthOf returns how many features edges have.
func WidthOf(x *tensor.Dense) int {
	if x == nil {
		return 0
	}
	return x.Dim(1)
}

// Read decides what a model reads of edges: features, kinds, or without them neither.
func (d EdgesThere) Read(model string, by models.EdgesRead, without bool) (width, kinds int, err error) {
	if without && d.Width == 0 {
		return 0, 0, cli.Misuse("--no-edge-features: the edges of %s have none: leave it out", d.Data)
	}
	width, kinds = d.Width, d.Kinds
	if without {
		width, kinds = 0, 0
	}
	const leaves = "; --no-edge-features leaves them out"
	switch {
	case d.Beside && width > 0 && (by == models.ReadsNone || by == models.MayKinds && kinds == 0):
		return 0, 0, nil
	case by == models.ReadsNone && width > 0:
		return 0, 0, cli.Misuse("--model %s: it reads no features of edges, and those of %s have %d: %s read them%s", model, d.Data, width, strings.Join(d.Readers, ", "), leaves)
	case by == models.WantsNumbers && width == 0:
		return 0, 0, cli.Misuse("--model %s: it reads the features of edges, and there are none: take %s", model, d.Instead)
	case by == models.WantsKinds && kinds == 0:
		return 0, 0, cli.Misuse("--model %s: it reads the kinds of edges, one of each, and those of %s have none: %s", model, d.Data, d.How)
	case by == models.MayKinds && kinds == 0 && width > 0:
		return 0, 0, cli.Misuse("--model %s: it reads the kinds of edges alone, and those of %s have %d numbers and no kinds%s", model, d.Data, width, leaves)
	case by.Kinds():
		return 0, kinds, nil
	}
	return width, 0, nil
}

// Serve returns an error if a network wants other edges than there are.
func (d EdgesThere) Serve(width, kinds int) error {
	switch {
	case width > 0 && width != d.Width:
		return fmt.Errorf("it is a model for %d features of edges, and those of %s have %d", width, d.Data, d.Width)
	case kinds > 0 && kinds != d.Kinds:
		return fmt.Errorf("it is a model for %d kinds of edges, and those of %s have %d", kinds, d.Data, d.Kinds)
	}
	return nil
}
