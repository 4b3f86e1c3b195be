package sequence

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// gateNorms are the two layer norms of a step of an LSTM: of h·U, before the gates, and of
// the new cell, before its tanh. Some rows are normalised at a time, right before the
// gates read them, so that they need not leave the cache.
type gateNorms struct {
	product, cell dense.LayerNorm
	toProduct     dense.NormGrads // of q and of its gain
	toCell        dense.NormGrads // of the new cell, of its gain and of its bias
	dcell         []tensor.Float  // of the normalised cell, zeros before
}

// begin sets up the norms of k.
func (g *gateNorms) begin(k *gates) {
	n, op, v := k.c.Rows(), k.op, &k.of
	room := op.FreshFloats(6 * n)
	part := func(i int) []tensor.Float { return room[i*n : (i+1)*n] }
	g.product = dense.LayerNorm{
		X: v.q.Value().Data, D: k.blocks * k.m, Gain: v.gain.Value().Data, With: k.z.Data, Eps: normEps,
		Mean: part(0), Rest: part(1), Scale: part(2),
	}
	g.cell = dense.LayerNorm{
		X: k.next.Data, D: k.m, Gain: v.gainC.Value().Data, Bias: v.biasC.Value().Data, Eps: normEps,
		Mean: part(3), Rest: part(4), Scale: part(5),
	}
}

// beginPull gets the gradients, of which that of the new cell is added to.
func (g *gateNorms) beginPull(k *gates) {
	v := &k.of
	g.toProduct = dense.NormGrads{Gain: gradOf(v.gain)}
	g.toCell = dense.NormGrads{X: k.dnext.Data, Gain: gradOf(v.gainC), Bias: gradOf(v.biasC)}
	if dq, fresh := v.q.FreshGrad(); dq != nil {
		g.toProduct.X, g.toProduct.SetX = dq.Data, fresh
	}
}

// gradOf returns the elements of x's gradient, nil where none is wanted.
func gradOf(x *grad.Var) []tensor.Float {
	if dx := x.Grad(); dx != nil {
		return dx.Data
	}
	return nil
}

// before runs before the gates of rows lo to hi, without hi. rest is room for a row and more.
func (g *gateNorms) before(k *gates, lo, hi int, rest []tensor.Float) {
	if !k.back {
		g.product.ForwardRows(k.act, lo, hi)
		return
	}
	o := k.m * (k.blocks - 1)
	for r := lo; r < hi; r++ {
		act, _, _, th := k.row(r)
		vec.Mul.Forward(rest[:k.m], k.dh.Row(r), act[o:], 1, 1)
		vec.Tanh.Backward(g.dcell[r*k.m:(r+1)*k.m], rest[:k.m], th, th, 0)
	}
	g.cell.BackwardRows(g.toCell, g.dcell, lo, hi)
}

// after runs behind them.
func (g *gateNorms) after(k *gates, lo, hi int) {
	switch {
	case k.back && g.toProduct.X != nil:
		g.product.BackwardRows(g.toProduct, k.d, lo, hi)
	case !k.back:
		o := k.m * (k.blocks - 1)
		g.cell.ForwardRows(k.tanh, lo, hi)
		for r := lo; r < hi; r++ {
			act, _, _, th := k.row(r)
			vec.Tanh.Forward(th, th, 0)
			vec.Mul.Forward(k.h.Row(r), act[o:], th, 1, 1)
		}
	}
}

// affineGrads adds the gradients of the gains and of the bias; d is that of z.
func (g *gateNorms) affineGrads(d []tensor.Float) {
	g.product.AffineGrads(g.toProduct, d)
	g.cell.AffineGrads(g.toCell, g.dcell)
}
