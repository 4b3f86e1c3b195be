package convert_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/convert"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/relational"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// taught is a golden case of a layer that Load gives PyG's weights. Its gradients go the
// way of the weights: they are put in the Params' place, and State writes them as PyG has
// them.
type taught struct {
	*golden.Case
	layer   any
	tp      *grad.Tape
	watched map[string]*grad.Var // the inputs that are numbers
}

func newTaught(t *testing.T, name string, l any) *taught {
	c := golden.Load(t, filepath.Join("testdata", "golden", name+".json"))
	s := &taught{Case: c, layer: l, tp: grad.NewTape(1), watched: map[string]*grad.Var{}}
	state := convert.State{}
	for key, a := range c.Params {
		state[key] = convert.Array{Shape: a.Shape, Data: c.Tensor(t, "params", key).Data}
	}
	if err := (convert.Modules{"": l}).Load(convert.PyG, state); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for key, a := range c.Inputs {
		if a.Dtype == "" {
			s.watched[key] = s.tp.Watch(c.Tensor(t, "inputs", key))
		}
	}
	return s
}

// check compares results and all gradients. Of what State writes once, and PyG has twice,
// correct makes the second; nil does nothing.
func (s *taught) check(t *testing.T, outs map[string]*grad.Var, correct func(all map[string]*tensor.Dense)) {
	t.Helper()
	grads := s.CheckOutputs(t, s.tp, outs)
	all, params := map[string]*tensor.Dense{}, grad.Params(s.layer)
	for _, p := range params {
		value := tensor.New(p.Value.Shape()...)
		if d := grads.Param(p); d != nil {
			copy(value.Data, d.Data)
		}
		p.Value = value
	}
	state, err := (convert.Modules{"": s.layer}).State(convert.PyG)
	if err != nil {
		t.Fatal(err)
	}
	for key, a := range state {
		all[key] = tensor.Of(a.Data, a.Shape...)
	}
	for key, x := range s.watched {
		all[key] = grads.Of(x)
	}
	if correct != nil {
		correct(all)
	}
	s.CheckGrads(t, all)
}

// applied is what a convolution makes of the case's inputs.
func (s *taught) applied(l interface {
	Apply(t *grad.Tape, g *graph.Graph, in layers.In) layers.Out
}) map[string]*grad.Var {
	g := graph.Must(graph.NewBipartite(s.Graph.NumSrc, s.Graph.NumDst, s.Graph.Src, s.Graph.Dst))
	if s.Graph.NumSrc == s.Graph.NumDst {
		g = graph.Must(graph.New(s.Graph.NumSrc, s.Graph.Src, s.Graph.Dst))
	}
	if counts, ok := s.Config["batch_num_nodes"].([]any); ok {
		offsets := []int{0}
		for i, n := range counts {
			offsets = append(offsets, offsets[i]+int(n.(float64)))
		}
		g = graph.Must(graph.WithMembers(g, offsets))
	}
	in := layers.In{Src: s.watched["x"]}
	if x := s.watched["x_src"]; x != nil {
		in.Src, in.Dst = x, s.watched["x_dst"]
	}
	if e := s.watched["edge_attr"]; e != nil {
		in.Edge = message.OnEdges(g, e)
	}
	if w := s.watched["edge_weight"]; w != nil {
		in.Weight = message.OnEdges(g, w.Reshape(-1, 1))
	}
	return map[string]*grad.Var{"y": l.Apply(s.tp, g, in).Y}
}

func TestARMAConvPyG(t *testing.T) {
	for name, l := range map[string]*layers.ARMAConv{
		"armaconv":        {In: 3, Out: 2},
		"armaconv_stacks": {In: 3, Out: 2, Stacks: 2, Steps: 3},
		"armaconv_shared": {In: 3, Out: 2, Stacks: 2, Steps: 3, Shared: true, NoBias: true},
	} {
		s := newTaught(t, name, initialised(l))
		s.check(t, s.applied(l), nil)
	}
}

// PyG has σ for our r = 1/√(σ² + 10⁻¹⁵), whose gradient is dr/dσ = −σ·r³ times ours.
func TestGMMConvPyG(t *testing.T) {
	for name, l := range map[string]*layers.MoNetConv{
		"gmmconv":     {In: 3, Out: 2, EdgeIn: 2, Kernels: 3, Aggregate: layers.AggregateMean, Residual: layers.ResidualLinear},
		"gmmconv_sum": {In: 3, Out: 2, EdgeIn: 2, Kernels: 3, NoBias: true},
	} {
		s := newTaught(t, name, initialised(l))
		s.check(t, s.applied(l), func(all map[string]*tensor.Dense) {
			sigma := s.Tensor(t, "params", "sigma")
			for i, v := range sigma.Data {
				r := 1 / math.Sqrt(float64(v)*float64(v)+1e-15)
				sigma.Data[i] = tensor.Float(-float64(v) * r * r * r * float64(l.R.Value.Data[i])) // R has its gradient now
			}
			all["sigma"] = sigma
		})
	}
}

// PyG's key and query each have a bias, and a matrix for the edges' features; of both ours
// is the sum, so that their gradients are equal.
func TestResGatedGraphConvPyG(t *testing.T) {
	for name, l := range map[string]*layers.ResGatedConv{
		"resgatedgraphconv":           {In: 3, Out: 2},
		"resgatedgraphconv_edge_dim":  {In: 3, Out: 2, EdgeIn: 2},
		"resgatedgraphconv_bare":      {In: 3, Out: 2, NoRoot: true, NoBias: true},
		"resgatedgraphconv_bipartite": {In: 3, InDst: 2, Out: 2},
	} {
		s := newTaught(t, name, initialised(l))
		s.check(t, s.applied(l), func(all map[string]*tensor.Dense) {
			all["lin_query.bias"] = all["lin_key.bias"]
			for row := range l.Out * min(1, l.EdgeIn) {
				copy(all["lin_query.weight"].Row(row)[l.In:], all["lin_key.weight"].Row(row)[l.In:])
			}
		})
	}
}

// Two graphs in a batch, each node of which attends to its own. The running statistics of
// PyG's batch norms have no gradients.
func TestGPSConvPyG(t *testing.T) {
	for name, l := range map[string]*layers.GPSConv{
		"gpsconv":            {Width: 4, Heads: 2},
		"gpsconv_layer_norm": {Width: 4, Heads: 2, EdgeIn: 2, LayerNorm: true},
	} {
		s := newTaught(t, name, initialised(l))
		s.check(t, s.applied(l), nil)
	}
}

// Both of torch's biases of a gate have the gradient of ours, their sum.
func TestJumpingKnowledgePyG(t *testing.T) {
	for mode, l := range map[string]*layers.JumpingKnowledge{
		"cat": {}, "max": {Mode: layers.JumpMax}, "lstm": {Mode: layers.JumpLSTM, Width: 3, Hidden: 4},
	} {
		s := newTaught(t, "jumpingknowledge_"+mode, initialised(l))
		y := l.Forward(s.tp, s.watched["x_0"], s.watched["x_1"], s.watched["x_2"])
		s.check(t, map[string]*grad.Var{"y": y}, func(all map[string]*tensor.Dense) {
			for key := range all {
				if strings.Contains(key, "bias_hh") {
					all[key] = all[strings.Replace(key, "_hh", "_ih", 1)]
				}
			}
		})
	}
}

// Two types of nodes and three relations, of each type a node that hears nobody.
func TestRelationalPyG(t *testing.T) {
	rels := []hetero.Rel{{Src: "a", Name: "to", Dst: "b"}, {Src: "b", Name: "back", Dst: "a"}, {Src: "a", Name: "self", Dst: "a"}}
	in, counts := map[string]int{"a": 4, "b": 3}, map[string]int{"a": 5, "b": 4}
	hgt := initialised(&relational.HGTConv{In: in, Out: 4, Heads: 2, Rels: rels})
	han := initialised(&relational.HANConv{In: in, Out: 4, Heads: 2, Rels: rels})
	for name, l := range map[string]interface {
		Forward(t *grad.Tape, h *hetero.Graph, x map[string]*grad.Var) map[string]*grad.Var
	}{"hgtconv": hgt, "hanconv": han} {
		s := newTaught(t, name, l)
		of := map[hetero.Rel]*graph.Graph{}
		for _, r := range rels {
			key := strings.Join([]string{r.Src, r.Name, r.Dst}, "__")
			src, dst := s.Ints(t, "inputs", "src_"+key), s.Ints(t, "inputs", "dst_"+key)
			if r.Src == r.Dst {
				of[r] = graph.Must(graph.New(counts[r.Src], src, dst))
			} else {
				of[r] = graph.Must(graph.NewBipartite(counts[r.Src], counts[r.Dst], src, dst))
			}
		}
		h, err := hetero.New(counts, of)
		if err != nil {
			t.Fatal(err)
		}
		y := l.Forward(s.tp, h, map[string]*grad.Var{"a": s.watched["x_a"], "b": s.watched["x_b"]})
		s.check(t, map[string]*grad.Var{"y_a": y["a"], "y_b": y["b"]}, nil)
	}
}
