package train

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Nesterov is Nesterov's accelerated gradient (1983), whose momentum rises with the
// steps. For a Param θ with the gradient g, in its step k:
//
//	g ← g + decay·θ
//	w_k = θ − rate·g
//	θ ← w_k + (k−1)/(k+2)·(w_k − w_{k−1})
//
// The gradient is taken ahead of w, so the Params hold what is ahead; the two meet
// as the steps grow small. On a convex function whose gradient is 1/rate-Lipschitz,
// f(w_k) − f* ≤ 2‖w_0 − w*‖²/(rate·(k+1)²). With small rates w_k follows the flow
// ẅ + (3/t)·ẇ = −f'(w) at t = k·√rate (Su, Boyd and Candès, 2016). What frameworks
// call Nesterov has a momentum that stays: that is [SGD] with Nesterov.
type Nesterov struct {
	LR          float64
	WeightDecay float64
	Groups      []Group // the first that matches a Param's path is the Param's
	Schedule    Schedule

	core
}

var oneBehind = []string{"behind"}

// Bind assigns the model's Params to the groups.
func (o *Nesterov) Bind(model any) error { return o.bind(o, model) }

// Step changes each Param by its gradient.
func (o *Nesterov) Step(g grad.Grads) { o.step(o, g) }

func (o *Nesterov) settings() settings {
	return settings{
		name: "Nesterov", lr: o.LR, decay: o.WeightDecay, groups: o.Groups, schedule: o.Schedule,
		arrays: oneBehind,
	}
}

func (o *Nesterov) fields() []field { return nil }

func (o *Nesterov) update(u *update) {
	rate, decay := tensor.Float(u.rate), tensor.Float(u.decay)
	k := float64(u.steps)
	ahead := tensor.Float((k - 1) / (k + 2)) // 0 in the first step, which has nothing behind it
	w, behind := u.w[:len(u.g)], u.arrays[0][:len(u.g)]
	for i, g := range u.g {
		v := w[i] - rate*(g+decay*w[i])
		w[i] = v + ahead*(v-behind[i])
		behind[i] = v
	}
}
