package attention_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

var positions = []attention.Position{attention.Sinusoidal, attention.Halves, attention.Learned, attention.Rotary, attention.Relative, attention.NoPositions}

// sentences draws sentences of these lengths.
func sentences(seed uint64, tokens int, lengths ...int) [][]int32 {
	rng := rand.New(rand.NewPCG(seed, 9))
	out := make([][]int32, len(lengths))
	for i, n := range lengths {
		for range n {
			out[i] = append(out[i], int32(rng.IntN(tokens)))
		}
	}
	return out
}

func causals(lengths ...int) *graph.Graph {
	var gs []*graph.Graph
	for _, n := range lengths {
		gs = append(gs, graph.Causal(n))
	}
	return graph.Batch(gs...)
}

func newLanguageModel(b attention.Block, depth, tokens int) *attention.LanguageModel {
	l := &attention.LanguageModel{Block: b, Tokens: tokens, Depth: depth}
	rng := rand.New(rand.NewPCG(1, 2))
	l.Init(rng)
	for _, block := range l.Encoder.Blocks {
		if block.Self.Offset != nil {
			block.Self.Offset.Value.Normal(rng, 0, 1)
		}
	}
	return l
}

// Token by token, from a cache, the logits are those of the whole sentences, to the bit: of
// sentences of all lengths at once, over several blocks of the pass, for every position.
func TestCacheIsFullPass(t *testing.T) {
	lengths := []int{1, 70, 131, 5}
	for i, p := range positions {
		all := []int{1, 3}
		if !sparing.Full() {
			all = all[i%2:][:1]
		}
		for _, threads := range all {
			undo := par.SetThreads(threads)
			l := newLanguageModel(attention.Block{Model: 12, Heads: 1 + i%3, PreNorm: i%2 == 0, Drop: 0.5, Position: p, Longest: 131, Activation: grad.GELU}, 2, 11)
			said := sentences(1, 11, lengths...)
			want := l.Forward(grad.NewEval(), causals(lengths...), slices.Concat(said...)).Value()
			var c attention.Cache
			state := c.State()
			rows := []int32{0, 0, 0, 0}
			live := []int{0, 1, 2, 3}
			for step := range 131 {
				tape := grad.NewEval()
				var last, stay []int32
				var on []int
				for k, s := range live {
					if step < lengths[s] {
						last, on, stay = append(last, said[s][step]), append(on, s), append(stay, rows[k])
					}
				}
				live = on
				state = message.State{state[0].Rows(stay)}
				var logits *grad.Var
				logits, state = l.Step(tape, &c, last, state)
				rows = rows[:len(live)]
				for k, s := range live {
					rows[k] = int32(k)
					at := step
					for _, n := range lengths[:s] {
						at += n
					}
					compare.Equal(t, string(p), logits.Value().Row(k), want.Row(at))
				}
			}
			if regions, room := c.Hypotheses(); regions != 4 || room > 256 {
				t.Errorf("%d regions of %d rows, want 4 of at most 256", regions, room)
			}
			undo()
		}
	}
}

func newTransformer(b attention.Block, tie bool) *attention.Transformer {
	l := &attention.Transformer{Block: b, Target: 9, Encoders: 2, Decoders: 2}
	if !tie {
		l.Source, l.Untied = 7, true
	}
	l.Init(rand.New(rand.NewPCG(3, 4)))
	return l
}

// searchOf searches the sentence after each source.
func searchOf(l *attention.Transformer, c *attention.Cache, sources [][]int32, longest int) *decode.Search {
	var gs []*graph.Graph
	for _, s := range sources {
		gs = append(gs, graph.Complete(len(s)))
	}
	state := l.Start(grad.NewEval(), c, graph.Batch(gs...), slices.Concat(sources...))
	return &decode.Search{
		Begin: make([]int32, len(sources)), End: 1, Longest: []int{longest}, State: state,
		Step: func(t *grad.Tape, live *decode.Live) (*grad.Var, decode.State) {
			return l.Step(t, c, live.Last, live.State)
		},
	}
}

// uncached is the same search with the whole of each hypothesis at every step.
func uncached(l *attention.Transformer, sources [][]int32, longest int) *decode.Search {
	return &decode.Search{
		Begin: make([]int32, len(sources)), End: 1, Longest: []int{longest},
		Step: func(t *grad.Tape, live *decode.Live) (*grad.Var, decode.State) {
			var from, to []int
			var all, fed, ends []int32
			for i, s := range live.Sentence {
				from, to = append(from, len(sources[s])), append(to, live.Step+1)
				all = append(all, sources[s]...)
				fed = append(fed, live.Tokens(i, []int32{0})...)
				ends = append(ends, int32(len(fed)-1))
			}
			return l.Forward(t, attention.Pairs(from, to), all, fed).Rows(ends), nil
		},
	}
}

// Greedy and beam search, whose hypotheses are reordered, copied and dropped, find with a cache
// what they find without, to the bit of the scores; a batch what each sentence does alone.
func TestCacheSearches(t *testing.T) {
	sources := sentences(5, 7, 3, 0, 9, 1, 6)
	for i, p := range positions[:4] {
		l := newTransformer(attention.Block{Model: 8, Heads: 2, PreNorm: i%2 == 1, Position: p, Longest: 20}, i%2 == 0)
		for w := range l.Words.Value.Data {
			l.Words.Value.Data[w] *= 3
		}
		for _, b := range []decode.Beam{{Width: 1}, {Width: 4, Best: 3, Alpha: 0.7}} {
			want, err := b.Run(uncached(l, sources, 12))
			if err != nil {
				t.Fatal(err)
			}
			var c attention.Cache
			s := searchOf(l, &c, sources, 12)
			for again := range 2 {
				got, err := b.Run(s)
				if err != nil {
					t.Fatal(err)
				}
				sameSearch(t, got, want)
				if again == 0 && i == 0 {
					for k := range sources {
						var alone attention.Cache
						one, err := b.Run(searchOf(l, &alone, sources[k:k+1], 12))
						if err != nil {
							t.Fatal(err)
						}
						sameSearch(t, one, want[k:k+1])
					}
				}
			}
		}
	}
}

func sameSearch(t *testing.T, got, want [][]decode.Sequence) {
	t.Helper()
	for i := range want {
		for k, w := range want[i] {
			if len(got[i]) != len(want[i]) || !slices.Equal(got[i][k].Tokens, w.Tokens) || got[i][k].LogProb != w.LogProb {
				t.Fatalf("sentence %d: %v, want %v", i, got[i], want[i])
			}
		}
	}
}

// refusal returns the error that f panics with.
func refusal(t *testing.T, f func()) (text string) {
	t.Helper()
	defer func() {
		e, ok := recover().(error)
		var shape *tensor.ShapeError
		var tape *grad.TapeError
		if !ok || !errors.As(e, &shape) && !errors.As(e, &tape) {
			t.Errorf("recovered %v, want a ShapeError or a TapeError", e)
			return
		}
		text = e.Error()
	}()
	f()
	return ""
}

// What cannot go on says what to do.
func TestCacheRefuses(t *testing.T) {
	l := newLanguageModel(attention.Block{Model: 4, Heads: 2}, 1, 5)
	var c attention.Cache
	first := c.State()
	_, one := l.Step(nil, &c, []int32{2}, first)
	l.Step(nil, &c, []int32{2}, one)
	deep, wide := newLanguageModel(attention.Block{Model: 4, Heads: 2}, 2, 5), newLanguageModel(attention.Block{Model: 4, Heads: 1}, 1, 5)
	tr := newTransformer(attention.Block{Model: 4, Heads: 2}, true)
	learned := newLanguageModel(attention.Block{Model: 4, Position: attention.Learned, Longest: 1}, 1, 5)
	var other attention.Cache
	_, after := learned.Step(nil, &other, []int32{0}, other.State())
	for want, f := range map[string]func(){
		"the state is of 1 tokens, and the cache holds 2": func() { l.Step(nil, &c, []int32{2}, one) },
		"Begin with Cache.State, or fill it again":        func() { l.Step(nil, new(attention.Cache), []int32{2}, one) },
		"a model of 1 blocks, this one has 2":             func() { deep.Step(nil, &c, []int32{2}, first) },
		"a model of other heads":                          func() { wide.Step(nil, &c, []int32{2}, first) },
		"the state is not that of a Cache":                func() { l.Step(nil, &c, []int32{2, 2}, first) },
		"begin with the state that Start returned":        func() { tr.Step(nil, new(attention.Cache), []int32{2}, first) },
		"1 places are learned: cut the sequence":          func() { learned.Step(nil, &other, []int32{0}, after) },
		"has no gradient; train with Forward": func() {
			tape := grad.NewTape(1)
			y, _ := l.Step(tape, new(attention.Cache), []int32{2}, first)
			tape.Backward(y.Sum())
		},
	} {
		if got := refusal(t, f); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
