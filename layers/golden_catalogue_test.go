package layers_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

// number reads an argument of the constructor that is a whole number.
func number(s *scene, name string) int { return int(config(s.Case, name, 0.0)) }

// DGL's ChebConv counts each end's in-edges.
func TestChebConvDGL(t *testing.T) {
	cases(t, "dgl/chebconv_*.json", 3, func(t *testing.T, s *scene) {
		l := &layers.ChebConv{In: number(s, "in_feats"), Out: number(s, "out_feats"), K: number(s, "k"),
			LambdaMax: config(s.Case, "lambda_max", 0.0), Norm: layers.NormIn}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		s.run(t, l, map[string]*grad.Param{"linear.weight": l.W, "linear.bias": l.B})
	})
}

// PyG counts the out-edges, of both ends or of the source.
func TestChebConvPyG(t *testing.T) {
	cases(t, "pyg/chebconv_*.json", 2, func(t *testing.T, s *scene) {
		l := &layers.ChebConv{In: number(s, "in_channels"), Out: number(s, "out_channels"), K: number(s, "K"),
			LambdaMax: config(s.Case, "lambda_max", 0.0), Norm: layers.NormOut}
		if config(s.Case, "normalization", "") == "rw" {
			l.Norm = layers.NormWeightedLeft
		}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		s.join(t, "w", []string{"lins.0.weight", "lins.1.weight", "lins.2.weight"}, stacked)
		s.run(t, l, map[string]*grad.Param{"w": l.W, "bias": l.B})
	})
}

func TestTAGConvDGL(t *testing.T) {
	cases(t, "dgl/tagconv_*.json", 2, func(t *testing.T, s *scene) {
		l := &layers.TAGConv{In: number(s, "in_feats"), Out: number(s, "out_feats"), K: number(s, "k"), Norm: dglNorm(s, layers.NormIn)}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		s.run(t, l, map[string]*grad.Param{"lin.weight": l.W, "lin.bias": l.B})
	})
}

// DGL's layer has a bias, PyG's puts a loop at each node.
func TestGCN2Conv(t *testing.T) {
	cases(t, "*/gcn2conv*.json", 4, func(t *testing.T, s *scene) {
		l := &layers.GCN2Conv{Width: s.Params["weight1"].Shape[0], Layer: number(s, "layer"), Alpha: config(s.Case, "alpha", 0.0),
			Lambda: config(s.Case, "lambda_", config(s.Case, "theta", 0.0)), TwoWeights: s.Has("params", "weight2"),
			NoBias: !s.Has("params", "bias"), Norm: dglNorm(s, layers.NormIn)}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		s.run(t, l, map[string]*grad.Param{"weight1": l.W, "weight2": l.WFirst, "bias": l.B})
	})
}

func TestAGNNConvDGL(t *testing.T) {
	cases(t, "dgl/agnnconv.json", 1, func(t *testing.T, s *scene) {
		l := &layers.AGNNConv{}
		l.Init(nil)
		s.run(t, l, map[string]*grad.Param{"beta": l.B})
	})
}

// PyG projects the features of edges of another width; DGL has none such.
func TestGINEConv(t *testing.T) {
	cases(t, "*/gineconv*.json", 3, func(t *testing.T, s *scene) {
		l := &layers.GINEConv{Net: layers.MLP{Widths: ginWidths(s)}, EdgeIn: number(s, "edge_dim"), TrainEps: true}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		first, last := l.Net.Layers[0], l.Net.Layers[len(l.Net.Layers)-1]
		s.run(t, l, map[string]*grad.Param{
			"eps": l.Epsilon, "apply_func.weight": last.W, "apply_func.bias": last.B, "lin.weight": l.WEdge, "lin.bias": l.BEdge,
			"nn.0.weight": first.W, "nn.0.bias": first.B, "nn.2.weight": last.W, "nn.2.bias": last.B,
		})
	})
}

// PyG's GraphConv, of Morris and others, is a SAGEConv that sums.
func TestGraphConvPyG(t *testing.T) {
	cases(t, "pyg/graphconv.json", 1, func(t *testing.T, s *scene) {
		l := &layers.SAGEConv{In: number(s, "in_channels"), Out: number(s, "out_channels"), Aggregate: layers.AggregateSum}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		s.run(t, l, map[string]*grad.Param{"lin_rel.weight": l.W, "lin_rel.bias": l.B, "lin_root.weight": l.WRoot})
	})
}
