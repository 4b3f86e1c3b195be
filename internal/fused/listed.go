package fused

import (
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Listed is dot-product attention on a graph whose edges are listed, of eight heads of
// eight elements:
//
//	s[e,h]     = Scale·⟨Q[v,h,:], K[u,h,:]⟩
//	α[e,h]     = softmax over the in-edges of v of s[e,h]
//	out[v,h,:] = Σ_e α[e,h]·mask[e,h]·V[u,h,:] + Add[v,h,:]
//
// Each destination's edges are walked by [attend.DotWalk], which keeps three numbers a
// destination and head, and nothing of an edge. Backward walks destinations for Σ α·dα and
// the gradient of Q, and then sources for those of K and V, computing the weights again.
// A destination and a source belong to one thread, so no bit depends on the threads.
type Listed struct {
	In      *sparse.CSR // rows are destinations, columns sources, nonzeros edges; values are not read
	Q, K, V []tensor.Float
	Add     []tensor.Float // rows of destinations that are added to the result; nil: none
	Scale   tensor.Float
	Drop    *tensor.Mask // on the softmax, element (edge, head); nil: none
}

// ListedHeads is how many heads there are, and elements of each.
const ListedHeads = 8

// ListedRecords are what Forward keeps for Backward.
type ListedRecords struct {
	Data []tensor.Float // of ListedRecordsLen elements, the caller's
	Odd  bool           // a largest score is no number, so that Backward takes the slow way
}

// RecordsLen is how many elements the records have.
func (k *Listed) RecordsLen() int { return k.In.NumRows * attend.DotRecord }

// ListedGrads are the gradient of the result, and where those of the operands go: nil is not
// wanted. What Set says is set, the others are added to. Those of K and V may be one array, if
// V's is set or neither is.
type ListedGrads struct {
	Out, Q, K, V     []tensor.Float
	SetQ, SetK, SetV bool
}

// Forward sets out, and rec to what [Listed.Backward] needs; a nil rec is for where none
// follows. A destination without edges gets zero, and what is added.
func (k *Listed) Forward(out []tensor.Float, rec *ListedRecords) {
	t := newListedPass(k, k.In, listedAttend)
	t.walk.Y, t.walk.Add = out, k.Add
	if rec != nil {
		t.walk.Rec = rec.Data[:k.RecordsLen()]
	}
	t.run()
	if rec != nil {
		rec.Odd = t.odd.Load()
	}
	t.release()
}

// Backward adds to the gradients, after Forward has set rec.
func (k *Listed) Backward(rec *ListedRecords, g *ListedGrads) {
	if g.Q == nil && g.K == nil && g.V == nil {
		return
	}
	t := newListedPass(k, k.In, listedRetrace)
	t.slow, t.walk.Rec, t.walk.R = rec.Odd, rec.Data[:k.RecordsLen()], g.Out
	t.walk.DQ, t.walk.SetQ = g.Q, g.SetQ
	t.run()
	if g.K != nil || g.V != nil {
		turned, perm := transpose(k.In)
		t.begin(turned, listedReturn)
		t.perm = perm
		t.walk.DK, t.walk.SetK, t.walk.DV, t.walk.SetV = g.K, g.SetK, g.V, g.SetV
		t.run()
	}
	t.release()
}

// run does all nodes, in parts that follow from the graph.
func (t *listedPass) run() {
	parts := max(1, min(t.edges.NNZ()*(3*attend.DotRow+edgeWork)/partWork, partsMost))
	t.cuts = par.Split(t.edges.Offsets, parts, t.cuts)
	par.Run(parts, t)
}
