package train

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// NAdam is [Adam] with Nesterov's momentum (Dozat, 2016). For a Param θ with
// the gradient g, in its step t, with μₜ = β₁·(1 − ½·0.96^(t·MomentumDecay)):
//
//	g ← g + decay·θ, if Decoupled θ ← (1 − rate·decay)·θ instead
//	m ← β₁·m + (1−β₁)·g
//	v ← β₂·v + (1−β₂)·g²
//	θ ← θ − rate · ((1−μₜ)/(1−μ₁…μₜ)·g + μₜ₊₁/(1−μ₁…μₜ₊₁)·m) / (√(v/(1−β₂ᵗ)) + ε)
type NAdam struct {
	LR            float64
	WeightDecay   float64
	Groups        []Group // the first that matches a Param's path is the Param's
	Schedule      Schedule
	Beta1         float64 // 0 means 0.9
	Beta2         float64 // 0 means 0.999
	Eps           float64 // 0 means 1e-8
	MomentumDecay float64 // 0 means 0.004
	Decoupled     bool    // decay apart from the gradient

	core
}

// Bind assigns the model's Params to the groups.
func (o *NAdam) Bind(model any) error { return o.bind(o, model) }

// Step changes each Param by its gradient.
func (o *NAdam) Step(g grad.Grads) { o.step(o, g) }

func (o *NAdam) settings() settings {
	return settings{
		name: "NAdam", lr: o.LR, decay: o.WeightDecay, groups: o.Groups, schedule: o.Schedule,
		arrays: twoMoments,
	}
}

func (o *NAdam) fields() []field {
	return append(betas{o.Beta1, o.Beta2, o.Eps}.fields(), field{"MomentumDecay", o.MomentumDecay, 0})
}

func (o *NAdam) update(u *update) {
	b := betas{o.Beta1, o.Beta2, o.Eps}.orPreset()
	if o.Decoupled {
		u.shrink()
	}
	t := float64(u.steps)
	now, next, product := o.mu(t), o.mu(t+1), o.carry(u.number, u.steps)
	ofG := tensor.Float(u.rate * (1 - now) / (1 - product))
	ofM := tensor.Float(u.rate * next / (1 - product*next))
	root := tensor.Float(1 / math.Sqrt(1-math.Pow(b.b2, t)))
	decay, eps := tensor.Float(u.decay), tensor.Float(b.eps)
	gain1, keep2, gain2 := tensor.Float(1-b.b1), tensor.Float(b.b2), tensor.Float(1-b.b2)
	w, m, v := u.w[:len(u.g)], u.arrays[0][:len(u.g)], u.arrays[1][:len(u.g)]
	for i, g := range u.g {
		g += decay * w[i]
		m[i] += gain1 * (g - m[i])
		v[i] = keep2*v[i] + gain2*g*g
		w[i] -= (ofG*g + ofM*m[i]) / (sqrt(v[i])*root + eps)
	}
}

func (o *NAdam) mu(t float64) float64 {
	return grad.Preset(o.Beta1, 0.9) * (1 - 0.5*math.Pow(0.96, t*grad.Preset(o.MomentumDecay, 0.004)))
}

// carry returns μ₁…μₜ.
func (o *NAdam) carry(before float64, steps int) float64 {
	if steps == 1 {
		before = 1
	}
	return before * o.mu(float64(steps))
}
