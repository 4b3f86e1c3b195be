package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// attended is how much a node attends to each of its in-neighbours.
type attended struct {
	node  int32
	edges []attendedEdge
}

// attendedEdge is one in-edge of a node.
type attendedEdge struct {
	source int32
	heads  [][]tensor.Float // for each layer, for each head
}

// mean is the attention of a layer over its heads.
func (e attendedEdge) mean(layer int) float64 {
	sum := 0.0
	for _, v := range e.heads[layer] {
		sum += float64(v)
	}
	return sum / float64(len(e.heads[layer]))
}

// writeAttention writes the files of --attention.
func (s *session) writeAttention() error {
	all := s.attention(s.watched())
	for _, path := range s.Attention {
		var err error
		if filepath.Ext(path) == ".csv" {
			err = atomicfile.Write(path, func(w io.Writer) error { return s.attentionCSV(w, all) })
		} else {
			err = s.attentionPicture(path, all)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// watched returns the nodes of --nodes, or else the test node of most neighbours
// of those whose neighbours a picture can name.
func (s *session) watched() []int32 {
	if len(s.Nodes) > 0 {
		return s.Nodes
	}
	const most = 12
	best, degree := int32(0), -1
	for _, v := range s.split.Test {
		if d := s.Graph.InDegree(int(v)); d > degree && d <= most {
			best, degree = v, d
		}
	}
	return []int32{best}
}

// checkNodes returns an error if --nodes names none of the dataset.
func (k *task) checkNodes(nodes []int32) error {
	for i, v := range nodes {
		if v < 0 || int(v) >= len(k.Labels) {
			return misuse("--nodes: number %d of the list is %d; %s has the nodes 0 to %d", i+1, v, k.Name, len(k.Labels)-1)
		}
	}
	return nil
}

// attention returns what the network's layers attend to at some nodes.
func (s *session) attention(nodes []int32) []attended {
	t := grad.NewEval()
	var layers []*tensor.Dense
	for _, out := range s.net.attend(t, s.hop(s.net), s.features) {
		layers = append(layers, message.ApplyEdges(s.graph, out.Attention).Value())
	}
	var all []attended
	for _, v := range nodes {
		a := attended{node: v}
		for edge, u := range s.graph.Sources(int(v)) {
			e := attendedEdge{source: u}
			for _, l := range layers {
				e.heads = append(e.heads, l.Row(int(edge)))
			}
			a.edges = append(a.edges, e)
		}
		all = append(all, a)
	}
	return all
}

// attentionCSV writes a line for each layer, head, node and in-neighbour.
func (s *session) attentionCSV(w io.Writer, all []attended) error {
	p := &printer{w: w}
	p.printf("node,node_label,layer,head,neighbour,neighbour_label,attention\n")
	for _, a := range all {
		for layer := range s.net.Layers {
			for _, e := range a.edges {
				for head, v := range e.heads[layer] {
					p.printf("%d,%d,%d,%d,%d,%d,%s\n", a.node, s.Labels[a.node], layer+1, head+1, e.source, s.Labels[e.source], fmt.Sprintf("%.6g", v))
				}
			}
		}
	}
	return p.err
}
