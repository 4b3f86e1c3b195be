package writing

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/train"
)

func smallRewriter(tokens int) *sequence.EncoderDecoder {
	net := &sequence.EncoderDecoder{Source: tokens, Target: tokens, Begin: text.Begin, Embed: 12, Hidden: 24}
	net.Init(rand.New(rand.NewPCG(1, 1)))
	return net
}

// randomPairs are n pairs of three tokens each, drawn apart, so that no source tells its target.
func randomPairs(rng *rand.Rand, n, tokens int) text.Pairs {
	draw := func() text.Ragged {
		lines := make([][]int32, n)
		for i := range lines {
			for range 3 {
				lines[i] = append(lines[i], text.First+rng.Int32N(int32(tokens)-text.First))
			}
		}
		return text.RaggedOf(lines...)
	}
	return text.Pairs{Source: draw(), Target: draw()}
}

// The decoder is fed the truth, to the bit, where the forcing is 1; where it is 0 all but the
// first token is its own.
func TestForcedLoss(t *testing.T) {
	net := smallRewriter(8)
	pairs := randomPairs(rand.New(rand.NewPCG(2, 1)), 6, 8)
	b := pairs.Batch(stage.Every(6))
	loss := func(p float64) float64 {
		v := forcedLoss(net, grad.NewTape(1), b, train.TeacherForcing{Schedule: train.Constant(p)})
		return float64(v.Value().Data[0])
	}
	if got, want := loss(1), float64(taughtLoss(net, grad.NewTape(1), pairs, stage.Every(6)).Value().Data[0]); got != want {
		t.Errorf("fed the truth the loss is %v, want %v", got, want)
	}
	y := net.Forward(nil, b.Source.Graph, b.Source.Tokens, b.Input.Graph, b.Input.Tokens).Value()
	own := append([]int32(nil), b.Input.Tokens...)
	for v := range own {
		if v%4 > 0 { // four nodes a target: the begin and three tokens
			own[v] = int32(slices.Index(y.Row(v-1), slices.Max(y.Row(v-1))))
		}
	}
	want := net.Forward(nil, b.Source.Graph, b.Source.Tokens, b.Input.Graph, own).CrossEntropy(b.Output)
	if got := loss(0); got != float64(want.Value().Data[0]) {
		t.Errorf("fed its own the loss is %v, want %v", got, want.Value().Data[0])
	}
}

// Random targets cannot be learnt, unless a decoder is fed at a step what it has to say
// there: the loss then falls far below that of guessing, which is the alarm.
func TestNoLeak(t *testing.T) {
	const tokens = 8
	guess := 3. / 4 * math.Log(float64(tokens-text.First)) // the end is certain
	for _, leak := range []bool{false, true} {
		net, rng, opt := smallRewriter(tokens), rand.New(rand.NewPCG(3, 1)), &train.Adam{LR: 2e-2}
		tape := grad.NewTape(1)
		var last float64
		for range 60 {
			b := randomPairs(rng, 32, tokens).Batch(stage.Every(32))
			fed := b.Input.Tokens
			if leak {
				fed = b.Output
			}
			tape.Reset()
			loss := net.Forward(tape, b.Source.Graph, b.Source.Tokens, b.Input.Graph, fed).CrossEntropy(b.Output)
			last = float64(loss.Value().Data[0])
			opt.Step(tape.Backward(loss))
		}
		if leaks := last < 0.5*guess; leaks != leak || !leak && last < 0.9*guess {
			t.Errorf("leak %v: the loss is %v, of guesses %v", leak, last, guess)
		}
	}
}

// What a target depends on is what it loses: of a network that does not read its source,
// nothing.
func TestDependence(t *testing.T) {
	net := smallRewriter(8)
	source, target := []int32{4, 3, 6}, []int32{5, 7}
	total := func() (sum float64) {
		values := dependence(net, source, target)
		if len(values) != 2 || len(values[0]) != 3 {
			t.Fatalf("the table is %d×%d, want 2×3", len(values), len(values[0]))
		}
		for _, row := range values {
			for _, v := range row {
				if v < 0 {
					t.Errorf("a loss of %v", v)
				}
				sum += v
			}
		}
		return sum
	}
	if total() == 0 {
		t.Error("no letter depends on any")
	}
	net.V.Value.Fill(0)
	if got := total(); got != 0 {
		t.Errorf("without c the letters lose %v", got)
	}
}
