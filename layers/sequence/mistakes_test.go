package sequence_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Mistakes in circulation about recurrent cells, a test each.

const shut = 1e4 // of a gate, beyond any doubt

// rounded is for what differs by rounding.
var rounded = compare.Off(1e-5, 0)

// bias sets the biases of one gate.
func bias(b *grad.Param, gate, m int, v tensor.Float) {
	for j := range m {
		b.Value.Data[gate*m+j] = v
	}
}

// cellOf runs a step of l from a given state.
func cellOf(l *sequence.LSTM, x, h, c *grad.Param) (after, next []tensor.Float) {
	s := l.Step(nil, grad.Const(x.Value), message.State{grad.Const(h.Value), grad.Const(c.Value)})
	return s[0].Value().Data, s[1].Value().Data
}

// f = 1 − i: an open input gate forgets everything, a shut one keeps all. The other sign,
// f = i, would do the reverse.
func TestCoupledSign(t *testing.T) {
	x, h, c := random(1, 2, 3), random(2, 2, 4), random(3, 2, 4)
	l := &sequence.LSTM{In: 3, Hidden: 4, Forget: sequence.CoupledForget}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	bias(l.B, 0, 4, -shut)
	if _, next := cellOf(l, x, h, c); !slices.Equal(next, c.Value.Data) {
		t.Errorf("with i = 0 the cell went from %v to %v", c.Value.Data, next)
	}
	bias(l.B, 0, 4, shut)
	other := random(4, 2, 4)
	_, a := cellOf(l, x, h, c)
	_, b := cellOf(l, x, h, other)
	if !slices.Equal(a, b) {
		t.Errorf("with i = 1 the new cell still depends on the old one: %v, %v", a, b)
	}
}

// Without a forget gate c is added to, as if f were 1; the gate's own weights are gone.
func TestNoForgetIsOne(t *testing.T) {
	l, own := &sequence.LSTM{In: 3, Hidden: 4, Forget: sequence.NoForget}, &sequence.LSTM{In: 3, Hidden: 4}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	own.Init(rand.New(rand.NewPCG(2, 1)))
	for _, w := range [][2]*grad.Param{{own.W, l.W}, {own.U, l.U}} {
		for r := range w[0].Value.Rows() {
			from, to := w[1].Value.Row(r), w[0].Value.Row(r)
			copy(to, from[:4])
			copy(to[8:], from[4:])
		}
	}
	bias(own.B, 1, 4, shut)
	g, x := graph.Chains(6), grad.Const(random(1, 6, 3).Value)
	a, b := l.ForwardFrom(nil, g, x, nil), own.ForwardFrom(nil, g, x, nil)
	for i := range a {
		if compare.Differ(a[i].Value().Data, b[i].Value().Data, rounded) != nil {
			t.Errorf("state %d is %v, with f = 1 %v", i, a[i].Value().Data, b[i].Value().Data)
		}
	}
	if n := len(l.B.Value.Data) + len(l.W.Value.Data) + len(l.U.Value.Data); n != 3*4*(3+4+1) {
		t.Errorf("it has %d numbers, want 3m(n+m+1)", n)
	}
}

// The output gate's peephole sees c_t, with PeepOld c_{t−1}: where all else shuts the
// gate, only the cell that is large opens it.
func TestPeepholeSees(t *testing.T) {
	for _, forget := range []sequence.Forget{sequence.OwnForget, sequence.NoForget, sequence.CoupledForget} {
		for _, old := range []bool{false, true} {
			l := &sequence.LSTM{In: 1, Hidden: 1, Forget: forget, Peephole: sequence.DiagonalPeephole, PeepOld: old}
			l.Init(rand.New(rand.NewPCG(1, 1)))
			for _, p := range []*grad.Param{l.W, l.U, l.B, l.P} {
				p.Value.Fill(0)
			}
			last := len(l.B.Value.Data) - 1 // the output gate's; before it is g's
			bias(l.B, 0, 1, shut)
			bias(l.B, last-1, 1, shut) // i = g = 1: the new cell is at least 1
			bias(l.B, last, 1, -shut/2)
			l.P.Value.Data[len(l.P.Value.Data)-1] = shut
			zero, x := grad.NewParam(1, 1), grad.NewParam(1, 1)
			h, _ := cellOf(l, x, zero, zero)
			if open := h[0] > 0.5; open == old {
				t.Errorf("%q, PeepOld %v: from a cell of 0 to one of 1 the output gate lets %v out", forget, old, h[0])
			}
		}
	}
}

// The two conventions of a GRU's update gate are different networks on the same weights,
// and one with the signs of z's weights changed.
func TestUpdateConventions(t *testing.T) {
	const m = 4
	for _, before := range []bool{false, true} {
		keeps := &sequence.GRU{In: 3, Hidden: m, ResetBefore: before}
		keeps.Init(rand.New(rand.NewPCG(1, 1)))
		keeps.B.Value.Normal(rand.New(rand.NewPCG(3, 1)), 0, 1)
		admits := *keeps
		admits.UpdateAdmits = true
		g, x := graph.Chains(5), grad.Const(random(1, 5, 3).Value)
		want := keeps.Forward(nil, g, x).Value().Data
		if compare.Differ(admits.Forward(nil, g, x).Value().Data, want, rounded) == nil {
			t.Error("the conventions do not differ")
		}
		admits.W, admits.U, admits.B = turned(keeps.W, m), turned(keeps.U, m), turned(keeps.B, m)
		if got := admits.Forward(nil, g, x).Value().Data; compare.Differ(got, want, rounded) != nil {
			t.Errorf("with z's signs changed it gives %v, want %v", got, want)
		}
	}
}

// turned is p with the signs of the middle columns of three changed.
func turned(p *grad.Param, m int) *grad.Param {
	q := &grad.Param{Value: p.Value.Clone()}
	for i := range q.Value.Data {
		if i/m%3 == 1 {
			q.Value.Data[i] *= -1
		}
	}
	return q
}

// A GRU whose z keeps all copies its state; one whose z admits all and whose r is 1 is a
// simple network, and with r = 0 a layer of x alone.
func TestGRUExtremes(t *testing.T) {
	const m = 4
	x, h := random(1, 2, 3), random(2, 2, m)
	for _, l := range []*sequence.GRU{{}, {ResetBefore: true}, {UpdateAdmits: true}, {UpdateAdmits: true, ResetBefore: true}} {
		l.In, l.Hidden = 3, m
		l.Init(rand.New(rand.NewPCG(1, 1)))
		keep := tensor.Float(shut)
		if l.UpdateAdmits {
			keep = -shut
		}
		run := func(r, z tensor.Float, from *grad.Param) []tensor.Float {
			bias(l.B, 0, m, r)
			bias(l.B, 1, m, z)
			return l.Step(nil, grad.Const(x.Value), message.State{grad.Const(from.Value)})[0].Value().Data
		}
		if got := run(0, keep, h); compare.Differ(got, h.Value.Data, rounded) != nil {
			t.Errorf("%+v: keeping made %v of %v", l, got, h.Value.Data)
		}
		if compare.Differ(run(-shut, -keep, h), run(-shut, -keep, random(9, 2, m)), rounded) != nil {
			t.Errorf("%+v: with r = 0 the state is still read", l)
		}
		got, want := run(shut, -keep, h), make([]tensor.Float, 2*m)
		for i := range want {
			j := i % m
			want[i] = tensor.Float(math.Tanh(product(row(x, i/m), l.W, 2*m+j) + product(row(h, i/m), l.U, 2*m+j)))
		}
		if compare.Differ(got, want, rounded) != nil {
			t.Errorf("%+v: with r = 1 and z admitting it is %v, a simple network %v", l, got, want)
		}
	}
}

// Resetting before and after the product differ, and agree where r = 1.
func TestResetOrder(t *testing.T) {
	const m = 4
	for _, minimal := range []bool{false, true} {
		after := &sequence.GRU{In: 3, Hidden: m, Minimal: minimal}
		after.Init(rand.New(rand.NewPCG(1, 1)))
		before := *after
		before.ResetBefore = true
		g, x := graph.Chains(5), grad.Const(random(1, 5, 3).Value)
		if compare.Differ(after.Forward(nil, g, x).Value().Data, before.Forward(nil, g, x).Value().Data, rounded) == nil {
			t.Errorf("minimal %v: the order does not matter", minimal)
		}
		bias(after.B, 0, m, shut)
		if compare.Differ(after.Forward(nil, g, x).Value().Data, before.Forward(nil, g, x).Value().Data, rounded) != nil {
			t.Errorf("minimal %v: with r = 1 the order matters", minimal)
		}
	}
}

// λ = 1 is the plain network, to the bit; the first step starts from zero, not from a(b);
// an a that is nothing leaves a residual state as it was.
func TestLeakAndResidual(t *testing.T) {
	plain := &sequence.RNN{In: 3, Hidden: 4}
	plain.Init(rand.New(rand.NewPCG(1, 1)))
	leaky, residual := *plain, *plain
	leaky.Leak, residual.Residual = 1, true
	g, x := graph.Chains(5), grad.Const(random(1, 5, 3).Value)
	want := plain.Forward(nil, g, x).Value()
	if !slices.Equal(leaky.Forward(nil, g, x).Value().Data, want.Data) {
		t.Error("a leak of 1 is not the plain network")
	}
	leaky.Leak = 0.25
	for j, v := range leaky.Forward(nil, g, x).Value().Row(0) {
		if d := v - want.Row(0)[j]/4; d > 1e-6 || d < -1e-6 {
			t.Errorf("from zero a leak of 1/4 goes to %v, want a quarter of %v", v, want.Row(0)[j])
		}
	}
	residual.W, residual.U = grad.NewParam(3, 4), grad.NewParam(4, 4)
	h0 := random(2, 1, 4)
	last := residual.ForwardFrom(nil, g, x, message.State{grad.Const(h0.Value)})[0].Value().Row(4)
	if !slices.Equal(last, h0.Value.Data) {
		t.Errorf("a residual state went from %v to %v though nothing was added", h0.Value.Data, last)
	}
	learnt := &sequence.RNN{In: 3, Hidden: 4, LearnLeak: true, Leak: 0.2}
	learnt.Init(rand.New(rand.NewPCG(1, 1)))
	if leak := sigma(float64(learnt.L.Value.Data[0])); math.Abs(leak-0.2) > 1e-6 {
		t.Errorf("a learnt leak begins at %v, want 0.2", leak)
	}
	for want, l := range map[string]*sequence.RNN{
		"Leak is 1.5": {Leak: 1.5}, "begin below 1": {Leak: 1, LearnLeak: true}, "choose one": {Leak: 0.5, Residual: true},
	} {
		if e := misused(func() { l.Init(rand.New(rand.NewPCG(1, 1))) }); e == nil || !strings.Contains(e.Why, want) {
			t.Errorf("got %v, want a TapeError about %q", e, want)
		}
	}
}

// Each child has a forget gate of its own: two children whose gates are opposite are kept
// and forgotten, which one gate for both cannot do.
func TestForgetGatePerChild(t *testing.T) {
	g := graph.Must(graph.Trees([]int32{-1, 0, 0}))
	for _, l := range []*sequence.TreeLSTM{{}, {Arity: 2}, {Arity: 2, OwnChild: true}} {
		l.In, l.Hidden = 1, 1
		l.Init(rand.New(rand.NewPCG(1, 1)))
		for _, p := range grad.Params(l) {
			p.Value.Fill(0)
		}
		// Leaves: o = 1, i = 1 and c = tanh(±2), so h = tanh(c) has x's sign. The root: i = 0.
		copy(l.W.Value.Data, []tensor.Float{0, 1, 0})
		copy(l.B.Value.Data, []tensor.Float{0, 0, shut})
		for i := range l.UF.Value.Data {
			l.UF.Value.Data[i] = 0
		}
		for k := range max(1, l.Arity) { // f_k sees h_k
			l.UF.Value.Row(k)[min(k, l.UF.Value.Dim(1)-1)] = shut
		}
		x := grad.Const(tensor.Of([]tensor.Float{0, 2, -2}, 3, 1))
		c := l.States(nil, g, x)[1].Value().Data
		if kept := c[0] - c[1]; kept > 1e-6 || kept < -1e-6 || c[1] < 0.1 {
			t.Errorf("%+v: the root's cell is %v, want that of the child whose gate is open, %v, and nothing of %v", l, c[0], c[1], c[2])
		}
	}
}

// Exchanging children changes an N-ary cell and a recursive network, not a child-sum.
func TestChildrenExchanged(t *testing.T) {
	g := graph.Must(graph.Trees([]int32{-1, 0, 0}))
	x := random(1, 3, 2)
	turned := tensor.Of(slices.Concat(x.Value.Row(0), x.Value.Row(2), x.Value.Row(1)), 3, 2)
	for _, c := range []struct {
		l    sequence.Cell
		same bool
	}{
		{&sequence.TreeLSTM{In: 2, Hidden: 3}, true}, {&sequence.TreeLSTM{In: 2, Hidden: 3, Arity: 2}, false},
		{&sequence.TreeLSTM{In: 2, Hidden: 3, Arity: 2, OwnChild: true}, false}, {&sequence.Recursive{In: 2, Hidden: 2, Words: true}, false},
	} {
		c.l.Init(rand.New(rand.NewPCG(1, 1)))
		a := c.l.ForwardFrom(nil, g, grad.Const(x.Value), nil)[0].Value().Row(0)
		b := c.l.ForwardFrom(nil, g, grad.Const(turned), nil)[0].Value().Row(0)
		if same := compare.Differ(a, b, rounded) == nil; same != c.same {
			t.Errorf("%T: %v, with the children exchanged %v", c.l, a, b)
		}
	}
}

// A caterpillar, whose every node has a leaf for its second child, is the chain where the
// second child says nothing; so every tree is its chain there, and 50 levels are no
// matter. A forest is its trees, to the bit: see TestBatch.
func TestCaterpillarIsChain(t *testing.T) {
	const n = 50
	parents := make([]int32, 2*n) // 2i is the spine, 2i+1 a leaf beside it
	for i := range int32(n) {
		parents[2*i], parents[2*i+1] = 2*i+2, 2*i+2
	}
	parents[2*n-2], parents[2*n-1] = -1, -1
	g := graph.Must(graph.Trees(parents))
	l := &sequence.TreeLSTM{In: 2, Hidden: 3, Arity: 2}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	for r := range 3 { // the second child's rows
		clear(l.U.Value.Row(3 + r))
		clear(l.UF.Value.Row(3 + r))
	}
	for j := range 3 { // and its forget gate shuts
		for r := range 6 {
			l.UF.Value.Row(r)[3+j] = 0
		}
	}
	x := random(1, 2*n, 2)
	for i := range n {
		clear(x.Value.Row(2*i + 1))
	}
	clear(l.B.Value.Data) // a leaf without x has c = i·tanh(0) = 0
	spine := make([]int32, n)
	for i := range spine {
		spine[i] = int32(2 * i)
	}
	tree := l.Forward(nil, g, grad.Const(x.Value)).Rows(spine).Value().Data
	chain := l.Forward(nil, graph.Chains(n), grad.Const(x.Value).Rows(spine)).Value().Data
	if compare.Differ(tree, chain, rounded) != nil {
		t.Error("the caterpillar's spine is not the chain")
	}
	three := graph.Must(graph.Trees([]int32{-1, 0, 0, 0}))
	if err := tensor.Try(func() { l.Forward(nil, three, grad.Const(tensor.New(4, 2))) }); err == nil || !strings.Contains(err.Error(), "node 3 to node 0 has kind 2, and Arity is 2") {
		t.Errorf("a third child: %v", err)
	}
}

// With f = 1 and i = 0 the cell stays for ever, to the bit, whatever is read.
func TestCellForEver(t *testing.T) {
	const m, steps = 3, 200
	for _, peep := range []sequence.Peephole{"", sequence.DiagonalPeephole, sequence.FullPeephole} {
		l := &sequence.LSTM{In: 2, Hidden: m, Peephole: peep}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		bias(l.B, 0, m, -shut)
		bias(l.B, 1, m, shut)
		c := random(2, 1, m).Value
		init := message.State{grad.Const(random(3, 1, m).Value), grad.Const(c)}
		s := l.ForwardFrom(nil, graph.Chains(steps), grad.Const(random(1, steps, 2).Value), init)
		if last := s[1].Value().Row(steps - 1); !slices.Equal(last, c.Data) {
			t.Errorf("%q: after %d steps the cell is %v, want %v", peep, steps, last, c.Data)
		}
	}
}

// How many numbers a cell learns: one bias a gate, where PyTorch has two.
func TestParameterCounts(t *testing.T) {
	const n, m = 5, 3
	for _, c := range []struct {
		cell sequence.Cell
		want int
	}{
		{&sequence.RNN{}, m * (n + m + 1)},
		{&sequence.RNN{NoBias: true}, m * (n + m)},
		{&sequence.LSTM{}, 4 * m * (n + m + 1)},
		{&sequence.LSTM{Forget: sequence.CoupledForget}, 3 * m * (n + m + 1)},
		{&sequence.LSTM{Peephole: sequence.DiagonalPeephole}, 4*m*(n+m+1) + 3*m},
		{&sequence.LSTM{Peephole: sequence.FullPeephole}, 4*m*(n+m+1) + 3*m*m},
		{&sequence.LSTM{Forget: sequence.CoupledForget, Peephole: sequence.DiagonalPeephole}, 3*m*(n+m+1) + 2*m},
		{&sequence.GRU{}, 3*m*(n+m+1) + m}, // b_hn cannot be merged with b_in
		{&sequence.GRU{ResetBefore: true}, 3 * m * (n + m + 1)},
		{&sequence.TreeLSTM{}, 4 * m * (n + m + 1)},
		{&sequence.TreeLSTM{Arity: 2}, 4*m*(n+1) + 3*2*m*m + 2*2*m*m},
		{&sequence.TreeLSTM{Arity: 2, OwnChild: true}, 4*m*(n+1) + 3*2*m*m + 2*m*m},
	} {
		switch l := c.cell.(type) {
		case *sequence.RNN:
			l.In, l.Hidden = n, m
		case *sequence.LSTM:
			l.In, l.Hidden = n, m
		case *sequence.GRU:
			l.In, l.Hidden = n, m
		case *sequence.TreeLSTM:
			l.In, l.Hidden = n, m
		}
		c.cell.Init(rand.New(rand.NewPCG(1, 1)))
		got := 0
		for p := range params(c.cell) {
			got += len(p.Value.Data)
		}
		if got != c.want {
			t.Errorf("%+v learns %d numbers, want %d", c.cell, got, c.want)
		}
	}
}

// A tree of height 50 beside a forest is what it is alone, and so is the forest, to the bit.
func TestDeepTreeBesideForest(t *testing.T) {
	const n = 50
	parents := []int32{-1}
	for v := int32(0); len(parents) < 2*n; v += 2 { // a spine with a leaf at each node
		parents = append(parents, v, v)
	}
	deep, rest := graph.Must(graph.Trees(parents)), forest()
	all := graph.Batch(deep, rest)
	if levels, err := all.Levels(); err != nil || levels.Len() < n {
		t.Fatalf("the tree is not %d levels high: %v", n, err)
	}
	x := grad.Const(random(1, all.NumNodes(), 3).Value)
	a, b := x.RowRange(0, deep.NumNodes()), x.RowRange(deep.NumNodes(), all.NumNodes())
	for _, c := range []sequence.Cell{
		&sequence.TreeLSTM{In: 3, Hidden: 2}, &sequence.TreeLSTM{In: 3, Hidden: 2, Arity: 3}, &sequence.Recursive{In: 3, Hidden: 2, Arity: 3},
	} {
		c.Init(rand.New(rand.NewPCG(1, 1)))
		run := func(g *graph.Graph, x *grad.Var) []tensor.Float { return c.ForwardFrom(nil, g, x, nil)[0].Value().Data }
		if !slices.Equal(run(all, x), slices.Concat(run(deep, a), run(rest, b))) {
			t.Errorf("%T: together they are not what they are alone", c)
		}
	}
}
