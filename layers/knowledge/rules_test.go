package knowledge_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/train"
)

// Knows is a model of a knowledge graph.
type Knows struct {
	Scorer   knowledge.Scorer
	Entities *grad.Param
}

// learn trains a model on facts and returns the filtered ranks of those to test with.
func learn(k *datasets.Knowledge, s knowledge.Scorer, width, epochs int) ([]float64, error) {
	m, rng := &Knows{s, grad.NewParam(k.Entities, width)}, rand.New(rand.NewPCG(1, 0))
	s.Init(rng)
	m.Entities.Value.Uniform(rng, -1, 1)
	draw := sample.Corruptions{Number: 8, Seed: 1}
	fit := &train.Fit{
		Model: m, Optimiser: &train.Adam{LR: 0.02}, Epochs: epochs,
		Loss: func(t *grad.Tape) *grad.Var {
			x := t.Use(m.Entities)
			not, at := draw.Draw(k.Train, t.Step())
			return knowledge.Adversarial{Temperature: 1}.Of(s.Forward(t, k.Train, x), s.Forward(t, not, x), at)
		},
	}
	if _, err := fit.Run(context.Background()); err != nil {
		return nil, err
	}
	return knowledge.Ranks(s, grad.Const(m.Entities.Value), k.Test, k.Train, k.Val, k.Test), nil
}

// RotatE finds the planted rules.
func TestRules(t *testing.T) {
	k, err := datasets.PlantedRules(rand.New(rand.NewPCG(7, 0)), 10, 12)
	if err != nil {
		t.Fatal(err)
	}
	ranks, err := learn(k, &knowledge.RotatE{Relations: k.Relations(), Width: 32, Margin: 6}, 32, 150)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("MRR %.3f", train.MRR(ranks))
	if got := train.MRR(ranks); got < 0.9 {
		t.Errorf("RotatE's MRR is %.3f, want 0.9", got)
	}
}
