// Package bench is what benchmarks stand on: Benchmark, the Timer, the Line that a script reads and
// the Table that people read, and what this machine can do.
//
// The benchmarks themselves stand in packages below it, by subject: kernels, layers and trainings.
// suite lists them all. To add a benchmark, write a function that returns it in a file of one of
// these packages, and add a line to the list in suite:
//
//	// Reversal turns an array round.
//	func Reversal(c *bench.Choice) []bench.Benchmark {
//		return []bench.Benchmark{{
//			Name: "reverse/2048", Op: "reverse", Lanes: 1, Params: map[string]any{"n": 2048, "threads": c.Threads},
//			Prepare: func() bench.Work {
//				x := bench.Operand(2048).Data
//				return bench.Work{Call: func() { slices.Reverse(x) }}
//			},
//		}}
//	}
//
// A kernel on a graph is a row in kernels instead, which names its graphs and widths.
//
// A Timer repeats a call by the rule of the scripts in cmd/gatbench/peers and returns a Line in their
// form:
//
//	t := bench.NewTimer(version, bench.PeersBudget())
//	for _, b := range suite.All(choice, trainings) {
//		line, err := t.Time(ctx, &b)
//		…
//	}
//
// Ceilings compare lines with the machine. The sweep is kernels on more graphs and widths, for a
// table of its own. Package runs does with all this what the command is asked for, and trace shows
// what each thread does.
package bench
