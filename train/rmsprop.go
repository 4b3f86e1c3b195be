package train

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

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
