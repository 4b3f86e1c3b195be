package train

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Adagrad divides the gradient by the root of the sum of all its squares (Duchi
// and others, 2011). For a Param θ with the gradient g, in its step t:
//
//	g ← g + decay·θ
//	s ← s + g²
//	θ ← θ − rate/(1 + (t−1)·RateDecay) · g/(√s + ε)
type Adagrad struct {
	LR          float64
	WeightDecay float64
	Groups      []Group // the first that matches a Param's path is the Param's
	Schedule    Schedule
	RateDecay   float64
	Initial     float64 // s before the first step
	Eps         float64 // 0 means 1e-10

	core
}

var oneSum = []string{"sum"}

// Bind assigns the model's Params to the groups.
func (o *Adagrad) Bind(model any) error { return o.bind(o, model) }

// Step changes each Param by its gradient.
func (o *Adagrad) Step(g grad.Grads) { o.step(o, g) }

func (o *Adagrad) settings() settings {
	return settings{
		name: "Adagrad", lr: o.LR, decay: o.WeightDecay, groups: o.Groups, schedule: o.Schedule,
		arrays: oneSum,
	}
}

func (o *Adagrad) fields() []field {
	return []field{{"RateDecay", o.RateDecay, 0}, {"Initial", o.Initial, 0}, {"Eps", o.Eps, 0}}
}

func (o *Adagrad) update(u *update) {
	rate := tensor.Float(u.rate / (1 + float64(u.steps-1)*o.RateDecay))
	decay, eps, sum := tensor.Float(u.decay), tensor.Float(grad.Preset(o.Eps, 1e-10)), u.arrays[0][:len(u.g)]
	w := u.w[:len(u.g)]
	if u.steps == 1 && o.Initial != 0 {
		for i := range sum {
			sum[i] = tensor.Float(o.Initial)
		}
	}
	for i, g := range u.g {
		g += decay * w[i]
		sum[i] += g * g
		w[i] -= rate * g / (sqrt(sum[i]) + eps)
	}
}
