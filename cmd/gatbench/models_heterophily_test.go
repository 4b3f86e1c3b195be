package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

// karateTask is a small task, with a network for it.
func karateTask(t *testing.T, model string, layers int) (*task, *network) {
	t.Helper()
	k, err := openTask("", "karate", false, choice{splits: splitsRandom})
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRecipe("quick", model, "karate")
	if err != nil {
		t.Fatal(err)
	}
	r.Layers, r.Hidden = layers, 4
	net, err := newNetwork(r, k.Features.Shape()[1], k.Classes)
	if err != nil {
		t.Fatal(err)
	}
	return k, net
}

// The last layer reads what the dense layer and all rounds made, side by side.
func TestH2GCNNetwork(t *testing.T) {
	k, net := karateTask(t, "h2gcn", 3)
	first, last := net.Layers[0].(*h2Layer), net.Layers[2].(*h2Layer)
	r := []*grad.Var{first.Dense.Forward(nil, k.features).ReLU()}
	for i := range 2 {
		r = append(r, (&layers.H2GCNConv{}).Forward(nil, k.graph, r[i]))
	}
	want := last.End.Forward(nil, grad.Concat(r...)).Value()
	if got := net.Forward(nil, k.hop(net), k.features).Value(); !slices.Equal(got.Data, want.Data) {
		t.Errorf("the logits are %v, want %v", got, want)
	}
	file := t.TempDir() + "/m"
	args := "train --dataset karate --splits random --model h2gcn --layers 3 --hidden 256 --epochs 1 --save " + file
	ok(t, strings.Fields(args)...)
	if text := ok(t, "eval", file); !strings.Contains(text, "H2GCN") { // rounds have no Params, which a check of the file's size knows
		t.Errorf("eval says %s", text)
	}
	for args, says := range map[string]string{
		"train --model h2gcn --layers 1":   "--layers 1: h2gcn has a dense layer and from 1 to 6 rounds",
		"train --model h2gcn --batch 10":   "--batch 10: a layer of h2gcn looks several hops far",
		"train --model supergat --batch 9": "--batch 9: a layer of supergat learns from edges and pairs of the whole graph",
	} {
		if _, stderr, status := gatbench(t, strings.Fields(args)...); status != misused || !strings.Contains(stderr, says) {
			t.Errorf("%s: %s, want %s", args, stderr, says)
		}
	}
}

// A SuperGAT's loss is that of its labels, and four times that of telling edges of each layer.
func TestSuperGATTeaches(t *testing.T) {
	k, net := karateTask(t, "supergat", 2)
	net.Recipe.Dropout = 0
	for _, l := range net.Layers {
		l.(*superLayer).drop, l.(*superLayer).AttnDrop = 0, 0
	}
	tape := grad.NewTape(1)
	tape.Reset()
	plain := float64(net.run(tape, k.every(net)).CrossEntropy(k.goal.only(k.split.Train).labels).Value().Data[0])
	tape.Reset()
	all := k.lossOf(net)(tape)
	if got := float64(all.Value().Data[0]); !(got > plain+2*superWeight*0.2) || math.IsInf(got, 0) {
		t.Errorf("the loss is %v, that of the labels %v; two layers that tell nothing have log 2 each, times %d", got, plain, superWeight)
	}
	grads := tape.Backward(all)
	params := 0
	for range grad.Params(net) {
		params++
	}
	if len(grads) != params {
		t.Errorf("%d of %d Params have a gradient", len(grads), params)
	}
	some := someEdges(1000, 1, 2)
	if n := len(some); n < 750 || n > 850 {
		t.Errorf("%d of 1000 edges, want about %v", n, superEdges)
	}
}
