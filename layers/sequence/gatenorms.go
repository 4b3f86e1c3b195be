package sequence

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/tape"
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
	d, dcell             []tensor.Float  // of the gates' arguments and of the normalised cell

	// sums are what each chunk adds to the gradients of the gains and biases, one behind
	// the other as affine lists them. The chunk clears them.
	sums   []tensor.Float
	levels []tensor.Float // where they are summed up over all levels; nil: they are added after each
}

// begin sets up the norms of k.
func (g *gateNorms) begin(k *gates) {
	n, v, width := k.c.Rows(), &k.of, k.blocks*k.m
	room := tape.FreshFloats(k.op, 9*n)
	norm := func(i int, of dense.LayerNorm) dense.LayerNorm {
		part := func(j int) []tensor.Float { return room[(3*i+j)*n : (3*i+j+1)*n] }
		of.Eps, of.Mean, of.Rest, of.Scale = normEps, part(0), part(1), part(2)
		return of
	}
	g.input = norm(0, dense.LayerNorm{X: k.z.Data, D: width, Gain: v.gainX.Value().Data})
	if v.b != nil {
		g.input.Bias = v.b.Value().Data
	}
	g.product = norm(1, dense.LayerNorm{X: v.q.Value().Data, D: width, Gain: v.gain.Value().Data})
	g.cell = norm(2, dense.LayerNorm{X: k.next.Data, D: k.m, Gain: v.gainC.Value().Data, Bias: v.biasC.Value().Data})
}

// sumsLength is how many sums a chunk has.
func (g *gateNorms) sumsLength(k *gates) int { return 3*k.blocks*k.m + 2*k.m }

// pull runs backwards.
func (g *gateNorms) pull(k *gates) {
	n, v := k.c.Rows(), &k.of
	g.toCell = dense.NormGrads{X: k.dnext.Data}
	g.toInput, g.toProduct = rowsGrad(v.z), rowsGrad(v.q)
	all, cells := n*k.blocks*k.m, n*k.m
	room := scratch.Borrow(all + cells + k.count()*g.sumsLength(k))
	defer scratch.Repay(room)
	g.d, g.dcell, g.sums = (*room)[:all], (*room)[all:all+cells], (*room)[all+cells:]
	k.set = true // rows of d are cleared where they are added to
	if v.sums != nil {
		g.levels = v.sums.Grad().Data
	}
	if k.pullOnto(g.d); g.levels == nil {
		g.affineGrads(k)
	}
}

// rowsGrad is where the gradient of normalised rows goes, nowhere if none is wanted.
func rowsGrad(x *grad.Var) (to dense.NormGrads) {
	if dx, fresh := tape.FreshGrad(x); dx != nil {
		to.X, to.SetX = dx.Data, fresh
	}
	return to
}

// before runs before the gates of rows lo to hi, without hi.
func (g *gateNorms) before(k *gates, lo, hi int) {
	if !k.back {
		for r := lo; r < hi; r++ {
			g.input.FourMoments(r)
			g.product.FourMoments(r)
			g.input.NormRow(r).NormaliseWith(g.product.NormRow(r), k.part(k.act, r), g.input.Bias)
		}
		return
	}
	sums := g.sumsOf(k, lo)
	clear(sums)
	o, at, to := k.m*(k.blocks-1), len(sums)-2*k.m, g.toCell
	to.Gain, to.Bias = sums[at:at+k.m], sums[at+k.m:]
	for r := lo; r < hi; r++ {
		act, _, _, th := k.row(r)
		d := g.dcell[r*k.m : (r+1)*k.m]
		vec.GatedTanhGrad(d, k.dh.Row(r), act[o:], th)
		g.cell.FourGrad(to, d, r, g.cell.FourSums(to, d, r))
	}
}

// after runs behind them.
func (g *gateNorms) after(k *gates, lo, hi int) {
	if k.back {
		g.pullRows(k, lo, hi)
		return
	}
	o, th := k.m*(k.blocks-1), k.tanh[lo*k.m:hi*k.m]
	for r := lo; r < hi; r++ {
		g.cell.FourMoments(r)
		x := g.cell.NormRow(r)
		vec.Normalise(k.tanh[r*k.m:(r+1)*k.m], x.X, x.Gain, g.cell.Bias, x.Moments)
	}
	vec.Tanh.Forward(th, th, 0)
	for r := lo; r < hi; r++ {
		act, _, _, th := k.row(r)
		vec.Mul.Forward(k.h.Row(r), act[o:], th, 1, 1)
	}
}

// sumsOf are the sums of the chunk that begins at row lo.
func (g *gateNorms) sumsOf(k *gates, lo int) []tensor.Float {
	n, i := g.sumsLength(k), lo/chunkRows(k.blocks*k.m)
	return g.sums[i*n : (i+1)*n]
}

// pullRows makes the gradients of x·W and of h·U of the rows of a chunk, and its sums.
func (g *gateNorms) pullRows(k *gates, lo, hi int) {
	n, sums := k.blocks*k.m, g.sumsOf(k, lo)
	input, product := g.toInput, g.toProduct
	input.Gain, product.Gain = sums[:n], sums[2*n:3*n]
	if k.of.b != nil {
		input.Bias = sums[n : 2*n]
	}
	for r := lo; r < hi; r++ { // both norms' sums first, so that neither is waited for
		d := k.part(g.d, r)
		of, ofProduct := g.input.FourSums(input, d, r), g.product.FourSums(product, d, r)
		g.input.FourGrad(input, d, r, of)
		g.product.FourGrad(product, d, r, ofProduct)
	}
	if g.levels != nil {
		at := lo / chunkRows(n) * len(sums)
		vec.AddRows(g.levels[at:at+len(sums)], sums)
	}
}

// affineGrads adds the chunks' sums, in order, to the gradients.
func (g *gateNorms) affineGrads(k *gates) {
	if n := g.sumsLength(k); len(g.sums) >= n {
		foldSums(g.sums, n)
		addAffine(k.of.affine(), g.sums)
	}
}
