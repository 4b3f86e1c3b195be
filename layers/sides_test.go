package layers_test

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

// Dropout of features acts on both sides: with sources of zeros only the
// destinations' residual is left to drop.
func TestDropoutOfDst(t *testing.T) {
	for _, l := range []layer{
		&layers.GATConv{In: 3, InDst: 5, Out: 2, FeatDrop: 0.5, Residual: layers.ResidualLinear},
		&layers.GATv2Conv{In: 3, InDst: 5, Out: 2, FeatDrop: 0.5, NoProjBias: true, Residual: layers.ResidualLinear},
	} {
		v := variant{layer: l, in: 3, inDst: 5}
		m := v.model(v.graph())
		m.Src.Value.Zero()
		trained, evaluated := m.apply(grad.NewTape(1), v.graph()).Value(), m.apply(nil, v.graph()).Value()
		if slices.Equal(trained.Data, evaluated.Data) {
			t.Errorf("%T: no feature of a destination was dropped", l)
		}
	}
}
