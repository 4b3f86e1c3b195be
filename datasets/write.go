package datasets

import (
	"fmt"
	"io"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/npy"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// SaveNPZ is [Dataset.WriteNPZ] to the file at path, whole or not at all.
func (d *Dataset) SaveNPZ(path string) error { return atomicfile.Write(path, d.WriteNPZ) }

// WriteNPZ writes d to w in the form that [Load] reads, and whose graph [LoadGraph] reads.
// NumPy reads it without pickles.
func (d *Dataset) WriteNPZ(w io.Writer) error {
	in := d.Graph.In()
	arrays := []npy.Named{{Name: "indptr", Data: in.Offsets}, {Name: "indices", Data: in.Cols}}
	add := func(name string, data any, shape ...int) {
		arrays = append(arrays, npy.Named{Name: name, Data: data, Shape: shape})
	}
	if d.Weights != nil {
		add("weights", d.Weights)
	}
	switch x := d.Features.(type) {
	case *sparse.CSR:
		add("attr_indptr", x.Offsets)
		add("attr_indices", x.Cols)
		add("attr_shape", []int64{int64(x.NumRows), int64(x.NumCols)})
		if x.Values != nil {
			add("attr_data", x.Values)
		}
	case *tensor.Dense:
		add("attr_matrix", x.Data, x.Shape()...)
	}
	if x := d.EdgeFeatures; x != nil {
		add("edge_attr", x.Data, x.Shape()...)
	}
	switch {
	case d.EdgeLabels != nil:
		add("edge_labels", []int32(d.EdgeLabels))
	case d.EdgeTargets != nil:
		add("edge_targets", d.EdgeTargets.Data, d.EdgeTargets.Shape()...)
	case d.Labels != nil:
		add("labels", []int32(d.Labels))
	case d.MultiLabels != nil:
		add("labels", onesOf(d.MultiLabels), d.MultiLabels.Shape()...)
	case d.Targets != nil:
		add("targets", d.Targets.Data, d.Targets.Shape()...)
	}
	if len(d.Splits) > 0 {
		n := d.Graph.NumNodes()
		if d.LearnsEdges() {
			n = d.Graph.NumEdges()
		}
		for i, p := range d.Split.parts() {
			add(p.name+"_masks", masksOf(d.Splits, i, n), len(d.Splits), n)
		}
	} else {
		for _, p := range d.Split.parts() {
			if len(p.ids) > 0 {
				add(p.name, p.ids)
			}
		}
	}
	if len(d.ClassNames) > 0 {
		add("class_names", d.ClassNames)
	}
	if len(d.NodeNames) > 0 {
		add("node_names", d.NodeNames)
	}
	for _, of := range []struct {
		name  string
		codes []columns.Code
	}{{"feature_codes", d.Codes}, {"edge_attr_codes", d.EdgeCodes}} {
		if len(of.codes) > 0 {
			var pairs []int64
			for _, c := range of.codes {
				pairs = append(pairs, int64(c.At), int64(c.Words))
			}
			add(of.name, pairs, len(of.codes), 2)
		}
	}
	if len(d.FeatureNames) > 0 {
		add("feature_names", d.FeatureNames)
	}
	arrays = append(arrays, columnArrays("node", d.NodeColumns)...)
	arrays = append(arrays, columnArrays("edge", d.EdgeColumns)...)
	arrays = append(arrays, kindArrays("node", d.NodeKinds)...)
	arrays = append(arrays, kindArrays("edge", d.EdgeKinds)...)
	return npy.WriteArchive(w, arrays...)
}

// onesOf returns a matrix row by row: whether there is an element, or numbers if some of
// them are not known.
func onesOf(m *sparse.CSR) any {
	if notFinite(m.Values) >= 0 {
		return m.Dense().Data
	}
	out := make([]bool, m.NumRows*m.NumCols)
	for i := range m.NumRows {
		cols, _ := m.Row(i)
		for _, c := range cols {
			out[i*m.NumCols+int(c)] = true
		}
	}
	return out
}

// masksOf returns for each split, and each of n nodes, whether it is in a part.
func masksOf(splits []Split, part, n int) []bool {
	out := make([]bool, len(splits)*n)
	for k, s := range splits {
		for _, v := range s.parts()[part].ids {
			out[k*n+int(v)] = true
		}
	}
	return out
}

// columnArrays returns the arrays that keep columns of nodes or of edges, as noun says: their
// names, which of them are dated, and the times or the numbers of each.
func columnArrays(noun string, columns []Column) (arrays []npy.Named) {
	var names []string
	var dated []bool
	for _, c := range columns {
		if c.wrong != nil {
			continue
		}
		one := npy.Named{Name: columnArray(noun, len(names)), Data: c.Times}
		if c.Times == nil {
			one.Data = c.Numbers
		}
		names, dated, arrays = append(names, c.Name), append(dated, c.Dated), append(arrays, one)
	}
	if names == nil {
		return nil
	}
	return append(arrays, npy.Named{Name: noun + "_columns", Data: names}, npy.Named{Name: noun + "_column_dated", Data: dated})
}

func columnArray(noun string, i int) string { return fmt.Sprintf("%s_column_%d", noun, i) }

// kindArrays returns the arrays that keep the kinds of nodes or of edges, as noun says: a number
// each, and what the numbers are called.
func kindArrays(noun string, k *Kinds) []npy.Named {
	if k == nil {
		return nil
	}
	return []npy.Named{{Name: noun + "_kinds", Data: k.Of}, {Name: noun + "_kind_names", Data: k.Names}}
}
