package datasets

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"math"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Digest returns a sha256 of all that a network can learn from: ids, edges with their weights, kinds and features, features of nodes, and what
// is to be learnt. Two datasets of one digest are the same.
func (d *Dataset) Digest() string {
	w := digester{sha256.New(), nil}
	in := d.Graph.In()
	w.int(d.Graph.NumNodes(), d.Graph.NumEdges())
	digestWhole(w, in.Offsets)
	digestWhole(w, in.Cols)
	w.texts(d.NodeIDs, d.FeatureNames, d.ClassNames)
	w.floats(d.Weights)
	w.array(d.Features)
	w.dense(d.EdgeFeatures, d.Targets, d.EdgeTargets)
	digestWhole(w, []int32(d.Labels))
	digestWhole(w, []int32(d.EdgeLabels))
	if d.MultiLabels != nil {
		w.array(d.MultiLabels)
	}
	for _, k := range []*Kinds{d.NodeKinds, d.EdgeKinds} {
		if k != nil {
			w.texts(k.Names)
			digestWhole(w, k.Of)
		}
	}
	for i, codes := range [][]columns.Code{d.Codes, d.EdgeCodes} {
		for _, c := range codes {
			w.int(i, c.At, c.Words)
		}
	}
	return hex.EncodeToString(w.Sum(nil))
}

// digester takes values, each list after its length.
type digester struct {
	hash.Hash
	buf []byte
}

func (w digester) int(vs ...int) {
	for _, v := range vs {
		_, _ = w.Write(binary.LittleEndian.AppendUint64(nil, uint64(v)))
	}
}

// digestWhole takes whole numbers, some thousand at a time.
func digestWhole[T int32 | int64](w digester, x []T) {
	w.int(len(x))
	for i, v := range x {
		if w.buf = binary.LittleEndian.AppendUint64(w.buf, uint64(v)); len(w.buf) >= 1<<15 || i == len(x)-1 {
			_, _ = w.Write(w.buf)
			w.buf = w.buf[:0]
		}
	}
}

func (w digester) floats(x []tensor.Float) {
	w.int(len(x))
	for i, v := range x {
		if w.buf = binary.LittleEndian.AppendUint64(w.buf, math.Float64bits(float64(v))); len(w.buf) >= 1<<15 || i == len(x)-1 {
			_, _ = w.Write(w.buf)
			w.buf = w.buf[:0]
		}
	}
}

func (w digester) texts(lists ...[]string) {
	for _, list := range lists {
		w.int(len(list))
		for _, s := range list {
			w.int(len(s))
			_, _ = io.WriteString(w, s)
		}
	}
}

func (w digester) dense(xs ...*tensor.Dense) {
	for _, x := range xs {
		if x == nil {
			w.int(-1)
			continue
		}
		w.int(x.Shape()...)
		w.floats(x.Data)
	}
}

func (w digester) array(x tensor.Array) {
	a, ok := x.(*sparse.CSR)
	if !ok {
		d, _ := x.(*tensor.Dense)
		w.dense(d)
		return
	}
	w.int(a.NumRows, a.NumCols)
	digestWhole(w, a.Offsets)
	digestWhole(w, a.Cols)
	w.floats(a.Values)
}
