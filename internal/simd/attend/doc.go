// Package attend holds the kernels of attention on a graph: GAT's in steps ([Tile]) and
// from exponentials of nodes ([NodeExpAttention]), GATv2's ([GATv2Walk], [EdgeRows],
// [CompactGrads]), scaled products ([DotWalk]), additive scores ([Additive]), and inner products
// and sums of heads ([Heads], [DotPair]).
package attend

//go:generate go -C ../_gen run . -kernels attend/gat
//go:generate go -C ../_gen run . -kernels attend/heads
//go:generate go -C ../_gen run . -kernels attend/edges
//go:generate go -C ../_gen run . -kernels attend/gatv2
//go:generate go -C ../_gen run . -kernels attend/dots
//go:generate go -C ../_gen run . -kernels attend/soft
//go:generate go -C ../_gen run . -kernels attend/additive
