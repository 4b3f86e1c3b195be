// Package rules says in which way a message runs.
//
//	Table        each rule has a name and looks at a plan: is this mine?
//	   │  Compile, once a plan
//	   ▼
//	Compiled     the plan, and the ways of all rules that matched, in the table's order
//	   │  Choose, once a call: the first that takes the call's graph and values
//	   ▼
//	Way          Forward computes the result and records how to go back
//
// A rule has a file, with its match and its way: forward and backward. The last
// rule is that of the tiles, which run everything. The kernels, loops over rows in Go and assembly, are those of
// internal/simd; whole passes of attention over a graph are those of internal/fused. docs/inside/adding-a-rule.md adds one.
package rules
