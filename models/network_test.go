package models

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/pool"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A mirrored head gives an edge and its reverse the same numbers, to the bit, and the other does not.
func TestPairHead(t *testing.T) {
	x, own := tensor.New(3, 4), tensor.New(2, 2)
	rng := rand.New(rand.NewPCG(1, 1))
	x.Normal(rng, 0, 1)
	own.Normal(rng, 0, 1)
	for _, mirrored := range []bool{true, false} {
		h := &Pairs{In: 4, Own: 2, Mirrored: mirrored}
		h.init(rng, 0, 2, 3)
		ab := h.Forward(grad.NewEval(), grad.Const(x), &Ends{From: []int32{0, 1}, To: []int32{1, 2}, Own: grad.Const(own)}).Value()
		ba := h.Forward(grad.NewEval(), grad.Const(x), &Ends{From: []int32{1, 2}, To: []int32{0, 1}, Own: grad.Const(own)}).Value()
		if slices.Equal(ab.Data, ba.Data) != mirrored || ab.Dim(0) != 2 || ab.Dim(1) != 3 {
			t.Errorf("mirrored %v: %v and %v", mirrored, ab, ba)
		}
		if h.check(4) != nil || h.check(5) == nil || (&Pairs{In: 4, Own: -1}).check(4) == nil {
			t.Error("a file's head is not checked")
		}
	}
}

// The features of the edges that a pooling leaves are theirs.
func TestKeptEdges(t *testing.T) {
	g := graph.Must(graph.WithMembers(graph.Must(graph.New(5, []int32{0, 1, 1, 2, 3, 4}, []int32{1, 0, 2, 1, 4, 3})), []int{0, 3, 5}))
	edge := tensor.New(g.NumEdges(), 1)
	for e, v := range g.Destinations() {
		edge.Data[e] = tensor.Float(10*g.In().Cols[e] + v)
	}
	x := tensor.New(5, 1)
	copy(x.Data, []tensor.Float{1, 3, 2, 5, 4})
	p := &pool.TopK{In: 1, Ratio: 0.6, P: grad.NewParam(1, 1)}
	p.P.Value.Fill(1)
	kept := p.Forward(nil, g, grad.Const(x))
	var names, want []tensor.Float
	for e, v := range kept.Graph.Destinations() {
		want = append(want, tensor.Float(10*kept.Nodes[kept.Graph.In().Cols[e]]+kept.Nodes[v]))
	}
	if names = keptEdges(grad.Const(edge), kept.Graph).Value().Data; len(names) != 4 || !slices.Equal(names, want) {
		t.Errorf("edges %v are kept with the features %v", want, names)
	}
}

// The last layer of an H2GCN reads what the dense layer and all rounds made, side by side.
func TestH2GCNNetwork(t *testing.T) {
	g, in := ring(0)
	net := must(New(H2GCN{Hidden: 4, Layers: 3}, Shape{In: 5, Out: 3}, 1))
	first, last := net.Layers[0].(*h2Layer), net.Layers[2].(*h2Layer)
	r := []*grad.Var{first.Dense.Forward(nil, in.Src).ReLU()}
	for i := range 2 {
		r = append(r, (&layers.H2GCNConv{}).Forward(nil, g, r[i]))
	}
	want := last.End.Forward(nil, grad.Concat(r...)).Value()
	if got := net.Forward(nil, g, layers.In{Src: in.Src}).Value(); !slices.Equal(got.Data, want.Data) {
		t.Errorf("the logits are %v, want %v", got, want)
	}
}

// A SuperGAT's loss is that of its labels, and four times that of telling edges of each layer; that of another model is that of
// its labels alone.
func TestTeach(t *testing.T) {
	g, in := ring(0)
	in.Edge = nil
	labels := []int32{0, 1, 2, 0, 1, 2}
	loss := func(net *Network) func(t *grad.Tape) *grad.Var {
		return func(t *grad.Tape) *grad.Var { return net.Forward(t, g, in).CrossEntropy(labels) }
	}
	net := must(New(SuperGAT{Hidden: 4, Dropout: grad.Zero, AttentionDropout: grad.Zero}, Shape{In: 5, Out: 3}, 1))
	tape := grad.NewTape(1)
	plain := float64(loss(net)(tape).Value().Data[0])
	tape.Reset()
	all := net.Teach(g, 1, loss(net))(tape)
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
	gcn := must(New(GCN{Dropout: grad.Zero}, Shape{In: 5, Out: 3}, 1))
	tape.Reset()
	want := loss(gcn)(tape).Value().Data[0]
	tape.Reset()
	if got := gcn.Teach(g, 1, loss(gcn))(tape).Value().Data[0]; got != want {
		t.Errorf("a GCN is taught %v, want %v", got, want)
	}
}

// Weights that are all 1 are none, to a model that counts them and to one that scales by them; others are not.
func TestWeightsOfForward(t *testing.T) {
	g, in := ring(0)
	in.Edge = nil
	for _, m := range []Model{GCN{}, SGC{}, GAT{}, SAGE{}} {
		net := must(New(m, Shape{In: 5, Out: 3}, 1))
		plain := net.Forward(grad.NewEval(), g, in).Value()
		w := tensor.New(g.NumEdges(), 1)
		w.Fill(1)
		weighed := in
		weighed.Weight = grad.Const(w)
		ones := net.Forward(grad.NewEval(), g, weighed).Value()
		for i := range w.Data {
			w.Data[i] = tensor.Float(i%3) + 0.5
		}
		weighed.Weight = grad.Const(w)
		others := net.Forward(grad.NewEval(), g, weighed).Value()
		far := func(a *tensor.Dense) (d float64) {
			for i, v := range a.Data {
				d = max(d, math.Abs(float64(v-plain.Data[i])))
			}
			return d
		}
		if far(ones) > 1e-5 || far(others) < 1e-4 {
			t.Errorf("%T: weights of 1 move it by %g, others by %g", m, far(ones), far(others))
		}
	}
}

// What the layers attend to, and the rows before the last layer.
func TestAttendAndHidden(t *testing.T) {
	g, in := ring(0)
	net := must(New(GAT{Hidden: 4, Heads: 2, Layers: 3}, Shape{In: 5, Out: 3}, 1))
	outs := net.Attend(grad.NewEval(), Hop{Graph: g}, in.Src)
	hidden := net.Hidden(grad.NewEval(), Hop{Graph: g}, in.Src)
	if len(outs) != 3 || hidden.Dim(1) != 8 || !slices.Equal(outs[1].Y.Value().Data, hidden.Value().Data) {
		t.Errorf("%d layers attend, hidden rows are %v", len(outs), hidden.Value().Shape())
	}
	if text := net.String(); text != "GAT, 2 layers with 2 heads of width 4, then 1 of width 3" {
		t.Error(text)
	}
	edges := must(NewEdges(GCN{}, Shape{In: 5, Out: 3}, Pairs{Own: 2, Mirrored: true}, 1))
	if text := edges.String(); text != "GCN, layers of width 16, then 16; edges by the sum and the distance of both ends and 2 features, a layer of 16, then 3" {
		t.Error(text)
	}
}

// Links and facts: each model is made, scores, has gradients, and is made again of its JSON.
func TestLinksAndFacts(t *testing.T) {
	g, in := ring(2)
	for _, m := range []LinkModel{GAE{}, GAE{Bias: true}, GAE{Degrees: true}, VGAE{Hidden: 4, Out: 2}, LightGCN{Hidden: 4}} {
		wide := 5
		if _, light := m.(LightGCN); light {
			wide = 6
		}
		net := must(NewLinks(m, wide, 7))
		z, _ := net.Encode(grad.NewEval(), g, in.Src)
		says := slices.Clone(net.Forward(grad.NewEval(), g, z).Value().Data)
		tape := grad.NewTape(1)
		z, _ = net.Encode(tape, g, in.Src)
		check(t, z, 6, z.Dim(1))
		if params, moved := graded(t, tape, z, net); moved == 0 || moved < params/2 {
			t.Errorf("%s: %d of %d Params have a gradient", net, moved, params)
		}
		fits(t, net.Numbers(), net)
		other := new(LinkNetwork)
		again(t, net, other)
		z, _ = other.Encode(grad.NewEval(), g, in.Src)
		if !slices.Equal(other.Forward(grad.NewEval(), g, z).Value().Data, says) {
			t.Errorf("%s: made again of its JSON it says something else", net)
		}
	}
	for _, m := range []FactModel{TransE{Hidden: 8}, DistMult{}, ComplEx{Hidden: 4}, RotatE{Hidden: 4}} {
		net := must(NewFacts(m, 6, 2, 7))
		tape := grad.NewTape(1)
		y := net.Forward(tape, g)
		says := slices.Clone(y.Value().Data)
		if params, moved := graded(t, tape, y, net); moved != params {
			t.Errorf("%s: %d of %d Params have a gradient", net, moved, params)
		}
		fits(t, net.Numbers(), net)
		other := new(FactNetwork)
		again(t, net, other)
		if !slices.Equal(other.Forward(grad.NewEval(), g).Value().Data, says) {
			t.Errorf("%s: made again of its JSON it says something else", net)
		}
	}
}

// With degrees a score is that of a node's own features and its neighbours', and of how many links both ends have; and Asking gives the same. Where
// links have a direction, those out of the source and into the target count.
func TestLinksWithDegrees(t *testing.T) {
	both, in := ring(2)
	oneWay := graph.Must(graph.New(both.NumNodes(), []int32{0, 1, 2, 0, 0}, []int32{1, 2, 0, 2, 3}))
	for _, tt := range []struct {
		g        *graph.Graph
		directed bool
		weights  []tensor.Float // of the logarithm of degrees out and in and of 1, as a source and as a target
	}{{both, false, []tensor.Float{0.75, 0.75, -0.5}}, {oneWay, true, []tensor.Float{0.75, 0.25, -0.5, 1, -0.25, 0.5}}} {
		net := must(NewLinks(GAE{Degrees: true, Directed: tt.directed}, 5, 7))
		copy(net.Popular.Value.Data, tt.weights)
		z, _ := net.Encode(nil, tt.g, in.Src)
		plain := *net
		plain.Popular, plain.both, plain.Settings.Degrees = nil, nil, false
		along := tt.g
		if tt.directed {
			along = graph.Undirected(along)
		}
		near, _ := plain.Encode(nil, along, in.Src)
		rows := near.Add(net.Own.Forward(nil, in.Src)).Value()
		outs, ins := tt.g.OutDegrees(), tt.g.InDegrees()
		liked := func(v int32, as int) float64 {
			sum, wide := 0.0, len(tt.weights)/3
			for i, x := range []float64{math.Log1p(float64(outs[v])), math.Log1p(float64(ins[v])), 1} {
				sum += x * float64(tt.weights[i*wide+as%wide])
			}
			return sum
		}
		scores := net.Forward(nil, tt.g, z).Value().Data
		for e, v := range tt.g.Destinations() {
			u := tt.g.In().Cols[e]
			want, asked := liked(u, 0)+liked(v, 1), 0.0
			for j, x := range rows.Row(int(u)) {
				want += float64(x) * float64(rows.Row(int(v))[j])
			}
			for j, x := range net.Asking(z.Value().Row(int(u))) {
				asked += float64(x) * float64(z.Value().Row(int(v))[j])
			}
			if got := float64(scores[e]); math.Abs(got-want) > 1e-4*(1+math.Abs(want)) || math.Abs(got-asked) > 1e-4*(1+math.Abs(asked)) {
				t.Errorf("%d to %d: %v, want %v; by the row that asks %v", u, v, got, want, asked)
			}
		}
		gradtest.Check(t, net, func(t *grad.Tape) *grad.Var { z, _ := net.Encode(t, tt.g, in.Src); return net.Loss(t, tt.g, tt.g, z) })
	}
	for _, m := range []LinkModel{VGAE{Degrees: true}, GAE{Directed: true}} {
		if _, err := NewLinks(m, 5, 7); err == nil {
			t.Errorf("%#v is made", m)
		}
	}
}
