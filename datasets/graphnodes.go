package datasets

import (
	"fmt"
	"slices"
	"strconv"
)

// Nodes returns d as one graph whose nodes are to be told apart, for those that NodeLabels
// or NodeTargets say something of. Its splits are d's: the nodes of a graph that trains
// train, so that the graphs that validate and test are never seen in training, as in
// protein interactions (PPI). Nodes are called by their graphs' names, if these have any,
// and their number. The error says so if nothing is known of the nodes, or they have no
// features.
func (d *Graphs) Nodes() (*Dataset, error) {
	switch {
	case d.NodeLabels == nil && d.NodeTargets == nil:
		return nil, fmt.Errorf("%s: nothing is to be learnt of its nodes, and what is to be learnt of whole graphs is for another task", d.Name)
	case d.Features == nil:
		return nil, fmt.Errorf("%s: its nodes have no features to learn from", d.Name)
	}
	e := &Dataset{
		Name: d.Name, Graph: d.Graph, Features: d.Features, EdgeFeatures: d.EdgeFeatures,
		Labels: d.NodeLabels, Targets: d.NodeTargets, ClassNames: d.ClassNames,
	}
	if d.NodeLabels != nil {
		e.Classes = d.Classes
	}
	if of, n := d.EdgeKinds(); n > 0 {
		e.EdgeKinds = &Kinds{Of: of}
		for k := range n {
			e.EdgeKinds.Names = append(e.EdgeKinds.Names, strconv.Itoa(k))
		}
	}
	e.Split = d.nodesOf(d.Split)
	for _, s := range d.Splits {
		e.Splits = append(e.Splits, d.nodesOf(s))
	}
	if len(d.GraphNames) > 0 {
		at := d.Graph.NodeOffsets()
		for i, name := range d.GraphNames {
			for v := range at[i+1] - at[i] {
				e.NodeNames = append(e.NodeNames, name+" "+strconv.Itoa(v))
			}
		}
	}
	return e, e.Check()
}

// nodesOf returns a split of graphs as one of their nodes.
func (d *Graphs) nodesOf(s Split) Split {
	at := d.Graph.NodeOffsets()
	nodes := func(ids []int32) (out []int32) {
		for _, i := range slices.Sorted(slices.Values(ids)) {
			for v := at[i]; v < at[i+1]; v++ {
				out = append(out, int32(v))
			}
		}
		return out
	}
	return Split{nodes(s.Train), nodes(s.Val), nodes(s.Test)}
}
