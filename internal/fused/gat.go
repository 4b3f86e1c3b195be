package fused

import (
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// GAT is graph attention in one piece: each destination v adds up the
// rows of its sources u, weighted by a softmax over its in-edges e,
//
//	z[e,h]     = El[u,h] + Er[v,h] + Ee[e,h]
//	α[e,h]     = softmax over the in-edges of v of LeakyReLU(z[e,h])
//	out[v,h,:] = Σ_e α[e,h]·mask[e,h]·Weight[e,h]·Ft[u,h,:] + Bias[h,:]
//
// It stores nothing for each edge: the backward pass computes α again from a
// record of each destination. Its working memory, which is kept between calls,
// has a number for each node and head, a few times, and on many threads some
// numbers for at most 2²⁴ edges. Infinite logits are treated as in
// [sparse.Softmax].
//
// The fields are only read, so one GAT may run on several goroutines with
// destinations of their own.
type GAT struct {
	In     *sparse.CSR   // rows are destinations, columns sources, nonzeros edges; values are not read
	El     *tensor.Dense // NumCols×H, the sources' part of the logits
	Er     *tensor.Dense // NumRows×H, the destinations' part
	Ft     *tensor.Dense // NumCols×H×D, what is carried
	Ee     *tensor.Dense // nnz×H, the edges' part; nil: none
	Weight *tensor.Dense // nnz×1 or nnz×H, factors on the softmax; nil: none
	Slope  tensor.Float  // of LeakyReLU where z ≤ 0; no default
	Drop   *tensor.Mask  // on the softmax, element (edge, head); nil: none

	Bias *tensor.Dense // H·D, added to each row of out, by Forward or by others before it comes to Backward; nil: none
}

// A loop over rows is cut where a part has about so much work, in elements, but into no
// more than partsMost parts: skewed graphs need some to even out.
const (
	partWork  = 1 << 16
	partsMost = 256
	edgeWork  = 1 << 5 // what an edge costs beside its elements
)

// Forward sets out to the attention's result, and the bias, and rec to what [GAT.Backward]
// needs; a nil rec is for where none follows, and costs no memory. A destination without
// edges gets zero, and the bias.
func (k *GAT) Forward(out *tensor.Dense, rec *Records) {
	k.check("attend.GAT.Forward", out)
	if rec != nil {
		k.checkRecords("attend.GAT.Forward", rec)
	}
	if k.carriesNothing() { // Backward does not look at records then
		clear(out.Data)
		if k.Bias != nil && k.Ft.RowLen() > 0 {
			vec.Add.ForwardRows(out.Data, out.Data, k.Bias.Data)
		}
		return
	}
	t := gatForwards.Get().(*gatForward)
	t.prepare(k, out, rec)
	parts := k.parts()
	t.cuts = par.Split(k.In.Offsets, parts, t.cuts)
	t.run(parts)
	t.release()
	gatForwards.Put(t)
}

// parts is the number of parts of a loop over rows and their edges.
func (k *GAT) parts() int {
	return max(1, min(k.In.NNZ()*(k.Ft.RowLen()+8*k.heads().lanes+edgeWork)/partWork, partsMost))
}

// carriesNothing reports whether there are no edges, or nothing that goes along
// them.
func (k *GAT) carriesNothing() bool { return k.In.NNZ() == 0 || k.Ft.RowLen() == 0 }

// drops reports whether there is a mask.
func (k *GAT) drops() bool { return k.Drop != nil && (*vec.Dropout)(k.Drop).On() }

// mask returns the dropout of the softmax, or nil.
func (k *GAT) mask() *vec.Dropout {
	if k.drops() {
		return (*vec.Dropout)(k.Drop)
	}
	return nil
}

// weight returns the weight of edge e for head h.
func (k *GAT) weight(e, h int) tensor.Float {
	if k.Weight == nil {
		return 1
	}
	n := k.Weight.RowLen()
	return k.Weight.Data[e*n+min(h, n-1)]
}

// check panics unless the operands fit each other and results.
func (k *GAT) check(op string, results ...*tensor.Dense) {
	a, heads, f := k.In, k.El.RowLen(), k.Ft.RowLen()
	ok := fits(k.El, a.NumCols, heads) && fits(k.Er, a.NumRows, heads) && fits(k.Ft, a.NumCols, f) &&
		(k.Ee == nil || fits(k.Ee, a.NNZ(), heads)) &&
		(k.Weight == nil || fits(k.Weight, a.NNZ(), 1) || fits(k.Weight, a.NNZ(), heads)) &&
		(k.Bias == nil || len(k.Bias.Data) == f) &&
		(f == 0 || heads > 0 && f%heads == 0)
	for _, x := range results {
		ok = ok && fits(x, a.NumRows, f)
	}
	if ok {
		return
	}
	operands := []tensor.Array{a, k.El, k.Er, k.Ft}
	for _, x := range append([]*tensor.Dense{k.Ee, k.Weight, k.Bias}, results...) {
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
