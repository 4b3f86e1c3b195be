package train_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// fromTorch returns the optimiser of a golden case.
func fromTorch(t *testing.T, config map[string]any) train.Optimiser {
	t.Helper()
	num := func(name string) float64 { v, _ := config[name].(float64); return v }
	yes := func(name string) bool { v, _ := config[name].(bool); return v }
	var b1, b2 float64
	if betas, ok := config["betas"].([]any); ok {
		b1, b2 = betas[0].(float64), betas[1].(float64)
	}
	lr, decay, eps := num("lr"), num("weight_decay"), num("eps")
	switch config["optimiser"] {
	case "SGD":
		return &train.SGD{LR: lr, WeightDecay: decay, Momentum: num("momentum"), Dampening: num("dampening"), Nesterov: yes("nesterov")}
	case "Adam":
		return &train.Adam{LR: lr, WeightDecay: decay, Beta1: b1, Beta2: b2, Eps: eps, AMSGrad: yes("amsgrad")}
	case "AdamW":
		return &train.AdamW{LR: lr, WeightDecay: decay, Beta1: b1, Beta2: b2, Eps: eps, AMSGrad: yes("amsgrad")}
	case "Adamax":
		return &train.Adamax{LR: lr, WeightDecay: decay, Beta1: b1, Beta2: b2, Eps: eps}
	case "RMSprop":
		return &train.RMSprop{LR: lr, WeightDecay: decay, Alpha: num("alpha"), Eps: eps, Momentum: num("momentum"), Centred: yes("centered")}
	case "Adagrad":
		return &train.Adagrad{LR: lr, WeightDecay: decay, RateDecay: num("lr_decay"), Initial: num("initial_accumulator_value"), Eps: eps}
	case "Adadelta":
		return &train.Adadelta{LR: lr, WeightDecay: decay, Rho: num("rho"), Eps: eps}
	case "NAdam":
		return &train.NAdam{LR: lr, WeightDecay: decay, Beta1: b1, Beta2: b2, Eps: eps, MomentumDecay: num("momentum_decay"), Decoupled: yes("decoupled_weight_decay")}
	case "RAdam":
		return &train.RAdam{LR: lr, WeightDecay: decay, Beta1: b1, Beta2: b2, Eps: eps, Decoupled: yes("decoupled_weight_decay")}
	}
	t.Fatalf("no optimiser for %v", config["optimiser"])
	return nil
}

// TestOptimisersGolden compares a Param after each step with PyTorch's.
func TestOptimisersGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/optim_*.json")
	if err != nil || len(files) != 25 {
		t.Fatalf("%d golden files, error %v", len(files), err)
	}
	for _, file := range files {
		c := golden.Load(t, file)
		p := &grad.Param{Value: c.Tensor(t, "inputs", "p_0")}
		grads, want := c.Tensor(t, "inputs", "grad"), c.Tensor(t, "outputs", "p")
		opt := fromTorch(t, c.Config)
		shape := p.Value.Shape()
		for i := range grads.Rows() {
			opt.Step(grad.Grads{{Param: p, Value: tensor.Of(grads.Row(i), shape...)}})
			golden.Compare(t, c.Name, p.Value, tensor.Of(want.Row(i), shape...), c.Float32Error.Outputs)
		}
	}
}

// one is a number under an optimiser in float64: w, its step, and what the
// formula carries along.
type one struct {
	w, t, a, b, c float64
}

// The optimisers with numbers that are no presets, and their formulas as the
// papers write them, an element at a time.
var oracles = map[string]struct {
	opt  func() train.Optimiser
	step func(o *one, g float64)
}{
	"SGD": {
		func() train.Optimiser { return &train.SGD{LR: 0.05, WeightDecay: 0.02} },
		func(o *one, g float64) { o.w -= 0.05 * (g + 0.02*o.w) },
	},
	"SGD momentum": {
		func() train.Optimiser {
			return &train.SGD{LR: 0.05, WeightDecay: 0.02, Momentum: 0.7, Dampening: 0.1}
		},
		func(o *one, g float64) {
			g += 0.02 * o.w
			if o.a = 0.7*o.a + 0.9*g; o.t == 1 {
				o.a = g
			}
			o.w -= 0.05 * o.a
		},
	},
	"SGD Nesterov": {
		func() train.Optimiser { return &train.SGD{LR: 0.05, Momentum: 0.7, Nesterov: true} },
		func(o *one, g float64) { o.a = 0.7*o.a + g; o.w -= 0.05 * (g + 0.7*o.a) },
	},
	"Nesterov": {
		func() train.Optimiser { return &train.Nesterov{LR: 0.05, WeightDecay: 0.02} },
		func(o *one, g float64) { // a is w of the step before
			w := o.w - 0.05*(g+0.02*o.w)
			o.w, o.a = w+(o.t-1)/(o.t+2)*(w-o.a), w
		},
	},
	"Adam": {
		func() train.Optimiser {
			return &train.Adam{LR: 0.05, WeightDecay: 0.02, Beta1: 0.8, Beta2: 0.95, Eps: 1e-3}
		},
		func(o *one, g float64) { o.adam(g+0.02*o.w, func(v float64) float64 { return v }) },
	},
	"AMSGrad": {
		func() train.Optimiser {
			return &train.Adam{LR: 0.05, WeightDecay: 0.02, Beta1: 0.8, Beta2: 0.95, Eps: 1e-3, AMSGrad: true}
		},
		func(o *one, g float64) {
			o.adam(g+0.02*o.w, func(v float64) float64 { o.c = math.Max(o.c, v); return o.c })
		},
	},
	"AdamW": {
		func() train.Optimiser {
			return &train.AdamW{LR: 0.05, WeightDecay: 0.02, Beta1: 0.8, Beta2: 0.95, Eps: 1e-3}
		},
		func(o *one, g float64) {
			o.w *= 1 - 0.05*0.02
			o.adam(g, func(v float64) float64 { return v })
		},
	},
	"Adamax": {
		func() train.Optimiser {
			return &train.Adamax{LR: 0.05, WeightDecay: 0.02, Beta1: 0.8, Beta2: 0.95, Eps: 1e-3}
		},
		func(o *one, g float64) {
			g += 0.02 * o.w
			o.a = 0.8*o.a + 0.2*g
			o.b = math.Max(0.95*o.b, math.Abs(g)+1e-3)
			o.w -= 0.05 / (1 - math.Pow(0.8, o.t)) * o.a / o.b
		},
	},
	"RMSprop": {
		func() train.Optimiser {
			return &train.RMSprop{LR: 0.05, WeightDecay: 0.02, Alpha: 0.9, Eps: 1e-3, Momentum: 0.5, Centred: true}
		},
		func(o *one, g float64) {
			g += 0.02 * o.w
			o.a = 0.9*o.a + 0.1*g*g
			o.b = 0.9*o.b + 0.1*g
			o.c = 0.5*o.c + g/(math.Sqrt(o.a-o.b*o.b)+1e-3)
			o.w -= 0.05 * o.c
		},
	},
	"Adagrad": {
		func() train.Optimiser {
			return &train.Adagrad{LR: 0.05, WeightDecay: 0.02, RateDecay: 0.03, Initial: 0.1, Eps: 1e-3}
		},
		func(o *one, g float64) {
			g += 0.02 * o.w
			if o.t == 1 {
				o.a = 0.1
			}
			o.a += g * g
			o.w -= 0.05 / (1 + 0.03*(o.t-1)) * g / (math.Sqrt(o.a) + 1e-3)
		},
	},
	"Adadelta": {
		func() train.Optimiser { return &train.Adadelta{LR: 0.5, WeightDecay: 0.02, Rho: 0.8, Eps: 1e-3} },
		func(o *one, g float64) {
			g += 0.02 * o.w
			o.a = 0.8*o.a + 0.2*g*g
			d := math.Sqrt(o.b+1e-3) / math.Sqrt(o.a+1e-3) * g
			o.b = 0.8*o.b + 0.2*d*d
			o.w -= 0.5 * d
		},
	},
	"NAdam": {
		func() train.Optimiser {
			return &train.NAdam{LR: 0.05, WeightDecay: 0.02, Beta1: 0.8, Beta2: 0.95, Eps: 1e-3, MomentumDecay: 0.1}
		},
		func(o *one, g float64) {
			g += 0.02 * o.w
			mu := func(t float64) float64 { return 0.8 * (1 - 0.5*math.Pow(0.96, 0.1*t)) }
			product := 1.0
			for i := 1.0; i <= o.t; i++ {
				product *= mu(i)
			}
			o.a = 0.8*o.a + 0.2*g
			o.b = 0.95*o.b + 0.05*g*g
			hat := mu(o.t+1)*o.a/(1-product*mu(o.t+1)) + (1-mu(o.t))*g/(1-product)
			o.w -= 0.05 * hat / (math.Sqrt(o.b/(1-math.Pow(0.95, o.t))) + 1e-3)
		},
	},
	"RAdam": {
		func() train.Optimiser {
			return &train.RAdam{LR: 0.05, WeightDecay: 0.02, Beta1: 0.8, Beta2: 0.95, Eps: 1e-3, Decoupled: true}
		},
		func(o *one, g float64) {
			o.w *= 1 - 0.05*0.02
			o.a = 0.8*o.a + 0.2*g
			o.b = 0.95*o.b + 0.05*g*g
			p, most := math.Pow(0.95, o.t), 2/0.05-1
			rho := most - 2*o.t*p/(1-p)
			change := o.a / (1 - math.Pow(0.8, o.t))
			if rho > 5 {
				r := math.Sqrt((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho))
				change *= r * math.Sqrt(1-p) / (math.Sqrt(o.b) + 1e-3)
			}
			o.w -= 0.05 * change
		},
	},
}

// adam is Kingma and Ba's step, with v seen through f.
func (o *one) adam(g float64, f func(v float64) float64) {
	o.a = 0.8*o.a + 0.2*g
	o.b = 0.95*o.b + 0.05*g*g
	o.w -= 0.05 * o.a / (1 - math.Pow(0.8, o.t)) / (math.Sqrt(f(o.b)/(1-math.Pow(0.95, o.t))) + 1e-3)
}

// TestOptimiserOracles takes more steps than the golden files have, of Params of
// lengths that fill no vector.
func TestOptimiserOracles(t *testing.T) {
	tolerance := 2e-5
	if tensor.Float(1)+tensor.Float(1e-10) != 1 {
		tolerance = 1e-12
	}
	for name, c := range oracles {
		for _, n := range []int{1, 7, 33} {
			rng := rand.New(rand.NewPCG(5, uint64(n)))
			opt, p := c.opt(), grad.NewParam(n)
			p.Value.Normal(rng, 0, 1)
			want := make([]one, n)
			for i, v := range p.Value.Data {
				want[i].w = float64(v)
			}
			g := p.Value.Like()
			for step := 1; step <= 60; step++ {
				g.Normal(rng, 0.1, 1)
				opt.Step(grad.Grads{{Param: p, Value: g}})
				for i := range want {
					want[i].t++
					c.step(&want[i], float64(g.Data[i]))
					if got := float64(p.Value.Data[i]); !(math.Abs(got-want[i].w) <= tolerance*math.Max(1, math.Abs(got))) {
						t.Fatalf("%s, element %d of %d, step %d: %v, want %v", name, i, n, step, got, want[i].w)
					}
				}
			}
		}
	}
}

// each calls f with a new optimiser of every kind.
func each(t *testing.T, f func(t *testing.T, opt func() train.Optimiser)) {
	for name, c := range oracles {
		t.Run(name, func(t *testing.T) { f(t, c.opt) })
	}
}

// TestOptimiserCountsPerParam shows that a Param used late starts with its own
// step 1.
func TestOptimiserCountsPerParam(t *testing.T) {
	each(t, func(t *testing.T, opt func() train.Optimiser) {
		early, late, alone := grad.NewParam(1), grad.NewParam(1), grad.NewParam(1)
		value := tensor.Of([]tensor.Float{0.3}, 1)
		o := opt()
		for range 9 {
			o.Step(grad.Grads{{Param: early, Value: value}})
		}
		o.Step(grad.Grads{{Param: early, Value: value}, {Param: late, Value: value}})
		opt().Step(grad.Grads{{Param: alone, Value: value}})
		if late.Value.Data[0] != alone.Value.Data[0] || late.Value.Data[0] == 0 {
			t.Errorf("the first step of a late Param is %v, of a Param alone %v", late.Value.Data[0], alone.Value.Data[0])
		}
	})
}

func TestOptimiserSkips(t *testing.T) {
	each(t, func(t *testing.T, opt func() train.Optimiser) {
		p := &grad.Param{Value: tensor.New(2), Frozen: true}
		ones := tensor.Of([]tensor.Float{1, 1}, 2)
		opt().Step(grad.Grads{{Param: p, Value: ones}, {Value: ones}})
		if p.Value.Data[0] != 0 {
			t.Error("a frozen Param was changed")
		}
	})
}

func TestOptimiserAllocates(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would empty the pools
	each(t, func(t *testing.T, opt func() train.Optimiser) {
		p, q := grad.NewParam(40_000), grad.NewParam(3)
		g := grad.Grads{{Param: p, Value: tensor.New(40_000)}, {Param: q, Value: tensor.New(3)}}
		o := opt()
		o.Step(g)
		if n := testing.AllocsPerRun(10, func() { o.Step(g) }); n != 0 {
			t.Errorf("a step allocates %v times", n)
		}
	})
}

// TestOptimiserThreads: the same bits for every number of threads.
func TestOptimiserThreads(t *testing.T) {
	const most = 40_000
	rng := rand.New(rand.NewPCG(6, 7))
	w, g := tensor.New(most), tensor.New(most)
	w.Normal(rng, 0, 1)
	g.Normal(rng, 0, 1)
	each(t, func(t *testing.T, opt func() train.Optimiser) {
		for _, n := range sparing.Some([]int{0, 1, 1<<14 - 1, most, 1 << 14, 1<<14 + 1}) {
			var want []tensor.Float
			for _, threads := range append(sparing.Threads(), 1) {
				undo := par.SetThreads(threads)
				p, q := grad.NewParam(n), grad.NewParam(5)
				copy(p.Value.Data, w.Data)
				o := opt()
				for range 3 {
					o.Step(grad.Grads{{Param: p, Value: tensor.Of(g.Data[:n], n)}, {Param: q, Value: tensor.Of(g.Data[:5], 5)}})
				}
				undo()
				got := slices.Concat(p.Value.Data, q.Value.Data)
				if want == nil {
					want = got
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%d numbers: %d threads give other bits than 1", n, threads)
				}
			}
		}
	})
}

func TestOptimiserShape(t *testing.T) {
	p := grad.NewParam(3)
	err := tensor.Try(func() { (&train.SGD{LR: 1}).Step(grad.Grads{{Param: p, Value: tensor.New(2)}}) })
	if err == nil || !strings.Contains(err.Error(), "train.SGD") || !strings.Contains(err.Error(), "[3]") || !strings.Contains(err.Error(), "[2]") {
		t.Errorf("a gradient of another shape: error is %v", err)
	}
}

func TestGroups(t *testing.T) {
	m := newLogistic()
	w, b := m.W.Value.Clone(), m.B.Value.Clone()
	opt := &train.Adam{LR: 0.1, Groups: []train.Group{{Match: "W", LR: 0.5}, {Match: "?", Frozen: true}}}
	if err := opt.Bind(m); err != nil {
		t.Fatal(err)
	}
	g := m.W.Value.Like()
	g.Fill(1)
	opt.Step(grad.Grads{{Param: m.W, Value: g}, {Param: m.B, Value: tensor.Of([]tensor.Float{1, 1}, 2)}})
	if d := float64(w.Data[0] - m.W.Value.Data[0]); math.Abs(d-0.5) > 1e-5 {
		t.Errorf("W moved by %v, its group's rate is 0.5", d)
	}
	if m.B.Value.Data[0] != b.Data[0] {
		t.Error("B is in a frozen group and moved")
	}
	for _, bad := range []string{"Conv9.*", "[", ""} {
		err := (&train.Adam{Groups: []train.Group{{Match: bad}}}).Bind(m)
		if err == nil || !strings.Contains(err.Error(), `"`+bad+`"`) {
			t.Errorf("pattern %q: error %v does not name it", bad, err)
		}
	}
}

// TestBiasesDoNotDecay is the pattern of the documentation: with a gradient of
// zero a decay is all that moves a Param.
func TestBiasesDoNotDecay(t *testing.T) {
	m := newDeep()
	for _, p := range grad.Params(m) {
		p.Value.Fill(1)
	}
	opt := &train.SGD{LR: 0.1, WeightDecay: 0.5, Groups: []train.Group{{Match: "*.B", WeightDecay: 0}}}
	if err := opt.Bind(m); err != nil {
		t.Fatal(err)
	}
	var gs grad.Grads
	for _, p := range grad.Params(m) {
		gs = append(gs, grad.Grad{Param: p, Value: p.Value.Like()})
	}
	opt.Step(gs)
	for name, p := range grad.Params(m) {
		want := 0.95
		if strings.HasSuffix(name, ".B") || p.Frozen {
			want = 1
		}
		if got := float64(p.Value.Data[0]); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	nan := math.NaN()
	for want, opt := range map[string]train.Optimiser{
		"Adam: LR is -1":                       &train.Adam{LR: -1},
		"AdamW: WeightDecay is NaN":            &train.AdamW{LR: 1, WeightDecay: nan},
		"SGD: Groups[1].LR is +Inf":            &train.SGD{LR: 1, Groups: []train.Group{{Match: "W"}, {Match: "B", LR: math.Inf(1)}}},
		"SGD: Nesterov needs a Momentum":       &train.SGD{LR: 1, Nesterov: true},
		"SGD: Nesterov needs a Momentum above": &train.SGD{LR: 1, Nesterov: true, Momentum: 0.9, Dampening: 0.1},
		"RAdam: Groups[0].WeightDecay is -2":   &train.RAdam{LR: 1, Groups: []train.Group{{Match: "W", WeightDecay: -2}}},
	} {
		if err := opt.Bind(newLogistic()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v", want, err)
		}
	}
}

func BenchmarkOptimisers(b *testing.B) {
	for name, c := range oracles {
		b.Run(name, func(b *testing.B) {
			p := grad.NewParam(92_000)
			g := grad.Grads{{Param: p, Value: p.Value.Like()}}
			g[0].Value.Fill(0.1)
			opt := c.opt()
			for b.Loop() {
				opt.Step(g)
			}
		})
	}
}
