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
