package train

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Adamax is [Adam] with a maximum for the second moment (Kingma and Ba, 2015).
// For a Param θ with the gradient g, in its step t:
//
//	g ← g + decay·θ
//	m ← β₁·m + (1−β₁)·g
//	u ← max(β₂·u, |g| + ε)
//	θ ← θ − rate/(1−β₁ᵗ) · m/u
type Adamax struct {
	LR          float64
	WeightDecay float64
	Groups      []Group // the first that matches a Param's path is the Param's
	Schedule    Schedule
	Beta1       float64 // 0 means 0.9
	Beta2       float64 // 0 means 0.999
	Eps         float64 // 0 means 1e-8

	core
}

var momentAndNorm = []string{"m", "u"}

// Bind assigns the model's Params to the groups.
func (o *Adamax) Bind(model any) error { return o.bind(o, model) }

// Step changes each Param by its gradient.
func (o *Adamax) Step(g grad.Grads) { o.step(o, g) }

func (o *Adamax) settings() settings {
	return settings{
		name: "Adamax", lr: o.LR, decay: o.WeightDecay, groups: o.Groups, schedule: o.Schedule,
		arrays: momentAndNorm,
	}
}

func (o *Adamax) fields() []field { return betas{o.Beta1, o.Beta2, o.Eps}.fields() }

func (o *Adamax) update(u *update) {
	b := betas{o.Beta1, o.Beta2, o.Eps}.orPreset()
	rate := tensor.Float(u.rate / (1 - math.Pow(b.b1, float64(u.steps))))
	decay, gain := tensor.Float(u.decay), tensor.Float(1-b.b1)
	keep, eps := tensor.Float(b.b2), tensor.Float(b.eps)
	w, m, norm := u.w[:len(u.g)], u.arrays[0][:len(u.g)], u.arrays[1][:len(u.g)]
	for i, g := range u.g {
		g += decay * w[i]
		m[i] += gain * (g - m[i])
		norm[i] = max(keep*norm[i], tensor.Float(math.Abs(float64(g)))+eps)
		w[i] -= rate * m[i] / norm[i]
	}
}
