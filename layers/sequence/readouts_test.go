package sequence_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The mean of a sequence divides by its own length, not by the longest of the batch; that of
// an empty one is zero and no NaN, and its gradient is none.
func TestMeanOfRaggedBatch(t *testing.T) {
	g := graph.Chains(3, 0, 7)
	l := &sequence.GRU{In: 2, Hidden: 3}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	tape := grad.NewTape(1)
	h := l.Forward(tape, g, grad.Const(random(1, 10, 2).Value))
	mean := message.UpdateAll(graph.Membership(g), message.CopyU(h), message.Mean)
	for j := range 3 {
		sum := tensor.Float(0)
		for v := range 3 {
			sum += h.Value().Row(v)[j]
		}
		if got := mean.Value().Row(0)[j]; compare.Differ([]tensor.Float{got}, []tensor.Float{sum / 3}, rounded) != nil {
			t.Errorf("the mean of three nodes is %v, want %v", got, sum/3)
		}
		if got := mean.Value().Row(1)[j]; got != 0 {
			t.Errorf("the mean of no node is %v", got)
		}
	}
	for _, d := range tape.Backward(mean.Square().Sum()) {
		if n := norm(d.Value.Data); n-n != 0 {
			t.Errorf("a gradient is %v", d.Value.Data)
		}
	}
}

// Another order of the sequences in a batch is another order of its rows, and changes no bit
// of them, of every cell.
func TestOrderOfSequences(t *testing.T) {
	lengths, order := []int{4, 1, 6}, []int{2, 0, 1}
	starts := []int32{0, 4, 5}
	var rows []int32
	var ordered []int
	for _, s := range order {
		ordered = append(ordered, lengths[s])
		for k := range lengths[s] {
			rows = append(rows, starts[s]+int32(k))
		}
	}
	x := grad.Const(random(1, 11, 3).Value)
	for name, c := range cells(3, 4) {
		want := c.ForwardFrom(nil, graph.Chains(lengths...), x, nil)[0].Rows(rows).Value()
		got := c.ForwardFrom(nil, graph.Chains(ordered...), x.Rows(rows), nil)[0].Value()
		if !slices.Equal(got.Data, want.Data) {
			t.Errorf("%s: the order of the sequences changes them", name)
		}
	}
}

// Reading from the end is another network: no cell gives the same backwards. A graph whose
// edges go both ways is none that can be read, and the error names its cycle.
func TestDirectionMatters(t *testing.T) {
	g, x := graph.Chains(4), grad.Const(random(1, 4, 3).Value)
	both := graph.Must(graph.New(4, []int32{0, 1, 2, 1, 2, 3}, []int32{1, 2, 3, 0, 1, 2}))
	for name, c := range cells(3, 4) {
		forth, back := c.ForwardFrom(nil, g, x, nil)[0].Value(), c.ForwardFrom(nil, graph.Reverse(g), x, nil)[0].Value()
		if compare.Differ(forth.Data, back.Data, rounded) == nil {
			t.Errorf("%s: backwards it gives the same", name)
		}
		func() {
			defer func() {
				err, _ := recover().(error)
				if cycle := new(graph.CycleError); !errors.As(err, &cycle) || err.Error() == "" {
					t.Errorf("%s: of edges both ways: %v, want a CycleError", name, err)
				}
			}()
			c.ForwardFrom(nil, both, x, nil)
		}()
	}
}

// The first state is that of zeros: a(x·W + b), and not one that has read a(b) before.
func TestFirstStep(t *testing.T) {
	l := &sequence.RNN{In: 2, Hidden: 3}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	l.B.Value.Normal(rand.New(rand.NewPCG(2, 1)), 0, 1)
	x := random(1, 1, 2)
	want := grad.Const(x.Value).Linear(grad.Const(l.W.Value), grad.Const(l.B.Value), grad.Identity).Tanh().Value()
	if got := l.Forward(nil, graph.Chains(1), grad.Const(x.Value)).Value(); compare.Differ(got.Data, want.Data, rounded) != nil {
		t.Errorf("the first state is %v, want %v", got.Data, want.Data)
	}
}

// both returns a layer of an LSTM each way, whose cells have weights of their own.
func both(seed uint64) *sequence.Stack {
	s := &sequence.Stack{Layers: []sequence.Cell{&sequence.LSTM{In: 2, Hidden: 3}}, Back: []sequence.Cell{&sequence.LSTM{In: 2, Hidden: 3}}}
	s.Init(rand.New(rand.NewPCG(seed, 1)))
	return s
}

// Both ways: a node alone is read once by each cell; on the reverse graph, with the cells
// exchanged, the halves are exchanged.
func TestBothWays(t *testing.T) {
	s := both(1)
	one := grad.Const(random(1, 1, 2).Value)
	want := grad.Concat(s.Layers[0].Step(nil, one, nil)[0], s.Back[0].Step(nil, one, nil)[0]).Value()
	if got := s.Forward(nil, graph.Chains(1), one).Value(); !slices.Equal(got.Data, want.Data) {
		t.Errorf("a node alone gives %v, its cells %v", got.Data, want.Data)
	}
	g, x := graph.Chains(4, 2), grad.Const(random(2, 6, 2).Value)
	turned := &sequence.Stack{Layers: s.Back, Back: s.Layers}
	y, z := s.Forward(nil, g, x), turned.Forward(nil, graph.Reverse(g), x)
	halves := grad.Concat(z.Columns(3, 6), z.Columns(0, 3)).Value()
	if !slices.Equal(y.Value().Data, halves.Data) {
		t.Error("the reverse graph and exchanged cells do not exchange the halves")
	}
}

// The last word reaches every state that reads backwards, and of those that read forwards
// the last alone; so what sums a sequence up stands at its end and at its beginning.
func TestLastWordReaches(t *testing.T) {
	s, g := both(2), graph.Chains(5)
	x := random(1, 5, 2).Value
	changed := x.Clone()
	changed.Row(4)[0] += 0.5
	y, z := s.Forward(nil, g, grad.Const(x)).Value(), s.Forward(nil, g, grad.Const(changed)).Value()
	for v := range 5 {
		if slices.Equal(y.Row(v)[:3], z.Row(v)[:3]) == (v == 4) {
			t.Errorf("the last word reaches the forward state of node %d, or not that of the last", v)
		}
		if slices.Equal(y.Row(v)[3:], z.Row(v)[3:]) {
			t.Errorf("the last word does not reach the backward state of node %d", v)
		}
	}
}

// Dropout is between the layers: it changes what the second reads, and neither a stack of
// one layer nor its result, which no zero is put into.
func TestStackDropsBetween(t *testing.T) {
	g, x := graph.Chains(6), grad.Const(random(1, 6, 2).Value)
	for _, depth := range []int{1, 2} {
		s := &sequence.Stack{}
		for k := range depth {
			s.Layers = append(s.Layers, &sequence.GRU{In: 2 + k, Hidden: 3})
		}
		s.Init(rand.New(rand.NewPCG(1, 1)))
		plain := s.Forward(grad.NewTape(1), g, x).Value().Clone()
		s.Dropout = 0.5
		dropped := s.Forward(grad.NewTape(1), g, x).Value()
		if same := slices.Equal(plain.Data, dropped.Data); same != (depth == 1) {
			t.Errorf("%d layers: dropout leaves the result as it is: %v", depth, same)
		}
		if slices.Contains(dropped.Data, 0) {
			t.Errorf("%d layers: the result was dropped from", depth)
		}
		if !slices.Equal(s.Forward(grad.NewEval(), g, x).Value().Data, plain.Data) {
			t.Errorf("%d layers: something was dropped in an evaluation", depth)
		}
	}
}
