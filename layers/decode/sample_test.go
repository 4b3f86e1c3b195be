package decode_test

import (
	"math"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/tensor"
)

// drawn counts the first token of many sentences.
func drawn(t *testing.T, n int, d decode.Sample, logits ...tensor.Float) []float64 {
	t.Helper()
	got, err := d.Run(&decode.Search{Step: flat(logits...), Begin: make([]int32, n), End: decode.NoEnd, Longest: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	share := make([]float64, len(logits))
	log := logSoftmax(logits)
	for _, g := range got {
		k := g.Tokens[0]
		share[k] += 1 / float64(n)
		if math.Abs(g.LogProb-log[k]) > 1e-6 {
			t.Fatalf("token %d has the log-probability %v, the model says %v", k, g.LogProb, log[k])
		}
	}
	return share
}

// What is drawn has the probabilities of the formula, and what is not kept is never
// drawn.
func TestSampleShares(t *testing.T) {
	ln := func(p float64) tensor.Float { return tensor.Float(math.Log(p)) }
	logits := []tensor.Float{ln(0.1), ln(0.4), ln(0.2), ln(0.25), ln(0.05)}
	tests := []struct {
		d    decode.Sample
		want []float64
	}{
		{decode.Sample{Temperature: 1}, []float64{0.1, 0.4, 0.2, 0.25, 0.05}},
		{decode.Sample{Temperature: 1, TopK: 9, Nucleus: 1}, []float64{0.1, 0.4, 0.2, 0.25, 0.05}},
		{decode.Sample{Temperature: 1, TopK: 2}, []float64{0, 0.4 / 0.65, 0, 0.25 / 0.65, 0}},
		{decode.Sample{Temperature: 1, Nucleus: 0.6}, []float64{0, 0.4 / 0.65, 0, 0.25 / 0.65, 0}},
		{decode.Sample{Temperature: 1, Nucleus: 0.7}, []float64{0, 0.4 / 0.85, 0.2 / 0.85, 0.25 / 0.85, 0}},
		{decode.Sample{Temperature: 1, Nucleus: 1e-9}, []float64{0, 1, 0, 0, 0}},
		{decode.Sample{Temperature: 1, TopK: 3, Nucleus: 0.75}, []float64{0, 0.4 / 0.65, 0, 0.25 / 0.65, 0}}, // 0.65 is 0.76 of 0.85
		{decode.Sample{Temperature: 0.5}, []float64{0.01 / 0.275, 0.16 / 0.275, 0.04 / 0.275, 0.0625 / 0.275, 0.0025 / 0.275}},
		{decode.Sample{Temperature: 1e6}, []float64{0.2, 0.2, 0.2, 0.2, 0.2}},
		{decode.Sample{Temperature: 0}, []float64{0, 1, 0, 0, 0}},
		{decode.Sample{Temperature: 1e-300}, []float64{0, 1, 0, 0, 0}},
	}
	for i, tt := range tests {
		tt.d.Seed = uint64(i)
		got := drawn(t, 8000, tt.d, logits...)
		for k, want := range tt.want {
			if far := math.Abs(got[k] - want); far > 0.02 || want == 0 && got[k] != 0 {
				t.Errorf("%+v: token %d has the share %.4f, want %.4f", tt.d, k, got[k], want)
			}
		}
	}
}

// A nucleus of more tokens than are looked for at first is found.
func TestSampleWideNucleus(t *testing.T) {
	logits := make([]tensor.Float, 400)
	for i := range 100 {
		logits[399-3*i] = 6
	}
	for k, share := range drawn(t, 1500, decode.Sample{Temperature: 1, Nucleus: 0.99, Seed: 1}, logits...) {
		if (share > 0) != (logits[k] > 0) {
			t.Fatalf("token %d, with the logit %v, has the share %v", k, logits[k], share)
		}
	}
}

// A draw follows from the seed, the number of the sentence and the step.
func TestSampleSeed(t *testing.T) {
	run := func(d decode.Sample, n int) []decode.Sequence {
		m := flat(0, 0, 0, 0, 0, 0, 0, 0)
		got, err := d.Run(&decode.Search{Step: m, Begin: make([]int32, n), End: decode.NoEnd, Longest: []int{20}})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	all := run(decode.Sample{Temperature: 1, Seed: 7}, 6)
	for i, part := range run(decode.Sample{Temperature: 1, Seed: 7, First: 4}, 2) {
		if !slices.Equal(part.Tokens, all[4+i].Tokens) {
			t.Errorf("sentence %d apart: %v, in the batch: %v", 4+i, part.Tokens, all[4+i].Tokens)
		}
	}
	other := run(decode.Sample{Temperature: 1, Seed: 8}, 6)
	for i := range all {
		if slices.Equal(all[i].Tokens, other[i].Tokens) || slices.Equal(all[i].Tokens, all[(i+1)%6].Tokens) || len(slices.Compact(slices.Clone(all[i].Tokens))) < 5 {
			t.Errorf("sentence %d: draws repeat themselves: %v", i, all[i].Tokens)
		}
	}
}
