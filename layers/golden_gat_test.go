package layers_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
)

func newGAT(l *layers.GATConv) *layers.GATConv {
	l.Init(rand.New(rand.NewPCG(1, 1)))
	return l
}

func gatNames(l *layers.GATConv) map[string]*grad.Param {
	return map[string]*grad.Param{
		"fc.weight": l.W, "fc_src.weight": l.W, "lin.weight": l.W, "lin_src.weight": l.W,
		"fc_dst.weight": l.WDst, "lin_dst.weight": l.WDst,
		"attn_l": l.AttnL, "att_src": l.AttnL, "attn_r": l.AttnR, "att_dst": l.AttnR,
		"lin_edge.weight": l.WEdge, "att_edge": l.AttnEdge,
		"res_fc.weight": l.WRes, "res.weight": l.WRes, "res_fc.bias": l.B, "bias": l.B,
	}
}

func TestGATConvDGL(t *testing.T) {
	cases(t, "dgl/gatconv_*.json", 13, func(t *testing.T, s *scene) {
		in, inDst := widths(s.Case, "in_feats")
		l := &layers.GATConv{In: in, InDst: inDst, Out: int(config(s.Case, "out_feats", 0.0)), Heads: int(config(s.Case, "num_heads", 0.0)),
			Slope: config(s.Case, "negative_slope", 0.0), NoBias: !config(s.Case, "bias", true), Activation: grad.Activation(config(s.Case, "activation", ""))}
		if config(s.Case, "residual", false) {
			l.Residual = layers.ResidualIdentity
		}
		s.run(t, newGAT(l), gatNames(l))
	})
}

func TestGATConvPyG(t *testing.T) {
	cases(t, "pyg/gatconv_*.json", 13, func(t *testing.T, s *scene) {
		in, inDst := widths(s.Case, "in_channels")
		l := &layers.GATConv{In: in, InDst: inDst, Out: int(config(s.Case, "out_channels", 0.0)), Heads: int(config(s.Case, "heads", 0.0)),
			Slope: config(s.Case, "negative_slope", 0.0), EdgeIn: int(config(s.Case, "edge_dim", 0.0)), Average: !config(s.Case, "concat", true), NoBias: !config(s.Case, "bias", true)}
		if config(s.Case, "residual", false) {
			l.Residual = layers.ResidualLinear
		}
		s.run(t, newGAT(l), gatNames(l))
	})
}

// edge_softmax has no layer; it is what every attention rests on.
func TestEdgeSoftmaxDGL(t *testing.T) {
	cases(t, "dgl/edge_softmax_*.json", 8, func(t *testing.T, s *scene) {
		tp := grad.NewTape(1)
		x := tp.Watch(s.Tensor(t, "inputs", "logits"))
		softmax := message.EdgeSoftmax
		if config(s.Case, "norm_by", "dst") == "src" {
			softmax = message.EdgeSoftmaxBySource
		}
		y := s.theirs(softmax(s.g, message.OnEdges(s.g, x)))
		golden.Compare(t, "y", y.Value(), s.Tensor(t, "outputs", "y"), s.Float32Error.Outputs)
		grads := tp.Backward(y.Mul(grad.Const(s.Tensor(t, "cotangents", "y"))).Sum())
		golden.Compare(t, "gradient", grads.Of(x), s.Tensor(t, "grads", "logits"), s.Float32Error.Grads)
	})
}
