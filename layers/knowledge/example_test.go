package knowledge_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
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

// The program of docs/use/knowledge.md.
func Example() {
	k, err := datasets.PlantedRules(rand.New(rand.NewPCG(7, 0)), 10, 12)
	if err != nil {
		panic(err)
	}

	net := &Knows{
		Scorer:   &knowledge.RotatE{Relations: k.Relations(), Width: 32, Margin: 6},
		Entities: grad.NewParam(k.Entities, 32),
	}
	rng := rand.New(rand.NewPCG(1, 0))
	net.Scorer.Init(rng)
	net.Entities.Value.Uniform(rng, -1, 1)

	draw := sample.Corruptions{Number: 8, Seed: 1}
	fit := &train.Fit{
		Model: net, Optimiser: &train.Adam{LR: 0.02}, Epochs: 100,
		Loss: func(t *grad.Tape) *grad.Var {
			x := t.Use(net.Entities)
			not, at := draw.Draw(k.Train, t.Step())
			right, wrong := net.Scorer.Forward(t, k.Train, x), net.Scorer.Forward(t, not, x)
			return knowledge.Adversarial{Temperature: 1}.Of(right, wrong, at)
		},
	}
	if _, err := fit.Run(context.Background()); err != nil {
		panic(err)
	}

	ranks := knowledge.Ranks(net.Scorer, grad.Const(net.Entities.Value), k.Test, k.Train, k.Val, k.Test)
	fmt.Printf("MRR above 0.9: %v, hits@10 above 0.95: %v\n", ranks.MRR() > 0.9, ranks.Hits(10) > 0.95)
	// Output: MRR above 0.9: true, hits@10 above 0.95: true
}

// The program of docs/use/knowledge.md is that of the example.
func TestDoc(t *testing.T) {
	doc, err := os.ReadFile("../../docs/use/knowledge.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(doc), "```go\n")
	if len(parts) < 4 {
		t.Fatalf("docs/use/knowledge.md has %d pieces of a program", len(parts)-1)
	}
	for _, p := range parts[1:] {
		if code, _, _ := strings.Cut(p, "```"); !strings.Contains(string(example), code) {
			t.Errorf("the example has no lines\n%s", code)
		}
	}
}
