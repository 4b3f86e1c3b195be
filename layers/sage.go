package layers

import (
	"cmp"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// SAGEConv learns from a node and, by weights of their own, from an aggregate of
// its in-neighbours.
//
//	y_v = act( agg_u(weight_uv·x_u)·W + x_v·W_root + b ),   with Normalise y_v/‖y_v‖
//
// of Hamilton, Ying and Leskovec, "Inductive Representation Learning on Large
// Graphs", NeurIPS 2017. The paper's mean is the preset; its pooling is
// AggregateMax of ReLU(x_u·W_pool + b_pool), which is Project; AggregateGCN is
// (Σ_u weight_uv·x_u + x_v)/(din_v + 1)·W and has no W_root; AggregateLSTM reads
// the in-neighbours in the order of the edges. Src is NumSrc×In, dense or, but
// for AggregateMax and AggregateLSTM without Project, sparse; Dst NumDst×InDst;
// Weight E or E×1. The result is NumDst×Out. A node without in-edges aggregates
// zero. Of a mean the weights are not part of the count.
type SAGEConv struct {
	In         int             // width of the sources' features
	InDst      int             `json:",omitempty"` // width of the destinations'; 0: In
	Out        int             // width of the result
	Aggregate  Aggregator      `json:",omitempty"` // empty: mean
	Project    bool            `json:",omitempty"` // aggregate ReLU(x·W_pool + b_pool)
	FeatDrop   float64         `json:",omitempty"` // dropout of the nodes' features
	Normalise  bool            `json:",omitempty"` // make the length of each row one
	NoRoot     bool            `json:",omitempty"` // without x_v·W_root
	NoBias     bool            `json:",omitempty"` // without b; the projection keeps its own
	Activation grad.Activation `json:",omitempty"`

	W     *grad.Param `json:"-"` // In×Out
	WRoot *grad.Param `json:"-"` // InDst×Out
	B     *grad.Param `json:"-"` // Out
	WPool *grad.Param `json:"-"` // In×In
	BPool *grad.Param `json:"-"` // In

	WGates *grad.Param `json:"-"` // In×4·In, of the LSTM: i, f, g, o
	UGates *grad.Param `json:"-"` // In×4·In
	BGates *grad.Param `json:"-"` // 4·In
}

// Init makes the Params: matrices by Glorot's uniform distribution, biases zero.
func (l *SAGEConv) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.WRoot, l.WPool, l.BPool, l.WGates, l.UGates, l.BGates = nil, nil, nil, nil, nil, nil
	l.W = grad.Glorot(rng, l.In, l.Out)
	if l.rooted() {
		l.WRoot = grad.Glorot(rng, cmp.Or(l.InDst, l.In), l.Out)
	}
	l.B = compose.Bias(!l.NoBias, l.Out)
	if l.Project {
		l.WPool, l.BPool = grad.Glorot(rng, l.In, l.In), compose.Bias(true, l.In)
	}
	if l.Aggregate == AggregateLSTM {
		l.WGates, l.UGates = grad.Glorot(rng, l.In, 4*l.In), grad.Glorot(rng, l.In, 4*l.In)
		l.BGates = compose.Bias(true, 4*l.In)
	}
}

// rooted reports whether a node has weights of its own.
func (l *SAGEConv) rooted() bool { return !l.NoRoot && l.Aggregate != AggregateGCN }

// Forward returns the layer's result for the features x of g's sources.
func (l *SAGEConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with weights of the edges and other nodes as destinations.
// There is no attention.
func (l *SAGEConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	compose.WantInit("layers.SAGEConv", l.W, l.Out)
	read := in
	if l.NoRoot && l.Aggregate != AggregateGCN {
		read.Dst = nil
	}
	read.check(g, wants{op: "layers.SAGEConv", own: l.rooted() || l.Aggregate == AggregateGCN, src: l.W, dst: l.WRoot, dstField: "InDst"})
	in = in.drop(t, l.FeatDrop)
	y := l.neighbours(t, g, in)
	if l.rooted() {
		y = y.Add(in.onDst(g, func(x *grad.Var) *grad.Var { return x.MatMul(t.Use(l.WRoot)) }))
	}
	y = y.AddBias(compose.Use(t, l.B), l.Activation)
	if l.Normalise {
		y = y.L2Normalise()
	}
	return Out{Y: y}
}

// neighbours returns what each node's in-neighbours give it.
func (l *SAGEConv) neighbours(t *grad.Tape, g *graph.Graph, in In) *grad.Var {
	w := t.Use(l.W)
	in.Src = l.pool(t, in.Src)
	switch l.Aggregate {
	case AggregateGCN:
		in.Dst = l.pool(t, in.Dst)
		own := in.onDst(g, func(x *grad.Var) *grad.Var { return x.MatMul(w) })
		sum := NormNone.propagation("layers.SAGEConv", g, in.Weight).project(in.Src, w, 1)
		return sum.Add(own).Mul(closedDegrees(g))
	case AggregateLSTM:
		return l.remember(t, g, in).MatMul(w)
	}
	r := l.Aggregate.reducer("layers.SAGEConv", message.Mean)
	if r == message.Max {
		in.checkDense("layers.SAGEConv", "set Project, or aggregate by their mean or sum")
	}
	return aggregateOf(g, r, in, w)
}

// pool returns ReLU(x·W_pool + b_pool) if the layer projects, else x.
func (l *SAGEConv) pool(t *grad.Tape, x *grad.Var) *grad.Var {
	if x == nil || !l.Project {
		return x
	}
	return x.Linear(t.Use(l.WPool), t.Use(l.BPool), grad.ReLU)
}

// remember returns the last state of an LSTM that reads each node's
// in-neighbours in the order of the edges; of none zero. A node's edges are a
// chain, and edges are numbered along these chains.
func (l *SAGEConv) remember(t *grad.Tape, g *graph.Graph, in In) *grad.Var {
	in.checkDense("layers.SAGEConv", "set Project, or aggregate by their mean or sum")
	z := message.ApplyEdges(g, weighted(in.Src.MatMul(t.Use(l.WGates)), in.Weight)).Add(t.Use(l.BGates))
	c := graph.Derive(g, chainsKey{}, func() *chained { return chainEdges(g) })
	u, none := t.Use(l.UGates), grad.Const(tensor.New(1, l.In))
	s := message.Sweep(c.graph, message.State{none, none}, func(lv *message.Level, prev message.State) message.State {
		h := message.UpdateAll(lv.In, message.CopyU(prev[0]), message.Sum)
		cell := message.UpdateAll(lv.In, message.CopyU(prev[1]), message.Sum)
		gates := lv.Rows(z).Add(h.MatMul(u)).Split(l.In, l.In, l.In, l.In)
		cell = gates[1].Sigmoid().Mul(cell).Add(gates[0].Sigmoid().Mul(gates[2].Tanh()))
		return message.State{gates[3].Sigmoid().Mul(cell.Tanh()), cell}
	})
	return s[0].Rows(c.graph.Sinks()).ScatterAdd(c.heard, g.NumDst())
}

type chainsKey struct{}

// chained is a graph whose nodes are edges, each destination's a chain.
type chained struct {
	graph *graph.Graph
	heard []int32 // the destinations that have edges, one for each chain that has nodes
}

func chainEdges(g *graph.Graph) *chained {
	c := &chained{}
	var lengths []int
	for v, n := range g.InDegrees() {
		if n > 0 {
			lengths, c.heard = append(lengths, int(n)), append(c.heard, int32(v))
		}
	}
	c.graph = graph.Chains(lengths...)
	return c
}
