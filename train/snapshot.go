package train

import (
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/weights"
	"github.com/edgewise-ml/edgewise/tensor"
)

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
