package layers

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// RGCNConv is a graph convolution for edges of several kinds, each of which has a
// matrix of its own.
//
//	y_v = act( norm( Σ_r 1/|N_r(v)|·Σ_{u ∈ N_r(v)} weight_uv·x_u·W_r ) + x_v·W_root + b )
//
// of Schlichtkrull, Kipf, Bloem, van den Berg, Titov and Welling, "Modeling Relational
// Data with Graph Convolutional Networks", ESWC 2018; PyG's RGCNConv. AggregateSum
// leaves out 1/|N_r(v)|, as DGL's RelGraphConv, whose norm is Weight. The kinds of the
// graph's edges say what r is. Many relations share what they learn:
//
//	Bases:   W_r = Σ_b a_rb·V_b        Blocks:   W_r = diag(W_r1, …, W_rB)
//
// Src is NumSrc×In, dense or, but for Blocks, sparse; Dst NumDst×InDst; Weight E or
// E×1. The result is NumDst×Out. A node without in-edges gets act(x_v·W_root + b).
//
// What a node hears from a kind of edge is summed before it is multiplied, and neither is
// stored (message.UpdateKinds). Of edges with a Weight, and of sparse x, a relation's product is taken once
// a node, for the nodes that an edge of its kind leaves. With Blocks, and of these in small graphs, it is
// taken for all, NumSrc×Relations×Out, and an edge picks the row of its kind in tiles.
type RGCNConv struct {
	In, Out    int
	InDst      int             `json:",omitempty"` // width of the destinations' features; 0: In
	Relations  int             // kinds of edges
	Bases      int             `json:",omitempty"` // matrices that relations are mixed from; 0: each has its own
	Blocks     int             `json:",omitempty"` // blocks on the diagonals of the relations' matrices; 0: these are full
	Aggregate  Aggregator      `json:",omitempty"` // empty: the mean of each relation; or the sum
	LayerNorm  bool            `json:",omitempty"` // norm is a LayerNorm, as DGL has it; else there is none
	NoRoot     bool            `json:",omitempty"` // without x_v·W_root
	NoBias     bool            `json:",omitempty"`
	Activation grad.Activation `json:",omitempty"`

	W     *grad.Param `json:"-"` // Relations×In×Out; Bases×In×Out; or (Relations·Blocks)×(In/Blocks)×(Out/Blocks)
	Mix   *grad.Param `json:"-"` // a, Relations×Bases
	WRoot *grad.Param `json:"-"` // InDst×Out
	B     *grad.Param `json:"-"` // Out
	Norm  *LayerNorm  `json:"-"`
}

// Init makes the Params: matrices by Glorot's uniform distribution, b zero.
func (l *RGCNConv) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.Mix, l.WRoot, l.Norm = nil, nil, nil
	switch {
	case l.Bases > 0 && l.Blocks > 0:
		panic(&grad.TapeError{Op: "layers.RGCNConv", Why: "Bases and Blocks are given: choose one"})
	case l.Blocks > 0 && (l.In%l.Blocks != 0 || l.Out%l.Blocks != 0):
		panic(&grad.TapeError{Op: "layers.RGCNConv", Why: fmt.Sprintf("In %d and Out %d cannot be cut into %d Blocks", l.In, l.Out, l.Blocks)})
	case l.Blocks > 0:
		l.W = glorotPer(rng, l.Relations*l.Blocks, l.In/l.Blocks, l.Out/l.Blocks)
	default:
		l.W = glorotPer(rng, cmp.Or(l.Bases, l.Relations), l.In, l.Out)
	}
	if l.Bases > 0 {
		l.Mix = grad.Glorot(rng, l.Relations, l.Bases)
	}
	if !l.NoRoot {
		l.WRoot = grad.Glorot(rng, cmp.Or(l.InDst, l.In), l.Out)
	}
	if l.LayerNorm {
		l.Norm = &LayerNorm{Width: l.Out}
		l.Norm.Init(rng)
	}
	l.B = compose.Bias(!l.NoBias, l.Out)
}

// Forward returns the layer's result for the features x of g's sources.
func (l *RGCNConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with weights of the edges and other nodes as destinations.
// There is no attention.
func (l *RGCNConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	compose.WantInit("layers.RGCNConv", l.W, l.Out/max(1, l.Blocks))
	read := in
	if l.NoRoot {
		read.Dst = nil
	}
	read.check(g, wants{op: "layers.RGCNConv", own: !l.NoRoot, width: &l.In, dst: l.WRoot, dstField: "InDst"})
	wantKinds("layers.RGCNConv", g, l.Relations, "Relations")
	y := l.sum(t, g, in)
	if l.Norm != nil {
		y = l.Norm.Forward(t, y)
	}
	if !l.NoRoot {
		y = y.Add(in.onDst(g, func(x *grad.Var) *grad.Var { return x.MatMul(t.Use(l.WRoot)) }))
	}
	return Out{Y: y.AddBias(compose.Use(t, l.B), l.Activation)}
}

// sum returns what each node hears from the edges of all kinds. Dense products are not
// stored, but for edges with weights. The size of the graph does not say which: a sum before
// its product rounds otherwise, and a node's bits would follow from the others.
func (l *RGCNConv) sum(t *grad.Tape, g *graph.Graph, in In) *grad.Var {
	by := l.Aggregate.reducer("layers.RGCNConv", message.Mean)
	if by != message.Sum && by != message.Mean {
		panic(&grad.TapeError{Op: "layers.RGCNConv", Why: "it has no aggregator called " + string(l.Aggregate)})
	}
	if in.Weight == nil && l.dense(in) {
		return message.UpdateKinds(g, in.Src, l.matrices(t), by)
	}
	on, m := l.carried(t, g, in)
	if by == message.Mean {
		m = m.Mul(message.E(kindShares(g)))
	}
	return message.UpdateAll(on, in.weigh(m), message.Sum)
}

// kindRowsLeast is how many elements the products of all nodes with the matrices of all
// relations have from which they are not all made.
const kindRowsLeast = 1 << 16

// large reports whether the products of features are so many.
func (l *RGCNConv) large(g *graph.Graph) bool {
	return g.NumEdges() > 0 && g.NumSrc()*l.Relations*l.Out >= kindRowsLeast
}

// dense reports whether dense features are multiplied by whole matrices.
func (l *RGCNConv) dense(in In) bool { return l.Blocks == 0 && !in.Src.IsSparse() }

// carried returns what each edge carries, x_u·W_r, on g or on a graph of the same edges.
// Where a quarter of all products are read by no edge only the others are taken.
func (l *RGCNConv) carried(t *grad.Tape, g *graph.Graph, in In) (*graph.Graph, message.Msg) {
	if l.Blocks == 0 && l.large(g) {
		if r := kindRowsOf(g, l.Relations); 4*len(r.nodes) <= 3*g.NumSrc()*l.Relations {
			return r.graph, message.U(r.times(in.Src, l.matrices(t)))
		}
	}
	return g, message.U(l.relations(t, in)).Pick(g.Kinds())
}

// matrices returns the matrix of each relation, without Blocks.
func (l *RGCNConv) matrices(t *grad.Tape) *grad.Var {
	w := t.Use(l.W)
	if l.Bases == 0 {
		return w
	}
	return t.Use(l.Mix).MatMul(w.Reshape(l.Bases, l.In*l.Out)).Reshape(l.Relations, l.In, l.Out)
}

// relations returns x_u·W_r of all relations, NumSrc×Relations×Out.
func (l *RGCNConv) relations(t *grad.Tape, in In) *grad.Var {
	if l.Blocks == 0 {
		return perKind(in.Src, l.matrices(t))
	}
	w := t.Use(l.W)
	in.checkDense("layers.RGCNConv", "use Bases, or give it the product with a matrix")
	rows, columns := l.In/l.Blocks, l.Out/l.Blocks
	blocks := w.Reshape(l.Relations, l.Blocks*rows*columns)
	parts := make([]*grad.Var, l.Blocks)
	for b := range parts {
		one := blocks.Columns(b*rows*columns, (b+1)*rows*columns).Reshape(l.Relations, rows, columns)
		parts[b] = perKind(in.Src.Columns(b*rows, (b+1)*rows), one)
	}
	return grad.Concat(parts...)
}
