package suite

import (
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/kernels"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/layers"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/trainings"
)

// All returns all there are, the ceilings of the machine first, in the order in which they are listed.
// Some are unlisted: bench.Choose selects them for the sweep, and by their names.
func All(c bench.Choice, t trainings.Trainings) []bench.Benchmark {
	var out []bench.Benchmark
	for _, family := range []func(*bench.Choice) []bench.Benchmark{
		bench.Machine,
		kernels.Products,
		kernels.Vectors,
		kernels.ForkJoin,
		kernels.OnGraphs,
		kernels.Around,
		layers.Convolutions,
		layers.Pictures,
		layers.Sequences,
		layers.Trees,
		layers.Beam,
		layers.TCN,
		layers.SelfAttention,
		layers.Lengths,
		layers.Additive,
		layers.Generate,
		layers.NTM,
		layers.Hopfield,
		layers.MemN2N,
		trainings.Samples,
		trainings.Walks,
		t.Citations,
		t.Autoencoders,
		t.Ablations,
		trainings.Read,
		t.Molecules,
	} {
		out = append(out, family(&c)...)
	}
	return out
}
