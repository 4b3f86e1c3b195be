package explain

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// gradients returns the logit of the class for features and weights, and its
// gradients by both. They live until the tape's next Reset.
func (c *Case) gradients(t *grad.Tape, x, weight *tensor.Dense) (logit float64, byX, byWeight *tensor.Dense) {
	t.Reset()
	xs, ws := t.Watch(x), t.Watch(weight)
	y := c.logit(t, xs, ws)
	g := t.Backward(y)
	return float64(y.Value().Data[0]), g.Of(xs), g.Of(ws)
}

// Saliency returns gradient × input: the derivative of the logit of the class by each
// feature times the feature, and by the weight of each edge, which is 1. It is how
// the logit would change if all things changed a little; Simonyan, Vedaldi and
// Zisserman, "Deep Inside Convolutional Networks", 2014, and Shrikumar and others, 2017.
func (c *Case) Saliency() *Explanation {
	e := c.blank()
	_, byX, byWeight := c.gradients(grad.NewTape(0), c.Features, c.weights(1))
	for _, edge := range c.open {
		e.Edges[edge] = float64(byWeight.Data[edge])
	}
	e.Each = byX.Clone()
	for i, v := range c.Features.Data {
		e.Each.Data[i] *= v
	}
	e.Features = columnSums(e.Each)
	return e
}

// columnSums returns the sum of each column.
func columnSums(x *tensor.Dense) []float64 {
	sums := make([]float64, x.RowLen())
	for i := range x.Rows() {
		for j, v := range x.Row(i) {
			sums[j] += float64(v)
		}
	}
	return sums
}

// DefaultSteps is how many steps [Case.Integrated] takes if it is told 0.
const DefaultSteps = 64

// Integrated returns integrated gradients of the logit of the class: gradient × input,
// where the gradient is its mean along a straight path from a baseline. The features
// come from zeros, with all edges there; then, with all features there, the edges come
// from a graph without those that can be left out. So the features' scores add up to
// what the features change of the logit, and the edges' to what the edges change; Gap
// is by how much the steps, of which it takes the middles, miss that. Sundararajan,
// Taly and Yan, "Axiomatic Attribution for Deep Networks", ICML 2017.
func (c *Case) Integrated(steps int) *Explanation {
	wantOptions("explain.Case.Integrated", option{"steps", float64(steps)})
	if steps == 0 {
		steps = DefaultSteps
	}
	e, t := c.blank(), grad.NewTape(0)
	byX, byEdge := make([]float64, len(c.Features.Data)), make([]float64, len(e.Edges))
	x, all := c.Features.Clone(), c.weights(1)
	for i := range steps {
		share := (float64(i) + 0.5) / float64(steps)
		for k, v := range c.Features.Data {
			x.Data[k] = tensor.Float(share * float64(v))
		}
		_, g, _ := c.gradients(t, x, all)
		accumulate(byX, g.Data)
		_, _, g = c.gradients(t, c.Features, c.weights(share))
		accumulate(byEdge, g.Data)
	}
	e.Each = tensor.New(c.Features.Shape()...)
	for k, v := range c.Features.Data {
		e.Each.Data[k] = tensor.Float(byX[k] / float64(steps) * float64(v))
	}
	e.Features = columnSums(e.Each)
	for _, edge := range c.open {
		e.Edges[edge] = byEdge[edge] / float64(steps)
	}
	e.Gap = c.gap(e)
	return e
}

// accumulate adds y to x.
func accumulate(x []float64, y []tensor.Float) {
	for i, v := range y {
		x[i] += float64(v)
	}
}

// gap returns by how much the scores of features or of edges miss what they add up to.
func (c *Case) gap(e *Explanation) float64 {
	at := func(x *tensor.Dense, edges float64) float64 {
		return float64(c.logit(nil, grad.Const(x), grad.Const(c.weights(edges))).Value().Data[0])
	}
	whole := at(c.Features, 1)
	features := sum(e.Features) - (whole - at(c.Features.Like(), 1))
	edges := sum(e.Edges) - (whole - at(c.Features, 0))
	return max(math.Abs(features), math.Abs(edges))
}

func sum(x []float64) float64 {
	total := 0.0
	for _, v := range x {
		total += v
	}
	return total
}
