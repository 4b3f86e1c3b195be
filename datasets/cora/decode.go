package cora

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

const magic = "edgewise cora 1\n"

// reader reads numbers. After its first error it reads zeros.
type reader struct {
	in  []byte
	at  int
	err error
}

// number returns the next number, which must be at most limit.
func (r *reader) number(limit int) int {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.in[r.at:])
	if n <= 0 || limit < 0 || v > uint64(limit) {
		r.err = fmt.Errorf("byte %d: no number up to %d", r.at, limit)
		return 0
	}
	r.at += n
	return int(v)
}

// ascending appends a list of ascending ids below n to ids.
func (r *reader) ascending(ids []int32, n int) []int32 {
	last := -1
	for range r.number(min(n, len(r.in)-r.at)) {
		last += 1 + r.number(n-last-2)
		if r.err != nil {
			break
		}
		ids = append(ids, int32(last))
	}
	return ids
}

// rows returns n lists of ids below limit, as the offsets and columns of a CSR.
func (r *reader) rows(n, limit int) ([]int64, []int32) {
	offsets, cols := make([]int64, 1, n+1), []int32(nil)
	for range n {
		cols = r.ascending(cols, limit)
		offsets = append(offsets, int64(len(cols)))
	}
	return offsets, cols
}

// decode reads the form that doc.go describes.
func decode(raw []byte) (*datasets.Dataset, error) {
	if !bytes.HasPrefix(raw, []byte(magic)) {
		return nil, fmt.Errorf("it begins with %.16q, not %q", raw, magic)
	}
	r := &reader{in: raw, at: len(magic)}
	nodes := r.number(len(raw))
	features, classes := r.number(len(raw)), r.number(len(raw))
	labels := make([]int32, nodes)
	for i := range labels {
		labels[i] = int32(r.number(classes - 1))
	}
	var s datasets.Split
	for _, ids := range []*[]int32{&s.Train, &s.Val, &s.Test} {
		*ids = r.ascending(nil, nodes)
	}
	in, sources := r.rows(nodes, nodes)
	offsets, words := r.rows(nodes, features)
	if r.err == nil && r.at != len(raw) {
		r.err = fmt.Errorf("byte %d: %d bytes follow the end", r.at, len(raw)-r.at)
	}
	if r.err != nil {
		return nil, r.err
	}
	g, err := graph.New(nodes, sources, destinations(in))
	if err != nil {
		return nil, err
	}
	ones := make([]tensor.Float, len(words))
	for k := range ones {
		ones[k] = 1
	}
	x, err := sparse.New(nodes, features, offsets, words, ones)
	if err != nil {
		return nil, err
	}
	return &datasets.Dataset{
		Name: "Cora", Graph: g, Features: x, Labels: labels, Classes: classes, Split: s,
		ClassNames: []string{"Theory", "Reinforcement_Learning", "Genetic_Algorithms", "Neural_Networks", "Probabilistic_Methods", "Case_Based", "Rule_Learning"},
	}, nil
}

// destinations returns the row of each nonzero.
func destinations(offsets []int64) []int32 {
	rows := make([]int32, 0, offsets[len(offsets)-1])
	for i := range len(offsets) - 1 {
		for range offsets[i+1] - offsets[i] {
			rows = append(rows, int32(i))
		}
	}
	return rows
}
