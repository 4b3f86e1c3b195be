package main

import (
	"encoding/binary"
	"fmt"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/sparse"
)

// encode returns d in the form that datasets/cora reads, before compression.
func encode(d *datasets.Dataset) ([]byte, error) {
	x, ok := d.Features.(*sparse.CSR)
	if !ok {
		return nil, fmt.Errorf("%s: features of type %T", d.Name, d.Features)
	}
	for k, v := range x.Values {
		if v != 1 {
			return nil, fmt.Errorf("%s: feature %d is %v; the form has room for ones only", d.Name, k, v)
		}
	}
	b := []byte("edgewise cora 1\n")
	for _, n := range []int{d.Graph.NumNodes(), x.NumCols, d.Classes} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, c := range d.Labels {
		b = binary.AppendUvarint(b, uint64(c))
	}
	for _, ids := range [][]int32{d.Split.Train, d.Split.Val, d.Split.Test} {
		b = appendAscending(b, ids)
	}
	for _, m := range []*sparse.CSR{d.Graph.In(), x} {
		for i := range m.NumRows {
			cols, _ := m.Row(i)
			b = appendAscending(b, cols)
		}
	}
	return b, nil
}

// appendAscending appends the length of ids, and how far each is from the one
// before.
func appendAscending(b []byte, ids []int32) []byte {
	b = binary.AppendUvarint(b, uint64(len(ids)))
	last := int32(-1)
	for _, v := range ids {
		b = binary.AppendUvarint(b, uint64(v-last-1))
		last = v
	}
	return b
}
