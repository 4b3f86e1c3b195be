package train

import (
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// state is a copy of a model's Params, frozen ones too, at one moment.
type state []saved

type saved struct {
	param *grad.Param
	data  []tensor.Float
}

func capture(model any) state {
	var s state
	for _, p := range grad.Params(model) {
		s = append(s, saved{p, slices.Clone(p.Value.Data)})
	}
	return s
}

// update makes s the state of this moment.
func (s state) update() {
	for _, v := range s {
		copy(v.data, v.param.Value.Data)
	}
}

// restore gives the Params their values of that moment.
func (s state) restore() {
	for _, v := range s {
		copy(v.param.Value.Data, v.data)
	}
}
