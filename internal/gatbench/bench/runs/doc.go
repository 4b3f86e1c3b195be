// Package runs does what gatbench bench is asked for: it lists benchmarks, times them as a table or as
// lines, shows how they grow with threads, and draws a sweep.
//
//	err := runs.Run(e, runs.Settings{Names: []string{"gemm"}, Source: peers})
//
// Settings are what the flags say. Of the command itself it knows nothing: how a graph is read and
// what is trained, the settings say too.
package runs
