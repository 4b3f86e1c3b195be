package fused_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestAttentionWithoutStats: a Forward that no Backward follows has the same bits,
// whichever way the rows go: by exponentials or tiles, in pieces, with one block of heads
// or several.
func TestAttentionWithoutStats(t *testing.T) {
	same := func(t *testing.T, k *fused.GAT) {
		t.Helper()
		want := tensor.New(k.In.NumRows, k.Ft.RowLen())
		k.Forward(want, records(k))
		got := want.Like()
		for i := range got.Data {
			got.Data[i] = 1e30
		}
		k.Forward(got, nil)
		compare.Equal(t, "the result without statistics", got.Data, want.Data)
	}
	attentions(t, headPairs, func(t *testing.T, k *fused.GAT, _ *rand.Rand) { same(t, k) })
	for _, hd := range [][2]int{{8, 8}, {16, 8}, {1, 7}, {8, 64}, {6, 5}} {
		t.Run(fmt.Sprintf("hubs/%dx%d", hd[0], hd[1]), func(t *testing.T) {
			k, _ := plainHub(t, hd[0], hd[1], 0.3)
			same(t, k)
			k.El.Data[3] = 60 // no power of it can be used
			same(t, k)
			k, _ = hubAttention(t, hd[0], hd[1], 1)
			same(t, k)
		})
	}
}
