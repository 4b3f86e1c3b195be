package grad_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// statistics are running statistics of d columns.
func statistics(rng *rand.Rand, d int, fixed bool) *grad.RunningStats {
	mean, v := random(rng, d), random(rng, d)
	for i, f := range v.Data {
		v.Data[i] = f*f + 0.5
	}
	frozen := func(x *tensor.Dense) *grad.Param { return &grad.Param{Value: x, Frozen: true} }
	return &grad.RunningStats{Mean: frozen(mean), Variance: frozen(v), Fixed: fixed}
}

// TestFewNormBits: rows have the bits that they have among many, as a sequence that
// is made step by step needs; and those of few elements do not depend on who asks
// for gradients.
func TestFewNormBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(44, 44))
	for d := 1; d <= 16; d++ {
		gain, bias := grad.Const(random(rng, d)), grad.Const(random(rng, d))
		run := statistics(rng, d, true)
		for rows := 1; rows <= 64; rows += 9 {
			x := grad.Const(random(rng, 65, d))
			few := x.RowRange(0, rows)
			for name, f := range map[string]func(x *grad.Var) *grad.Var{
				"LayerNorm": func(x *grad.Var) *grad.Var { return x.LayerNorm(gain, bias, 0.1) },
				"BatchNorm": func(x *grad.Var) *grad.Var {
					return (*grad.Tape)(nil).BatchNorm(x, grad.Affine{Gain: gain, Bias: bias}, run, 0.1)
				},
			} {
				if !slices.Equal(f(few).Value().Data, f(x).Value().Data[:rows*d]) {
					t.Errorf("%s of %d×%d: other bits than among 65 rows", name, rows, d)
				}
			}
		}
	}
	x, dy, gain := random(rng, 4, 5), random(rng, 4, 5), random(rng, 5)
	run := func(watched bool) (y, dgain []tensor.Float) {
		tape := grad.NewTape(1)
		xv, g := tape.Input(x), tape.Watch(gain)
		if watched {
			xv = tape.Watch(x)
		}
		z := xv.GraphNorm([]int{0, 1, 4}, grad.Affine{Gain: g}, 0.1).Add(xv.LayerNorm(g, nil, 0.1))
		gs := tape.BackwardFrom(z, dy)
		return slices.Clone(z.Value().Data), slices.Clone(gs.Of(g).Data)
	}
	y1, g1 := run(false)
	y2, g2 := run(true)
	if !slices.Equal(y1, y2) || !slices.Equal(g1, g2) {
		t.Errorf("%v and %v without the gradient of x, %v and %v with it", y1, g1, y2, g2)
	}
}

// A batch norm and the ReLU after it have the bits as one pass that they have as two: of
// the result, of all gradients, the one of x added to another or set, and of the running
// statistics, on any number of threads; and the norm reads the gain that it was given.
func TestNormReLU(t *testing.T) {
	for _, rows := range []int{65, 5000} {
		var want [][]tensor.Float
		for _, waits := range []bool{false, true} {
			for _, threads := range append(sparing.Threads(), 1) {
				undo, back := grad.SetWaits(waits), par.SetThreads(threads)
				x, gain, bias := param(1, rows, 20), param(2, 20), param(3, 20)
				mean, variance := param(4, 20), param(5, 20)
				mean.Frozen, variance.Frozen = true, true
				tape := grad.NewTape(1)
				h := tape.Use(x).Scale(2)
				y := tape.BatchNorm(h, grad.Affine{Gain: tape.Use(gain), Bias: tape.Use(bias)}, &grad.RunningStats{Mean: mean, Variance: variance}, 1e-5)
				if waits {
					gain.Value.Data[3]++ // too late
				}
				z := y.ReLU()
				got := [][]tensor.Float{slices.Clone(z.Value().Data)}
				if waits {
					gain.Value.Data[3]--
				}
				for _, g := range tape.Backward(weigh(z).Add(weigh(h))) {
					got = append(got, slices.Clone(g.Value.Data))
				}
				got = append(got, mean.Value.Data, variance.Value.Data)
				back()
				undo()
				if want == nil {
					want = got
				}
				compare.Slices(t, fmt.Sprint(rows, " rows, joined ", waits, ", threads ", threads), got, want, compare.Exactly)
			}
		}
	}
}

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

// BenchmarkNorm times norms and losses of a large array, forwards and backwards.
func BenchmarkNorm(b *testing.B) {
	const n, d = 16384, 128
	x, gain, bias := param(1, n, d), param(2, d), param(3, d)
	labels := make([]int32, n)
	target := grad.Const(x.Value.Clone())
	for _, c := range []struct {
		name string
		f    func(t *grad.Tape, v []*grad.Var) *grad.Var
	}{
		{"LayerNorm", func(_ *grad.Tape, v []*grad.Var) *grad.Var { return v[0].LayerNorm(v[1], v[2], 1e-5) }},
		{"BatchNorm", func(t *grad.Tape, v []*grad.Var) *grad.Var {
			return t.BatchNorm(v[0], grad.Affine{Gain: v[1], Bias: v[2]}, nil, 1e-5)
		}},
		{"L2Normalise", func(_ *grad.Tape, v []*grad.Var) *grad.Var { return v[0].L2Normalise() }},
		{"CrossEntropy", func(_ *grad.Tape, v []*grad.Var) *grad.Var { return v[0].CrossEntropy(labels) }},
		{"MSE", func(_ *grad.Tape, v []*grad.Var) *grad.Var { return v[0].MSE(target) }},
		{"nothing", func(_ *grad.Tape, v []*grad.Var) *grad.Var { return v[0] }},
	} {
		b.Run(c.name, func(b *testing.B) {
			tape := grad.NewTape(1)
			for b.Loop() {
				tape.Reset()
				y := c.f(tape, []*grad.Var{tape.Use(x), tape.Use(gain), tape.Use(bias)})
				if len(y.Shape()) > 1 {
					y = y.Columns(0, 1).Sum()
				}
				tape.Backward(y)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n*d), "ns/element")
		})
	}
}
