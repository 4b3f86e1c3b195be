package explain

import "github.com/edgewise-ml/edgewise/tensor"

// Part is how many of the best edges and features are taken for the explanation. Of
// what has 0 nothing is taken, and nothing is left out.
type Part struct{ Edges, Features int }

// Fidelity says how far an explanation can be believed, by the model's probability of
// the class: Plus is how much of it is lost without the best edges and features, so
// high where they were needed; Minus how much is lost with them alone, so near 0, or
// below, where they are enough. Pope and others, CVPR 2019; Yuan, Yu, Gui and Ji,
// "Explainability in Graph Neural Networks: A Taxonomic Survey", 2022. Flips and Holds
// are the same of the class alone: the shares of cases that flip, and that do not hold, are the survey's
// fidelities of accuracy, and PyG's.
type Fidelity struct {
	Probability float64 // with all
	Plus, Minus float64
	Flips       bool    // without the best, another class is the likeliest
	Holds       bool    // with them alone the class is
	Sparsity    float64 // the share of the edges that are not among the best
}

// Fidelity returns that of the best part of an explanation.
func (c *Case) Fidelity(e *Explanation, best Part) Fidelity {
	c.fits("explain.Case.Fidelity", e)
	without, alone := c.weights(1), c.weights(1)
	less, only := c.Features.Clone(), c.Features.Clone()
	chosen := e.TopEdges(best.Edges)
	if len(chosen) > 0 {
		alone = c.weights(0)
		for _, edge := range chosen {
			without.Data[edge], alone.Data[edge] = 0, 1
		}
	}
	if columns := e.TopFeatures(best.Features); len(columns) > 0 {
		keep := make([]bool, len(e.Features))
		for _, j := range columns {
			keep[j] = true
		}
		zero(less, func(j int) bool { return keep[j] })
		zero(only, func(j int) bool { return !keep[j] })
	}
	f := Fidelity{Probability: c.Probability()}
	left, likeliest := c.chance(less, without)
	kept, holds := c.chance(only, alone)
	f.Plus, f.Minus, f.Flips, f.Holds = f.Probability-left, f.Probability-kept, !likeliest, holds
	if n := len(c.open); n > 0 {
		f.Sparsity = 1 - float64(len(chosen))/float64(n)
	}
	return f
}

// zero sets some columns to 0.
func zero(x *tensor.Dense, column func(j int) bool) {
	for i := range x.Rows() {
		for j := range x.Row(i) {
			if column(j) {
				x.Row(i)[j] = 0
			}
		}
	}
}
