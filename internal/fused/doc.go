// Package fused computes attention on a graph in one pass over the edges, without an array of
// weights: forward and backward, on plain arrays and without a tape. Its inner loops are the
// kernels of internal/simd/attend. Package message decides which expression is one of these,
// and records it.
//
//	GAT      a sum over in-edges, weighted by softmax(LeakyReLU(el[u] + er[v] [+ ee]))
//	Blocks   dot-product attention on complete, causal and band graphs and batches of
//	         them: products of matrices, and a softmax that goes along
//	Additive tanh scores on such graphs, whose keys are read in place; the logits are kept
//	Listed   dot-product attention on listed edges, of eight heads of eight elements
//	LongRow  pieces of a row with very many edges, for GAT, Listed and GATv2's walk
//
// # Which forward pass of GAT runs
//
//	heads          width   slope   at the edges        pass
//	1, 8, 16, 24…  ≤ 8     0 to 1  nothing, or a mask  Exponentials
//	any other of these                                 Tiles
//
// The parts of a destination's logits are its row of er and its sources' rows of el. If one of
// them is beyond ±24, Exponentials computes this destination in tiles. Each destination is
// decided by itself, eight heads at a time. So the bits of its result follow from its own
// operands: they do not depend on the other destinations, and not on threads.
//
// Backward takes the pass that the records say. It takes Tiles for all destinations if one of
// them went in tiles, and where gradients of edges are wanted of an attention that has no
// numbers at its edges.
//
// # Special paths
//
//	exponentials   8 heads × 8 elements | 8 heads × fewer (slim) | one head
//	               × with a mask or without; NodeExpAttention of internal/simd/attend has them
//	               a bias is added on the way where a head has 8 elements, else in a pass after it
//	tiles          1, 2, 4 or 8 lanes; more heads in blocks of 8; mask, weights, Ee as steps of a tile
//	long rows      over 1024 edges: AddMean of exponentials, AddTop of tiles, AddSoftmax of Listed
//	past caches    results of 2²² elements and more: Exponentials of 8 × 8
//	two heads      ForwardByHeads has the rows of two heads at a time, where all of them were too much memory
//	one source     a destination that hears one source has a Σα·dα of its own, see loneRows
//	large bias     the result is computed once more without it, see drowns
//
// # Who keeps what
//
//	caller         the operands, the result, and Records: some numbers a destination and head
//	pools          a thread's tile (space); a call's exponentials, copies of er's gradient, or where
//	               there are more threads than copies the places of 2²⁴ numbers at most, see erPlaces
//	nobody         anything else of the size of the edges
//
// Additive's caller keeps a logit for each edge. Backward cuts the blocks into parts that
// share no source, and these into columns where they are few.
//
// Listed keeps three numbers a destination and head.
//
// Blocks keeps a largest logit and a sum for each destination and head (BlockStats). A thread
// has scratch for the weights of 48 destinations, and for rows of a head in panels.
package fused
