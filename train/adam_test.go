package train_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// TestAdamGolden compares a Param after each step with PyTorch's.
func TestAdamGolden(t *testing.T) {
	for _, name := range []string{"optim_adam", "optim_adam_weight_decay"} {
		c := golden.Load(t, "testdata/"+name+".json")
		p := &grad.Param{Value: c.Tensor(t, "inputs", "p_0")}
		grads, want := c.Tensor(t, "inputs", "grad"), c.Tensor(t, "outputs", "p")
		opt := &train.Adam{LR: c.Config["lr"].(float64), WeightDecay: c.Config["weight_decay"].(float64)}
		shape := p.Value.Shape()
		for i := range grads.Rows() {
			opt.Step(grad.Grads{{Param: p, Value: tensor.Of(grads.Row(i), shape...)}})
			golden.Compare(t, name, p.Value, tensor.Of(want.Row(i), shape...), c.Float32Error.Outputs)
		}
	}
}

// TestAdamOracle compares with the formula as the papers write it, for numbers
// that are not the presets, over more steps than the golden files have.
func TestAdamOracle(t *testing.T) {
	const b1, b2, eps, rate, decay = 0.8, 0.95, 1e-3, 0.05, 0.02
	opt := &train.Adam{LR: rate, WeightDecay: decay, Beta1: b1, Beta2: b2, Eps: eps}
	p := grad.NewParam(1)
	p.Value.Data[0] = 1.5
	w, m, v := 1.5, 0.0, 0.0
	for step := 1; step <= 50; step++ {
		g := math.Sin(float64(step))
		opt.Step(grad.Grads{{Param: p, Value: tensor.Of([]tensor.Float{tensor.Float(g)}, 1)}})
		g += decay * w
		m = b1*m + (1-b1)*g
		v = b2*v + (1-b2)*g*g
		w -= rate * m / (1 - math.Pow(b1, float64(step))) / (math.Sqrt(v/(1-math.Pow(b2, float64(step)))) + eps)
		if got := float64(p.Value.Data[0]); math.Abs(got-w) > 1e-5 {
			t.Fatalf("step %d: %v, want %v", step, got, w)
		}
	}
}

// TestAdamCountsPerParam shows that a Param used late starts with its own step 1.
func TestAdamCountsPerParam(t *testing.T) {
	early, late, alone := grad.NewParam(1), grad.NewParam(1), grad.NewParam(1)
	one := tensor.Of([]tensor.Float{0.3}, 1)
	opt := &train.Adam{LR: 0.1}
	for range 5 {
		opt.Step(grad.Grads{{Param: early, Value: one}})
	}
	opt.Step(grad.Grads{{Param: early, Value: one}, {Param: late, Value: one}})
	(&train.Adam{LR: 0.1}).Step(grad.Grads{{Param: alone, Value: one}})
	if late.Value.Data[0] != alone.Value.Data[0] || late.Value.Data[0] == 0 {
		t.Errorf("the first step of a late Param is %v, of a Param alone %v", late.Value.Data[0], alone.Value.Data[0])
	}
}

func TestAdamSkips(t *testing.T) {
	p := &grad.Param{Value: tensor.New(2), Frozen: true}
	ones := tensor.Of([]tensor.Float{1, 1}, 2)
	(&train.Adam{LR: 1, WeightDecay: 1}).Step(grad.Grads{{Param: p, Value: ones}, {Value: ones}})
	if p.Value.Data[0] != 0 {
		t.Error("a frozen Param was changed")
	}
}

func TestAdamGroups(t *testing.T) {
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

// TestAdamThreads shows that no bit of an update depends on the threads.
func TestAdamThreads(t *testing.T) {
	const n = 70_001
	update := func(threads int) []tensor.Float {
		defer par.SetThreads(threads)()
		p, g := grad.NewParam(n), tensor.New(n)
		for i := range n {
			p.Value.Data[i], g.Data[i] = tensor.Float(math.Sin(float64(i))), tensor.Float(math.Cos(float64(3*i)))
		}
		opt := &train.Adam{LR: 0.01, WeightDecay: 0.1}
		for range 3 {
			opt.Step(grad.Grads{{Param: p, Value: g}})
		}
		return p.Value.Data
	}
	want := update(1)
	for _, threads := range []int{2, 3, 8} {
		if !slices.Equal(update(threads), want) {
			t.Errorf("%d threads give other bits than one", threads)
		}
	}
}

func TestAdamAllocates(t *testing.T) {
	p := grad.NewParam(1000)
	g := grad.Grads{{Param: p, Value: tensor.New(1000)}}
	opt := &train.Adam{LR: 0.1}
	opt.Step(g)
	if n := testing.AllocsPerRun(10, func() { opt.Step(g) }); n != 0 {
		t.Errorf("a step allocates %v times", n)
	}
}

func BenchmarkAdam(b *testing.B) {
	p := grad.NewParam(92_000)
	g := grad.Grads{{Param: p, Value: p.Value.Like()}}
	g[0].Value.Fill(0.1)
	opt := &train.Adam{LR: 0.1, WeightDecay: 5e-4}
	for b.Loop() {
		opt.Step(g)
	}
}
