// Package rules says which kernel runs a message.
//
//	Table        each rule has a name and looks at a plan: is this mine?
//	   │  Compile, once a plan
//	   ▼
//	Compiled     the plan, and the kernels of all rules that matched, in the table's order
//	   │  Choose, once a call: the first that takes the call's graph and values
//	   ▼
//	Kernel       Forward computes the result and records how to go back
//
// A kernel has a file, with its rule's match, its forward and its backward. The last
// rule is that of the tiles, which run everything. docs/inside/adding-a-kernel.md adds one.
package rules
