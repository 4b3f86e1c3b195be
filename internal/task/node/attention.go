package node

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/draw"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// writeAttention writes the files of --attention, and keeps the tables that the report shows.
func (s *session) writeAttention() error {
	all := s.attention(s.watched())
	picture := draw.Neighbourhoods{Dataset: s.Dataset, Nodes: all}
	for layer := range s.net.Layers {
		picture.Heads = append(picture.Heads, s.net.Recipe.headsOf(layer))
	}
	for _, path := range s.Attention {
		var err error
		if filepath.Ext(path) == ".csv" {
			err = atomicfile.Write(path, func(w io.Writer) error { return s.attentionCSV(w, all) })
		} else {
			err = picture.Write(path)
		}
		if err != nil {
			return err
		}
	}
	s.heads = picture.Tables()
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
	for _, v := range s.Parts.Test {
		if d := s.Graph.InDegree(int(v)); d > degree && d <= most {
			best, degree = v, d
		}
	}
	return []int32{best}
}

// checkNodes returns an error if --nodes names none of the dataset.
func (k *Examples) checkNodes(nodes []int32) error {
	for i, v := range nodes {
		if v < 0 || int(v) >= k.Graph.NumNodes() {
			return cli.Misuse("--nodes: number %d of the list is %d; %s has the nodes 0 to %d", i+1, v, k.Name, k.Graph.NumNodes()-1)
		}
	}
	return nil
}

// attention returns what the network's layers attend to at some nodes.
func (s *session) attention(nodes []int32) []draw.Attended {
	t := grad.NewEval()
	var layers []*tensor.Dense
	whole := s.All(s.net.Network)
	g := whole.Hops[0].Graph
	for _, out := range s.net.Attend(t, whole.Hops[0], whole.X) {
		layers = append(layers, message.ApplyEdges(g, out.Attention).Value())
	}
	var all []draw.Attended
	for _, v := range nodes {
		a := draw.Attended{Node: v}
		for edge, u := range g.Sources(int(v)) {
			e := draw.AttendedEdge{Source: u}
			for _, l := range layers {
				e.Heads = append(e.Heads, l.Row(int(edge)))
			}
			a.Edges = append(a.Edges, e)
		}
		all = append(all, a)
	}
	return all
}

// attentionCSV writes a line for each layer, head, node and in-neighbour.
func (s *session) attentionCSV(w io.Writer, all []draw.Attended) error {
	p := report.NewPrinter(w)
	p.Printf("node,node_label,layer,head,neighbour,neighbour_label,attention\n")
	for _, a := range all {
		for layer := range s.net.Layers {
			for _, e := range a.Edges {
				for head, v := range e.Heads[layer] {
					p.Printf("%d,%d,%d,%d,%d,%d,%s\n", a.Node, s.Labels[a.Node], layer+1, head+1, e.Source, s.Labels[e.Source], fmt.Sprintf("%.6g", v))
				}
			}
		}
	}
	return p.Err()
}
