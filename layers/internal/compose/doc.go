// Package compose holds what families of layers share: how Params begin, how an input is
// checked and what its mistakes are called, the axis of heads, chains of tokens, and operations whose
// Params a layer may lack.
//
//	l.W, l.B = grad.Glorot(rng, l.In, l.Out), compose.Bias(!l.NoBias, l.Out)
//	…
//	compose.WantInit("layers.Linear", l.W, l.Out)
//	y := compose.Affine(t, x, l.W, l.B) // xW + b, or xW
//
// Nothing here sends a message. What knows the inputs of graph convolutions stands in package
// layers.
package compose
