package writing

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/sequence"
)

// What language learns of a page: its paragraphs, a line each, without marks.
func TestProse(t *testing.T) {
	page := "# A title\n\nTwo lines of\none **paragraph**, with `code` and [a link](to/it.md).\n\n![A picture](p.svg)\n\n```go\n\tx := 1\n\n\ty := 2\n```\n\n| a | table |\n|---|---|\n\n- A point.\n"
	if got, want := prose(page), "Two lines of one paragraph, with code and a link.\n- A point.\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What a network writes goes on from a text: each character is drawn by what the network says after
// all of the text and what it has written since.
func TestWriteGoesOn(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	n := &languageNet{Letters: grad.NewParam(9, 8), LSTM: sequence.LSTM{In: 8, Hidden: 16, ForgetBias: 3}, Out: layers.Linear{In: 16, Out: 9}}
	n.Letters.Value.Normal(rng, 0, 1)
	n.LSTM.Init(rng)
	n.Out.Init(rng)
	n.Out.W.Value.Normal(rng, 0, 2) // so that it matters what was read
	read := make([]int32, 60)
	for i := range read {
		read[i] = rng.Int32N(9)
	}
	found, err := n.write(read, 40, 7)
	if err != nil || len(found.Tokens) != 40 {
		t.Fatalf("%d characters: %v", len(found.Tokens), err)
	}
	all := append(slices.Clone(read), found.Tokens...)
	y, _ := n.forward(grad.NewEval(), graph.Chains(len(all)-1), all[:len(all)-1], nil)
	p, want := y.LogSoftmax().Value(), 0.0
	for i, k := range found.Tokens {
		want += float64(p.Row(len(read) - 1 + i)[k])
	}
	// 40 logarithms of ten or so, each of sums of sixteen products
	if math.Abs(found.LogProb-want) > 40*10*16*1.2e-7 {
		t.Errorf("the logarithm of its probability is %v, after the text it is %v", found.LogProb, want)
	}
}
