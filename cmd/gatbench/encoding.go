package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// encoding is features of nodes that say where they are in their graph.
type encoding struct {
	name    string // empty: none
	columns int
}

// encodings are the names of those that there are.
var encodings = []string{"random-walk", "laplacian", "degree"}

// encodingOf reads what is given as --encoding, such as random-walk:16.
func encodingOf(text string) (e encoding, err error) {
	if text == "" {
		return e, nil
	}
	name, number, given := strings.Cut(text, ":")
	e = encoding{name, 16}
	if given {
		e.columns, err = strconv.Atoi(number)
	}
	if err != nil || e.columns < 1 || e.columns > 1024 {
		return e, misuse("--encoding %.40s: want random-walk:K, laplacian:K or degree:K with K from 1 to 1024", text)
	}
	return e, oneOf("--encoding", name, encodings)
}

// of returns the encoding of the nodes of a graph, or of each member of a batch.
func (e encoding) of(g *graph.Graph) (x *tensor.Dense, err error) {
	switch e.name {
	case "random-walk":
		x, err = g.ReturnProbabilities(e.columns)
	case "laplacian":
		x, err = g.LaplacianVectors(e.columns)
	default:
		x = (&datasets.Graphs{Graph: g}).WithDegrees(e.columns).Features
	}
	if err != nil {
		return nil, fmt.Errorf("--encoding %s:%d: %w", e.name, e.columns, err)
	}
	return x, nil
}

// says is what a summary says of it after what the features are, "" of none.
func (e encoding) says() string {
	switch e.name {
	case "":
		return ""
	case "degree":
		return fmt.Sprintf(" and degrees up to %d", e.columns)
	}
	return fmt.Sprintf(" and %d columns of the %s encoding", e.columns, e.name)
}
