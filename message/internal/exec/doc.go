// Package exec runs a plan on a graph, a tile of edges at a time.
//
//	Run          begins an operation and makes an evaluation, which a tape keeps
//	   │
//	 pass        one traversal of all edges, forward or backward
//	   │  partition   cuts the edges into chunks: a thread's work, which no thread count changes
//	 worker      one thread's scratch; it cuts its chunk into tiles that stay in cache
//	   │
//	 forward     evaluates a tile step by step: gather, joined, peredge, matmul, softmax;
//	   │         then reduces or stores what came of it: sums, reduction
//	   │
//	 backpass    computes each tile again and goes back through its steps: backward, elementwise
//	   │
//	 leafgrad    what comes to a leaf: V and E where they belong, W in sums of chunks, U in a window
//	 sourceorder of edges, which is added by source when it is full; compactgrad is a smaller window
//
// gatv2walk does attention by GATv2 without tiles. Files are named after what they
// hold and read best in this order.
package exec
