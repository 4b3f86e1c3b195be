package main

import (
	"math"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
)

// trained returns the network after some epochs on Cora without dropout, and the
// loss of each.
func trained(t *testing.T, model string, allRows bool) (*network, []float64) {
	t.Helper()
	k, r := taskOf(t, model)
	r.Epochs, r.AllRows, r.Select = 6, allRows, "last"
	fit, net, err := k.fit(r)
	if err != nil {
		t.Fatal(err)
	}
	history, err := fit.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var losses []float64
	for _, e := range history.Epochs {
		losses = append(losses, e.Loss, e.Val.Loss)
	}
	return net, losses
}

// Training on the rows that the loss reads is training on the whole graph: the
// same losses and the same weights, for every model.
func TestNeededRowsTrainAlike(t *testing.T) {
	for _, name := range modelNames() {
		t.Run(name, func(t *testing.T) {
			some, losses := trained(t, name, false)
			all, want := trained(t, name, true)
			for i := range want {
				if math.Abs(losses[i]-want[i]) > 1e-4*(1+want[i]) {
					t.Errorf("epoch %d: loss %g, of all rows %g", i/2+1, losses[i], want[i])
				}
			}
			for name, p := range grad.Params(some) {
				if strings.HasSuffix(name, "BKey") {
					continue // it moves all logits of a row alike: its gradient is rounding
				}
				if d := distance(p.Value, paramOf(all, name).Value); !(d < 1e-3) {
					t.Errorf("%s differs by %g", name, d)
				}
			}
		})
	}
}

// Of Cora's rows a step needs some; where most nodes train, and for layers that
// look far, there is nothing to leave out.
func TestNeeded(t *testing.T) {
	needed := func(model string, change func(k *task, r *recipe)) []hop {
		k, r := taskOf(t, model)
		if change != nil {
			change(k, &r)
		}
		net, err := newNetwork(r, k.Features.Shape()[1], k.Classes)
		if err != nil {
			t.Fatal(err)
		}
		hops, x := k.needed(net)
		if hops != nil && x.Dim(0) != hops[0].graph.NumSrc() {
			t.Errorf("%s: %d rows of features, %d nodes", model, x.Dim(0), hops[0].graph.NumSrc())
		}
		return hops
	}
	hops := needed("gat", nil)
	if len(hops) != 2 || hops[1].graph.NumDst() != 140 || hops[0].graph.NumDst() != hops[1].graph.NumSrc() || hops[0].graph.NumSrc() >= 2708 {
		t.Errorf("GAT on Cora needs %d hops", len(hops))
	}
	if needed("appnp", nil) != nil {
		t.Error("APPNP has no blocks")
	}
	if needed("gcn", func(_ *task, r *recipe) { r.AllRows = true }) != nil {
		t.Error("all rows were asked for")
	}
	every := func(k *task, _ *recipe) {
		k.split = datasets.Split{Train: k.graph.DstRows(), Val: k.split.Val, Test: k.split.Test}
	}
	if needed("gcn", every) != nil {
		t.Error("every node trains, and rows are left out")
	}
}
