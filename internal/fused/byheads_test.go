package fused

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// held are projected rows that are there.
type held struct{ *tensor.Dense }

// Heads implements [Projection].
func (h held) Heads(to *tensor.Dense, head int) {
	from := head * expWidth
	for i := range to.Rows() {
		copy(to.Row(i), h.Row(i)[from:from+to.Dim(1)])
	}
}

// Two heads at a time give the bits of all heads, with a bias and without, for nodes
// without edges and for those with more than a call of the kernel takes.
func TestForwardByHeads(t *testing.T) {
	for _, asm := range []bool{true, false} {
		t.Run(fmt.Sprintf("assembly %t", asm), func(t *testing.T) {
			if !asm {
				if cpu.Path() == "go" {
					t.Skip("it is as built")
				}
				defer cpu.Disable()()
			}
			for _, c := range []struct{ nodes, heads, edges, hub int }{{1, 8, 1, 0}, {200, 8, 3, 0}, {70, 16, 5, 1030}, {3, 8, 0, 1}, {130, 24, 2, 1024}} {
				checkByHeads(t, c.nodes, c.heads, c.edges, c.hub)
			}
		})
	}
}

func checkByHeads(t *testing.T, nodes, heads, edges, hub int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(31, uint64(nodes)))
	a := &sparse.CSR{NumRows: nodes, NumCols: nodes, Offsets: make([]int64, nodes+1)}
	for v := range nodes {
		n := rng.IntN(2*edges + 1)
		if v == nodes/2 {
			n = hub
		}
		for range n {
			a.Cols = append(a.Cols, int32(rng.IntN(nodes)))
		}
		a.Offsets[v+1] = int64(len(a.Cols))
	}
	draw := func(shape ...int) *tensor.Dense {
		x := tensor.New(shape...)
		sparing.Normals(rng, x.Data)
		return x
	}
	k := GAT{In: a, El: draw(nodes, heads), Er: draw(nodes, heads), Ft: draw(nodes, heads*8), Slope: 0.2}
	for _, bias := range []*tensor.Dense{nil, draw(heads * 8)} {
		k.Bias = bias
		want, got := tensor.New(nodes, heads*8), tensor.New(nodes, heads*8)
		k.Forward(want, nil)
		if a.NNZ() == 0 && k.ByHeads() {
			t.Fatal("no edges: there is nothing to walk")
		}
		if a.NNZ() == 0 {
			continue
		}
		shape := k
		shape.Ft = new(tensor.Dense)
		shape.Ft.SetShape(nodes, heads*8)
		for i := range got.Data {
			got.Data[i] = 1e30
		}
		if !shape.ByHeads() || !shape.ForwardByHeads(got, held{k.Ft}) {
			t.Fatalf("%d nodes, %d heads: not by heads", nodes, heads)
		}
		if !slices.Equal(got.Data, want.Data) {
			t.Errorf("%d nodes, %d heads, bias %t: not the bits of all heads at once", nodes, heads, bias != nil)
		}
	}
}

// A logit out of range is seen on either side and in every head, so that all begins again.
func TestForwardByHeadsOutOfRange(t *testing.T) {
	const n, heads = 130, 16
	a := &sparse.CSR{NumRows: n, NumCols: n, Offsets: make([]int64, n+1), Cols: make([]int32, n)}
	for v := range n {
		a.Offsets[v+1] = int64(v + 1)
	}
	for _, at := range []int{0, 7, 64*heads + 9, n*heads - 1} {
		for side := range 2 {
			k := GAT{In: a, El: tensor.New(n, heads), Er: tensor.New(n, heads), Ft: tensor.New(n, heads*8), Slope: 0.2}
			[]*tensor.Dense{k.El, k.Er}[side].Data[at] = 25
			if k.ForwardByHeads(tensor.New(n, heads*8), held{k.Ft}) {
				t.Errorf("element %d of side %d is out of range, and was not seen", at, side)
			}
		}
	}
}
