package bits

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/layers/pool"
	"github.com/edgewise-ml/edgewise/layers/relational"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
)

// initial is a layer whose Params are drawn.
type initial interface{ Init(*rand.Rand) }

// layer adds an entry of a layer's Params, inputs and results.
func (b *book) layer(name string, l initial, f func(m *maker) []*grad.Var) {
	b.run(name, func(m *maker) []*grad.Var {
		if l != nil {
			m.model(l)
		}
		return f(m)
	})
}

// molecules is graphs of 0 to 19 nodes side by side, edges both ways.
func molecules() *graph.Graph {
	rng := rand.New(rand.NewPCG(5, 2))
	var gs []*graph.Graph
	for i := range 8 {
		gs = append(gs, graph.Undirected(random.Uniform(rng, 3*i-i/4, 4*i)))
	}
	return graph.Batch(gs...)
}

// pools runs every layer of package pool.
func pools(b *book) {
	g := molecules()
	rows := func(m *maker) *grad.Var { return m.watch(g.NumNodes(), 6) }
	kept := func(k pool.Kept) []*grad.Var { return []*grad.Var{k.Y, k.Score} }
	att := &pool.Attention{Gate: layers.MLP{Widths: []int{6, 5, 1}}, Net: layers.MLP{Widths: []int{6, 9}}}
	set, srt := &pool.Set2Set{In: 6, Steps: 3, Layers: 2}, &pool.Sort{K: 4}
	top, sag, diff := &pool.TopK{In: 6}, &pool.SAG{In: 6, Ratio: 0.7}, &pool.Diff{In: 6, Clusters: 3}
	b.layer("attention", att, func(m *maker) []*grad.Var { return one(att.Forward(m.tape, g, rows(m))) })
	b.layer("set2set", set, func(m *maker) []*grad.Var { return one(set.Forward(m.tape, g, rows(m))) })
	b.layer("sort", nil, func(m *maker) []*grad.Var { return one(srt.Forward(m.tape, g, rows(m))) })
	b.layer("topk", top, func(m *maker) []*grad.Var { return kept(top.Forward(m.tape, g, rows(m))) })
	b.layer("sag", sag, func(m *maker) []*grad.Var { return kept(sag.Forward(m.tape, g, rows(m))) })
	b.layer("diff", diff, func(m *maker) []*grad.Var {
		c := diff.Forward(m.tape, g, rows(m))
		return []*grad.Var{c.Y, c.Weight, c.Link, c.Entropy}
	})
	for _, a := range []layers.Aggregator{layers.AggregateMax, layers.AggregateMean} {
		b.layer("graclus/"+string(a), nil, func(m *maker) []*grad.Var {
			return one((&pool.Graclus{Aggregate: a}).Forward(m.tape, g, rows(m), nil).Y)
		})
	}
}

// library is authors and books, and the relations between them.
func library() (h *hetero.Graph, widths map[string]int) {
	rng := rand.New(rand.NewPCG(5, 3))
	g := random.Uniform(rng, 60, 300)
	kinds, of := make([]int32, 300), make([]int32, 60)
	for e := range kinds {
		kinds[e] = rng.Int32N(2)
	}
	for v := range of {
		of[v] = rng.Int32N(2)
	}
	h, _, err := hetero.Of(graph.Must(graph.WithKinds(g, kinds)), []string{"author", "book"}, of, []string{"likes", "cites"})
	if err != nil {
		panic(err)
	}
	return h, map[string]int{"author": 5, "book": 8}
}

// relationals runs layers on several kinds of nodes, and those that score facts.
func relationals(b *book) {
	h, widths := library()
	hgt := &relational.HGTConv{In: widths, Out: 8, Heads: 2, Rels: h.Rels(), AttnDrop: 0.3}
	han := &relational.HANConv{In: widths, Out: 8, Heads: 2, Rels: h.Rels()}
	typed := func(m *maker, f func(t *grad.Tape, h *hetero.Graph, x map[string]*grad.Var) map[string]*grad.Var) []*grad.Var {
		x := map[string]*grad.Var{}
		for _, t := range h.Types() {
			x[t] = m.watch(h.NumNodes(t), widths[t])
		}
		var ys []*grad.Var
		y := f(m.tape, h, x)
		for _, t := range h.Types() {
			ys = append(ys, y[t])
		}
		return ys
	}
	b.layer("hgt", hgt, func(m *maker) []*grad.Var { return typed(m, hgt.Forward) })
	b.layer("han", han, func(m *maker) []*grad.Var { return typed(m, han.Forward) })
	one60, _ := hetero.Homogeneous(h)
	for name, l := range map[string]*layers.RGCNConv{
		"rgcn": {In: 6, Out: 8, Relations: 8}, "rgcn/bases": {In: 6, Out: 8, Relations: 8, Bases: 3}, "rgcn/blocks": {In: 6, Out: 8, Relations: 8, Blocks: 2, LayerNorm: true},
	} {
		b.layer(name, l, func(m *maker) []*grad.Var { return one(l.Forward(m.tape, one60, m.watch(60, 6))) })
	}
	for name, l := range map[string]knowledge.Scorer{
		"transe": &knowledge.TransE{Relations: 8, Width: 6, Margin: 2}, "transe/squared": &knowledge.TransE{Relations: 8, Width: 6, Squared: true},
		"distmult": &knowledge.DistMult{Relations: 8, Width: 6}, "complex": &knowledge.ComplEx{Relations: 8, Width: 6}, "rotate": &knowledge.RotatE{Relations: 8, Width: 6, Margin: 2},
	} {
		b.layer(name, l, func(m *maker) []*grad.Var { return one(l.Forward(m.tape, one60, m.watch(60, 6))) })
	}
	gps, g := &layers.GPSConv{Width: 8, Heads: 2, Drop: 0.2, AttnDrop: 0.2}, molecules()
	b.layer("gps", gps, func(m *maker) []*grad.Var { return one(gps.Forward(m.tape, g, m.watch(g.NumNodes(), 8))) })
}

// memories runs every memory, over chains of several lengths.
func memories(b *book) {
	g := graph.Chains(5, 1, 3, 6)
	n := g.NumNodes()
	for name, l := range map[string]*memory.NTM{
		"ntm":       {In: 4, Out: 3, Hidden: 9, Slots: 7, Width: 5},
		"ntm/plain": {In: 4, Out: 3, Hidden: 9, Slots: 7, Width: 5, Reads: 2, Writes: 2, Controller: memory.FeedForwardController},
	} {
		b.layer(name, l, func(m *maker) []*grad.Var { return one(l.Forward(m.tape, g, m.watch(n, 4))) })
	}
	fast := &memory.FastWeights{In: 4, Hidden: 6, Steps: 2}
	b.layer("fast", fast, func(m *maker) []*grad.Var { return one(fast.Forward(m.tape, g, m.watch(n, 4))) })
	for name, queue := range map[string]bool{"stack": false, "queue": true} {
		l := &memory.StackMachine{In: 4, Out: 3, Hidden: 6, Stack: memory.StackMemory{Width: 5, Slots: 6, Queue: queue}}
		b.layer(name, l, func(m *maker) []*grad.Var { return one(l.Forward(m.tape, g, m.watch(n, 4))) })
	}
	trees := trees()
	b.layer("tree", nil, func(m *maker) []*grad.Var {
		members := len(trees.NodeOffsets()) - 1
		r, reached := (&memory.TreeMemory{}).Forward(m.tape, trees, m.watch(trees.NumNodes(), 4), m.watch(trees.NumNodes(), 3), m.watch(members, 4))
		return []*grad.Var{r, reached}
	})
	b.layer("modern", nil, func(m *maker) []*grad.Var {
		return one((&memory.Modern{Beta: 0.7, Steps: 2}).Forward(m.tape, graph.CompleteBipartite(9, 5), m.watch(9, 6), m.watch(5, 6)))
	})
	stories(b)
}

// stories runs the memories that answer questions.
func stories(b *book) {
	told := func(m *maker, values bool) (out []memory.Story) {
		for i := range 5 {
			s := memory.Story{Question: m.rows(3, 20), Answer: int32(i)}
			for range i + 1 {
				s.Sentences = append(s.Sentences, m.rows(4, 20))
				if values {
					s.Values = append(s.Values, m.rows(2, 20))
				}
			}
			out = append(out, s)
		}
		return out
	}
	for name, l := range map[string]*memory.MemN2N{
		"memn2n": {Vocab: 20, Dim: 6, Hops: 3, Memory: 5, Encoding: memory.Position}, "memn2n/layerwise": {Vocab: 20, Dim: 6, Hops: 2, Memory: 5, Tying: memory.LayerWise},
	} {
		b.layer(name, l, func(m *maker) []*grad.Var {
			s, err := l.Batch(told(m, false), nil)
			if err != nil {
				b.t.Fatal(err)
			}
			return one(l.Forward(m.tape, s))
		})
	}
	kv := &memory.KeyValue{Vocab: 20, Dim: 6, Answers: 9, Hops: 2}
	b.layer("keyvalue", kv, func(m *maker) []*grad.Var {
		s, err := kv.Batch(told(m, true))
		if err != nil {
			b.t.Fatal(err)
		}
		return one(kv.Forward(m.tape, s))
	})
}

// forward is a layer on a graph.
type forward interface {
	initial
	Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var
}

// attentive runs the layers of package attention, and a CRF.
func attentive(b *book) {
	mask, chains := graph.Batch(graph.Causal(7), graph.Complete(4), graph.Band(9, 2)), graph.Chains(7, 0, 4, 9)
	block := attention.Block{Model: 8, Heads: 2, Hidden: 12, Drop: 0.2}
	pre := attention.Block{Model: 8, Heads: 2, PreNorm: true, Activation: grad.GELU, Position: attention.Relative, Longest: 3}
	for name, l := range map[string]forward{
		"multihead":        &attention.MultiHead{Model: 8, Heads: 2, Drop: 0.3},
		"multihead/rotary": &attention.MultiHead{Model: 8, Heads: 2, Rotary: true, NoBias: true},
		"multihead/offset": &attention.MultiHead{Model: 8, Heads: 2, Relative: 3},
		"encoder":          &attention.Encoder{Block: block, Depth: 2},
		"encoder/pre":      &attention.Encoder{Block: pre, Depth: 2},
	} {
		b.layer(name, l, func(m *maker) []*grad.Var { return one(l.Forward(m.tape, mask, m.watch(20, 8))) })
	}
	dec, across := &attention.DecoderBlock{Block: block}, graph.CompleteBipartite(6, 20)
	b.layer("decoder", dec, func(m *maker) []*grad.Var {
		return one(dec.Forward(m.tape, mask, across, m.watch(20, 8), m.watch(6, 8)))
	})
	lm := &attention.LanguageModel{Block: attention.Block{Model: 8, Heads: 2, Position: attention.Learned, Longest: 9}, Tokens: 11, Depth: 1}
	b.layer("language", lm, func(m *maker) []*grad.Var { return one(lm.Forward(m.tape, mask, m.rows(20, 11))) })
	for name, w := range map[string]attention.Weighing{
		"": {}, "/smoothing": {By: attention.Smoothing}, "/sparsemax": {By: attention.Sparsemax}, "/gating": {By: attention.Gating},
		"/threshold": {By: attention.Threshold, Least: 0.1}, "/topk": {By: attention.TopK, K: 2},
	} {
		l := &attention.Soft{Score: &attention.Additive{Key: 6, Query: 5, Hidden: 7, Normed: true}, Weigh: w}
		b.layer("soft"+name, l, func(m *maker) []*grad.Var {
			return one(l.Apply(m.tape, across, layers.In{Src: m.watch(6, 6), Dst: m.watch(20, 5)}).Y)
		})
	}
	b.scores(across)
	hard := &attention.HardAttention{Score: &attention.Bilinear{Key: 6, Query: 5}}
	b.layer("hard", hard, func(m *maker) []*grad.Var {
		c := hard.Apply(m.tape, across, layers.In{Src: m.watch(6, 6), Dst: m.watch(20, 5)})
		return []*grad.Var{c.Y, c.LogP, c.Entropy()}
	})
	read := &attention.AttentionPool{Score: &attention.Saliency{Key: 6, Hidden: 5}}
	b.layer("pool", read, func(m *maker) []*grad.Var {
		return one(read.Apply(m.tape, graph.Membership(chains), layers.In{Src: m.watch(20, 6)}).Y)
	})
	chain, crf := &attention.ChainAttention{CRF: sequence.CRF{Tags: 2}}, &sequence.CRF{Tags: 4}
	b.layer("chain", chain, func(m *maker) []*grad.Var {
		return one(chain.Forward(m.tape, chains, m.watch(20, 2), m.watch(20, 5)).Y)
	})
	b.layer("crf", crf, func(m *maker) []*grad.Var {
		x := m.watch(20, 4)
		return []*grad.Var{crf.Loss(m.tape, chains, x, m.rows(20, 4)), crf.Marginals(m.tape, chains, x)}
	})
}

// scores runs attention by each score.
func (b *book) scores(g *graph.Graph) {
	for name, s := range map[string]attention.Score{
		"dot": attention.Dot{}, "scaled": attention.ScaledDot{}, "concat": &attention.Concat{Key: 6, Query: 6, Hidden: 5}, "cosine": &attention.Cosine{},
	} {
		l := &attention.Soft{Score: s, Drop: 0.2}
		b.layer("score/"+name, l, func(m *maker) []*grad.Var {
			return one(l.Apply(m.tape, g, layers.In{Src: m.watch(6, 6), Dst: m.watch(20, 6)}).Y)
		})
	}
	words, sentences := graph.Chains(4, 7, 5), graph.Chains(2, 1)
	tier := func(in int) attention.Tier {
		return attention.Tier{Body: &sequence.GRU{In: in, Hidden: 5}, Pool: &attention.AttentionPool{Score: &attention.Saliency{Key: 5, Hidden: 4}}}
	}
	han := &attention.Hierarchical{Tiers: []attention.Tier{tier(6), tier(5)}}
	b.layer("hierarchical", han, func(m *maker) []*grad.Var {
		y, weights := han.Forward(m.tape, []*graph.Graph{words, sentences}, m.watch(16, 6))
		return []*grad.Var{y, message.ApplyEdges(graph.Membership(words), weights[0])}
	})
}
