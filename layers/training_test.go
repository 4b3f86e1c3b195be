package layers_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// twoLayers is the network of the golden training runs.
type twoLayers struct{ Conv1, Conv2 *layers.GATConv }

func (n *twoLayers) forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return n.Conv2.Forward(t, g, n.Conv1.Forward(t, g, x))
}

// newTwoLayers returns layers of the case's sizes.
func newTwoLayers(s *scene) *twoLayers {
	layer := func(in int, number string) *layers.GATConv {
		shape := s.Params[number+".attn_l"].Shape // 1×H×D
		if shape == nil {
			shape = s.Params[number+".att_src"].Shape
		}
		return &layers.GATConv{In: in, Heads: shape[1], Out: shape[2]}
	}
	first := layer(s.Inputs["x"].Shape[1], "0")
	first.Activation = grad.ELU
	last := layer(first.Heads*first.Out, "1")
	last.Average = true
	return &twoLayers{newGAT(first), newGAT(last)}
}

func (n *twoLayers) names() map[string]*grad.Param {
	names := map[string]*grad.Param{}
	for i, l := range []*layers.GATConv{n.Conv1, n.Conv2} {
		for key, p := range gatNames(l) {
			names[strconv.Itoa(i)+"."+key] = p
		}
	}
	return names
}

// Five steps of Adam end where DGL and PyG end.
func TestTraining(t *testing.T) {
	cases(t, "*/gat_training.json", 2, func(t *testing.T, s *scene) {
		net := newTwoLayers(s)
		names := net.names()
		for key, p := range names {
			if s.Has("params", key) {
				copy(p.Value.Data, s.matrix(t, "params", key).Data)
			}
		}
		x := grad.Const(s.Tensor(t, "inputs", "x"))
		rows := s.Ints(t, "inputs", "train")
		var labels []int32
		for _, r := range rows {
			labels = append(labels, s.Ints(t, "inputs", "labels")[r])
		}
		golden.Compare(t, "logits before", net.forward(nil, s.g, x).Value(), s.Tensor(t, "outputs", "logits_before"), s.Float32Error.Outputs)
		opt := &train.Adam{LR: 0.01, WeightDecay: 0.0005}
		tp := grad.NewTape(1)
		for step, want := range s.Tensor(t, "outputs", "losses").Data {
			tp.Reset()
			loss := net.forward(tp, s.g, x).Rows(rows).CrossEntropy(labels)
			if got := loss.Value().Data[0]; math.Abs(float64(got-want)) > 1e-5 {
				t.Errorf("loss of step %d is %v, want %v", step, got, want)
			}
			grads := tp.Backward(loss)
			for key := range s.Grads {
				if want := s.matrix(t, "grads", key); step == 0 {
					golden.Compare(t, "gradient of "+key, grads.Param(names[key]).Reshape(want.Shape()...), want, s.Float32Error.Grads)
				}
			}
			opt.Step(grads)
		}
		// Adam divides a small gradient by its own size, so weights get 1e-4.
		golden.Compare(t, "logits after", net.forward(nil, s.g, x).Value(), s.Tensor(t, "outputs", "logits_after"), 2.5e-5)
		for key := range s.Params {
			want := s.matrix(t, "outputs", "final."+key)
			golden.Compare(t, "final "+key, names[key].Value.Reshape(want.Shape()...), want, 2.5e-5)
		}
	})
}

// matrix is Tensor, a linear weight as in×out.
func (s *scene) matrix(t *testing.T, section, key string) *tensor.Dense {
	v := s.Tensor(t, section, key)
	if linear(key, v) {
		return golden.Transpose(v)
	}
	return v
}
