package layers

import (
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Scaler says by what a [PNAConv] multiplies what a node of d in-neighbours aggregates.
// Its text form is its name.
type Scaler string

// The scalers. δ is the layer's Delta and d̄ its MeanDegree. A d of 0 counts as 1; there
// the aggregate is zero.
const (
	ScaleIdentity   Scaler = "identity"       // 1
	ScaleAmplify    Scaler = "amplification"  // log(d+1)/δ
	ScaleAttenuate  Scaler = "attenuation"    // δ/log(d+1)
	ScaleLinear     Scaler = "linear"         // d/d̄
	ScaleInverseLin Scaler = "inverse_linear" // d̄/d
)

// scalers returns the layer's, or those of the paper.
func (l *PNAConv) scalers() []Scaler {
	if len(l.Scalers) > 0 {
		return l.Scalers
	}
	return []Scaler{ScaleIdentity, ScaleAmplify, ScaleAttenuate}
}

// aggregators returns the layer's, or those of the paper.
func (l *PNAConv) aggregators() []Aggregator {
	if len(l.Aggregators) > 0 {
		return l.Aggregators
	}
	return []Aggregator{AggregateMean, AggregateMax, AggregateMin, AggregateStd}
}

// scales returns what each scaler multiplies the rows by, as columns; nil is 1.
func (l *PNAConv) scales(g *graph.Graph) []*grad.Var {
	var columns []*grad.Var
	for _, s := range l.scalers() {
		switch s {
		case ScaleIdentity:
			columns = append(columns, nil)
		case ScaleAmplify:
			columns = append(columns, logDegrees(g, 1).Scale(1/l.want(l.Delta, "Delta")))
		case ScaleAttenuate:
			columns = append(columns, logDegrees(g, -1).Scale(l.want(l.Delta, "Delta")))
		case ScaleLinear:
			columns = append(columns, degrees(g, inward, 1).Scale(1/l.want(l.MeanDegree, "MeanDegree")))
		case ScaleInverseLin:
			columns = append(columns, degrees(g, inward, -1).Scale(l.want(l.MeanDegree, "MeanDegree")))
		default:
			panic(&grad.TapeError{Op: "layers.PNAConv", Why: "it has no scaler called " + string(s)})
		}
	}
	return columns
}

// want returns the value of a field that a scaler divides by.
func (l *PNAConv) want(v float64, field string) float64 {
	if !(v > 0) {
		panic(&grad.TapeError{Op: "layers.PNAConv", Why: "a scaler wants " + field + "; call Measure with the training graphs"})
	}
	return v
}

// aggregate returns all aggregators of m side by side, taken in one traversal. A
// variance is the square of the standard deviation.
func (l *PNAConv) aggregate(g *graph.Graph, m message.Msg) *grad.Var {
	reducers := map[Aggregator]message.Reducer{AggregateMean: message.Mean, AggregateSum: message.Sum, AggregateMax: message.Max,
		AggregateMin: message.Min, AggregateStd: message.Std, AggregateVar: message.Std}
	var rs []message.Reducer
	var at []int // where the result of each aggregator stands among rs
	for _, a := range l.aggregators() {
		r, ok := reducers[a]
		if !ok {
			panic(&grad.TapeError{Op: "layers.PNAConv", Why: "it has no aggregator called " + string(a)})
		}
		if !slices.Contains(rs, r) {
			rs = append(rs, r)
		}
		at = append(at, slices.Index(rs, r))
	}
	y := message.UpdateAll(g, m, rs...)
	if len(rs) == len(at) && !slices.Contains(l.aggregators(), AggregateVar) {
		return y
	}
	width := y.Dim(-1) / len(rs)
	var parts []*grad.Var
	for i, a := range l.aggregators() {
		part := y.Columns(at[i]*width, (at[i]+1)*width)
		if a == AggregateVar {
			part = part.Square()
		}
		parts = append(parts, part)
	}
	return grad.Concat(parts...)
}

type logKey struct{ power float64 }

// logDegrees returns log(max(1, d) + 1)^p for each destination, as a column.
func logDegrees(g *graph.Graph, p float64) *grad.Var {
	return graph.Derive(g, logKey{p}, func() *grad.Var {
		d := counts(g, inward)
		for i, v := range d.Data {
			d.Data[i] = tensor.Float(math.Pow(math.Log(math.Max(1, float64(v))+1), p))
		}
		return grad.Const(d)
	})
}

// rootShares returns 1/√n for each destination, as a column, where n is how many its
// member of the batch has.
func rootShares(g *graph.Graph) *grad.Var {
	c, offsets := tensor.New(g.NumDst(), 1), g.DstOffsets()
	for i := range len(offsets) - 1 {
		lo, hi := offsets[i], offsets[i+1]
		for v := lo; v < hi; v++ {
			c.Data[v] = tensor.Float(1 / math.Sqrt(float64(hi-lo)))
		}
	}
	return grad.Const(c)
}
