package layers

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/tensor"
)

// LightGCN is what recommendation needs of a graph convolution: the mean of a
// node's embedding and of what K propagations make of it, without weights and
// without activations.
//
//	y = 1/(K+1)·Σ_{k≤K} S^k·x,   (S·x)_v = Σ_u weight_uv·c_uv·x_u
//
// of He, Deng, Wang, Li, Zhang and Wang, "LightGCN: Simplifying and Powering Graph
// Convolution Network for Recommendation", SIGIR 2020. The graph has users and
// items as nodes and an edge each way for each interaction, without loops. Norm
// says what c is. Src is NumSrc×F, dense: the embeddings, which are what is
// trained; Weight E or E×1. The result is NumDst×F. A node without in-edges gets
// x_v/(K+1). The score of a user and an item is the scalar product of their rows.
//
// A propagation runs as one product with a sparse matrix. More than one wants a
// graph whose nodes are sources and destinations, as [SGConv] does.
type LightGCN struct {
	K    int  `json:",omitempty"` // propagations; 0: 3, as in the paper
	Norm Norm `json:",omitempty"`
}

// Init does nothing: there are no Params. All layers have it.
func (l *LightGCN) Init(*rand.Rand) { compose.WantOptions(l) }

// Forward returns the layer's result for the embeddings x of g's sources.
func (l *LightGCN) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with weights of the edges and, on a bipartite graph, one
// propagation: then x_v is In.Dst's. There is no attention.
func (l *LightGCN) Apply(_ *grad.Tape, g *graph.Graph, in In) Out {
	hops := cmp.Or(l.K, 3)
	in.check(g, wants{op: "layers.LightGCN", hops: hops, own: true})
	in.checkDense("layers.LightGCN", "its x is the embeddings of the nodes")
	s, z := l.Norm.propagation("layers.LightGCN", g, in.Weight), in.Src
	y := in.onDst(g, func(x *grad.Var) *grad.Var { return x })
	for range hops {
		z = s.of(z)
		y = y.Add(z)
	}
	return Out{Y: y.Scale(1 / float64(hops+1))}
}

// Loss is the paper's, Bayesian personalised ranking: the mean over i of
//
//	−log sigmoid(z_u·z_p − z_u·z_n),   u = users[i], p = items[i], n = others[i]
//
// where z are the rows of the nodes, as Forward returns them, u took p, and n is one that u did
// not take, drawn at random. The paper adds λ/2 times the squares of the three rows of x.
func (l *LightGCN) Loss(z *grad.Var, users, items, others []int32) *grad.Var {
	if len(users) != len(items) || len(users) != len(others) {
		panic(&tensor.ShapeError{Op: "layers.LightGCN.Loss", Shapes: [][]int{{len(users)}, {len(items)}, {len(others)}}, Why: "want as many users, items and others"})
	}
	compose.WantVar("layers.LightGCN.Loss", "z", z)
	compose.WantMatrix("layers.LightGCN.Loss", "z", z)
	compose.WantDense("layers.LightGCN.Loss", "z", z, "its rows are what Forward returns")
	for _, ids := range [][]int32{users, items, others} {
		for i, v := range ids {
			if v < 0 || int(v) >= z.Dim(0) {
				compose.BadShape("layers.LightGCN.Loss", z, fmt.Sprintf("row %d of users, items or others is node %d, and z has %d rows", i, v, z.Dim(0)))
			}
		}
	}
	u := z.Rows(users)
	return u.Mul(z.Rows(items).Sub(z.Rows(others))).SumAxis(1).LogSigmoid().Mean().Scale(-1)
}
