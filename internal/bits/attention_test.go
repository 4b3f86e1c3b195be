package bits

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
)

// attentions runs scaled dot-product attention over blocks of nodes, which have
// products of their own, and over edges.
func attentions(b *book) {
	graphs := []place{
		{"complete", graph.Complete(150)},
		{"noloops", graph.CompleteNoLoops(70)},
		{"causal", graph.Causal(131)},
		{"band", graph.Band(140, 9)},
		{"bipartite", graph.CompleteBipartite(75, 101)},
		{"batch", graph.Batch(graph.Causal(65), graph.Complete(3), graph.Band(50, 2), graph.Causal(0))},
		{"hub", hub()},
		{"block", block()},
		{"sides", sides()},
	}
	for i, at := range graphs {
		for j, s := range [][3]int{{2, 9, 5}, {1, 32, 32}, {4, 16, 8}} {
			for k, drop := range []float64{0, 0.3} {
				for l, bias := range []string{"none", "kinds", "edges", "both"} {
					if !turn(2, i, j, k, l) {
						continue
					}
					name := fmt.Sprintf("%s/%dx%dx%d/drop%v/%s", at.name, s[0], s[1], s[2], drop, bias)
					b.run(name, func(m *maker) []*grad.Var { return attended(m, at.g, s, drop, bias) })
				}
			}
		}
		b.run(at.name+"/flat", func(m *maker) []*grad.Var {
			a := message.Attention{Q: m.watch(at.g.NumDst(), 8), K: m.watch(at.g.NumSrc(), 8), V: m.watch(at.g.NumSrc(), 6), Scale: 0.7}
			y, _ := a.Apply(m.tape, at.g)
			return one(y)
		})
		if at.g.NumSrc() == at.g.NumDst() {
			b.run(at.name+"/shared", func(m *maker) []*grad.Var {
				x := m.watch(at.g.NumSrc(), 2, 8)
				a := message.Attention{Q: x, K: x, V: x}
				y, _ := a.Apply(m.tape, at.g)
				return one(y)
			})
		}
	}
}

// attended is an attention of s[0] heads, keys of s[1] and values of s[2] columns, and
// without dropout the weights too.
func attended(m *maker, g *graph.Graph, s [3]int, drop float64, bias string) []*grad.Var {
	a := message.Attention{
		Q: m.watch(g.NumDst(), s[0], s[1]), K: m.watch(g.NumSrc(), s[0], s[1]), V: m.watch(g.NumSrc(), s[0], s[2]), Drop: drop,
	}
	kinds := func() message.Msg { return message.W(m.use(7, s[0], 1)).Pick(m.rows(g.NumEdges(), 7)) }
	edges := func() message.Msg { return message.E(m.watch(g.NumEdges(), s[0], 1)) }
	switch bias {
	case "kinds":
		a.Bias = kinds()
	case "edges":
		a.Bias = edges()
	case "both":
		a.Bias = kinds().Add(edges())
	}
	y, weights := a.Apply(m.tape, g)
	if drop == 0 && s[0] == 2 {
		return []*grad.Var{y, message.ApplyEdges(g, weights)}
	}
	return one(y)
}
