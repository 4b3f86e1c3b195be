// Package compare holds numbers of a test against those that are wanted. Every test does so here, so that all
// say alike what is wrong: the place of the number, what it is, what it should be and how far off it may be.
//
//	compare.Bits(t, "y on 3 threads", got.Data, want.Data)
//	compare.Near(t, "y", got.Data, want, compare.Part(1e-5))
//	compare.Arrays(t, "gradients", got, want, compare.SameBits.OrNaN())
//
// Its one noun is [Tolerance]. NaN is near to nothing unless [Tolerance.OrNaN] says so, and an infinity only to itself. Numbers
// are float32 or float64, got and wanted ones each.
//
// What is computed in more than one way has no tolerance that is known beforehand: internal/rounding derives it from the formula.
package compare
