// Package exec runs a plan on a graph, a tile of edges at a time.
//
//	Run            records an evaluation, which the tape keeps, and makes passes of it
//	  │
//	forward pass   each thread takes a chunk of edges, cuts it into tiles that stay in
//	  │            cache and evaluates a tile step by step; then its messages are summed,
//	  │            reduced or stored
//	  │
//	backPass       does the same again from the last step to the first
//	  └─ window    holds what edges give their sources, until each part of the sources
//	               takes what is its own
//
// The files, from what is called to what it calls:
//
//	explain  late                  what is said of a plan; a result that waits
//	run  backpass  gatv2walk       a pass over all edges, by tiles or by walks
//	backward  forward              a tile, from its last step to its first, and back
//	step  joined  sums  reduction  its steps, as package ops has them and as plans join them; its results
//	worker                         a thread's scratch
//	window  leafgrad               where gradients of leaves go
//	pass  evaluation               what all workers share
//	partition  tile                how the edges are cut
package exec
