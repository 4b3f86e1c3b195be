package sparse

import (
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Attention is graph attention in one piece: each destination v adds up the
// rows of its sources u, weighted by a softmax over its in-edges e,
//
//	z[e,h]     = El[u,h] + Er[v,h] + Ee[e,h]
//	α[e,h]     = softmax over the in-edges of v of LeakyReLU(z[e,h])
//	out[v,h,:] += Σ_e α[e,h]·mask[e,h]·Weight[e,h]·Ft[u,h,:]
//
// It stores nothing for each edge: the backward pass computes α again from two
// numbers for each destination and head. Its working memory is that of the
// widest row, in elements for each head twice its degree, and is kept between
// calls. Infinite logits are treated as in [SoftmaxRows].
//
// The fields are only read, so one Attention may run on several goroutines with
// destinations of their own.
type Attention struct {
	In     *CSR          // rows are destinations, columns sources, nonzeros edges; values are not read
	El     *tensor.Dense // NumCols×H, the sources' part of the logits
	Er     *tensor.Dense // NumRows×H, the destinations' part
	Ft     *tensor.Dense // NumCols×H×D, what is carried
	Ee     *tensor.Dense // nnz×H, the edges' part; nil: none
	Weight *tensor.Dense // nnz×1 or nnz×H, factors on the softmax; nil: none
	Slope  tensor.Float  // of LeakyReLU where z ≤ 0; no default
	Drop   *simd.Dropout // on the softmax, element (edge, head); nil: none
}

// Forward adds the attention's result to out and overwrites top and sum, of
// NumRows×H, with what [Attention.Backward] needs: the largest of a
// destination's logits, and the sum of exp(logit − top). A destination without
// edges gets nothing and has a top and a sum of zero.
func (k *Attention) Forward(out, top, sum *tensor.Dense) {
	k.check("sparse.Attention.Forward", out, top, sum)
	n := k.In.widest()
	k.In.eachRange(4*k.Ft.RowLen(), func(lo, hi int) {
		heads := k.El.RowLen()
		buf := borrow((n + 1) * heads)
		defer scratch.Put(buf)
		for v := lo; v < hi; v++ {
			k.forwardRow(v, *buf, out, top, sum)
		}
	})
}

// forwardRow is Forward of one destination. buf has room for one number a head
// for each of its edges, and for one more.
func (k *Attention) forwardRow(v int, buf []tensor.Float, out, top, sum *tensor.Dense) {
	heads, f := k.El.RowLen(), k.Ft.RowLen()
	m, s := top.Data[v*heads:v*heads+heads], sum.Data[v*heads:v*heads+heads]
	lo, hi := int(k.In.Offsets[v]), int(k.In.Offsets[v+1])
	clear(s)
	if lo == hi || heads == 0 {
		clear(m)
		return
	}
	alpha := buf[:(hi-lo)*heads]
	k.logits(alpha, v)
	simd.NoTop(m)
	simd.TopRows(m, alpha)
	simd.WeighRows(alpha, alpha, m, s)
	simd.DivideRows(alpha, s)
	k.scale(alpha, buf[len(buf)-heads:], lo)
	row := out.Data[v*f : v*f+f]
	for e, u := range k.In.Cols[lo:hi] {
		axpyHeads(row, alpha[e*heads:e*heads+heads], k.Ft.Data[int(u)*f:int(u)*f+f])
	}
}

// sums sets z to the sums of the three parts of the logits of the edges into v.
func (k *Attention) sums(z []tensor.Float, v int) {
	heads := k.El.RowLen()
	lo, hi := k.In.Offsets[v], k.In.Offsets[v+1]
	er := k.Er.Data[v*heads : v*heads+heads]
	for e, u := range k.In.Cols[lo:hi] {
		el := k.El.Data[int(u)*heads : int(u)*heads+heads]
		to := z[e*heads : e*heads+heads]
		for h, s := range er {
			to[h] = el[h] + s
		}
	}
	if k.Ee != nil {
		add(z, k.Ee.Data[int(lo)*heads:int(hi)*heads])
	}
}

// logits sets z to the logits of the edges into v.
func (k *Attention) logits(z []tensor.Float, v int) {
	k.sums(z, v)
	for i, s := range z {
		if !(s > 0) {
			z[i] = k.Slope * s
		}
	}
}

// scale multiplies alpha, of the edges from lo on, by the mask and the weights.
// It works in mask, of one element a head.
func (k *Attention) scale(alpha, mask []tensor.Float, lo int) {
	if k.Weight == nil && !k.drops() {
		return
	}
	heads := len(mask)
	for i := 0; i < len(alpha); i += heads {
		e := lo + i/heads
		k.mask(mask, e)
		for h, m := range mask {
			alpha[i+h] *= m * k.weight(e, h)
		}
	}
}

// drops reports whether there is a mask.
func (k *Attention) drops() bool { return k.Drop != nil && k.Drop.On() }

// mask sets m to the dropout's factors on edge e.
func (k *Attention) mask(m []tensor.Float, e int) {
	if !k.drops() {
		for h := range m {
			m[h] = 1
		}
		return
	}
	key := k.Drop.Row(e)
	for h := range m {
		m[h] = 0
		if k.Drop.Keep(key, h) {
			m[h] = tensor.Float(k.Drop.Scale)
		}
	}
}

// weight returns the weight of edge e for head h.
func (k *Attention) weight(e, h int) tensor.Float {
	if k.Weight == nil {
		return 1
	}
	n := k.Weight.RowLen()
	return k.Weight.Data[e*n+min(h, n-1)]
}

// check panics unless the operands fit each other and out, top and sum.
func (k *Attention) check(op string, out, top, sum *tensor.Dense) {
	a, heads, f := k.In, k.El.RowLen(), k.Ft.RowLen()
	ok := fits(k.El, a.NumCols, heads) && fits(k.Er, a.NumRows, heads) && fits(k.Ft, a.NumCols, f) &&
		(k.Ee == nil || fits(k.Ee, a.NNZ(), heads)) &&
		(k.Weight == nil || fits(k.Weight, a.NNZ(), 1) || fits(k.Weight, a.NNZ(), heads)) &&
		fits(out, a.NumRows, f) && fits(top, a.NumRows, heads) && fits(sum, a.NumRows, heads) &&
		(f == 0 || heads > 0 && f%heads == 0)
	if ok {
		return
	}
	operands := []tensor.Array{a, k.El, k.Er, k.Ft}
	for _, x := range []*tensor.Dense{k.Ee, k.Weight, out, top, sum} {
		if x != nil {
			operands = append(operands, x)
		}
	}
	panic(tensor.Mismatch(op, operands...))
}

// fits reports whether x has the given rows and row length.
func fits(x *tensor.Dense, rows, rowLen int) bool {
	return x.Rows() == rows && x.RowLen() == rowLen
}

// widest returns the number of nonzeros of the longest row.
func (a *CSR) widest() int {
	most := int64(0)
	for i := range a.NumRows {
		most = max(most, a.Offsets[i+1]-a.Offsets[i])
	}
	return int(most)
}
