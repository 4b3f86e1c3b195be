package train_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/train"
)

// TestSchedulesGolden compares with the rates of PyTorch's schedulers.
func TestSchedulesGolden(t *testing.T) {
	schedules := map[string]train.Schedule{
		"step":                        train.StepDecay{Every: 7, Gamma: 0.5},
		"multistep":                   train.MultiStep{At: []int{4, 11, 12}, Gamma: 0.3},
		"exponential":                 train.Exponential{Gamma: 0.9},
		"cosine":                      train.Cosine{Steps: 20, Min: 0.001 / 0.05},
		"cosine_warm_restarts":        train.CosineRestarts{First: 5, Times: 2, Min: 0.001 / 0.05},
		"onecycle":                    train.OneCycle{Steps: 30},
		"onecycle_three_phase_linear": train.OneCycle{Steps: 30, Rise: 0.4, Straight: true, ThreePhase: true},
		"linear":                      train.Linear{From: 0.25, To: 1, Steps: 8},
		"polynomial":                  train.Polynomial{Steps: 20, Power: 2},
		"linear_warmup_lambda":        train.Warmup{Steps: 5, Then: train.Linear{From: 1, To: 0, Steps: 25}},
		"reduce_on_plateau":           &train.Plateau{By: 0.5, Patience: 2, Threshold: 1e-4, Cooldown: 1, Min: 0.002 / 0.05},
	}
	files, err := filepath.Glob("testdata/schedule_*.json")
	if err != nil || len(files) != len(schedules) {
		t.Fatalf("%d golden files for %d schedules, error %v", len(files), len(schedules), err)
	}
	for name, s := range schedules {
		c := golden.Load(t, "testdata/schedule_"+name+".json")
		lr, most := c.Config["lr"].(float64), c.Config["max_lr"]
		if most != nil {
			lr = most.(float64)
		}
		for i, want := range c.Outputs["lr"].Data {
			if got := lr * s.Factor(i); !(math.Abs(got-want) <= 1e-6*want+1e-12) {
				t.Errorf("%s: step %d has the rate %v, want %v", name, i, got, want)
			}
			if p, ok := s.(*train.Plateau); ok {
				p.Observe(c.Inputs["metric"].Data[i])
			}
		}
	}
}

// TestNoam checks the formula of the paper, and that it peaks at the end of the
// warm-up.
func TestNoam(t *testing.T) {
	s := train.Noam{Width: 512, Warmup: 4000}
	for _, step := range []int{0, 1, 100, 3999, 4000, 100_000} {
		n := float64(step + 1)
		want := math.Pow(512, -0.5) * math.Min(math.Pow(n, -0.5), n*math.Pow(4000, -1.5))
		if got := s.Factor(step); math.Abs(got-want) > 1e-15 {
			t.Errorf("step %d: %v, want %v", step, got, want)
		}
	}
	if top := s.Factor(3999); top <= s.Factor(3998) || top <= s.Factor(4000) {
		t.Error("the end of the warm-up is not the top")
	}
}

// TestScheduleEnds are the steps that the golden files do not reach, and zero
// values.
func TestScheduleEnds(t *testing.T) {
	for name, c := range map[string]struct {
		s    train.Schedule
		step int
		want float64
	}{
		"one cycle, no rise":         {train.OneCycle{Steps: 10, Rise: 0.1}, 0, 1},
		"one cycle, no rise, end":    {train.OneCycle{Steps: 10, Rise: 0.1}, 9, 1 / 25e4},
		"three phases, no rise":      {train.OneCycle{Steps: 10, Rise: 0.1, ThreePhase: true}, 0, 1},
		"one cycle of one step":      {train.OneCycle{Steps: 1, Rise: 1}, 0, 1},
		"one cycle stays at its end": {train.OneCycle{Steps: 10}, 500, 1 / 25e4},
		"warm-up alone":              {train.Warmup{Steps: 4}, 9, 1},
		"no warm-up":                 {train.Warmup{Then: train.Exponential{Gamma: 0.5}}, 1, 0.5},
		"a preset of a tenth":        {train.StepDecay{Every: 2}, 2, 0.1},
		"every step":                 {train.StepDecay{}, 2, 0.01},
		"multi-step without steps":   {train.MultiStep{}, 2, 1},
		"restarts of equal length":   {train.CosineRestarts{First: 5}, 10, 1},
		"a straight line":            {train.Polynomial{Steps: 4}, 1, 0.75},
		"a line of no length":        {train.Linear{From: 1, To: 3}, 1, 3},
		"a function":                 {train.ScheduleFunc(func(i int) float64 { return float64(i) / 8 }), 4, 0.5},
		"a plateau that saw nothing": {&train.Plateau{}, 4, 1},
	} {
		if got := c.s.Factor(c.step); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestPlateau tries what the golden file does not.
func TestPlateau(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		s      train.Plateau
		scores []float64
		want   float64
	}{
		"rising":              {train.Plateau{Rising: true}, []float64{1, 2, 2, 3}, 0.1},
		"rising all the time": {train.Plateau{Rising: true}, []float64{-3, 2, 5, 7}, 1},
		"absolute":            {train.Plateau{Absolute: true, Threshold: 1}, []float64{10, 9.5, 8.9, 7.8}, 0.1},
		"relative":            {train.Plateau{Threshold: 0.5}, []float64{10, 6, 4}, 0.1},
		"NaN is no better":    {train.Plateau{Patience: 1}, []float64{nan, nan, 1, nan}, 0.1},
		"infinity, then less": {train.Plateau{}, []float64{inf, 5, 4}, 0.1},
		"never below -Inf":    {train.Plateau{By: 0.5}, []float64{-inf, 3, 2}, 0.25},
		"down to Min":         {train.Plateau{By: 0.5, Min: 0.3}, []float64{1, 1, 1, 1, 1}, 0.3},
		"Min above 1":         {train.Plateau{By: 0.5, Min: 3}, []float64{1, 1}, 1},
	} {
		for _, v := range c.scores {
			c.s.Observe(v)
		}
		if got := c.s.Factor(0); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestScheduleInOptimiser shows that step i has the rate LR times factor i, in
// every group.
func TestScheduleInOptimiser(t *testing.T) {
	m := newLogistic()
	opt := &train.SGD{LR: 1, Schedule: train.Exponential{Gamma: 0.5}, Groups: []train.Group{{Match: "B", LR: 8}}}
	if err := opt.Bind(m); err != nil {
		t.Fatal(err)
	}
	w, b := float64(m.W.Value.Data[0]), float64(m.B.Value.Data[0])
	for i := range 4 {
		opt.Step(gradsOf(m.W, 1, m.B, 1))
		w -= math.Pow(0.5, float64(i))
		b -= 8 * math.Pow(0.5, float64(i))
		if got := float64(m.W.Value.Data[0]); math.Abs(got-w) > 1e-5 {
			t.Errorf("step %d: W is %v, want %v", i, got, w)
		}
		if got := float64(m.B.Value.Data[0]); math.Abs(got-b) > 1e-5 {
			t.Errorf("step %d: B is %v, want %v", i, got, b)
		}
	}
}

func TestTeacherForcing(t *testing.T) {
	share := func(f train.TeacherForcing, step int) float64 {
		n := 0
		for k := range 20000 {
			if f.Truth(step, k) {
				n++
			}
		}
		return float64(n) / 20000
	}
	tests := []struct {
		schedule train.Schedule
		step     int
		want     float64
	}{
		{nil, 5, 1},
		{train.Constant(0.3), 0, 0.3},
		{train.Constant(0.3), 1000, 0.3},
		{train.Constant(-1), 3, 0},
		{train.Constant(7), 3, 1},
		{train.Linear{From: 1, To: 0.2, Steps: 10}, 5, 0.6},
		{train.Linear{From: 1, To: 0.2, Steps: 10}, 500, 0.2},
		{train.InverseSigmoid{K: 20}, 0, 20.0 / 21},
		{train.InverseSigmoid{K: 20}, 60, 20 / (20 + math.Exp(3))},
		{train.InverseSigmoid{K: 20}, math.MaxInt, 0},
		{train.Exponential{Gamma: 0.9}, 7, math.Pow(0.9, 7)},
	}
	for _, tt := range tests {
		f := train.TeacherForcing{Schedule: tt.schedule, Seed: 3}
		if p := f.Probability(tt.step); math.Abs(p-tt.want) > 1e-12 {
			t.Errorf("%#v: probability %v in step %d, want %v", tt.schedule, p, tt.step, tt.want)
		}
		if got := share(f, tt.step); math.Abs(got-tt.want) > 0.015 || (tt.want == 0 || tt.want == 1) && got != tt.want {
			t.Errorf("%#v: the share %v is true in step %d, want %v", tt.schedule, got, tt.step, tt.want)
		}
	}
}

// A draw depends on the seed, the step and the token, on each of them.
func TestTeacherForcingDraws(t *testing.T) {
	draws := func(seed uint64, step, token int) (out [2]uint64) {
		for i := range 128 {
			f := train.TeacherForcing{Schedule: train.Constant(0.5), Seed: seed}
			s, k := step, token
			if step < 0 {
				s = i
			} else {
				k = i
			}
			if f.Truth(s, k) {
				out[i/64] |= 1 << (i % 64)
			}
		}
		return out
	}
	if once, again := draws(1, 4, 0), draws(1, 4, 0); once != again {
		t.Error("the same draws differ")
	}
	all := map[[2]uint64]bool{draws(1, 4, 0): true, draws(2, 4, 0): true, draws(1, 5, 0): true, draws(1, -1, 0): true, draws(1, -1, 1): true}
	if len(all) != 5 {
		t.Error("draws of another seed, step or token are the same")
	}
}
