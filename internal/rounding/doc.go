// Package rounding says how far a result in Float may be from its formula. Tests compare with it what is
// computed in more than one way: each way with the formula, in float64, and not one with the other.
//
// A [Formula] is written down number by number. Each [Number] carries its value and a bound for the rounding
// errors of the same number in Float: what its arguments are off by, times the slopes, and the roundings of the
// operation itself (Wilkinson's running error analysis). The bound of a sum follows the sizes of its terms and
// not that of what is left of them. [Formula.Gradients] does the same backwards.
//
//	f := rounding.NewFormula()
//	x, w := f.Given(xs), f.Given(ws) // exact
//	y := f.Tanh(f.Dot(x, w))
//	rounding.Near(t, "y", got, f.Results([]rounding.Number{y}))
//
// Errors of n roundings are taken as independent of each other, unless the terms are equal: of a sum they grow
// with √n, not n (Higham and Mary, A new approach to probabilistic rounding error analysis, 2019). The bound is otherwise one of the
// worst case, so that it suits every order of a sum, with and without fused operations. [Near] allows five
// times the bound.
package rounding
