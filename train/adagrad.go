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

// RMSprop divides the gradient by the root of its mean square (Tieleman and
// Hinton, 2012), less the square of its mean if Centred, and adds up what is
// left with a Momentum μ. For a Param θ with the gradient g:
//
//	g ← g + decay·θ
//	v ← α·v + (1−α)·g²
//	a ← α·a + (1−α)·g               if Centred
//	d ← g / (√(v − a²) + ε)         a is 0 if not Centred
//	b ← μ·b + d
//	θ ← θ − rate·b
//
// Where rounding makes v − a² negative it counts as 0.
type RMSprop struct {
	LR          float64
	WeightDecay float64
	Groups      []Group // the first that matches a Param's path is the Param's
	Schedule    Schedule
	Alpha       float64 // 0 means 0.99
	Eps         float64 // 0 means 1e-8
	Momentum    float64
	Centred     bool

	core
}

// The arrays of a slot, for each of the four kinds of RMSprop.
var squareAnd = map[[2]bool][]string{
	{false, false}: {"square"},
	{true, false}:  {"square", "mean"},
	{false, true}:  {"square", "momentum"},
	{true, true}:   {"square", "mean", "momentum"},
}

// Bind assigns the model's Params to the groups.
func (o *RMSprop) Bind(model any) error { return o.bind(o, model) }

// Step changes each Param by its gradient.
func (o *RMSprop) Step(g grad.Grads) { o.step(o, g) }

func (o *RMSprop) settings() settings {
	return settings{
		name: "RMSprop", lr: o.LR, decay: o.WeightDecay, groups: o.Groups, schedule: o.Schedule,
		arrays: squareAnd[[2]bool{o.Centred, o.Momentum != 0}],
	}
}

func (o *RMSprop) fields() []field {
	return []field{{"Alpha", o.Alpha, 1}, {"Eps", o.Eps, 0}, {"Momentum", o.Momentum, 0}}
}

func (o *RMSprop) update(u *update) {
	alpha := grad.Preset(o.Alpha, 0.99)
	rate, decay, eps := tensor.Float(u.rate), tensor.Float(u.decay), tensor.Float(grad.Preset(o.Eps, 1e-8))
	keep, gain, momentum := tensor.Float(alpha), tensor.Float(1-alpha), tensor.Float(o.Momentum)
	var mean, b []tensor.Float
	w, v, rest := u.w[:len(u.g)], u.arrays[0][:len(u.g)], u.arrays[1:]
	if o.Centred {
		mean, rest = rest[0], rest[1:]
	}
	if o.Momentum != 0 {
		b = rest[0]
	}
	for i, g := range u.g {
		g += decay * w[i]
		v[i] = keep*v[i] + gain*g*g
		square := v[i]
		if mean != nil {
			mean[i] += gain * (g - mean[i])
			square = max(0, square-mean[i]*mean[i])
		}
		d := g / (sqrt(square) + eps)
		if b != nil {
			b[i] = momentum*b[i] + d
			d = b[i]
		}
		w[i] -= rate * d
	}
}
