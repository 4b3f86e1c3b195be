package attention_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// blocks are chains of ten numbers of which a run is marked, at its first and at its last
// place alone: the marks, the numbers, and the sum of each run.
func blocks(rng *rand.Rand, n int) (g *graph.Graph, marks, numbers, sums *tensor.Dense) {
	const length = 10
	lengths := make([]int, n)
	marks, numbers, sums = tensor.New(n*length, 3), tensor.New(n*length, 1), tensor.New(n, 1)
	numbers.Normal(rng, 0, 1)
	for i := range lengths {
		lengths[i] = length
		first := rng.IntN(length - 1)
		last := first + 1 + rng.IntN(min(5, length-1-first))
		for j := range length {
			mark := 0
			switch j {
			case first:
				mark = 1
			case last:
				mark = 2
			}
			marks.Row(i*length + j)[mark] = 1
			if j >= first && j <= last {
				sums.Data[i] += numbers.Data[i*length+j]
			}
		}
	}
	return graph.Chains(lengths...), marks, numbers, sums
}

// A chain learns to choose what lies between two marks, which no place says of itself: gates,
// the same without transitions, look at one place at a time and stay far from it.
func TestChainAttentionLearnsBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("it trains two models")
	}
	if chain, gates := blockLoss(true), blockLoss(false); chain > 0.05 || gates < 3*chain {
		t.Errorf("the squared error is %v, of gates %v", chain, gates)
	}
}

// blockLoss is the squared error at the end of a training.
func blockLoss(transitions bool) float64 {
	const steps, last = 230, 30
	var model struct {
		Theta layers.Linear
		Chain attention.ChainAttention
	}
	model.Theta = layers.Linear{In: 3, Out: 2}
	rng := rand.New(rand.NewPCG(1, 1))
	model.Theta.Init(rng)
	model.Chain.Init(rng)
	opt, tape, sum := &train.Adam{LR: 0.1}, grad.NewTape(1), 0.0
	for step := range steps {
		if !transitions {
			for _, p := range []*grad.Param{model.Chain.CRF.Trans, model.Chain.CRF.Begin, model.Chain.CRF.End} {
				p.Value.Fill(0)
			}
		}
		g, marks, numbers, sums := blocks(rng, 24)
		tape.Reset()
		theta := model.Theta.Forward(tape, grad.Const(marks))
		loss := model.Chain.Forward(tape, g, theta, grad.Const(numbers)).Y.MSE(grad.Const(sums))
		opt.Step(tape.Backward(loss))
		if step >= steps-last {
			sum += float64(loss.Value().Data[0])
		}
	}
	return sum / last
}
