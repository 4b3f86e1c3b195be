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
// taken as a sum, for which there is a kernel.
func aggregate(g *graph.Graph, r message.Reducer, x, weight *grad.Var) *grad.Var {
	if r == message.Mean && weight != nil {
		return message.UpdateAll(g, weighted(x, weight), message.Sum).Mul(degrees(g, inward, -1))
	}
	return message.UpdateAll(g, weighted(x, weight), r)
}

// aggregateOf is aggregate of x·w. A sum or a mean commutes with the product: it
// is taken where the rows are short, and of sparse rows after the product.
func aggregateOf(g *graph.Graph, r message.Reducer, in In, w *grad.Var) *grad.Var {
	if r != message.Max && (in.Src.IsSparse() || w.Dim(1) <= w.Dim(0)) {
		return aggregate(g, r, in.Src.MatMul(w), in.Weight)
	}
	return aggregate(g, r, in.Src, in.Weight).MatMul(w)
}
