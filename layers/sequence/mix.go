package sequence

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// mix returns (1−λ)·h + λ·y, row by row, with λ an element for each column or one for
// all. λ = 1 gives y, to the bit.
func mix(h, y, leak *grad.Var) *grad.Var {
	op := grad.Begin("sequence.mix", h, y, leak)
	n, m := h.Value().Rows(), h.Value().RowLen()
	out := op.Fresh(n, m)
	k := tape.Notes[mixing](op)
	rest := op.Fresh(3, m).Value()
	*k = mixing{h: h, y: y, leak: leak, to: rest.Row(0), stay: rest.Row(1), work: rest.Row(2)}
	for j := range k.to {
		k.to[j] = leak.Value().Data[min(j, len(leak.Value().Data)-1)]
	}
	oneMinus(k.stay, k.to)
	if !tape.Dry(op, 0) {
		for r := range n {
			z := out.Value().Row(r)
			vec.Mul.Forward(z, h.Value().Row(r), k.stay, 1, 1)
			vec.Mul.BackwardX(z, k.to, y.Value().Row(r), y.Value().Row(r), 1, 1)
		}
	}
	return tape.RecordBy(op, out, k)
}

// mixing is the pullback of mix.
type mixing struct {
	h, y, leak     *grad.Var
	to, stay, work []tensor.Float // λ, 1 − λ, and room for a row
}

// Pull adds to the gradients of h, y and λ.
func (k *mixing) Pull(dz *tensor.Dense) {
	dh, dy, dl := k.h.Grad(), k.y.Grad(), k.leak.Grad()
	for r := range dz.Rows() {
		d := dz.Row(r)
		if dh != nil {
			vec.Mul.BackwardX(dh.Row(r), d, k.stay, k.stay, 1, 1)
		}
		if dy != nil {
			vec.Mul.BackwardX(dy.Row(r), d, k.to, k.to, 1, 1)
		}
		if dl == nil {
			continue
		}
		vec.Sub.Forward(k.work, k.y.Value().Row(r), k.h.Value().Row(r), 1, 1)
		if len(dl.Data) == len(k.work) {
			vec.Mul.BackwardX(dl.Data, d, k.work, k.work, 1, 1)
			continue
		}
		for j, v := range k.work { // one for all
			dl.Data[0] += v * d[j]
		}
	}
}
