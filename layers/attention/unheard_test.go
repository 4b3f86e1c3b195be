package attention_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// unheard is a score of the key's first number, which is −∞ for the tokens from From on: a mask.
type unheard struct{ From int }

func (*unheard) Init(*rand.Rand) {}

func (s *unheard) Keys(_ *grad.Tape, keys *grad.Var) *grad.Var {
	mask := tensor.New(keys.Dim(0), 1)
	for v := min(s.From, len(mask.Data)); v < len(mask.Data); v++ {
		mask.Data[v] = tensor.Float(math.Inf(-1))
	}
	return keys.Columns(0, 1).Add(grad.Const(mask))
}

func (*unheard) Of(_ *grad.Tape, keys, _ *grad.Var) message.Msg { return message.U(keys) }

// deaf is an aligner that gives every key a weight of zero.
type deaf struct{}

func (deaf) Init(*rand.Rand)                                             {}
func (deaf) Keys(_ *grad.Tape, _ *graph.Graph, keys *grad.Var) *grad.Var { return keys }
func (deaf) Start(*grad.Tape, *graph.Graph) *grad.Var                    { return nil }
func (deaf) Weigh(_ *grad.Tape, look attention.Look, _, _ *grad.Var) (message.Msg, *grad.Var) {
	return message.E(grad.Const(tensor.New(look.Graph.NumEdges(), 1))), nil
}

// silenced are the aligners with Params that give every key a score of −∞ = tanh(…)·V.
func silenced() map[string]attention.Aligner {
	coverage := &attention.Coverage{Key: twice, Query: hidden, Hidden: 4}
	location := &attention.LocationAttention{Key: twice, Query: hidden, Hidden: 4, Filters: 2, Width: 3}
	cumulative := &attention.LocationAttention{Key: twice, Query: hidden, Hidden: 4, Filters: 2, Width: 3, Cumulative: true, By: smoothing(true)}
	return map[string]attention.Aligner{"coverage": coverage, "location": location, "cumulative, smooth": cumulative, "content": &attention.Content{Score: &unheard{}}}
}

// silence makes the scores of an aligner −∞.
func silence(a attention.Aligner) {
	mute := func(b, v *grad.Param) {
		b.Value.Fill(100)
		v.Value.Fill(tensor.Float(math.Inf(-1)))
	}
	switch a := a.(type) {
	case *attention.Coverage:
		mute(a.B, a.V)
	case *attention.LocationAttention:
		mute(a.B, a.V)
	}
}

// A step whose scores are all −∞ sees nothing: its weights and what it hears are zero, and
// what the next step is told of them is too.
func TestStepsThatHearNothing(t *testing.T) {
	source, tokens, target, fed := batched([]pair{{[]int32{3, 4, 5}, []int32{1, 3, 2}}, {[]int32{6, 2}, []int32{1, 5}}})
	type decoder interface {
		Apply(*grad.Tape, *graph.Graph, []int32, *graph.Graph, []int32) (*grad.Var, attention.Alignment)
	}
	for _, kind := range []struct {
		name string
		of   func(a attention.Aligner) decoder
	}{
		{"RNNsearch", func(a attention.Aligner) decoder { return newRNNsearch(a) }},
		{"Luong", func(a attention.Aligner) decoder { return newLuong(a, true) }},
	} {
		for name, a := range silenced() {
			net, want := kind.of(a), kind.of(deaf{})
			silence(a)
			shareRest(net, want)
			y, looked := net.Apply(nil, source, tokens, target, fed)
			x, _ := want.Apply(nil, source, tokens, target, fed)
			if !slices.Equal(y.Value().Data, x.Value().Data) {
				t.Errorf("%s, %s: logits %v, want those of a decoder that hears nothing, %v", kind.name, name, y.Value().Data, x.Value().Data)
			}
			for i, w := range looked.Matrices() {
				if slices.ContainsFunc(w.Data, func(v tensor.Float) bool { return v != 0 }) {
					t.Errorf("%s, %s: the weights of pair %d are %v", kind.name, name, i, w.Data)
				}
			}
		}
		all, some := kind.of(&attention.Content{Score: &unheard{From: 9}}), kind.of(&attention.Content{Score: &unheard{From: 3}})
		tape := grad.NewTape(1)
		y, _ := some.Apply(tape, source, tokens, target, fed)
		x, _ := all.Apply(nil, source, tokens, target, fed)
		if !slices.Equal(y.Value().Data[:18], x.Value().Data[:18]) || slices.Equal(y.Value().Data[18:], x.Value().Data[18:]) {
			t.Errorf("%s: of two pairs the second is not heard: logits %v, heard %v", kind.name, y.Value().Data, x.Value().Data)
		}
		grads := tape.Backward(y.CrossEntropy([]int32{3, 2, 0, 5, 0}))
		for _, p := range grad.Params(some) {
			if g := grads.Of(tape.Use(p)); slices.ContainsFunc(g.Data, func(v tensor.Float) bool { return v != v }) {
				t.Errorf("%s: a gradient is NaN: %v", kind.name, g.Data)
			}
		}
	}
}

// shareRest gives want the Params of net beside the aligner's.
func shareRest(net, want any) {
	switch net := net.(type) {
	case *attention.RNNsearch:
		align := want.(*attention.RNNsearch)
		rest := *net
		rest.Align = align.Align
		*align = rest
	case *attention.Luong:
		align := want.(*attention.Luong)
		rest := *net
		rest.Align = align.Align
		*align = rest
	}
}
