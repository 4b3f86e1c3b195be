package attention_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/decode"
)

// heardBy is the graph of sentences of these lengths under a window; 0: none.
func heardBy(window int, lengths ...int) *graph.Graph {
	if window == 0 {
		return causals(lengths...)
	}
	var gs []*graph.Graph
	for _, n := range lengths {
		gs = append(gs, graph.CausalBand(n, window))
	}
	return graph.Batch(gs...)
}

// What is said after prompts that were read in one pass has the bits of the whole sentences, under
// any window, which bounds what is kept: of an empty prompt, of one that is longer than what is
// kept, and for every position.
func TestPromptsAreFullPass(t *testing.T) {
	const more = 24 // with which a prompt of 50 goes beyond the windows and a block of 64
	for i, p := range positions {
		for _, window := range []int{0, 1, 9, 60} {
			undo := par.SetThreads(1 + i%2)
			l := newLanguageModel(attention.Block{Model: 8, Heads: 1 + i%2, PreNorm: i%2 == 0, Position: p, Longest: 300}, 2, 11)
			prompts := []int{0, 1, 50, 230 - 10*i}
			whole := make([]int, len(prompts))
			for k, n := range prompts {
				whole[k] = n + more
			}
			said := sentences(uint64(window), 11, whole...)
			want := l.Forward(nil, heardBy(window, whole...), slices.Concat(said...)).Value()
			c := attention.Cache{Window: window}
			read := make([][]int32, len(said))
			for k, n := range prompts {
				read[k] = said[k][:n]
			}
			for range 2 { // again, into what it held
				state := l.Start(nil, &c, read...)
				for step := range more {
					last := make([]int32, len(said))
					for k := range said {
						last[k] = said[k][prompts[k]+step]
					}
					var logits *grad.Var
					logits, state = l.Step(nil, &c, last, state)
					before := 0
					for k, n := range whole {
						compare.Equal(t, string(p), logits.Value().Row(k), want.Row(before+prompts[k]+step))
						before += n
					}
				}
			}
			if regions, room := c.Hypotheses(); regions != 4 || window > 0 && room > 2*window+96 {
				t.Errorf("window %d: %d regions of %d rows", window, regions, room)
			}
			undo()
		}
	}
}

// A decoder that hears a sentence says under a window what it does on a causal band, to the bit.
func TestWindowOfDecoder(t *testing.T) {
	const window, n = 3, 120
	l := newTransformer(attention.Block{Model: 8, Heads: 2, Position: attention.Relative}, true)
	heard, said := sentences(1, 9, 6)[0], sentences(2, 9, n)[0]
	masks := attention.Pairs([]int{6}, []int{n})
	masks.Target = graph.CausalBand(n, window)
	want := l.Forward(nil, masks, heard, said).Value()
	c := attention.Cache{Window: window}
	state := l.Start(nil, &c, masks.Source, heard)
	for i, token := range said {
		var logits *grad.Var
		logits, state = l.Step(nil, &c, []int32{token}, state)
		compare.Equal(t, "logits", logits.Value().Row(0), want.Row(i))
	}
	if _, room := c.Hypotheses(); room > 2*window+96 {
		t.Errorf("%d rows are kept", room)
	}
}

// A search from prompts finds what one of their tokens as prefixes finds: of a beam, whose
// hypotheses are copied and dropped, too.
func TestSearchFromPrompts(t *testing.T) {
	l := newLanguageModel(attention.Block{Model: 8, Heads: 2, PreNorm: true}, 2, 9)
	prompts := sentences(7, 9, 5, 1, 60)
	for _, window := range []int{0, 4} {
		for _, b := range []decode.Beam{{Width: 1}, {Width: 3, Best: 3}} {
			c, fed := attention.Cache{Window: window}, attention.Cache{Window: window}
			search := func(c *attention.Cache) *decode.Search {
				return &decode.Search{End: decode.NoEnd, Step: func(t *grad.Tape, live *decode.Live) (*grad.Var, decode.State) {
					return l.Step(t, c, live.Last, live.State)
				}}
			}
			one, two := search(&c), search(&fed)
			var starts [][]int32
			for _, p := range prompts {
				starts = append(starts, p[:len(p)-1])
				one.Begin, two.Begin = append(one.Begin, p[len(p)-1]), append(two.Begin, p[0])
				two.Prefix = append(two.Prefix, p[1:])
			}
			one.State, two.State = l.Start(nil, &c, starts...), fed.State()
			one.Longest, two.Longest = []int{10}, []int{14, 10, 69}
			got, err := b.Run(one)
			want, err2 := b.Run(two)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			for i := range want {
				for k, w := range want[i] {
					if len(got[i]) != len(want[i]) || !slices.Equal(got[i][k].Tokens, w.Tokens[len(prompts[i])-1:]) {
						t.Fatalf("window %d, sentence %d: %v after the prompt, %v as a prefix", window, i, got[i], want[i])
					}
				}
			}
		}
	}
}

// What a prompt or a window cannot be says what to do.
func TestPromptsRefuse(t *testing.T) {
	l := newLanguageModel(attention.Block{Model: 4, Heads: 2}, 1, 5)
	var c attention.Cache
	state := l.Start(nil, &c, []int32{1, 2}, nil)
	l.Step(nil, &c, []int32{3, 3}, state)
	changed := c
	changed.Window = 3
	learned := newLanguageModel(attention.Block{Model: 4, Position: attention.Learned, Longest: 2}, 1, 5)
	for want, f := range map[string]func(){
		"the state is of 2 tokens, and the cache holds 3": func() { l.Step(nil, &c, []int32{3, 3}, state) },
		"begun with a Window of 0, and it is 3 now":       func() { l.Start(nil, &changed, []int32{1}) },
		"begun with a Window of -1":                       func() { l.Start(nil, &attention.Cache{Window: -1}, []int32{1}) },
		"a token is 1 or 5":                               func() { l.Start(nil, new(attention.Cache), []int32{1, 5}) },
		"2 places are learned: cut the sequence":          func() { learned.Start(nil, new(attention.Cache), []int32{1, 2, 3}) },
	} {
		if got := refusal(t, f); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if s := l.Start(nil, &c); s[0].Dim(0) != 0 {
		t.Errorf("no prompts have %d states", s[0].Dim(0))
	}
}
