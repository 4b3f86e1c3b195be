package relational

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// HGTConv is a Transformer's attention over a heterogeneous graph: keys, queries and
// values are made by the type of node, and a relation has a matrix between keys and
// queries, one for values and a weight of its own. For each head, and an edge of the
// relation r from u to v,
//
//	e_uv = p_r·( K(x_u)·A_r )·Q(x_v)/√D,   α = softmax over all edges into v, of all relations
//	z_v = GELU( Σ_u α_uv·V(x_u)·M_r )·W + b,   y_v = σ(s)·z_v + (1 − σ(s))·x_v
//
// of Hu, Dong, Wang and Sun, "Heterogeneous Graph Transformer", WWW 2020, as PyG's
// HGTConv has it: K, Q, V, W, b and s belong to the type of node, and s only to a type as
// wide as Out; for others y is z. DGL's HGTConv has no biases and no GELU: NoBias and
// NoActivation, and there all types are of one width. x is N×In of the type, dense or, but for such a type,
// sparse; y is N×Out for every type, and of a block NumDst×Out. A node without in-edges has z = b.
//
// The scores run on edges, E×Heads of each relation, since one softmax goes over all of
// them; the sums are products of sparse matrices, a relation each.
type HGTConv struct {
	In       map[string]int // width of each type's features
	Out      int            // width of the result, all heads together
	Heads    int            `json:",omitempty"` // 0: 1
	Rels     []hetero.Rel   // the relations that are read
	AttnDrop float64        `json:",omitempty"` // dropout of the normalised attention

	NoBias       bool `json:",omitempty"` // K, Q, V and W are matrices alone
	NoActivation bool `json:",omitempty"` // without the GELU

	Key, Query, Value, Mix map[string]*layers.Linear `json:"-"` // of each type
	Skip                   map[string]*grad.Param    `json:"-"` // s, of each type as wide as Out
	WKey, WValue           map[string]*grad.Param    `json:"-"` // A and M of each relation, D×(Heads·D)
	Prior                  map[string]*grad.Param    `json:"-"` // p of each relation, Heads
}

// Init makes the Params: matrices by Glorot's uniform distribution, p and s one, biases
// zero.
func (l *HGTConv) Init(rng *rand.Rand) {
	compose.WantOptions(l, "Out")
	heads := cmp.Or(l.Heads, 1)
	wantHeads("relational.HGTConv", l.In, l.Out, heads, l.Rels)
	l.Key, l.Query, l.Value = linears(rng, l.In, l.Out, l.NoBias), linears(rng, l.In, l.Out, l.NoBias), linears(rng, l.In, l.Out, l.NoBias)
	l.Mix, l.Skip = map[string]*layers.Linear{}, map[string]*grad.Param{}
	for _, name := range typesOf(l.In) {
		l.Mix[name] = &layers.Linear{In: l.Out, Out: l.Out, NoBias: l.NoBias}
		l.Mix[name].Init(rng)
		if l.In[name] == l.Out {
			l.Skip[name] = compose.Ones(1)
		}
	}
	l.WKey, l.WValue, l.Prior = map[string]*grad.Param{}, map[string]*grad.Param{}, map[string]*grad.Param{}
	for _, r := range l.Rels {
		d := l.Out / heads
		l.WKey[r.String()], l.WValue[r.String()] = grad.Glorot(rng, d, heads*d), grad.Glorot(rng, d, heads*d)
		l.Prior[r.String()] = compose.Ones(heads)
	}
}

// Forward returns a row for each node of each type, for the features x; of a block, a row for each
// destination.
func (l *HGTConv) Forward(t *grad.Tape, h *hetero.Graph, x map[string]*grad.Var) map[string]*grad.Var {
	compose.WantMade("relational.HGTConv", "Params", l.Key != nil)
	wantNodes("relational.HGTConv", l.In, l.Rels, h, x)
	heads := cmp.Or(l.Heads, 1)
	key, query, value := map[string]*grad.Var{}, map[string]*grad.Var{}, map[string]*grad.Var{}
	for _, name := range typesOf(l.In) {
		split := func(of *layers.Linear, x *grad.Var) *grad.Var {
			return compose.SplitHeads(of.Forward(t, x), heads, l.Out/heads)
		}
		key[name] = split(l.Key[name], x[name])
		if !onlySends(h, name) {
			query[name] = split(l.Query[name], destinations(h, name, x[name]))
		}
		value[name] = split(l.Value[name], x[name])
	}
	y := map[string]*grad.Var{}
	for _, name := range typesOf(l.In) {
		if onlySends(h, name) {
			y[name] = grad.Const(tensor.New(0, l.Out))
			continue
		}
		z := l.heard(t, h, name, parts{key, query, value})
		if !l.NoActivation {
			z = z.GELU()
		}
		z = l.Mix[name].Forward(t, z)
		if s := l.Skip[name]; s != nil {
			own := destinations(h, name, x[name])
			z = z.Sub(own).Mul(t.Use(s).Sigmoid()).Add(own)
		}
		y[name] = z
	}
	return y
}

// parts is what attention reads of each type's nodes, N×Heads×D; queries are those of destinations.
type parts struct{ key, query, value map[string]*grad.Var }

// heard is the sum over the in-edges of the nodes of a type, N×Out.
func (l *HGTConv) heard(t *grad.Tape, h *hetero.Graph, dst string, p parts) *grad.Var {
	heads, d := cmp.Or(l.Heads, 1), l.Out/cmp.Or(l.Heads, 1)
	var scores, sums []message.Relation
	for _, r := range l.Rels {
		if r.Dst != dst {
			continue
		}
		k := compose.SplitHeads(compose.TimesHeads(p.key[r.Src], t.Use(l.WKey[r.String()])), heads, d)
		prior := t.Use(l.Prior[r.String()]).Reshape(heads, 1)
		score := message.UDotV(k, p.query[dst]).Mul(message.W(prior)).Scale(1 / math.Sqrt(float64(d)))
		scores = append(scores, message.Relation{Graph: h.Graph(r), Msg: score})
		v := compose.SplitHeads(compose.TimesHeads(p.value[r.Src], t.Use(l.WValue[r.String()])), heads, d)
		sums = append(sums, message.Relation{Graph: h.Graph(r), Msg: message.U(v)})
	}
	if len(scores) == 0 { // nothing leads here
		return grad.Const(tensor.New(h.NumDst(dst), l.Out))
	}
	for i, alpha := range message.SoftmaxRelations(scores...) {
		sums[i].Msg = sums[i].Msg.Mul(message.E(t.Dropout(alpha, l.AttnDrop)))
	}
	return message.UpdateRelations(message.Sum, sums...).Reshape(h.NumDst(dst), l.Out)
}
