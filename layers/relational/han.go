package relational

import (
	"cmp"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// HANConv attends twice: a node to its in-neighbours by each relation, as in
// [layers.GATConv], and then a type of node to its relations, of which all of its nodes
// say together how much each counts.
//
//	z^r_v = ReLU( Σ_u softmax_u( LeakyReLU(a^r_l·h_u + a^r_r·h_v) )·h_u ),   h = x·P + c of the type
//	y_v = Σ_r softmax_r( mean_v q·tanh(z^r_v·W + b) )·z^r_v
//
// of Wang, Ji, Shi, Wang, Cui, Yu and Ye, "Heterogeneous Graph Attention Network", WWW
// 2019, as PyG's HANConv has it; the paper's relations are meta-paths. x is N×In of the
// type, dense or sparse; y is N×Out for every type, and of a block NumDst×Out. A node
// without in-edges of any relation, and a type without relations, gets zero. GAT's rule
// runs, a relation each.
//
// On a block mean_v goes over the block's destinations, so a batch estimates what all nodes
// say together: its rows are not those of the whole graph, unless only one relation leads
// to a type.
type HANConv struct {
	In       map[string]int // width of each type's features
	Out      int            // width of the result, all heads together
	Heads    int            `json:",omitempty"` // 0: 1
	Rels     []hetero.Rel   // the relations that are read
	Slope    float64        `json:",omitempty"` // of the LeakyReLU; 0: 0.2; that of a ReLU is [grad.Zero]
	AttnDrop float64        `json:",omitempty"` // dropout of the attention to nodes

	Project      map[string]*layers.Linear `json:"-"` // P and c of each type
	AttnL, AttnR map[string]*grad.Param    `json:"-"` // of each relation, Heads×D
	Semantic     *layers.Linear            `json:"-"` // W and b, Out×Out
	Question     *grad.Param               `json:"-"` // q, Out
}

// Init makes the Params: weights by Glorot's uniform distribution, biases zero.
func (l *HANConv) Init(rng *rand.Rand) {
	compose.WantOptions(l, "Out")
	heads := cmp.Or(l.Heads, 1)
	wantHeads("relational.HANConv", l.In, l.Out, heads, l.Rels)
	l.Project = linears(rng, l.In, l.Out, false)
	l.AttnL, l.AttnR = map[string]*grad.Param{}, map[string]*grad.Param{}
	for _, r := range l.Rels {
		l.AttnL[r.String()], l.AttnR[r.String()] = grad.Glorot(rng, heads, l.Out/heads), grad.Glorot(rng, heads, l.Out/heads)
	}
	l.Semantic = &layers.Linear{In: l.Out, Out: l.Out}
	l.Semantic.Init(rng)
	l.Question = grad.NewParam(l.Out)
	l.Question.Value.GlorotUniform(rng, 1, l.Out, 1)
}

// Forward returns a row for each node of each type, for the features x; of a block, a row for each
// destination.
func (l *HANConv) Forward(t *grad.Tape, h *hetero.Graph, x map[string]*grad.Var) map[string]*grad.Var {
	compose.WantMade("relational.HANConv", "Params", l.Semantic != nil)
	wantNodes("relational.HANConv", l.In, l.Rels, h, x)
	heads, nodes, y := cmp.Or(l.Heads, 1), map[string]*grad.Var{}, map[string]*grad.Var{}
	for _, name := range typesOf(l.In) {
		nodes[name] = compose.SplitHeads(l.Project[name].Forward(t, x[name]), heads, l.Out/heads)
	}
	for _, name := range typesOf(l.In) {
		var zs []*grad.Var
		for _, r := range l.Rels {
			if r.Dst == name && !onlySends(h, name) {
				zs = append(zs, l.attend(t, h, r, nodes))
			}
		}
		y[name] = l.choose(t, zs, h.NumDst(name))
	}
	return y
}

// attend returns z of a relation.
func (l *HANConv) attend(t *grad.Tape, h *hetero.Graph, r hetero.Rel, nodes map[string]*grad.Var) *grad.Var {
	el, er := nodes[r.Src].Dot(t.Use(l.AttnL[r.String()])), destinations(h, r.Dst, nodes[r.Dst]).Dot(t.Use(l.AttnR[r.String()]))
	alpha := message.UAddV(el, er).LeakyReLU(grad.Preset(l.Slope, 0.2)).Softmax().Dropout(t, l.AttnDrop)
	z := message.UpdateAll(h.Graph(r), message.U(nodes[r.Src]).Mul(alpha), message.Sum)
	return z.Reshape(h.NumDst(r.Dst), l.Out).ReLU()
}

// choose is the attention to the relations; without any it is zero.
func (l *HANConv) choose(t *grad.Tape, zs []*grad.Var, n int) *grad.Var {
	if len(zs) == 0 || n == 0 {
		return grad.Const(tensor.New(n, l.Out))
	}
	score := func(said *grad.Var) *grad.Var {
		return said.MeanAxis(0).Reshape(1, l.Out).Dot(t.Use(l.Question)).Reshape(1, 1)
	}
	// Relations compete, so their gradients are differences: of means for q, of sums over all nodes for a
	// score. Each would be rounded by itself; here the rows are subtracted first. Weights sum to 1, so y is
	// z of the largest and what the others differ from it by.
	first := l.Semantic.Forward(t, zs[0]).Tanh()
	scores := []*grad.Var{score(first)}
	for _, z := range zs[1:] {
		scores = append(scores, scores[0].Add(score(l.Semantic.Forward(t, z).Tanh().Sub(first))))
	}
	beta := grad.Concat(scores...).Softmax() // 1×R
	var at [1]int32
	tensor.ArgMax(at[:], beta.Value(), -1)
	most := int(at[0])
	y := zs[most]
	for i, z := range zs {
		if i != most {
			y = y.Add(z.Sub(zs[most]).Mul(beta.Columns(i, i+1)))
		}
	}
	return y
}
