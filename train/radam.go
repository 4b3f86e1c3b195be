package train

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// RAdam is [Adam] that trusts its second moment only once enough gradients have
// been seen (Liu and others, 2020). With ρ∞ = 2/(1−β₂) − 1, for a Param θ with
// the gradient g, in its step t:
//
//	g ← g + decay·θ, if Decoupled θ ← (1 − rate·decay)·θ instead
//	m ← β₁·m + (1−β₁)·g
//	v ← β₂·v + (1−β₂)·g²
//	ρ = ρ∞ − 2t·β₂ᵗ/(1−β₂ᵗ)
//	r = √((ρ−4)(ρ−2)ρ∞ / ((ρ∞−4)(ρ∞−2)ρ))
//	θ ← θ − rate · m/(1−β₁ᵗ) · r·√(1−β₂ᵗ)/(√v + ε)   if ρ > 5, else
//	θ ← θ − rate · m/(1−β₁ᵗ)
type RAdam struct {
	LR          float64
	WeightDecay float64
	Groups      []Group // the first that matches a Param's path is the Param's
	Schedule    Schedule
	Beta1       float64 // 0 means 0.9
	Beta2       float64 // 0 means 0.999
	Eps         float64 // 0 means 1e-8
	Decoupled   bool    // decay apart from the gradient

	core
}

// Bind assigns the model's Params to the groups.
func (o *RAdam) Bind(model any) error { return o.bind(o, model) }

// Step changes each Param by its gradient.
func (o *RAdam) Step(g grad.Grads) { o.step(o, g) }

func (o *RAdam) settings() settings {
	return settings{
		name: "RAdam", lr: o.LR, decay: o.WeightDecay, groups: o.Groups, schedule: o.Schedule,
		arrays: twoMoments,
	}
}

func (o *RAdam) fields() []field { return betas{o.Beta1, o.Beta2, o.Eps}.fields() }

func (o *RAdam) update(u *update) {
	b := betas{o.Beta1, o.Beta2, o.Eps}.orPreset()
	if o.Decoupled {
		u.shrink()
	}
	t := float64(u.steps)
	rate, trusted := u.rate/(1-math.Pow(b.b1, t)), false
	if r := b.rectifier(t); r > 0 {
		rate, trusted = rate*r, true
	}
	step, decay, eps := tensor.Float(rate), tensor.Float(u.decay), tensor.Float(b.eps)
	gain1, keep2, gain2 := tensor.Float(1-b.b1), tensor.Float(b.b2), tensor.Float(1-b.b2)
	w, m, v := u.w[:len(u.g)], u.arrays[0][:len(u.g)], u.arrays[1][:len(u.g)]
	for i, g := range u.g {
		g += decay * w[i]
		m[i] += gain1 * (g - m[i])
		v[i] = keep2*v[i] + gain2*g*g
		if trusted {
			w[i] -= step * m[i] / (sqrt(v[i]) + eps)
		} else {
			w[i] -= step * m[i]
		}
	}
}

// rectifier returns r·√(1−β₂ᵗ), or 0 where the second moment is not trusted.
func (b betas) rectifier(t float64) float64 {
	most, power := 2/(1-b.b2)-1, math.Pow(b.b2, t)
	rho := most - 2*t*power/(1-power)
	if rho <= 5 {
		return 0
	}
	return math.Sqrt((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho) * (1 - power))
}
