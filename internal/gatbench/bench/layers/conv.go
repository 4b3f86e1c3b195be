package layers

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/layers"
)

// Pictures are convolutions of three by three on pictures of so many cells a side: of 3 columns, as the first of a network reads,
// and of 16.
func Pictures(c *bench.Choice) []bench.Benchmark {
	var out []bench.Benchmark
	for _, s := range []struct{ b, side, in, out int }{{32, 32, 3, 16}, {32, 16, 16, 32}} {
		out = append(out, bench.Benchmark{
			Name: fmt.Sprintf("layer/conv/%dx%dx%dx%dx%d", s.b, s.side, s.side, s.in, s.out), Op: "layer/conv", Lanes: c.Threads,
			Params: map[string]any{"b": s.b, "h": s.side, "w": s.side, "i": s.in, "o": s.out, "threads": c.Threads},
			Prepare: func() bench.Work {
				l := &layers.Conv2D{In: s.in, Out: s.out}
				l.Init(rand.New(rand.NewPCG(1, 2)))
				one := graph.Windows(s.side, s.side, graph.Window{Size: 3, Pad: 1})
				g := graph.Batch(slices.Repeat([]*graph.Graph{one}, s.b)...)
				return recurrentTask{g, bench.Operand(g.NumSrc(), s.in), l}.workload()
			},
		})
	}
	return out
}
