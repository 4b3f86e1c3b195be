// Package attend holds the kernels of attention: arithmetic on plain arrays, without a
// tape.
//
//	Blocks   dot-product attention where the graph is made of blocks: products of
//	         matrices, and a softmax that goes along
//
// Package message decides which expression is one of these, and records it.
package attend
