// Package bench times the kernels, layers and trainings of edgewise, beside what
// this machine can do.
//
// A Benchmark has a path for a name, and All returns those there are, a family a
// file: products in gemm.go, kernels on graphs in sums.go, edges.go and
// attention.go, epochs of trainings in train.go and ablation.go. A new family is a
// file with a function that returns its benchmarks, and a line in All.
//
//	t := bench.NewTimer(version, bench.PeersBudget())
//	for _, b := range bench.All(choice) {
//		line, err := t.Time(ctx, &b)
//		…
//	}
//
// A Timer repeats a call by the rule of the scripts in cmd/gatbench/peers and
// returns a Line in their form. A Table writes lines for people; Ceilings compare
// them with the machine. The sweep is kernels on more graphs and widths, for a table
// of its own.
//
// What is trained, and how, is the command's own: it hands in Trainings. Flags,
// printing and other processes are its part too.
package bench
