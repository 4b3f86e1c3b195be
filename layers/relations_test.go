package layers_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/train"
)

// An RGCN tells planted relations apart; a GCN, which does not, cannot.
func TestPlantedRelations(t *testing.T) {
	d, err := datasets.PlantedRelations(rand.New(rand.NewPCG(3, 0)), 500, 8, 4)
	if err != nil {
		t.Fatal(err)
	}
	x, labels := grad.Const(d.Features), d.Labels.Of(d.Split.Train)
	accuracy := func(l layer) float64 {
		l.Init(rand.New(rand.NewPCG(1, 0)))
		fit := &train.Fit{
			Model: &struct{ L layer }{l}, Optimiser: &train.Adam{LR: 0.05}, Epochs: 60,
			Loss: func(t *grad.Tape) *grad.Var {
				return l.Apply(t, d.Graph, layers.In{Src: x}).Y.Rows(d.Split.Train).CrossEntropy(labels)
			},
		}
		if _, err := fit.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		return train.Accuracy(l.Apply(nil, d.Graph, layers.In{Src: x}).Y.Rows(d.Split.Test).Value(), d.Labels.Of(d.Split.Test))
	}
	full, bases := accuracy(&layers.RGCNConv{In: 4, Out: 4, Relations: 8}), accuracy(&layers.RGCNConv{In: 4, Out: 4, Relations: 8, Bases: 3})
	blind := accuracy(&layers.GCNConv{In: 4, Out: 4, Norm: layers.NormRight})
	t.Logf("RGCN %.3f, of three bases %.3f, GCN %.3f of the test", full, bases, blind)
	if full < 0.95 || bases < 0.95 {
		t.Errorf("RGCN is right about %.2f, of three bases %.2f, want 0.95", full, bases)
	}
	if blind > 0.7 {
		t.Errorf("GCN is right about %.2f: the labels do not need the relations", blind)
	}
}
