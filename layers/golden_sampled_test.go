package layers_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers"
)

func sageNames(l *layers.SAGEConv) map[string]*grad.Param {
	return map[string]*grad.Param{
		"fc_neigh.weight": l.W, "fc_self.weight": l.WRoot, "fc_self.bias": l.B, "bias": l.B, "fc_pool.weight": l.WPool, "fc_pool.bias": l.BPool,
		"lin_l.weight": l.W, "lin_l.bias": l.B, "lin_r.weight": l.WRoot, "lin.weight": l.WPool, "lin.bias": l.BPool,
		"lstm.weight_ih_l0": l.WGates, "lstm.weight_hh_l0": l.UGates, "lstm.bias_ih_l0": l.BGates, "lstm.bias_hh_l0": l.BGates,
	}
}

func TestSAGEConvDGL(t *testing.T) {
	cases(t, "dgl/sageconv_*.json", 7, func(t *testing.T, s *scene) {
		in, inDst := widths(s.Case, "in_feats")
		l := &layers.SAGEConv{In: in, InDst: inDst, Out: int(config(s.Case, "out_feats", 0.0)), NoBias: !config(s.Case, "bias", true), Aggregate: layers.Aggregator(config(s.Case, "aggregator_type", ""))}
		if l.Aggregate == "pool" {
			l.Aggregate, l.Project = layers.AggregateMax, true
		}
		if l.Aggregate == layers.AggregateLSTM { // PyTorch has two biases, whose sum is ours
			sum, other := s.Params["lstm.bias_ih_l0"], s.Params["lstm.bias_hh_l0"]
			for i, v := range other.Data {
				sum.Data[i] += v
			}
			delete(s.Params, "lstm.bias_hh_l0")
		}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		s.run(t, l, sageNames(l))
	})
}

func TestSAGEConvPyG(t *testing.T) {
	cases(t, "pyg/sageconv_*.json", 7, func(t *testing.T, s *scene) {
		in, inDst := widths(s.Case, "in_channels")
		l := &layers.SAGEConv{In: in, InDst: inDst, Out: int(config(s.Case, "out_channels", 0.0)), Aggregate: layers.Aggregator(config(s.Case, "aggr", "")),
			Project: config(s.Case, "project", false), Normalise: config(s.Case, "normalize", false), NoRoot: !config(s.Case, "root_weight", true), NoBias: !config(s.Case, "bias", true)}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		s.run(t, l, sageNames(l))
	})
}

func TestGINConv(t *testing.T) {
	names := func(l *layers.GINConv) map[string]*grad.Param {
		first, last := l.Net.Layers[0], l.Net.Layers[len(l.Net.Layers)-1]
		return map[string]*grad.Param{
			"eps": l.Epsilon, "apply_func.weight": last.W, "apply_func.bias": last.B,
			"nn.0.weight": first.W, "nn.0.bias": first.B, "nn.2.weight": last.W, "nn.2.bias": last.B,
		}
	}
	run := func(t *testing.T, s *scene, l *layers.GINConv) {
		if !l.TrainEps {
			s.drop("eps")
		}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		s.run(t, l, names(l))
	}
	cases(t, "dgl/ginconv_*.json", 3, func(t *testing.T, s *scene) {
		run(t, s, &layers.GINConv{Net: layers.MLP{Widths: ginWidths(s)}, Aggregate: layers.Aggregator(config(s.Case, "aggregator_type", "")),
			Eps: config(s.Case, "init_eps", 0.0), TrainEps: config(s.Case, "learn_eps", false)})
	})
	cases(t, "pyg/ginconv*.json", 2, func(t *testing.T, s *scene) {
		run(t, s, &layers.GINConv{Net: layers.MLP{Widths: ginWidths(s)}, Eps: config(s.Case, "eps", 0.0), TrainEps: config(s.Case, "train_eps", false)})
	})
}

func TestSGConv(t *testing.T) {
	cases(t, "*/sgconv_*.json", 4, func(t *testing.T, s *scene) {
		w := s.Params["fc.weight"].Shape
		if w == nil {
			w = s.Params["lin.weight"].Shape
		}
		l := &layers.SGConv{In: w[1], Out: w[0], K: int(config(s.Case, "k", config(s.Case, "K", 0.0))), Norm: dglNorm(s, layers.NormIn)}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		s.run(t, l, map[string]*grad.Param{"fc.weight": l.W, "fc.bias": l.B, "lin.weight": l.W, "lin.bias": l.B})
	})
}

func TestAPPNP(t *testing.T) {
	cases(t, "*/appnp*.json", 4, func(t *testing.T, s *scene) {
		k := int(config(s.Case, "k", config(s.Case, "K", 0.0)))
		s.run(t, &layers.APPNP{K: k, Alpha: config(s.Case, "alpha", 0.0), Norm: dglNorm(s, layers.NormBoth)}, nil)
	})
}

// dglNorm returns the normalisation of a framework: PyG's is the paper's; DGL's
// is that of EdgeWeightNorm where there are weights, else the one given.
func dglNorm(s *scene, plain layers.Norm) layers.Norm {
	switch {
	case strings.HasPrefix(s.Name, "pyg/"):
		return layers.NormSymmetric
	case s.Has("inputs", "edge_weight"):
		return layers.NormWeighted
	}
	return plain
}

// EdgeWeightNorm is Norm.Weights.
func TestEdgeWeightNormDGL(t *testing.T) {
	norms := map[string]layers.Norm{"both": layers.NormWeighted, "right": layers.NormWeightedRight}
	cases(t, "dgl/edgeweightnorm_*.json", 2, func(t *testing.T, s *scene) {
		tp := grad.NewTape(1)
		in, watched := s.watch(t, tp)
		y := s.theirs(norms[config(s.Case, "norm", "")].Weights(s.g, in.Weight))
		golden.Compare(t, "y", y.Value(), s.Tensor(t, "outputs", "y"), s.Float32Error.Outputs)
		grads := tp.Backward(y.Reshape(-1).Mul(grad.Const(s.Tensor(t, "cotangents", "y"))).Sum())
		golden.Compare(t, "gradient", grads.Of(watched["edge_weight"]), s.Tensor(t, "grads", "edge_weight"), s.Float32Error.Grads)
	})
}

// ginWidths are the widths of the case's network.
func ginWidths(s *scene) []int {
	if w := s.Params["apply_func.weight"].Shape; w != nil {
		return []int{w[1], w[0]}
	}
	a, b := s.Params["nn.0.weight"].Shape, s.Params["nn.2.weight"].Shape
	return []int{a[1], a[0], b[0]}
}
