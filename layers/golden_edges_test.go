package layers_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// join makes one parameter of several, and its gradient of theirs, by f of them as
// in×out. f has to be linear, and its own inverse transposed.
func (s *scene) join(t *testing.T, name string, parts []string, f func(v []*tensor.Dense) *tensor.Dense) {
	joined := map[string]golden.Array{}
	for _, section := range []string{"params", "grads"} {
		var v []*tensor.Dense
		for _, part := range parts {
			v = append(v, s.matrix(t, section, part))
		}
		y := f(v)
		a := golden.Array{Shape: y.Shape()}
		for _, x := range y.Data {
			a.Data = append(a.Data, float64(x))
		}
		joined[section] = a
	}
	s.drop(parts...)
	s.Params[name], s.Grads[name] = joined["params"], joined["grads"]
}

// stacked is rows below each other.
func stacked(v []*tensor.Dense) *tensor.Dense {
	var data []tensor.Float
	rows := 0
	for _, x := range v {
		data, rows = append(data, x.Data...), rows+x.Rows()
	}
	return tensor.Of(data, rows, v[0].RowLen())
}

func TestSuperGATConvPyG(t *testing.T) {
	cases(t, "pyg/supergatconv_*.json", 2, func(t *testing.T, s *scene) {
		l := &layers.SuperGATConv{In: number(s, "in_channels"), Out: number(s, "out_channels"), Heads: number(s, "heads"),
			ScaledDot: config(s.Case, "attention_type", "MX") == "SD"}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		s.run(t, l, map[string]*grad.Param{"lin.weight": l.W, "att_l": l.AttnL, "att_r": l.AttnR, "bias": l.B})
	})
}

func TestEdgeConvPyG(t *testing.T) {
	cases(t, "pyg/edgeconv_*.json", 2, func(t *testing.T, s *scene) {
		l := &layers.EdgeConv{Net: layers.MLP{Widths: ginWidths(s)}, Aggregate: layers.Aggregator(config(s.Case, "aggr", ""))}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		first, last := l.Net.Layers[0], l.Net.Layers[1]
		s.run(t, l, map[string]*grad.Param{"nn.0.weight": first.W, "nn.0.bias": first.B, "nn.2.weight": last.W, "nn.2.bias": last.B})
	})
}

// DGL computes Θ(x_v − x_u) + Φ·x_v, each with a bias: our matrix is Φ above −Θ.
func TestEdgeConvDGL(t *testing.T) {
	cases(t, "dgl/edgeconv*.json", 2, func(t *testing.T, s *scene) {
		s.join(t, "w", []string{"phi.weight", "theta.weight"}, func(v []*tensor.Dense) *tensor.Dense {
			for i := range v[1].Data {
				v[1].Data[i] = -v[1].Data[i]
			}
			return stacked(v)
		})
		sum := s.Params["phi.bias"] // the gradients are equal, and the sum is ours
		for i, v := range s.Params["theta.bias"].Data {
			sum.Data[i] += v
		}
		s.drop("theta.bias")
		l := &layers.EdgeConv{Net: layers.MLP{Widths: []int{2 * number(s, "in_feat"), number(s, "out_feat")}}, BatchNorm: config(s.Case, "batch_norm", false)}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		names := map[string]*grad.Param{"w": l.Net.Layers[0].W, "phi.bias": l.Net.Layers[0].B}
		if l.BatchNorm {
			names["bn.weight"], names["bn.bias"] = l.Norm.Gain, l.Norm.B
			names["bn.running_mean"], names["bn.running_var"] = l.Norm.Mean, l.Norm.Variance
		}
		s.run(t, l, names)
	})
}

// DGL's maximum is that of each product of an element of x and of Θ.
func TestNNConvDGL(t *testing.T) {
	cases(t, "dgl/nnconv_*.json", 3, func(t *testing.T, s *scene) {
		l := &layers.NNConv{In: number(s, "in_feats"), Out: number(s, "out_feats"), EdgeIn: s.Params["edge_func.weight"].Shape[1],
			Aggregate: layers.Aggregator(config(s.Case, "aggregator_type", "")), MaxEach: true}
		if config(s.Case, "residual", false) {
			l.Residual = layers.ResidualIdentity
		}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		s.run(t, l, map[string]*grad.Param{"edge_func.weight": l.W, "edge_func.bias": l.BTheta, "res_fc.weight": l.WRes, "bias": l.B})
	})
}

func TestRGCNConvPyG(t *testing.T) {
	cases(t, "pyg/rgcnconv*.json", 4, func(t *testing.T, s *scene) {
		l := &layers.RGCNConv{In: number(s, "in_channels"), Out: number(s, "out_channels"), Relations: number(s, "num_relations"),
			Bases: number(s, "num_bases"), Blocks: number(s, "num_blocks"), Aggregate: layers.Aggregator(config(s.Case, "aggr", ""))}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		s.run(t, l, map[string]*grad.Param{"weight": l.W, "comp": l.Mix, "root": l.WRoot, "bias": l.B})
	})
}

// DGL takes no mean over a relation; its norm is a weight of the edge.
func TestRelGraphConvDGL(t *testing.T) {
	cases(t, "dgl/relgraphconv*.json", 5, func(t *testing.T, s *scene) {
		l := &layers.RGCNConv{In: number(s, "in_feat"), Out: number(s, "out_feat"), Relations: number(s, "num_rels"), Aggregate: layers.AggregateSum,
			LayerNorm: config(s.Case, "layer_norm", false), NoRoot: !config(s.Case, "self_loop", true), Activation: grad.Activation(config(s.Case, "activation", ""))}
		switch config(s.Case, "regularizer", "") {
		case "basis":
			l.Bases = number(s, "num_bases")
		case "bdd":
			l.Blocks = number(s, "num_bases")
		}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		names := map[string]*grad.Param{"linear_r.W": l.W, "linear_r.coeff": l.Mix, "loop_weight": l.WRoot, "h_bias": l.B}
		if l.LayerNorm {
			names["layer_norm_weight.weight"], names["layer_norm_weight.bias"] = l.Norm.Gain, l.Norm.B
		}
		s.run(t, l, names)
	})
}

// DGL has a linear layer with a bias for each kind of edge, which the steps share;
// PyG one matrix without a bias for each step.
func TestGatedGraphConv(t *testing.T) {
	cases(t, "*/gatedgraphconv*.json", 4, func(t *testing.T, s *scene) {
		l, gru := &layers.GatedGraphConv{In: s.Inputs["x"].Shape[1], Out: number(s, "out_channels"), Steps: number(s, "num_layers"), PerStep: true, NoBias: true}, "rnn"
		if strings.HasPrefix(s.Name, "dgl/") {
			l, gru = &layers.GatedGraphConv{In: number(s, "in_feats"), Out: number(s, "out_feats"), Steps: number(s, "n_steps"), Kinds: number(s, "n_etypes")}, "gru"
			var weights, biases []string
			for k := range l.Kinds {
				weights, biases = append(weights, fmt.Sprintf("linears.%d.weight", k)), append(biases, fmt.Sprintf("linears.%d.bias", k))
			}
			s.join(t, "weight", weights, stacked)
			s.join(t, "biases", biases, stacked)
		}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		s.run(t, l, map[string]*grad.Param{"weight": l.W, "biases": l.B, gru + ".weight_ih": l.WGates, gru + ".weight_hh": l.UGates,
			gru + ".bias_ih": l.BGates, gru + ".bias_hh": l.BState})
	})
}
