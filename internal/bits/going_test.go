package bits

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Everything here is spelt by functions that join operations by hand and are to leave
// the API. When one does, its entries here and in testdata (going/…) go with it; the
// plain spellings are in plain_test.go and dense_test.go.
func init() { goes = append(goes, goingEnds, goingSums, goingLayers, goingOperations) }

// goingEnds joins what ends a layer.
func goingEnds(b *book) {
	for _, n := range []int{1, 20, 700, 6000} {
		var list []entry
		for _, a := range fewer(n) {
			list = append(list, entry{"DropBiased/" + string(a), func(m *maker, x *grad.Var) *grad.Var {
				return m.tape.DropBiased(x.Scale(2), m.use(x.Dim(-1)), a, 0.5)
			}}, entry{"AddBiasInPlace/" + string(a), func(m *maker, x *grad.Var) *grad.Var {
				return x.Scale(2).AddBiasInPlace(m.use(x.Dim(-1)), a)
			}}, entry{"LinearOnto/" + string(a), func(m *maker, x *grad.Var) *grad.Var {
				return x.LinearOnto(m.use(x.Dim(1), x.Dim(1)), m.watch(x.Shape()...).Scale(1), a)
			}})
		}
		b.rows(n, 64, list)
		b.rows(n, 7, list)
		for _, s := range [][2]int{{8, 8}, {4, 64}, {1, 8}, {3, 5}, {1, 1}, {2, 128}} {
			b.run(fmt.Sprintf("DotBoth/%dx%dx%d", n, s[0], s[1]), func(m *maker) []*grad.Var {
				x := m.watch(n, s[0]*s[1]).Scale(0.5).Reshape(-1, s[0], s[1])
				l, r := x.DotBoth(m.use(s[0], s[1]), m.use(s[0], s[1]))
				return []*grad.Var{l, r}
			})
		}
	}
}

// goingSums adds a bias to a sum over edges as it is stored.
func goingSums(b *book) {
	for _, f := range kernels {
		for _, at := range []place{{"hub", hub()}, {"sides", sides()}} {
			for _, s := range [][2]int{{8, 8}, {1, 7}} {
				b.run(fmt.Sprintf("UpdateAllAdd/%s/%s/%dx%d", f.name, at.name, s[0], s[1]), func(m *maker) []*grad.Var {
					x := f.make(newOperands(m, at.g, s[0], s[1]))
					cols := message.UpdateAll(at.g, x, message.Sum).Value().RowLen()
					return one(message.UpdateAllAdd(at.g, x, m.use(cols)))
				})
			}
		}
	}
	for _, f := range kernels {
		b.run("UpdateAllAdd/huge/"+f.name, func(m *maker) []*grad.Var {
			x := f.make(newOperands(m, hub(), 1, 8))
			return one(message.UpdateAllAdd(hub(), x, m.huge(message.UpdateAll(hub(), x, message.Sum).Value().RowLen())))
		})
	}
	for _, f := range formulas {
		for _, a := range []grad.Activation{grad.Identity, grad.ELU} {
			b.run("AddBiasInPlace/"+string(a)+"/"+f.name, func(m *maker) []*grad.Var {
				return one(f.make(m, hub(), 8, 8).Reshape(-1, 64).AddBiasInPlace(m.use(64), a))
			})
		}
	}
	for _, f := range kernels {
		b.run("AddBiasInPlace/"+f.name, func(m *maker) []*grad.Var {
			y := message.UpdateAll(sides(), f.make(newOperands(m, sides(), 2, 8)), message.Sum)
			y = y.Reshape(65, y.Value().RowLen())
			return one(y.AddBiasInPlace(m.use(y.Dim(1)), grad.Identity))
		})
	}
}

// goingLayers drops at a layer's end.
func goingLayers(b *book) {
	for _, at := range []place{{"hub", hub()}, {"block", block()}} {
		for _, a := range []grad.Activation{grad.Identity, grad.ELU, grad.ReLU} {
			for _, average := range []bool{false, true} {
				name := fmt.Sprintf("OutDrop/%s/%s/%v", at.name, a, average)
				fed{in: 6}.run(b, name, at.g, &layers.GATConv{
					In: 6, Out: 8, Heads: 8, AttnDrop: 0.4, OutDrop: 0.6, Average: average, Activation: a, Residual: layers.ResidualIdentity,
				})
			}
		}
		fed{in: 60, sparse: true}.run(b, "OutDrop/sparse/"+at.name, at.g, &layers.GATConv{
			In: 60, Out: 8, Heads: 8, FeatDrop: 0.6, AttnDrop: 0.6, OutDrop: 0.6, Activation: grad.ELU,
		})
	}
}

// doubled is an operation that lets a bias be added to its result in place.
type doubled struct{ x *grad.Var }

func (d *doubled) Pull(dy *tensor.Dense) { d.x.Grad().AddScaled(dy, 2) }

func (d *doubled) Shift(*grad.Var) bool { return true }

// goingOperations adds biases by BiasAdded and to the result of a Shifter.
func goingOperations(b *book) {
	double := func(x *grad.Var) *grad.Var {
		op := grad.Begin("bits.Double", x)
		y := op.New(x.Shape()...)
		for i, v := range x.Value().Data {
			y.Value().Data[i] = 2 * v
		}
		return op.RecordBy(y, &doubled{x: x})
	}
	for _, a := range activations[:6] {
		b.run("Shifter/"+string(a), func(m *maker) []*grad.Var { return one(double(m.watch(300, 24)).AddBiasInPlace(m.use(24), a)) })
	}
	b.run("BiasAdded", func(m *maker) []*grad.Var {
		x, bias := m.watch(300, 24), m.use(24)
		op := grad.Begin("bits.Shifted", x)
		y := op.New(x.Shape()...)
		for i, v := range x.Value().Data {
			y.Value().Data[i] = 2*v + bias.Value().Data[i%24]
		}
		return one(op.RecordBy(y, &doubled{x: x}).BiasAdded(bias))
	})
}
