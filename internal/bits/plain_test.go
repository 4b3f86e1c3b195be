package bits

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
)

// plain runs layers written as their formulas, by operations alone: what follows a
// sum over edges is joined with it, or will be, and keeps its bits.
func plain(b *book) {
	ends := []struct {
		name string
		make func(m *maker, y *grad.Var) *grad.Var
	}{
		{"bias", func(m *maker, y *grad.Var) *grad.Var { return y.AddBias(m.use(y.Dim(-1)), grad.Identity) }},
		{"add", func(m *maker, y *grad.Var) *grad.Var { return y.Add(m.use(y.Dim(-1))) }},
		{"bias/huge", func(m *maker, y *grad.Var) *grad.Var { return y.AddBias(m.huge(y.Dim(-1)), grad.Identity) }},
		{"bias/elu", func(m *maker, y *grad.Var) *grad.Var { return y.AddBias(m.use(y.Dim(-1)), grad.ELU) }},
		{"bias/then/elu", func(m *maker, y *grad.Var) *grad.Var {
			return y.AddBias(m.use(y.Dim(-1)), grad.Identity).Activate(grad.ELU)
		}},
		{"bias/elu/drop", func(m *maker, y *grad.Var) *grad.Var {
			return m.tape.Dropout(y.AddBias(m.use(y.Dim(-1)), grad.ELU), 0.6)
		}},
		{"bias/relu/drop", func(m *maker, y *grad.Var) *grad.Var {
			return m.tape.Dropout(y.Add(m.use(y.Dim(-1))).Activate(grad.ReLU), 0.6)
		}},
		{"residual/bias", func(m *maker, y *grad.Var) *grad.Var {
			return y.Add(m.watch(y.Shape()...)).AddBias(m.use(y.Dim(-1)), grad.ELU)
		}},
		{"residual/linear", func(m *maker, y *grad.Var) *grad.Var {
			return y.Add(m.watch(y.Dim(0), 5).MatMul(m.use(5, y.Dim(-1)))).AddBias(m.use(y.Dim(-1)), grad.Identity)
		}},
		{"drop", func(m *maker, y *grad.Var) *grad.Var { return m.tape.Dropout(y, 0.5) }},
		{"twice", func(m *maker, y *grad.Var) *grad.Var {
			return y.AddBias(m.use(y.Dim(-1)), grad.Identity).Add(y.Tanh()) // y is read again
		}},
	}
	for i, f := range formulas {
		for j, at := range places() {
			for k, s := range [][2]int{{8, 8}, {1, 7}, {2, 128}} {
				for l, end := range ends {
					if s[1] == 128 && at.name != "sides" || !turn(3, i, j, k, l) {
						continue
					}
					b.run(fmt.Sprintf("%s/%s/%dx%d/%s", f.name, at.name, s[0], s[1], end.name), func(m *maker) []*grad.Var {
						y := f.make(m, at.g, s[0], s[1])
						return one(end.make(m, y.Reshape(at.g.NumDst(), s[0]*s[1])))
					})
				}
			}
		}
	}
}

// formulas are sums over edges as layers have them, from features to heads.
var formulas = []struct {
	name string
	make func(m *maker, g *graph.Graph, heads, dim int) *grad.Var
}{
	{"gat", func(m *maker, g *graph.Graph, heads, dim int) *grad.Var {
		ft, right := gatRows(m, g, heads, dim)
		score := message.UAddV(ft.Dot(m.use(heads, dim)), right.Dot(m.use(heads, dim))).LeakyReLU(0.2)
		return message.UpdateAll(g, message.U(ft).Mul(score.Softmax().Dropout(m.tape, 0.4)), message.Sum)
	}},
	{"gatv2", func(m *maker, g *graph.Graph, heads, dim int) *grad.Var {
		ft, right := gatRows(m, g, heads, dim)
		score := message.UAddV(ft, right).LeakyReLU(0.2).Dot(message.W(m.use(heads, dim)))
		return message.UpdateAll(g, message.U(ft).Mul(score.Softmax()), message.Sum)
	}},
	{"transformer", func(m *maker, g *graph.Graph, heads, dim int) *grad.Var {
		ft, right := gatRows(m, g, heads, dim)
		a := message.Attention{Q: right, K: ft, V: m.watch(g.NumSrc(), heads, dim), Drop: 0.2}
		y, _ := a.Apply(m.tape, g)
		return y
	}},
	{"gcn", func(m *maker, g *graph.Graph, heads, dim int) *grad.Var {
		x := m.watch(g.NumSrc(), 6).MatMul(m.use(6, heads*dim))
		return message.UpdateAll(g, message.U(x).Mul(message.E(grad.Const(m.normal(g.NumEdges(), 1)))), message.Sum)
	}},
	{"sage", func(m *maker, g *graph.Graph, heads, dim int) *grad.Var {
		x := message.UpdateAll(g, message.U(m.watch(g.NumSrc(), 6)), message.Mean)
		return x.MatMul(m.use(6, heads*dim)).Add(m.watch(g.NumDst(), 6).MatMul(m.use(6, heads*dim)))
	}},
	{"anything", func(m *maker, g *graph.Graph, heads, dim int) *grad.Var {
		ft, right := gatRows(m, g, heads, dim)
		return message.UpdateAll(g, message.UAddV(ft, right).Tanh(), message.Sum)
	}},
}

// gatRows are features of sources and of destinations, by heads.
func gatRows(m *maker, g *graph.Graph, heads, dim int) (left, right *grad.Var) {
	left = m.watch(g.NumSrc(), 6).MatMul(m.use(6, heads*dim)).Reshape(-1, heads, dim)
	return left, m.watch(g.NumDst(), 6).MatMul(m.use(6, heads*dim)).Reshape(-1, heads, dim)
}
