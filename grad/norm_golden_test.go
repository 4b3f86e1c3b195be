package grad_test

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/tensor"
)

// sample is a golden case on a tape.
type sample struct {
	*golden.Case
	t    *testing.T
	tape *grad.Tape
	vars map[string]*grad.Var
}

func load(t *testing.T, name string) *sample {
	t.Helper()
	return &sample{golden.Load(t, "testdata/"+name+".json"), t, grad.NewTape(1), map[string]*grad.Var{}}
}

// in returns an input, or a parameter, whose gradient check compares.
func (s *sample) in(name string) *grad.Var {
	section := "inputs"
	if s.Has("params", name) {
		section = "params"
	}
	s.vars[name] = s.tape.Watch(s.Tensor(s.t, section, name))
	return s.vars[name]
}

// check compares y and the gradient of each input.
func (s *sample) check(y *grad.Var) {
	s.t.Helper()
	golden.Compare(s.t, "y", y.Value(), s.Tensor(s.t, "outputs", "y"), s.Float32Error.Outputs)
	g := pull(s.tape, y, s.Tensor(s.t, "cotangents", "y"))
	if len(s.Grads) == 0 {
		s.t.Error("no gradients to compare")
	}
	for name := range s.Grads {
		golden.Compare(s.t, "d"+name, g.Of(s.vars[name]), s.Tensor(s.t, "grads", name), s.Float32Error.Grads)
	}
}

// offsets returns where each graph of the batch begins.
func (s *sample) offsets() []int {
	n := s.Inputs["x"].Shape[0]
	if s.Config["uses_batch"] != true {
		return []int{0, n}
	}
	at := []int{0}
	for _, k := range s.Config["batch_num_nodes"].([]any) {
		at = append(at, at[len(at)-1]+int(k.(float64)))
	}
	return at
}

func (s *sample) number(key string, missing float64) float64 {
	if v, ok := s.Config[key].(float64); ok {
		return v
	}
	return missing
}

func TestLayerNormGolden(t *testing.T) {
	s := load(t, "layernorm")
	s.check(s.in("x").LayerNorm(s.in("weight"), s.in("bias"), 1e-5))
	s = load(t, "layernorm_no_affine")
	s.check(s.in("x").LayerNorm(nil, nil, 1e-5))
	s = load(t, "pyg_layernorm_node")
	s.check(s.in("x").LayerNorm(s.in("weight"), s.in("bias"), 1e-5))
}

// TestGraphLayerNormGolden normalises all elements of a graph together: one row of
// LayerNorm for each. Without a batch PyG adds eps to the standard deviation.
func TestGraphLayerNormGolden(t *testing.T) {
	s := load(t, "pyg_layernorm_graph")
	x, at := s.in("x"), s.offsets()
	var parts []*grad.Var
	for i := range len(at) - 1 {
		if part := x.RowRange(at[i], at[i+1]); part.Dim(0) > 0 {
			parts = append(parts, part.Reshape(1, -1).LayerNorm(nil, nil, 1e-5).Reshape(-1, x.Dim(1)))
		}
	}
	s.check(grad.ConcatAxis(0, parts...).Mul(s.in("weight")).Add(s.in("bias")))

	s = load(t, "pyg_layernorm_graph_no_batch")
	x = s.in("x")
	c := x.Sub(x.Mean())
	s.check(c.Div(c.Square().Mean().Sqrt().Shift(1e-5)).Mul(s.in("weight")).Add(s.in("bias")))
}

func TestGraphNormGolden(t *testing.T) {
	for _, name := range []string{"pyg_graphnorm", "pyg_graphnorm_no_batch"} {
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			c := grad.Affine{Gain: s.in("weight"), Bias: s.in("bias"), Shift: s.in("mean_scale")}
			s.check(s.in("x").GraphNorm(s.offsets(), c, 1e-5))
		})
	}
}

func TestPairNormGolden(t *testing.T) {
	for _, name := range []string{"pyg_pairnorm", "pyg_pairnorm_individually", "pyg_pairnorm_no_batch"} {
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			p := grad.PairNorm{Scale: s.number("scale", 1), Each: s.Config["scale_individually"] == true}
			s.check(p.Of(s.in("x"), s.offsets()))
		})
	}
}

func TestBatchNormGolden(t *testing.T) {
	for name, prefix := range map[string]string{"batchnorm1d_train": "", "batchnorm1d_eval": "", "pyg_batchnorm_train": "module.", "pyg_batchnorm_eval": "module."} {
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			run := &grad.RunningStats{
				Mean:     &grad.Param{Value: s.Tensor(t, "params", prefix+"running_mean"), Frozen: true},
				Variance: &grad.Param{Value: s.Tensor(t, "params", prefix+"running_var"), Frozen: true},
				Momentum: s.number("momentum", 0.1), Fixed: s.Config["mode"] == "eval",
			}
			eval := *run
			x, c := s.in("x"), grad.Affine{Gain: s.in(prefix + "weight"), Bias: s.in(prefix + "bias")}
			s.check(s.tape.BatchNorm(x, c, run, 1e-5))
			if s.Has("outputs", "running_mean") {
				golden.Compare(t, "running mean", run.Mean.Value, s.Tensor(t, "outputs", "running_mean"), s.Float32Error.Outputs)
				golden.Compare(t, "running variance", run.Variance.Value, s.Tensor(t, "outputs", "running_var"), s.Float32Error.Outputs)
			}
			if !run.Fixed {
				return
			}
			tape := grad.NewEval()
			y := tape.BatchNorm(grad.Const(x.Value()), grad.Affine{Gain: grad.Const(c.Gain.Value()), Bias: grad.Const(c.Bias.Value())}, &eval, 1e-5)
			golden.Compare(t, "y of an eval tape", y.Value(), s.Tensor(t, "outputs", "y"), s.Float32Error.Outputs)
		})
	}
}

func TestEmbeddingGolden(t *testing.T) {
	for _, name := range []string{"embedding", "embedding_padding_idx"} {
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			ids := s.Ints(t, "inputs", "index")
			y := s.in("weight").Embedding(ids, int32(s.number("padding_idx", -1)))
			s.check(y.Reshape(s.Outputs["y"].Shape...))
		})
	}
}

func TestClipGolden(t *testing.T) {
	for name, clip := range map[string]func(s *sample, g grad.Grads) float64{
		"clip_grad_norm_l2":       func(s *sample, g grad.Grads) float64 { return g.ClipNorm(s.number("max_norm", 0)) },
		"clip_grad_norm_l2_below": func(s *sample, g grad.Grads) float64 { return g.ClipNorm(s.number("max_norm", 0)) },
		"clip_grad_norm_l1":       func(s *sample, g grad.Grads) float64 { return g.ClipNormOf(1, s.number("max_norm", 0)) },
		"clip_grad_norm_inf":      func(s *sample, g grad.Grads) float64 { return g.ClipNormOf(math.Inf(1), s.number("max_norm", 0)) },
		"clip_grad_value":         func(s *sample, g grad.Grads) float64 { g.ClipValue(s.number("clip_value", 0)); return 0 },
	} {
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			p := grad.NewParam(1)
			g := grad.Grads{{Param: p, Value: s.Tensor(t, "inputs", "g_0")}, {Param: p, Value: s.Tensor(t, "inputs", "g_1")}}
			norm := tensor.Of([]tensor.Float{tensor.Float(clip(s, g))}, 1)
			if s.Has("outputs", "total_norm") {
				golden.Compare(t, "norm", norm, s.Tensor(t, "outputs", "total_norm"), s.Float32Error.Outputs)
			}
			golden.Compare(t, "first", g[0].Value, s.Tensor(t, "outputs", "clipped_g_0"), s.Float32Error.Outputs)
			golden.Compare(t, "second", g[1].Value, s.Tensor(t, "outputs", "clipped_g_1"), s.Float32Error.Outputs)
		})
	}
}

func TestScatterAddGolden(t *testing.T) {
	s := load(t, "pyg_scatter_sum")
	s.check(s.in("src").ScatterAdd(s.Ints(t, "inputs", "index"), int(s.number("dim_size", 0))))
}
