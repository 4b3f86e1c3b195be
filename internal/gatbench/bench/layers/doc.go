// Package layers has the benchmarks of layers and networks, forward and backward: graph convolutions,
// recurrent networks on chains and trees, attention over words, and networks with a memory.
package layers
