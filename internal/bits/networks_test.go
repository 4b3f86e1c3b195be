package bits

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// networks runs a network of each model as its seed draws it, for nodes and for graphs, heads of edges, and the networks for links
// and for facts.
func networks(b *book) {
	g := kinded(graph.WithSelfLoops(graph.Undirected(random.Uniform(rand.New(rand.NewPCG(5, 9)), 40, 120))))
	for _, name := range models.Names() {
		model, err := models.Named(name)
		must(b, err)
		b.run("nodes/"+name, func(m *maker) []*grad.Var {
			s := shapeFor(models.TraitsOf(model).Edges)
			net, err := models.New(models.With(model, models.Settings{Hidden: 8, Layers: 3, Start: models.StartHeads}), s, 5)
			must(b, err)
			m.made(net)
			return one(net.Forward(m.tape, g, m.reads(g, s)))
		})
	}
	for name, head := range map[string]models.Pairs{"plain": {}, "mirrored": {Own: 2, Mirrored: true}} {
		b.run("edges/"+name, func(m *maker) []*grad.Var {
			s := models.Shape{In: 6, Out: 3}
			net, err := models.NewEdges(models.GAT{Hidden: 4, Start: models.StartNormal}, s, head, 5)
			must(b, err)
			m.made(net)
			p := net.Whole(models.Hop{Graph: g}, m.reads(g, s).Src)
			p.Ends = &models.Ends{From: []int32{3, 0, 7}, To: []int32{1, 5, 7}}
			if head.Own > 0 {
				p.Ends.Own = m.watch(3, head.Own)
			}
			return one(net.Run(m.tape, p))
		})
	}
	readouts := models.Readouts()
	for i, name := range models.GraphNames() {
		model, err := models.Named(name)
		must(b, err)
		b.run("graphs/"+name, func(m *maker) []*grad.Var {
			s := shapeFor(models.TraitsOf(model).Graphs.Edges)
			net, err := models.NewGraphs(models.With(model, models.Settings{Hidden: 8, Layers: 3}), s, readouts[i%len(readouts)], "", 5)
			must(b, err)
			m.made(net)
			all := molecules()
			if models.TraitsOf(model).Graphs.Loops {
				all = graph.WithSelfLoops(all)
			}
			all = kinded(all)
			return one(net.Forward(m.tape, all, m.reads(all, s)))
		})
	}
	for name, model := range map[string]models.LinkModel{"gae": models.GAE{}, "gae/bias": models.GAE{Bias: true}, "vgae": models.VGAE{}, "lightgcn": models.LightGCN{Hidden: 8}} {
		b.run("links/"+name, func(m *maker) []*grad.Var {
			in := 6
			if name == "lightgcn" {
				in = g.NumNodes()
			}
			net, err := models.NewLinks(model, in, 5)
			must(b, err)
			m.made(net)
			z, apart := net.Encode(m.tape, g, m.watch(g.NumNodes(), 6))
			if apart != nil {
				return []*grad.Var{net.Forward(m.tape, g, z), apart}
			}
			return one(net.Forward(m.tape, g, z))
		})
	}
	for name, model := range map[string]models.FactModel{"transe": models.TransE{}, "distmult": models.DistMult{}, "complex": models.ComplEx{}, "rotate": models.RotatE{}} {
		b.run("facts/"+name, func(m *maker) []*grad.Var {
			net, err := models.NewFacts(model, g.NumNodes(), 2, 5)
			must(b, err)
			m.made(net)
			return one(net.Forward(m.tape, g))
		})
	}
}

func must(b *book, err error) {
	if err != nil {
		b.t.Fatal(err)
	}
}

// made takes note of the Params of a network, which its seed has drawn.
func (m *maker) made(net any) {
	for _, p := range grad.Params(net) {
		m.params = append(m.params, p)
	}
}

// kinded gives the edges of a graph two kinds.
func kinded(g *graph.Graph) *graph.Graph {
	kinds := make([]int32, g.NumEdges())
	for e := range kinds {
		kinds[e] = int32(e % 2)
	}
	return graph.Must(graph.WithKinds(g, kinds))
}

// shapeFor is what a model can read of edges.
func shapeFor(e models.EdgesRead) models.Shape {
	s := models.Shape{In: 6, Out: 3}
	if e.Numbers() {
		s.EdgeIn = 2
	}
	if e.Kinds() {
		s.EdgeKinds = 2
	}
	return s
}

// reads are random features of nodes and of edges.
func (m *maker) reads(g *graph.Graph, s models.Shape) layers.In {
	in := layers.In{Src: m.watch(g.NumNodes(), s.In)}
	if s.EdgeIn > 0 {
		edge := m.normal(g.NumEdges(), s.EdgeIn)
		for i, v := range edge.Data {
			edge.Data[i] = max(-1, min(1, v)) * tensor.Float(0.5)
		}
		in.Edge = grad.Const(edge)
	}
	return in
}
