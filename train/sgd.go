package train

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// SGD follows the gradient, with momentum μ and dampening τ where they are
// asked for. For a Param θ with the gradient g:
//
//	g ← g + decay·θ
//	b ← μ·b + (1−τ)·g, in the first step b ← g
//	θ ← θ − rate·b, with Nesterov θ − rate·(g + μ·b)
type SGD struct {
	LR          float64
	WeightDecay float64
	Groups      []Group // the first that matches a Param's path is the Param's
	Schedule    Schedule
	Momentum    float64
	Dampening   float64 // of the momentum
	Nesterov    bool    // needs a Momentum and no Dampening

	core
}

var oneMomentum = []string{"momentum"}

// Bind assigns the model's Params to the groups.
func (o *SGD) Bind(model any) error { return o.bind(o, model) }

// Step changes each Param by its gradient.
func (o *SGD) Step(g grad.Grads) { o.step(o, g) }

func (o *SGD) settings() settings {
	s := settings{name: "SGD", lr: o.LR, decay: o.WeightDecay, groups: o.Groups, schedule: o.Schedule}
	if o.Momentum != 0 {
		s.arrays = oneMomentum
	}
	if o.Nesterov && (o.Momentum <= 0 || o.Dampening != 0) {
		s.wrong = "Nesterov needs a Momentum above 0 and a Dampening of 0"
	}
	return s
}

func (o *SGD) fields() []field {
	return []field{{"Momentum", o.Momentum, 0}, {"Dampening", o.Dampening, 0}}
}

func (o *SGD) update(u *update) {
	rate, decay, w := tensor.Float(u.rate), tensor.Float(u.decay), u.w[:len(u.g)]
	if u.count() == 0 && decay == 0 {
		vec.Axpy(w, -rate, u.g)
		return
	}
	if u.count() == 0 {
		for i, g := range u.g {
			w[i] -= rate * (g + decay*w[i])
		}
		return
	}
	keep, gain, b := tensor.Float(o.Momentum), tensor.Float(1-o.Dampening), u.arrays[0][:len(u.g)]
	nesterov := o.Nesterov
	if u.steps == 1 {
		gain = 1
	}
	for i, g := range u.g {
		g += decay * w[i]
		b[i] = keep*b[i] + gain*g
		if nesterov {
			w[i] -= rate * (g + keep*b[i])
		} else {
			w[i] -= rate * b[i]
		}
	}
}

// Nesterov is Nesterov's accelerated gradient (1983), whose momentum rises with the
// steps. For a Param θ with the gradient g, in its step k:
//
//	g ← g + decay·θ
//	w_k = θ − rate·g
//	θ ← w_k + (k−1)/(k+2)·(w_k − w_{k−1})
//
// The gradient is taken ahead of w, so the Params hold what is ahead; the two meet
// as the steps grow small. On a convex function whose gradient is 1/rate-Lipschitz,
// f(w_k) − f* ≤ 2‖w_0 − w*‖²/(rate·(k+1)²). With small rates w_k follows the flow
// ẅ + (3/t)·ẇ = −f'(w) at t = k·√rate (Su, Boyd and Candès, 2016). What frameworks
// call Nesterov has a momentum that stays: that is [SGD] with Nesterov.
type Nesterov struct {
	LR          float64
	WeightDecay float64
	Groups      []Group // the first that matches a Param's path is the Param's
	Schedule    Schedule

	core
}

var oneBehind = []string{"behind"}

// Bind assigns the model's Params to the groups.
func (o *Nesterov) Bind(model any) error { return o.bind(o, model) }

// Step changes each Param by its gradient.
func (o *Nesterov) Step(g grad.Grads) { o.step(o, g) }

func (o *Nesterov) settings() settings {
	return settings{
		name: "Nesterov", lr: o.LR, decay: o.WeightDecay, groups: o.Groups, schedule: o.Schedule,
		arrays: oneBehind,
	}
}

func (o *Nesterov) fields() []field { return nil }

func (o *Nesterov) update(u *update) {
	rate, decay := tensor.Float(u.rate), tensor.Float(u.decay)
	k := float64(u.steps)
	ahead := tensor.Float((k - 1) / (k + 2)) // 0 in the first step, which has nothing behind it
	w, behind := u.w[:len(u.g)], u.arrays[0][:len(u.g)]
	for i, g := range u.g {
		v := w[i] - rate*(g+decay*w[i])
		w[i] = v + ahead*(v-behind[i])
		behind[i] = v
	}
}
