package fused_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The gradient of a destination's logits is added up in 1, 2, 4 or 8 copies, from
// 2⁹, 2¹⁷ and 2²² edges on. The last two of these limits are set to 2¹¹ and 2¹² here.
func TestAttentionCopies(t *testing.T) {
	defer fused.SetCopiesFrom([3]int{1 << 9, 1 << 11, 1 << 12})()
	rng := rand.New(rand.NewPCG(4, 4))
	for _, edges := range []int{1<<9 - 1, 1 << 9, 1<<11 - 1, 1 << 11, 1<<12 - 1, 1 << 12, 1 << 17} {
		for _, c := range []struct {
			heads, d int
			weighted bool // then in tiles
		}{{1, 2, false}, {2, 1, true}, {8, 1, false}} {
			if edges > 1<<12 && c.heads > 1 {
				continue // one takes so many: grad's TestMutations plants an error there
			}
			a := regular(t, rng, 1+edges/200, 1+edges/150, edges)
			k := &fused.GAT{In: a, El: normal(rng, a.NumCols, c.heads), Er: normal(rng, a.NumRows, c.heads), Ft: normal(rng, a.NumCols, c.heads, c.d), Slope: 0.2}
			if c.weighted {
				k.Weight = normal(rng, edges, 1)
			}
			dOut := normal(rng, a.NumRows, c.heads, c.d)
			checkAttention(t, fmt.Sprintf("%d edges, %d heads, weighted %v", edges, c.heads, c.weighted), k, dOut)
		}
	}
}

// checkAttention compares attention with the oracle, where gradients are set and where
// they are added.
func checkAttention(t *testing.T, what string, k *fused.GAT, dOut *tensor.Dense) {
	t.Helper()
	want := newOracle(k, dOut)
	want.compare(t, what)
	if k.In.NNZ() > 1<<16 {
		return
	}
	defer func(old int) { cpu.StreamFrom = old }(cpu.StreamFrom)
	cpu.StreamFrom = 1
	want.compare(t, what+", stored past the caches")
}

// compare computes the same by attention.
func (want *oracle) compare(t *testing.T, what string) {
	t.Helper()
	k, dOut := want.k, want.dOut
	out, rec := spoiltLike(dOut), records(k)
	k.Forward(out, rec)
	compare.Near(t, what+": out", out.Data, want.out, ofOracle)
	for _, sets := range []fused.Sets{0, fused.SetEl | fused.SetEr | fused.SetFt} {
		into := &fused.GATGrads{El: k.El.Like(), Er: k.Er.Like(), Ft: k.Ft.Like(), Sets: sets}
		if sets != 0 {
			into.El, into.Er, into.Ft = spoiltLike(k.El), spoiltLike(k.Er), spoiltLike(k.Ft)
		}
		k.Backward(dOut, out, rec, into)
		compare.Near(t, fmt.Sprintf("%s: El, sets %b", what, sets), into.El.Data, want.el, ofOracle)
		compare.Near(t, fmt.Sprintf("%s: Er, sets %b", what, sets), into.Er.Data, want.er, ofOracle)
		compare.Near(t, fmt.Sprintf("%s: Ft, sets %b", what, sets), into.Ft.Data, want.ft, ofOracle)
	}
}

// Loops over destinations and sources go by parts of 256 rows, or of 2048 narrow ones, and
// tiles have at most 512 rows: there are some of each, and a long stretch of nodes without
// edges.
func TestAttentionRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, rows := range sparing.Some([]int{255, 256, 257, 2047, 2048, 2049, 4100}) {
		for _, c := range []struct {
			heads, d int
			weighted bool
		}{{1, 3, false}, {1, 3, true}, {8, 8, false}, {8, 2, true}, {3, 2, false}} {
			if rows > 257 && c.heads > 1 && rows != 2049 && !sparing.Full() {
				continue // which are not narrow, and go by 256 rows
			}
			a := regular(t, rng, rows, rows/2+1, 2*rows) // the other sources have no edges
			offsets := append([]int64(nil), a.Offsets...)
			for r := rows / 3; r < rows*3/4; r++ { // all edges of these into the next row
				offsets[r+1] = a.Offsets[rows/3]
			}
			a, err := sparse.New(rows, rows+3, offsets, a.Cols, nil)
			if err != nil {
				t.Fatal(err)
			}
			k := &fused.GAT{In: a, El: normal(rng, a.NumCols, c.heads), Er: normal(rng, rows, c.heads), Ft: normal(rng, a.NumCols, c.heads, c.d), Slope: 0.2}
			if c.weighted {
				k.Weight = normal(rng, a.NNZ(), c.heads)
			}
			checkAttention(t, fmt.Sprintf("%d rows, %v", rows, c), k, normal(rng, rows, c.heads, c.d))
		}
	}
}
