package layers_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

func gatv2Names(l *layers.GATv2Conv) map[string]*grad.Param {
	names := map[string]*grad.Param{
		"fc_src.weight": l.W, "lin_l.weight": l.W, "fc_src.bias": l.BSrc, "lin_l.bias": l.BSrc,
		"fc_dst.weight": l.WDst, "lin_r.weight": l.WDst, "fc_dst.bias": l.BDst, "lin_r.bias": l.BDst,
		"attn": l.Attn, "att": l.Attn, "lin_edge.weight": l.WEdge,
		"res_fc.weight": l.WRes, "res.weight": l.WRes, "res_fc.bias": l.B, "bias": l.B,
	}
	if l.Shared {
		for _, side := range [][2]string{{"fc_dst", "fc_src"}, {"lin_r", "lin_l"}} {
			names[side[0]+".weight"], names[side[0]+".bias"] = names[side[1]+".weight"], names[side[1]+".bias"]
		}
	}
	return names
}

// DGL's layer has no bias but those of the projections and of a linear residual.
func TestGATv2ConvDGL(t *testing.T) {
	cases(t, "dgl/gatv2conv*.json", 7, func(t *testing.T, s *scene) {
		in, inDst := widths(s.Case, "in_feats")
		bias := config(s.Case, "bias", true)
		l := &layers.GATv2Conv{In: in, InDst: inDst, Out: int(config(s.Case, "out_feats", 0.0)), Heads: int(config(s.Case, "num_heads", 0.0)),
			Slope: config(s.Case, "negative_slope", 0.0), Shared: config(s.Case, "share_weights", false), NoProjBias: !bias, NoBias: !s.Has("params", "res_fc.bias"),
			Activation: grad.Activation(config(s.Case, "activation", ""))}
		if config(s.Case, "residual", false) {
			l.Residual = layers.ResidualIdentity
		}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		s.run(t, l, gatv2Names(l))
	})
}

func TestGATv2ConvPyG(t *testing.T) {
	cases(t, "pyg/gatv2conv*.json", 6, func(t *testing.T, s *scene) {
		in, inDst := widths(s.Case, "in_channels")
		l := &layers.GATv2Conv{In: in, InDst: inDst, Out: int(config(s.Case, "out_channels", 0.0)), Heads: int(config(s.Case, "heads", 0.0)),
			NoBias: !config(s.Case, "bias", true), Slope: config(s.Case, "negative_slope", 0.0), NoProjBias: !config(s.Case, "bias", true), EdgeIn: int(config(s.Case, "edge_dim", 0.0)), Average: !config(s.Case, "concat", true), Shared: config(s.Case, "share_weights", false)}
		if config(s.Case, "residual", false) {
			l.Residual = layers.ResidualLinear
		}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		s.run(t, l, gatv2Names(l))
	})
}

func gcnNames(l *layers.GCNConv) map[string]*grad.Param {
	return map[string]*grad.Param{"weight": l.W, "lin.weight": l.W, "bias": l.B}
}

func TestGCNConvDGL(t *testing.T) {
	cases(t, "dgl/graphconv_*.json", 9, func(t *testing.T, s *scene) {
		l := &layers.GCNConv{In: int(config(s.Case, "in_feats", 0.0)), Out: int(config(s.Case, "out_feats", 0.0)),
			NoBias: !config(s.Case, "bias", true), Norm: layers.Norm(config(s.Case, "norm", "both")), Activation: grad.Activation(config(s.Case, "activation", ""))}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		s.run(t, l, gcnNames(l))
	})
}

func TestGCNConvPyG(t *testing.T) {
	cases(t, "pyg/gcnconv*.json", 8, func(t *testing.T, s *scene) {
		l := &layers.GCNConv{In: int(config(s.Case, "in_channels", 0.0)), Out: int(config(s.Case, "out_channels", 0.0)), NoBias: !config(s.Case, "bias", true)}
		if !config(s.Case, "normalize", true) {
			l.Norm = layers.NormNone
		}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		s.run(t, l, gcnNames(l))
	})
}
