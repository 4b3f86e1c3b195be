package sequence

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// gateNorms are the three layer norms of a step of an LSTM: of x·W and of h·U, before the
// gates, and of the new cell, before its tanh. Some rows are normalised at a time, right
// before the gates read them, and so are their gradients made, so that they need not
// leave the cache.
type gateNorms struct {
	input, product, cell dense.LayerNorm
	toInput, toProduct   dense.NormGrads // of their rows
	toCell               dense.NormGrads // of the new cell
	d, dcell             []tensor.Float  // of the gates' arguments, and, zeros before, of the normalised cell

	// sums are what each chunk adds to the gradients of the gains and biases, one behind
	// the other as affine lists them.
	sums []tensor.Float
}

// begin sets up the norms of k.
func (g *gateNorms) begin(k *gates) {
	n, v, width := k.c.Rows(), &k.of, k.blocks*k.m
	room := k.op.FreshFloats(9 * n)
	norm := func(i int, of dense.LayerNorm) dense.LayerNorm {
		part := func(j int) []tensor.Float { return room[(3*i+j)*n : (3*i+j+1)*n] }
		of.Eps, of.Mean, of.Rest, of.Scale = normEps, part(0), part(1), part(2)
		return of
	}
	g.input = norm(0, dense.LayerNorm{X: k.z.Data, D: width, Gain: v.gainX.Value().Data})
	if v.b != nil {
		g.input.Bias = v.b.Value().Data
	}
	g.product = norm(1, dense.LayerNorm{X: v.q.Value().Data, D: width, Gain: v.gain.Value().Data, With: k.act})
	g.cell = norm(2, dense.LayerNorm{X: k.next.Data, D: k.m, Gain: v.gainC.Value().Data, Bias: v.biasC.Value().Data})
}

// affine are the gains and biases, some nil, and how many elements they have.
func (g *gateNorms) affine(k *gates) (all [5]*grad.Var, width [5]int) {
	v, n := &k.of, k.blocks*k.m
	return [5]*grad.Var{v.gainX, v.b, v.gain, v.gainC, v.biasC}, [5]int{n, n, n, k.m, k.m}
}

// sumsLength is how many sums a chunk has.
func (g *gateNorms) sumsLength(k *gates) int { return 3*k.blocks*k.m + 2*k.m }

// pull runs backwards. buf is zeros, as many as scratch says.
func (g *gateNorms) pull(k *gates, buf []tensor.Float) {
	n, v := k.c.Rows(), &k.of
	g.toCell = dense.NormGrads{X: k.dnext.Data}
	g.toInput, g.toProduct = rowsGrad(v.z), rowsGrad(v.q)
	g.dcell, g.sums = buf[:n*k.m], buf[n*k.m:]
	d := scratch.Borrow(n * k.blocks * k.m)
	defer scratch.Repay(d)
	g.d, k.set = *d, true // of rows that are cleared where they are added to
	k.pullOnto(g.d)
	g.affineGrads(k)
}

// scratch is how many elements pull wants.
func (g *gateNorms) scratch(k *gates) int {
	n := k.c.Rows()
	return n*k.m + chunks(n, k.blocks*k.m)*g.sumsLength(k)
}

// rowsGrad is where the gradient of normalised rows goes, nowhere if none is wanted.
func rowsGrad(x *grad.Var) (to dense.NormGrads) {
	if dx, fresh := x.FreshGrad(); dx != nil {
		to.X, to.SetX = dx.Data, fresh
	}
	return to
}

// before runs before the gates of rows lo to hi, without hi. rest is room for a row and more.
func (g *gateNorms) before(k *gates, lo, hi int, rest []tensor.Float) {
	if !k.back {
		g.input.ForwardRows(k.act, lo, hi)
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
	if k.back {
		g.pullRows(k, lo, hi)
		return
	}
	o, th := k.m*(k.blocks-1), k.tanh[lo*k.m:hi*k.m]
	g.cell.ForwardRows(k.tanh, lo, hi)
	vec.Tanh.Forward(th, th, 0)
	for r := lo; r < hi; r++ {
		act, _, _, th := k.row(r)
		vec.Mul.Forward(k.h.Row(r), act[o:], th, 1, 1)
	}
}

// pullRows makes the gradients of x·W and of h·U of the rows of a chunk, and its sums.
func (g *gateNorms) pullRows(k *gates, lo, hi int) {
	if g.toInput.X != nil {
		g.input.BackwardRows(g.toInput, g.d, lo, hi)
	}
	if g.toProduct.X != nil {
		g.product.BackwardRows(g.toProduct, g.d, lo, hi)
	}
	at, n := lo/chunkRows(k.blocks*k.m)*g.sumsLength(k), k.blocks*k.m
	sums := g.sums[at : at+g.sumsLength(k)]
	bias := sums[n : 2*n]
	if k.of.b == nil {
		bias = nil
	}
	g.input.AddAffineRows(sums[:n], bias, g.d, lo, hi)
	g.product.AddAffineRows(sums[2*n:3*n], nil, g.d, lo, hi)
	g.cell.AddAffineRows(sums[3*n:3*n+k.m], sums[3*n+k.m:], g.dcell, lo, hi)
}

// affineGrads adds the chunks' sums, in order, to the gradients.
func (g *gateNorms) affineGrads(k *gates) {
	length, from := g.sumsLength(k), 0
	foldSums(g.sums, length)
	total := g.sums[:min(length, len(g.sums))]
	all, width := g.affine(k)
	for i, x := range all {
		if x != nil && x.Needs() && len(total) > 0 {
			dx := x.Grad().Data
			vec.Add.Forward(dx, dx, total[from:from+width[i]], 1, 1)
		}
		from += width[i]
	}
}
