package sequence

import (
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// pullPeeping is pull with peepholes. It has the bits of [vec.LSTMRows], so a product is rounded:
// some processors would fuse it with a sum.
func (k *gates) pullPeeping(r int) {
	act, c, _, th := k.row(r)
	is, fs, gs, os := k.split(act)
	dis, dfs, dgs, dos := k.split(k.part(k.d, r))
	dh, dnext, in, out := k.dh.Row(r), k.dnext.Row(r), k.p.Row(0), k.p.Row(k.blocks-2)
	for j, i := range is {
		g, o := gs[j], os[j]
		do := tensor.Float(dh[j] * th[j] * o * (1 - o))
		dn := dnext[j]
		if k.normed == nil {
			dn += tensor.Float(dh[j] * o * (1 - tensor.Float(th[j]*th[j])))
		}
		dc := tensor.Float(do * out[j]) // of what the output gate saw
		if !k.form.old {
			dn, dc = dn+dc, 0
		}
		f, df, peep, admitted := tensor.Float(1), tensor.Float(0), tensor.Float(0), g
		switch k.form.forget {
		case OwnForget:
			f, peep = fs[j], k.p.Row(1)[j]
			df = tensor.Float(dn * c[j] * f * (1 - f))
			dfs[j] = df
		case CoupledForget:
			f, admitted = 1-i, g-c[j]
		}
		di := tensor.Float(dn * admitted * i * (1 - i))
		dis[j], dgs[j], dos[j] = di, dn*i*(1-tensor.Float(g*g)), do
		if k.dc != nil {
			k.dc.Row(r)[j] += dc + tensor.Float(dn*f) + tensor.Float(di*in[j]) + tensor.Float(df*peep)
		}
	}
}

// peepSums is how many sums a chunk has for the gradient of p.
func (k *gates) peepSums() int {
	if k.p == nil {
		return 0
	}
	return (k.blocks - 1) * k.m
}

// peepSumsOf are the sums of the chunk that begins at row lo.
func (k *gates) peepSumsOf(lo int) []tensor.Float {
	if k.p == nil {
		return nil
	}
	n, i := k.peepSums(), lo/chunkRows(k.blocks*k.m)
	if i == 0 && k.dp != nil && k.few() {
		return k.dp
	}
	return k.sums[i*n : (i+1)*n]
}

// few reports whether the chunks' sums are added in float32. Then the first chunk adds to the
// gradient of p itself.
func (k *gates) few() bool { return k.count() <= fewSums }

// addPeepSums adds the chunks' sums, in order, to the gradient of p.
func (k *gates) addPeepSums() {
	n := len(k.dp)
	if k.few() {
		vec.AddRows(k.dp, k.sums[min(n, len(k.sums)):])
		return
	}
	foldSums(k.sums, n)
	vec.Add.Forward(k.dp, k.dp, k.sums[:n], 1, 1)
}

// fewSums is how many chunks' sums are added in float32.
const fewSums = 64

// foldSums sets the first n of sums to what is n and n apart, added in order: in float64 if
// there are many.
func foldSums(sums []tensor.Float, n int) {
	total := sums[:min(n, len(sums))]
	if len(sums) <= fewSums*n {
		vec.AddRows(total, sums[len(total):])
		return
	}
	for j := range total {
		s := 0.0
		for at := j; at < len(sums); at += n {
			s += float64(sums[at])
		}
		total[j] = tensor.Float(s)
	}
}

// peepholes adds to the sums of rows lo to hi, without hi.
func (k *gates) peepholes(lo, hi int) {
	m, sums := k.m, k.peepSumsOf(lo)
	for r := lo; r < hi; r++ {
		_, c, next, _ := k.row(r)
		di, df, _, do := k.split(k.part(k.d, r))
		vec.AddProducts(sums[:m], di, c)
		if df != nil {
			vec.AddProducts(sums[m:2*m], df, c)
		}
		vec.AddProducts(sums[len(sums)-m:], do, k.seen(c, next))
	}
}
