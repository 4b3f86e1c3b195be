package bits

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
)

// operands are rows for a message: of sources, of destinations and of edges, all of
// heads, and numbers of the edges.
type operands struct {
	m               *maker
	g               *graph.Graph
	u, x, v, e, w   *grad.Var
	ul, vl, el, one *grad.Var // a number a head, and one an edge
}

func newOperands(m *maker, g *graph.Graph, heads, dim int) *operands {
	n, d, e := g.NumSrc(), g.NumDst(), g.NumEdges()
	return &operands{
		m: m, g: g,
		u: m.watch(n, heads, dim), x: m.use(n, heads, dim), v: m.watch(d, heads, dim), e: m.watch(e, heads, 1), w: m.use(heads, dim),
		ul: m.watch(n, heads, 1), vl: m.watch(d, heads, 1), el: m.watch(e, heads, 1), one: m.watch(e, 1),
	}
}

// score is the logit of GATv2.
func (o *operands) score() message.Msg {
	return message.UAddV(o.u, o.v).LeakyReLU(0.2).Dot(message.W(o.w))
}

// logit is the logit of GAT.
func (o *operands) logit() message.Msg { return message.UAddV(o.ul, o.vl).LeakyReLU(0.2) }

// formula is a message by name.
type formula struct {
	name string
	make func(o *operands) message.Msg
}

// kernels are messages with a kernel of their own, or whose steps are joined, and
// spellings that differ from these by a little.
var kernels = []formula{
	{"copy", func(o *operands) message.Msg { return message.U(o.u) }},
	{"copyE", func(o *operands) message.Msg { return message.E(o.e) }},
	{"copyV", func(o *operands) message.Msg { return message.V(o.v) }},
	{"weighted", func(o *operands) message.Msg { return message.U(o.u).Mul(message.E(o.e)) }},
	{"weighted/scalar", func(o *operands) message.Msg {
		return message.U(o.u).Mul(message.E(o.one.Reshape(-1, 1, 1)))
	}},
	{"dotUV", func(o *operands) message.Msg { return message.U(o.u).Dot(message.V(o.v)) }},
	{"uAddV", func(o *operands) message.Msg { return message.UAddV(o.u, o.v) }},
	{"uMulV", func(o *operands) message.Msg { return message.UMulV(o.u, o.v) }},
	{"uSubV", func(o *operands) message.Msg { return message.USubV(o.u, o.v).Abs() }},
	{"threeProduct", func(o *operands) message.Msg { return message.U(o.u).Mul(message.V(o.v)).Mul(message.U(o.x)) }},
	{"gat", func(o *operands) message.Msg { return message.U(o.u).Mul(o.logit().Softmax()) }},
	{"gat/turned", func(o *operands) message.Msg {
		return message.V(o.vl).Add(message.U(o.ul)).LeakyReLU(0.2).Softmax().Mul(message.U(o.u))
	}},
	{"gat/drop", func(o *operands) message.Msg { return message.U(o.u).Mul(o.logit().Softmax().Dropout(o.m.tape, 0.5)) }},
	{"gat/edges", func(o *operands) message.Msg {
		return message.U(o.u).Mul(message.UAddV(o.ul, o.vl).Add(message.E(o.el)).LeakyReLU(0.2).Softmax())
	}},
	{"gat/all", func(o *operands) message.Msg {
		a := message.UAddV(o.ul, o.vl).Add(message.E(o.el)).LeakyReLU(0.1).Softmax()
		return message.U(o.u).Mul(a.Mul(message.E(o.e)).Dropout(o.m.tape, 0.3))
	}},
	{"gat/weight", func(o *operands) message.Msg { return message.U(o.u).Mul(o.logit().Softmax().Mul(message.E(o.e))) }},
	{"gat/wild", func(o *operands) message.Msg {
		return message.U(o.u).Mul(message.UAddV(o.ul.Scale(40), o.vl).LeakyReLU(0.2).Softmax())
	}},
	{"gat/dropValues", func(o *operands) message.Msg {
		return message.U(o.m.tape.Dropout(o.u, 0.3)).Mul(o.logit().Softmax())
	}},
	{"gat/shared", func(o *operands) message.Msg {
		return message.U(o.u).Mul(message.UAddV(o.u.Dot(o.w), o.vl).LeakyReLU(0.2).Softmax())
	}},
	{"gat/elu", func(o *operands) message.Msg { return message.U(o.u).Mul(message.UAddV(o.ul, o.vl).ELU().Softmax()) }},
	{"gatv2", func(o *operands) message.Msg { return message.U(o.u).Mul(o.score().Softmax()) }},
	{"gatv2/drop", func(o *operands) message.Msg { return message.U(o.u).Mul(o.score().Softmax().Dropout(o.m.tape, 0.4)) }},
	{"gatv2/other", func(o *operands) message.Msg { return message.U(o.x).Mul(o.score().Softmax()).Mul(message.E(o.e)) }},
	{"gatv2/wild", func(o *operands) message.Msg { return message.U(o.u).Mul(o.score().Scale(30).Softmax()) }},
	{"gatv2/plain", func(o *operands) message.Msg { return message.U(o.u).Mul(o.score()) }},
	{"gatv2/best", func(o *operands) message.Msg { return message.U(o.u).Mul(o.score().TopK(3).Softmax()) }},
	{"gatv2/edges", func(o *operands) message.Msg {
		z := message.UAddV(o.u, o.v).Add(message.E(o.e))
		return message.U(o.u).Mul(z.LeakyReLU(0.2).Dot(message.W(o.w)).Softmax())
	}},
	{"transformer", func(o *operands) message.Msg {
		return message.U(o.x).Mul(message.UDotV(o.u, o.v).Scale(0.3).Softmax())
	}},
	{"transformer/drop", func(o *operands) message.Msg {
		return message.U(o.x).Mul(message.UDotV(o.u, o.v).Scale(0.3).Softmax().Dropout(o.m.tape, 0.4))
	}},
	{"transformer/same", func(o *operands) message.Msg {
		return message.U(o.u).Mul(message.UDotV(o.u, o.v).Scale(0.3).Add(message.E(o.e)).Softmax())
	}},
	{"affine", func(o *operands) message.Msg {
		return message.U(o.u).Mul(message.E(o.e)).Add(message.V(o.v)).Tanh().Mul(message.W(o.w))
	}},
	{"affine/softmax", func(o *operands) message.Msg {
		u, c := message.U(o.u), message.E(o.e).Softmax()
		return message.V(o.v).Add(c.Mul(u)).Tanh().Add(u).Mul(c.Neg())
	}},
	{"normalised", func(o *operands) message.Msg { return message.U(o.u).Mul(o.score().Sigmoid().Normalise()) }},
	{"gated", func(o *operands) message.Msg { return message.U(o.x).Mul(message.UAddV(o.u, o.v).Sigmoid()) }},
	{"picked", func(o *operands) message.Msg {
		return message.U(o.u).Mul(message.W(o.m.use(3, 1, 1)).Pick(o.m.rows(o.g.NumEdges(), 3)))
	}},
	{"dropped", func(o *operands) message.Msg { return message.U(o.u).Dropout(o.m.tape, 0.4) }},
	{"sampled", func(o *operands) message.Msg {
		drawn, logp := message.E(o.e).Sample(o.m.tape)
		return message.U(o.u).Mul(drawn).Add(logp)
	}},
	{"hard", func(o *operands) message.Msg { return message.U(o.u).Mul(message.E(o.e).Hardmax()) }},
}

// everyReducer has all, and firstReducers those that were there when the table was recorded first: entries that
// run several call these, and others have entries of their own.
var (
	everyReducer  = allReducers()
	firstReducers = everyReducer[:message.LogSumExp+1]
)

func allReducers() (all []message.Reducer) {
	for r := message.Sum; r.String() != "Reducer(?)"; r++ {
		all = append(all, r)
	}
	return all
}

// messages runs the kernels by their sums on every graph and in every shape, some by every
// reducer, and on the edges.
func messages(b *book) {
	shapes := [][2]int{{8, 8}, {4, 64}, {1, 8}, {1, 64}, {3, 5}, {1, 1}, {2, 128}}
	places := places()
	for i, f := range kernels {
		own := f.name == "gat" || f.name == "gatv2" || f.name == "transformer" // have kernels of their own for a shape
		for j, at := range places {
			for k, s := range shapes {
				wide := s[0]*s[1] > 100 // for the graph of the fewest edges
				if !own && (wide && at.name != "sides" || !wide && !turn(len(places), i, j, k)) {
					continue
				}
				b.reduce(fmt.Sprintf("%s/%s/%dx%d", f.name, at.name, s[0], s[1]), at.g, s, f, message.Sum)
			}
		}
		for _, r := range everyReducer[1:] {
			b.reduce(fmt.Sprintf("%s/hub/%v", f.name, r), hub(), [2]int{2, 8}, f, r)
		}
		b.reduce(f.name+"/hub/several", hub(), [2]int{1, 3}, f, message.Max, message.Sum, message.Std)
		b.run(f.name+"/edges", func(m *maker) []*grad.Var {
			return one(message.ApplyEdges(hub(), f.make(newOperands(m, hub(), 2, 8))))
		})
	}
	for _, f := range kernels[:16] {
		b.reduce(f.name+"/large", large(), [2]int{1, 8}, f, message.Sum)
	}
	for name, f := range map[string]func(x, y *grad.Var) message.Msg{
		"UAddE": message.UAddE, "USubE": message.USubE, "UMulE": message.UMulE, "UDivE": message.UDivE, "UDotE": message.UDotE,
		"UAddV": message.UAddV, "USubV": message.USubV, "UMulV": message.UMulV, "UDivV": message.UDivV, "UDotV": message.UDotV,
	} {
		for j, at := range places {
			rows := at.g.NumEdges()
			if name[len(name)-1] == 'V' {
				rows = at.g.NumDst()
			}
			for k, r := range []message.Reducer{message.Sum, message.Mean, message.Max} {
				if !turn(len(places), j, k) {
					continue
				}
				b.run(fmt.Sprintf("%s/%s/%v", name, at.name, r), func(m *maker) []*grad.Var {
					return one(message.UpdateAll(at.g, f(m.watch(at.g.NumSrc(), 12), m.watch(rows, 12)), r))
				})
			}
		}
	}
	relations(b)
	alone(b)
}

// reduce adds an entry for a message, its operands of so many heads and columns.
func (b *book) reduce(name string, g *graph.Graph, shape [2]int, f formula, rs ...message.Reducer) {
	b.run(name, func(m *maker) []*grad.Var {
		return one(message.UpdateAll(g, f.make(newOperands(m, g, shape[0], shape[1])), rs...))
	})
}

// relations runs what takes several graphs.
func relations(b *book) {
	pair := func(m *maker) []message.Relation {
		g, h := hub(), graph.Must(graph.New(1250, m.rows(3000, 1250), m.rows(3000, 1250)))
		o, p := newOperands(m, g, 2, 8), newOperands(m, h, 2, 8)
		return []message.Relation{
			{Graph: g, Msg: message.U(o.u).Mul(message.E(o.e)), By: message.Sum},
			{Graph: h, Msg: p.score().Softmax().Mul(message.U(p.x)), By: message.Mean},
		}
	}
	for _, r := range everyReducer[:4] {
		b.run("relations/"+r.String(), func(m *maker) []*grad.Var { return one(message.UpdateRelations(r, pair(m)...)) })
	}
	b.run("relations/stack", func(m *maker) []*grad.Var { return one(message.StackRelations(pair(m)...)) })
	b.run("relations/softmax", func(m *maker) []*grad.Var {
		rels := pair(m)
		for i := range rels {
			rels[i].Msg = rels[i].Msg.SumLast()
		}
		return message.SoftmaxRelations(rels...)
	})
}

// alone runs the functions that take no message.
func alone(b *book) {
	for _, at := range []place{{"hub", hub()}, {"sides", sides()}, {"large", large()}} {
		g := at.g
		for _, cols := range []int{1, 8, 5} {
			if cols > 1 && at.name == "large" {
				break
			}
			name := fmt.Sprintf("/%s/%d", at.name, cols)
			b.run("edgeSoftmax"+name, func(m *maker) []*grad.Var { return one(message.EdgeSoftmax(g, m.watch(g.NumEdges(), cols))) })
			b.run("bySource"+name, func(m *maker) []*grad.Var {
				return one(message.EdgeSoftmaxBySource(g, m.watch(g.NumEdges(), cols)))
			})
		}
	}
	batch := graph.Batch(hub(), graph.Chains(3, 1), hub(), graph.Must(graph.New(2, nil, nil)))
	for _, r := range everyReducer {
		b.run("readout/"+r.String(), func(m *maker) []*grad.Var {
			return one(message.Readout(batch, m.watch(batch.NumNodes(), 8), r))
		})
	}
	b.run("readout/softmax", func(m *maker) []*grad.Var {
		return one(message.ReadoutSoftmax(batch, m.watch(batch.NumNodes(), 8), m.watch(batch.NumNodes(), 1)))
	})
}
