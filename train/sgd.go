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
