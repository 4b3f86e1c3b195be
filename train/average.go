package train

import (
	"errors"
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/weights"
	"github.com/edgewise-ml/edgewise/tensor"
)

// EMA is an exponential moving average of a model's Params, which often predicts
// better than the Params of the last step:
//
//	average ← Decay·average + (1−Decay)·θ
//
// It begins as the Params at the first Update. Of frozen Params (running
// statistics) it holds the last value.
type EMA struct {
	Decay float64

	average state
	updates int
	swapped bool
}

// NewEMA returns the average of a model's Params, before its first Update. It
// panics with the error of [grad.CheckParams] if there is one, if the model has no
// Params, and if decay is not at least 0 and less than 1.
func NewEMA(model any, decay float64) *EMA {
	if !(decay >= 0 && decay < 1) {
		panic(fmt.Errorf("train: NewEMA: the decay is %v; it is at least 0 and less than 1", decay))
	}
	a := &EMA{Decay: decay, average: capture(model)}
	if len(a.average) == 0 {
		panic(fmt.Errorf("train: NewEMA: a %T has no Params; was its Init called?", model))
	}
	return a
}

// Update takes the Params of this moment into the average. It comes after each
// step.
func (a *EMA) Update() {
	if a.swapped {
		panic(errors.New("train: EMA.Update: the model holds the average; call Swap first"))
	}
	if a.updates++; a.updates == 1 {
		a.average.update()
		return
	}
	for _, v := range a.average {
		now := v.param.Value.Data
		if v.param.Frozen {
			copy(v.data, now)
			continue
		}
		gain := tensor.Float(1 - a.Decay)
		for i, x := range now {
			v.data[i] += gain * (x - v.data[i])
		}
	}
}

// Swap exchanges the average and the model's Params, to evaluate or to save the
// average. A second Swap puts them back.
func (a *EMA) Swap() {
	a.swapped = !a.swapped
	for _, v := range a.average {
		now := v.param.Value.Data
		for i, x := range now {
			now[i], v.data[i] = v.data[i], x
		}
		v.param.Changed()
	}
}

// state is a copy of a model's Params, frozen ones too, at one moment.
type state []saved

type saved struct {
	name  string
	param *grad.Param
	data  []tensor.Float
}

// capture panics if some of the model's Params would be left out.
func capture(model any) state {
	if err := grad.CheckParams(model); err != nil {
		panic(err)
	}
	var s state
	for name, p := range grad.Params(model) {
		s = append(s, saved{name, p, slices.Clone(p.Value.Data)})
	}
	return s
}

// update makes s the state of this moment.
func (s state) update() {
	for _, v := range s {
		copy(v.data, v.param.Value.Data)
	}
}

// frozen reports whether any of the Params is not trained, but written by
// Backward.
func (s state) frozen() bool {
	return slices.ContainsFunc(s, func(v saved) bool { return v.param.Frozen })
}

// restore gives the Params their values of that moment.
func (s state) restore() {
	for _, v := range s {
		copy(v.param.Value.Data, v.data)
		v.param.Changed()
	}
}

// places returns the state's arrays as they stand in a checkpoint.
func (s state) places(prefix string) []weights.Place {
	var out []weights.Place
	for _, v := range s {
		out = append(out, weights.Place{Name: prefix + v.name, Shape: v.param.Value.Shape(), Data: v.data})
	}
	return out
}
