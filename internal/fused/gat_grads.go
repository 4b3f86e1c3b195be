package fused

import (
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// GATGrads are the places that [GAT.Backward] adds gradients to,
// each of the shape of the operand of its name. One that is nil is not wanted.
// Ee and Weight may be asked for where the attention has none: they are then
// the gradients at logits of zero and weights of one.
//
// Where Sets has the bit of one, that is set to its gradient, whatever it held.
// None shares memory with another, but for Er where it is added to: that is done
// when the others are there.
type GATGrads struct {
	El, Er, Ft, Ee, Weight *tensor.Dense

	Sets Sets
}

// Sets says which of [GATGrads] hold nothing yet.
type Sets uint8

// The gradients that can be set.
const (
	SetEl Sets = 1 << iota
	SetEr
	SetFt
)

// zero clears what is to be set.
func (into *GATGrads) zero() {
	for i, x := range [...]*tensor.Dense{into.El, into.Er, into.Ft} {
		if into.Sets&(1<<i) != 0 {
			x.Zero()
		}
	}
}

// Backward adds the gradients of the attention's operands to those of into,
// from the gradient of its result, and the result and the records that
// [GAT.Forward] left, whose Σα·dα it sets:
//
//	s[e,h]       = α[e,h]·mask[e,h]·Weight[e,h]
//	dFt[u,h,:]  += s[e,h]·dOut[v,h,:]
//	g[e,h]       = ⟨dOut[v,h,:], Ft[u,h,:]⟩
//	dWeight[e,h] += g·α·mask
//	dα[e,h]      = g·mask·Weight
//	dz[e,h]      = α·(dα − Σ_e α·dα)·LeakyReLU'(z)    Σ_e α·dα = ⟨dOut[v,h,:], out[v,h,:] − Bias[h,:]⟩
//
// and dz goes to El[u], Er[v] and Ee[e]. The slope at z = 0 is that of the
// negative branch. Where exponentials are of nodes, (1−Slope)·|z| below 6e-7 may
// have the slope of the other branch: see [attend.NodeExpAttention.Retrace].
//
// It walks the edges once, by their source. It takes the bias off the result again
// or, where that is so much larger that little would be left, computes the result
// once more without it. A destination that hears one source has a dz of zero.
// Whether gradients of Ee or Weight are wanted, or a logit of any edge is out of range, may
// change how all are rounded.
func (k *GAT) Backward(dOut, out *tensor.Dense, rec *Records, into *GATGrads) {
	k.check("attend.GAT.Backward", dOut, out)
	k.checkRecords("attend.GAT.Backward", rec)
	k.checkGrads(into)
	if k.carriesNothing() {
		into.zero()
		return
	}
	if rec.Kind == Unset {
		panic(&tensor.ShapeError{Op: "attend.GAT.Backward", Shapes: [][]int{{len(rec.Data)}}, Why: "no Forward has set these records"})
	}
	t := gatBackwards.Get().(*gatBackward)
	t.prepare(k, dOut, rec, into)
	t.center(out)
	if t.apart {
		t.byPlaces()
	} else {
		par.Run(t.groups, t)
		if into.Er != nil {
			par.Run(t.parts(), (*gatErGrads)(t))
		}
	}
	t.release()
	gatBackwards.Put(t)
}

// checkGrads panics unless each gradient asked for has its operand's shape.
func (k *GAT) checkGrads(into *GATGrads) {
	a, heads := k.In, k.El.RowLen()
	want := func(x *tensor.Dense, rows, rowLen int) {
		if x != nil && !fits(x, rows, rowLen) {
			panic(tensor.Mismatch("attend.GAT.Backward", a, k.El, k.Ft, x))
		}
	}
	want(into.El, a.NumCols, heads)
	want(into.Er, a.NumRows, heads)
	want(into.Ft, a.NumCols, k.Ft.RowLen())
	want(into.Ee, a.NNZ(), heads)
	switch {
	case into.Weight == nil:
	case k.Weight != nil:
		want(into.Weight, a.NNZ(), k.Weight.RowLen())
	case into.Weight.RowLen() != 1:
		want(into.Weight, a.NNZ(), heads)
	default:
		want(into.Weight, a.NNZ(), 1)
	}
}
