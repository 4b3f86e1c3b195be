package train

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Adam is the optimiser of Kingma and Ba (2015), with weight decay as an L2
// term in the gradient. For a Param θ with the gradient g, in its step t:
//
//	g ← g + decay·θ
//	m ← β₁·m + (1−β₁)·g
//	v ← β₂·v + (1−β₂)·g²
//	θ ← θ − rate · m/(1−β₁ᵗ) / (√(v/(1−β₂ᵗ)) + ε)
//
// With AMSGrad (Reddi and others, 2018) the largest v so far stands for v in
// the last line.
type Adam struct {
	LR          float64
	WeightDecay float64
	Groups      []Group // the first that matches a Param's path is the Param's
	Schedule    Schedule
	Beta1       float64 // 0 means 0.9
	Beta2       float64 // 0 means 0.999
	Eps         float64 // 0 means 1e-8
	AMSGrad     bool

	core
}

// Bind assigns the model's Params to the groups.
func (o *Adam) Bind(model any) error { return o.bind(o, model) }

// Step changes each Param by its gradient. It does not look for NaN: [Fit] does
// that before it calls Step.
func (o *Adam) Step(g grad.Grads) { o.step(o, g) }

func (o *Adam) settings() settings {
	return settings{
		name: "Adam", lr: o.LR, decay: o.WeightDecay, groups: o.Groups, schedule: o.Schedule,
		arrays: moments(o.AMSGrad),
	}
}

func (o *Adam) fields() []field { return betas{o.Beta1, o.Beta2, o.Eps}.fields() }

func (o *Adam) update(u *update) { u.adam(betas{o.Beta1, o.Beta2, o.Eps}) }

// AdamW is [Adam] with the decay apart from the gradient, as Loshchilov and
// Hutter (2019) have it: before Adam's step without decay,
//
//	θ ← (1 − rate·decay)·θ
type AdamW struct {
	LR          float64
	WeightDecay float64
	Groups      []Group // the first that matches a Param's path is the Param's
	Schedule    Schedule
	Beta1       float64 // 0 means 0.9
	Beta2       float64 // 0 means 0.999
	Eps         float64 // 0 means 1e-8
	AMSGrad     bool

	core
}

// Bind assigns the model's Params to the groups.
func (o *AdamW) Bind(model any) error { return o.bind(o, model) }

// Step changes each Param by its gradient.
func (o *AdamW) Step(g grad.Grads) { o.step(o, g) }

func (o *AdamW) settings() settings {
	return settings{
		name: "AdamW", lr: o.LR, decay: o.WeightDecay, groups: o.Groups, schedule: o.Schedule,
		arrays: moments(o.AMSGrad),
	}
}

func (o *AdamW) fields() []field { return betas{o.Beta1, o.Beta2, o.Eps}.fields() }

func (o *AdamW) update(u *update) {
	u.shrink()
	u.adam(betas{o.Beta1, o.Beta2, o.Eps})
}

// The arrays of a slot: the moments of the gradient and, with AMSGrad, the
// largest second one.
var (
	twoMoments = []string{"m", "v"}
	andLargest = []string{"m", "v", "largest"}
)

func moments(amsgrad bool) []string {
	if amsgrad {
		return andLargest
	}
	return twoMoments
}

// betas is what Adam and its kin are set by; 0 means the preset.
type betas struct{ b1, b2, eps float64 }

func (b betas) fields() []field {
	return []field{{"Beta1", b.b1, 1}, {"Beta2", b.b2, 1}, {"Eps", b.eps, 0}}
}

func (b betas) orPreset() betas {
	return betas{grad.Preset(b.b1, 0.9), grad.Preset(b.b2, 0.999), grad.Preset(b.eps, 1e-8)}
}

// adam is one update, written so that an element costs one root and one
// division: both corrections are scalars.
func (u *update) adam(b betas) {
	b = b.orPreset()
	t := float64(u.steps)
	k := vec.Adam{
		Rate:  tensor.Float(u.rate / (1 - math.Pow(b.b1, t))),
		Decay: tensor.Float(u.decay),
		Gain1: tensor.Float(1 - b.b1),
		Keep2: tensor.Float(b.b2),
		Gain2: tensor.Float(1 - b.b2),
		Root:  tensor.Float(1 / math.Sqrt(1-math.Pow(b.b2, t))),
		Eps:   tensor.Float(b.eps),
	}
	if u.count() == 2 {
		k.Step(u.w, u.g, u.arrays[0], u.arrays[1])
		return
	}
	u.amsgrad(&k)
}

func (u *update) amsgrad(k *vec.Adam) {
	w, m, v, largest := u.w[:len(u.g)], u.arrays[0][:len(u.g)], u.arrays[1][:len(u.g)], u.arrays[2][:len(u.g)]
	for i, g := range u.g {
		g += k.Decay * w[i]
		m[i] += k.Gain1 * (g - m[i])
		v[i] = k.Keep2*v[i] + k.Gain2*g*g
		largest[i] = max(largest[i], v[i])
		w[i] -= k.Rate * m[i] / (sqrt(largest[i])*k.Root + k.Eps)
	}
}
