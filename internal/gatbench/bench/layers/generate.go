package layers

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/decode"
)

// generateShape is a language model, and how many sentences of how many tokens it says.
type generateShape struct{ b, t, d, heads, depth, tokens int }

// generateShapes are one sentence, and a batch.
var generateShapes = []generateShape{{1, 128, 256, 8, 4, 2000}, {16, 128, 256, 8, 4, 2000}}

func (s generateShape) String() string {
	return fmt.Sprintf("%dx%dx%dx%dx%d", s.b, s.t, s.d, s.heads, s.depth)
}

// Generate are greedy searches of a language model with a cache of what was said: norms
// before attention and a feed-forward network of ReLU, four times as wide, learned places and an
// output of its own. peers/generation.py has one of these shapes in PyTorch.
func Generate(c *bench.Choice) []bench.Benchmark {
	var out []bench.Benchmark
	for _, s := range generateShapes {
		out = append(out, bench.Benchmark{
			Name: fmt.Sprintf("attention/generate/%v", s), Op: "attention/generate", Lanes: c.Threads,
			Params:  map[string]any{"b": s.b, "t": s.t, "d": s.d, "heads": s.heads, "layers": s.depth, "tokens": s.tokens, "threads": c.Threads},
			Prepare: s.workload,
		})
	}
	return out
}

func (s generateShape) workload() bench.Work {
	l := &attention.LanguageModel{Block: attention.Block{Model: s.d, Heads: s.heads, PreNorm: true, Position: attention.Learned, Longest: s.t}, Tokens: s.tokens, Depth: s.depth, Untied: true}
	l.Init(rand.New(rand.NewPCG(1, 2)))
	var c attention.Cache
	search := &decode.Search{
		Begin: make([]int32, s.b), End: decode.NoEnd, Longest: []int{s.t}, State: c.State(),
		Step: func(t *grad.Tape, live *decode.Live) (*grad.Var, decode.State) {
			return l.Step(t, &c, live.Last, live.State)
		},
	}
	return bench.Work{Call: func() {
		if _, err := (decode.Greedy{}).Run(search); err != nil {
			panic(err) // the model has finite weights, and every token may be taken
		}
	}}
}
