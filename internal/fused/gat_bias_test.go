package fused_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// biased returns out with b added to each row.
func biased(out, b *tensor.Dense) *tensor.Dense {
	y := out.Clone()
	for i := range y.Data {
		y.Data[i] += b.Data[i%len(b.Data)]
	}
	return y
}

// Forward adds a bias, and Backward takes it off the result again, whatever the heads and on any number
// of threads, and leaves the result as it is.
func TestAttentionBias(t *testing.T) {
	check := func(t *testing.T, k *fused.GAT, rng *rand.Rand) {
		out, dOut := tensor.New(k.In.NumRows, k.Ft.RowLen()), normal(rng, k.In.NumRows, k.Ft.RowLen())
		rec := records(k)
		k.Forward(out, rec)
		want := gradsOf(k)
		want.Ee, want.Weight = nil, nil
		k.Backward(dOut, out, rec, want)
		k.Bias = normal(rng, k.Ft.RowLen())
		y := biased(out, k.Bias)
		kept := y.Clone()
		for _, threads := range []int{1, 3} { // Forward adds it too
			undo := par.SetThreads(threads)
			rec = records(k)
			k.Forward(out, rec)
			undo()
			compare.Equal(t, "the result of Forward", out.Data, y.Data)
		}
		var first *fused.GATGrads
		for _, threads := range append(sparing.Threads(), 1) {
			into := gradsOf(k)
			into.Ee, into.Weight = nil, nil
			undo := par.SetThreads(threads)
			k.Backward(dOut, y, rec, into)
			undo()
			compare.Equal(t, "the result", y.Data, kept.Data)
			compare.Near(t, "El", into.El.Data, want.El.Data, rounded)
			compare.Near(t, "Er", into.Er.Data, want.Er.Data, rounded)
			compare.Equal(t, "Ft", into.Ft.Data, want.Ft.Data)
			if first == nil {
				first = into
			}
			compare.Equal(t, "El on other threads", into.El.Data, first.El.Data)
			compare.Equal(t, "Er on other threads", into.Er.Data, first.Er.Data)
		}
		k.Bias = tensor.New(k.Ft.RowLen() + 1)
		if err, ok := tensor.Try(func() { k.Backward(dOut, y, rec, gradsOf(k)) }).(*tensor.ShapeError); !ok {
			t.Errorf("a bias of another length: %v, want a ShapeError", err)
		}
	}
	attentions(t, headPairs, check)
	t.Run("hub", func(t *testing.T) {
		for _, hd := range [][2]int{{8, 8}, {16, 8}, {1, 7}} {
			k, _ := plainHub(t, hd[0], hd[1], 0.3)
			check(t, k, rand.New(rand.NewPCG(7, 0)))
		}
	})
	t.Run("out of range", func(t *testing.T) { // so large a logit that the edges are gone over again, another way
		k, _ := plainHub(t, 8, 8, 0.3)
		k.Er.Data[3] = 90
		check(t, k, rand.New(rand.NewPCG(7, 0)))
	})
}
