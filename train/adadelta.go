package train

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Adadelta gives each number a rate of its own, from the sizes of its past
// gradients and changes (Zeiler, 2012); a rate LR of 1 is the paper's. For a
// Param θ with the gradient g:
//
//	g ← g + decay·θ
//	v ← ρ·v + (1−ρ)·g²
//	d ← √(c + ε) / √(v + ε) · g
//	c ← ρ·c + (1−ρ)·d²
//	θ ← θ − rate·d
type Adadelta struct {
	LR          float64
	WeightDecay float64
	Groups      []Group // the first that matches a Param's path is the Param's
	Schedule    Schedule
	Rho         float64 // 0 means 0.9
	Eps         float64 // 0 means 1e-6

	core
}

var squareAndChange = []string{"square", "change"}

// Bind assigns the model's Params to the groups.
func (o *Adadelta) Bind(model any) error { return o.bind(o, model) }

// Step changes each Param by its gradient.
func (o *Adadelta) Step(g grad.Grads) { o.step(o, g) }

func (o *Adadelta) settings() settings {
	return settings{
		name: "Adadelta", lr: o.LR, decay: o.WeightDecay, groups: o.Groups, schedule: o.Schedule,
		arrays: squareAndChange,
	}
}

func (o *Adadelta) fields() []field { return []field{{"Rho", o.Rho, 1}, {"Eps", o.Eps, 0}} }

func (o *Adadelta) update(u *update) {
	rho := grad.Preset(o.Rho, 0.9)
	rate, decay, eps := tensor.Float(u.rate), tensor.Float(u.decay), tensor.Float(grad.Preset(o.Eps, 1e-6))
	keep, gain := tensor.Float(rho), tensor.Float(1-rho)
	w, v, c := u.w[:len(u.g)], u.arrays[0][:len(u.g)], u.arrays[1][:len(u.g)]
	for i, g := range u.g {
		g += decay * w[i]
		v[i] = keep*v[i] + gain*g*g
		d := sqrt(c[i]+eps) / sqrt(v[i]+eps) * g
		c[i] = keep*c[i] + gain*d*d
		w[i] -= rate * d
	}
}
