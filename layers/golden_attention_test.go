package layers_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

func TestDotGATConvDGL(t *testing.T) {
	cases(t, "dgl/dotgatconv*.json", 2, func(t *testing.T, s *scene) {
		in, inDst := widths(s.Case, "in_feats")
		l := &layers.DotGATConv{In: in, InDst: inDst, Out: int(config(s.Case, "out_feats", 0.0)), Heads: int(config(s.Case, "num_heads", 0.0))}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		s.run(t, l, map[string]*grad.Param{"fc.weight": l.W, "fc_src.weight": l.W, "fc_dst.weight": l.WDst})
	})
}

func TestTransformerConvPyG(t *testing.T) {
	cases(t, "pyg/transformerconv*.json", 8, func(t *testing.T, s *scene) {
		in, inDst := widths(s.Case, "in_channels")
		l := &layers.TransformerConv{In: in, InDst: inDst, Out: int(config(s.Case, "out_channels", 0.0)), Heads: int(config(s.Case, "heads", 0.0)),
			EdgeIn: int(config(s.Case, "edge_dim", 0.0)), Average: !config(s.Case, "concat", true), Gate: config(s.Case, "beta", false),
			NoRoot: !config(s.Case, "root_weight", true), NoBias: !config(s.Case, "bias", true)}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		if l.NoRoot { // PyG has the matrix all the same, with gradients of zero
			s.drop("lin_skip.weight", "lin_skip.bias")
		}
		s.run(t, l, map[string]*grad.Param{
			"lin_query.weight": l.WQuery, "lin_query.bias": l.BQuery, "lin_key.weight": l.WKey, "lin_key.bias": l.BKey,
			"lin_value.weight": l.WValue, "lin_value.bias": l.BValue, "lin_skip.weight": l.WRoot, "lin_skip.bias": l.B,
			"lin_edge.weight": l.WEdge, "lin_beta.weight": l.WGate,
		})
	})
}
