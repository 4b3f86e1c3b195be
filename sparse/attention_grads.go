package sparse

import (
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// AttentionGrads are the places that [Attention.Backward] adds gradients to,
// each of the shape of the operand of its name. One that is nil is not wanted.
// Ee and Weight may be asked for where the attention has none: they are then
// the gradients at logits of zero and weights of one.
type AttentionGrads struct{ El, Er, Ft, Ee, Weight *tensor.Dense }

// Backward adds the gradients of the attention's operands to those of into,
// from the gradient of its result and the top and sum that
// [Attention.Forward] left:
//
//	s[e,h]       = α[e,h]·mask[e,h]·Weight[e,h]
//	dFt[u,h,:]  += s[e,h]·dOut[v,h,:]
//	g[e,h]       = ⟨dOut[v,h,:], Ft[u,h,:]⟩
//	dWeight[e,h] += g·α·mask
//	dα[e,h]      = g·mask·Weight
//	dz[e,h]      = α·(dα − Σ_e α·dα)·LeakyReLU'(z)
//
// and dz goes to El[u], Er[v] and Ee[e]. The slope at z = 0 is that of the
// negative branch.
func (k *Attention) Backward(dOut, top, sum *tensor.Dense, into *AttentionGrads) {
	k.check("sparse.Attention.Backward", dOut, top, sum)
	k.checkGrads(into)
	heads := k.El.RowLen()
	if heads == 0 {
		return
	}
	n := k.In.widest() * heads
	buf := borrow(2*n + 2*heads)
	defer scratch.Put(buf)
	alpha, g, row := (*buf)[:n], (*buf)[n:2*n], (*buf)[2*n:]
	for v := range k.In.NumRows {
		n := int(k.In.Offsets[v+1]-k.In.Offsets[v]) * heads
		r := attentionRow{v: v, alpha: alpha[:n], g: g[:n], mask: row[:heads], c: row[heads:]}
		k.logits(r.alpha, v)
		simd.ExpRows(r.alpha, r.alpha, top.Data[v*heads:v*heads+heads])
		simd.DivideRows(r.alpha, sum.Data[v*heads:v*heads+heads])
		k.carried(&r, dOut, into)
		if into.El != nil || into.Er != nil || into.Ee != nil {
			k.scored(&r, into)
		}
	}
}

// attentionRow is the work of a backward pass on the edges into v.
type attentionRow struct {
	v        int
	alpha, g []tensor.Float // for each edge and head: the softmax, and its gradient
	c        []tensor.Float // for each head: Σ α·dα
	mask     []tensor.Float // for each head, of the edge at hand
}

// carried adds to the gradients of Ft and Weight, and sets r.g and r.c.
func (k *Attention) carried(r *attentionRow, dOut *tensor.Dense, into *AttentionGrads) {
	heads, f := k.El.RowLen(), k.Ft.RowLen()
	d := f / heads
	clear(r.c)
	lo, hi := int(k.In.Offsets[r.v]), int(k.In.Offsets[r.v+1])
	for e := lo; e < hi; e++ {
		u := int(k.In.Cols[e])
		k.mask(r.mask, e)
		for h, m := range r.mask {
			i, at := (e-lo)*heads+h, u*f+h*d
			y := dOut.Data[r.v*f+h*d : r.v*f+h*d+d]
			w, alpha, g := k.weight(e, h), r.alpha[i], dot(y, k.Ft.Data[at:at+d])
			if into.Ft != nil {
				axpy(into.Ft.Data[at:at+d], alpha*(m*w), y)
			}
			if into.Weight != nil {
				n := into.Weight.RowLen()
				into.Weight.Data[e*n+min(h, n-1)] += g * alpha * m
			}
			g *= m * w
			r.g[i] = g
			r.c[h] += alpha * g
		}
	}
}

// scored adds to the gradients of the three parts of the logits. It leaves r.g
// as the gradient of z.
func (k *Attention) scored(r *attentionRow, into *AttentionGrads) {
	heads := k.El.RowLen()
	for i := range r.g {
		r.g[i] = r.alpha[i] * (r.g[i] - r.c[i%heads])
	}
	z := r.alpha // not needed any more
	k.sums(z, r.v)
	for i, s := range z {
		if !(s > 0) {
			r.g[i] *= k.Slope
		}
	}
	lo, hi := int(k.In.Offsets[r.v]), int(k.In.Offsets[r.v+1])
	for e, u := range k.In.Cols[lo:hi] {
		dz := r.g[e*heads : e*heads+heads]
		if into.El != nil {
			add(into.El.Data[int(u)*heads:int(u)*heads+heads], dz)
		}
		if into.Er != nil {
			add(into.Er.Data[r.v*heads:r.v*heads+heads], dz)
		}
	}
	if into.Ee != nil {
		add(into.Ee.Data[lo*heads:hi*heads], r.g)
	}
}

// checkGrads panics unless each gradient asked for has its operand's shape.
func (k *Attention) checkGrads(into *AttentionGrads) {
	a, heads := k.In, k.El.RowLen()
	want := func(x *tensor.Dense, rows, rowLen int) {
		if x != nil && !fits(x, rows, rowLen) {
			panic(tensor.Mismatch("sparse.Attention.Backward", a, k.El, k.Ft, x))
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
