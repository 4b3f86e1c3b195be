package layers

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
)

// Aggregator says what a layer makes of a node's in-neighbours. Its text form
// is its name.
type Aggregator string

// The aggregators. The zero value is the one of the layer's paper.
const (
	AggregateMean Aggregator = "mean"
	AggregateSum  Aggregator = "sum"
	AggregateMax  Aggregator = "max"  // of each column
	AggregateMin  Aggregator = "min"  // of each column; PNAConv only
	AggregateStd  Aggregator = "std"  // the standard deviation, over n; PNAConv only
	AggregateVar  Aggregator = "var"  // its square; PNAConv only
	AggregateGCN  Aggregator = "gcn"  // the mean of in-neighbours and node together; SAGEConv only
	AggregateLSTM Aggregator = "lstm" // the last state of an LSTM over them, in the order of the edges; SAGEConv only
)

// reducer returns how messages are reduced. The empty aggregator is preset.
func (a Aggregator) reducer(op string, preset message.Reducer) message.Reducer {
	switch a {
	case "":
		return preset
	case AggregateMean:
		return message.Mean
	case AggregateSum:
		return message.Sum
	case AggregateMax:
		return message.Max
	}
	panic(&grad.TapeError{Op: op, Why: "it has no aggregator called " + string(a)})
}

// aggregate reduces the rows of a node's in-neighbours, times the edges' weights;
// nil is 1. Of a mean the weights are not part of the count. A weighted mean is
// taken as a sum, for which there is a rule.
func aggregate(g *graph.Graph, r message.Reducer, x, weight *grad.Var) *grad.Var {
	if r == message.Mean && weight != nil {
		return message.UpdateAll(g, weighted(x, weight), message.Sum).Mul(degrees(g, inward, -1))
	}
	return message.UpdateAll(g, weighted(x, weight), r)
}

// aggregateOf is aggregate of x·w. A sum or a mean commutes with the product, and
// productFirst says which is taken first.
func aggregateOf(g *graph.Graph, r message.Reducer, in In, w *grad.Var) *grad.Var {
	if r != message.Max && productFirst(g, in.Src, w) {
		return aggregate(g, r, in.Src.MatMul(w), in.Weight)
	}
	return aggregate(g, r, in.Src, in.Weight).MatMul(w)
}

// productFirst reports whether x·w is taken before the sum over a node's edges. So it
// is where w makes the rows shorter, and of sparse rows, except on a block of many
// more sources than destinations: there fewer rows are multiplied after the sum. That
// changes the last bits of a row with the size of the block, so only a training does it.
func productFirst(g *graph.Graph, x, w *grad.Var) bool {
	in, out := w.Dim(0), w.Dim(1)
	switch {
	case x.IsSparse():
		return true
	case out > in:
		return false
	case !x.Needs() && !w.Needs():
		return true
	}
	saved := (g.NumSrc() - g.NumDst()) * in * out // multiply-adds
	return saved < blockProduct+edgeElement*g.NumEdges()*(in-out)
}

// The sum is taken first where that saves so many multiply-adds, of which an element
// of an edge's row is worth some, since it comes from memory.
const (
	blockProduct = 1 << 26
	edgeElement  = 16
)
