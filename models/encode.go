package models

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/internal/spell"
	"github.com/edgewise-ml/edgewise/tensor"
)

// encoder is a kind of features that say where a node is in its graph.
type encoder struct {
	name     string
	numbered bool   // how many columns is said, as random-walk:16
	says     string // in a summary, with the number
	of       func(g *graph.Graph, k int) (*tensor.Dense, error)
}

const encLouvain = "louvain"

var encoders = []encoder{
	{"random-walk", true, "%d columns of the random-walk encoding", analysis.ReturnProbabilities},
	{"laplacian", true, "%d columns of the laplacian encoding", analysis.LaplacianVectors},
	{"degree", true, "degrees up to %d", func(g *graph.Graph, k int) (*tensor.Dense, error) {
		return (&datasets.Graphs{Graph: g}).WithDegrees(k).Features, nil
	}},
	{"pagerank", false, "PageRank", func(g *graph.Graph, _ int) (*tensor.Dense, error) {
		return columnOf(analysis.PageRank(g, 0.85), math.Log), nil // few nodes have most of it
	}},
	{"core", false, "core numbers", func(g *graph.Graph, _ int) (*tensor.Dense, error) {
		return columnOf(analysis.CoreNumbers(g), math.Log1p), nil
	}},
	{encLouvain, true, "the %d largest communities", communities},
}

// columnOf returns f of each number.
func columnOf[T int32 | float64](numbers []T, f func(float64) float64) *tensor.Dense {
	x := tensor.New(len(numbers), 1)
	for v, n := range numbers {
		x.Data[v] = tensor.Float(f(float64(n)))
	}
	return x
}

// communities returns which of the k largest communities of its graph a node is in, one-hot: of
// smaller ones none. The order in which Louvain's method looks at nodes is always the same,
// whatever the seed is and whatever else is in the batch: the columns of a saved model must mean
// later what they meant in training.
func communities(g *graph.Graph, k int) (*tensor.Dense, error) {
	x, at := tensor.New(g.NumNodes(), k), g.NodeOffsets()
	for m, member := range graph.Unbatch(g) {
		for v, c := range analysis.Communities(rand.New(rand.NewPCG(0, 0)), member, 1) {
			if int(c) < k {
				x.Row(at[m] + v)[c] = 1
			}
		}
	}
	return x, nil
}

// Encoding is an encoder with its number of columns.
type encoding struct {
	encoder
	columns int // 0 of those without a number
}

// Encodings are features that say where a node is in its graph. They stand beside each other in this order.
type Encodings []encoding

// ParseEncodings reads a list of encodings, such as pagerank,random-walk:16. An empty one has none.
func ParseEncodings(text string) (all Encodings, err error) {
	if text == "" {
		return nil, nil
	}
	var names []string
	for _, e := range encoders {
		names = append(names, e.name)
	}
	for part := range strings.SplitSeq(text, ",") {
		name, number, given := strings.Cut(part, ":")
		i := slices.Index(names, name)
		switch meant := spell.Meant(name, names); {
		case name == "":
			return nil, fmt.Errorf("%.60s: a name is missing; there are %s, with commas between them", text, strings.Join(names, ", "))
		case i < 0 && meant != "":
			return nil, fmt.Errorf("%.60s: there is no such name; did you mean %q? The choices are %s", name, meant, strings.Join(names, ", "))
		case i < 0:
			return nil, fmt.Errorf("%.60s: there is no such name; the choices are %s", name, strings.Join(names, ", "))
		}
		e := encoding{encoder: encoders[i]}
		switch {
		case slices.ContainsFunc(all, func(other encoding) bool { return other.name == name }):
			return nil, fmt.Errorf("%.60s: %s is there twice: leave one out", text, name)
		case given && !e.numbered:
			return nil, fmt.Errorf("%.60s: %s takes no number: write %s", part, name, name)
		case given:
			e.columns, err = strconv.Atoi(number)
		case e.numbered:
			e.columns = 16
		}
		if e.numbered && (err != nil || e.columns < 1 || e.columns > 1024) {
			return nil, fmt.Errorf("%.60s: want %s:K with K from 1 to 1024", part, name)
		}
		all = append(all, e)
	}
	return all, nil
}

// ordered reports whether an encoding depends on the order of nodes and edges.
func (all Encodings) ordered() bool {
	return slices.ContainsFunc(all, func(e encoding) bool { return e.name == encLouvain || e.name == "laplacian" })
}

// CheckInductive returns an error for encodings that mean something else on a part of the graph.
func (all Encodings) CheckInductive() error {
	for _, e := range all {
		if e.name == encLouvain {
			return fmt.Errorf("%s: the nodes that train alone have other communities than the whole graph, so the columns would change their meaning", e)
		}
	}
	return nil
}

// String is what is given for one.
func (e encoding) String() string {
	if !e.numbered {
		return e.name
	}
	return fmt.Sprintf("%s:%d", e.name, e.columns)
}

// Of returns the encodings of the nodes of a graph, or of each member of a batch; nil if there
// are none.
func (all Encodings) Of(g *graph.Graph) (*tensor.Dense, error) {
	if len(all) == 0 {
		return nil, nil
	}
	var parts []*tensor.Dense
	width := 0
	for _, e := range all {
		x, err := e.encoder.of(g, e.columns)
		if err != nil {
			return nil, fmt.Errorf("encoding %s: %w", e, err)
		}
		parts, width = append(parts, x), width+x.Dim(1)
	}
	y := tensor.New(g.NumNodes(), width)
	tensor.Concat(y, 1, parts...)
	return y, nil
}

// encoded returns the encodings of the nodes of a graph; nil if the text names none. The graph keeps them: data that are prepared anew have the same.
func encoded(g *graph.Graph, text string) (*tensor.Dense, error) {
	all, err := ParseEncodings(text)
	if len(all) == 0 {
		return nil, err
	}
	type made struct {
		x   *tensor.Dense
		err error
	}
	type key struct {
		text    string
		members int // a batch is encoded by its members
	}
	is := graph.Derive(g, key{text, len(g.NodeOffsets())}, func() made {
		x, err := all.Of(g)
		return made{x, err}
	})
	return is.x, is.err
}

// Says is what a summary says of them after what the features are, "" of none.
func (all Encodings) Says() string {
	text := ""
	for i, e := range all {
		if i < len(all)-1 {
			text += ", "
		} else {
			text += " and "
		}
		if e.numbered {
			text += fmt.Sprintf(e.encoder.says, e.columns)
		} else {
			text += e.encoder.says
		}
	}
	return text
}

// beside returns features with an encoding beside them; without one they stay as they are.
func beside(g *graph.Graph, x tensor.Array, encoded *tensor.Dense) tensor.Array {
	if encoded == nil {
		return x
	}
	d := &datasets.Dataset{Graph: g, Features: x}
	return d.WithFeatures(encoded).Features
}
