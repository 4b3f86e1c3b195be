package graph

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
)

// offsetsOf returns the offset of each edge, by Places.
func offsetsOf(g *Graph) []int {
	src, dst := g.Places()
	var out []int
	for v := range g.NumDst() {
		for _, u := range g.In().Cols[g.In().Offsets[v]:g.In().Offsets[v+1]] {
			if src != nil {
				u = src[u]
			}
			out = append(out, int(dst[v])-int(u))
		}
	}
	return out
}

// someOf draws some of n nodes in any order.
func someOf(rng *rand.Rand, n int) []int32 {
	var some []int32
	for _, v := range rng.Perm(n)[:rng.IntN(n+1)] {
		some = append(some, int32(v))
	}
	return some
}

// Views, blocks, batches and members have the offsets of the graph that they come from.
func TestOffsetsStay(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 22))
		g := randomSpans(rng)
		if rng.IntN(2) == 0 {
			g = plain(g)
		}
		same := func(what string, h, of *Graph) {
			t.Helper()
			want := offsetsOf(of)
			for e, got := range offsetsOf(h) {
				if from := h.From().Edges[e]; got != want[from] {
					t.Fatalf("seed %d, %s: edge %d has the offset %d, as edge %d it had %d", seed, what, e, got, from, want[from])
				}
			}
		}
		view := Must(Dst(g, someOf(rng, g.NumDst())))
		same("a view", view, g)
		same("a view of a view", Must(Dst(view, someOf(rng, view.NumDst()))), view)
		if g.DstRows() != nil {
			block := Must(Block(g, someOf(rng, g.NumDst())))
			same("a block", block, g)
			same("a block of a view", Must(Block(view, someOf(rng, view.NumDst()))), view)
			same("a view of a block", Must(Dst(block, someOf(rng, block.NumDst()))), block)
			same("a block of a block", Must(Block(block, someOf(rng, block.NumDst()))), block)
			view = Batch(block, view)
		} else {
			view = Batch(view, g)
		}
		var parts []int
		for _, h := range Unbatch(view) {
			parts = append(parts, offsetsOf(h)...)
		}
		if whole := offsetsOf(view); !slices.Equal(whole, parts) {
			t.Fatalf("seed %d: a batch has the offsets %v, its members %v", seed, whole, parts)
		}
		back, want := Reverse(view), offsetsOf(view)
		order := back.EdgeOrder()
		for e, got := range offsetsOf(back) {
			if i := slices.Index(view.EdgeOrder(), order[e]); got != -want[i] {
				t.Fatalf("seed %d: edge %d turned round has the offset %d, it had %d", seed, e, got, want[i])
			}
		}
	}
}

// Offsets are counted in each member, and clamped.
func TestWithOffsets(t *testing.T) {
	two := Batch(Complete(3), Complete(2))
	if got := WithOffsets(two, -1, 1).Kinds(); !slices.Equal(got, []int32{1, 0, 0, 2, 1, 0, 2, 2, 1, 1, 0, 2, 1}) {
		t.Errorf("of two complete graphs: %v", got)
	}
	sides := Batch(CompleteBipartite(2, 1), CompleteBipartite(3, 2))
	if got := WithOffsets(sides, -5, 5).Kinds(); !slices.Equal(got, []int32{5, 4, 5, 4, 3, 6, 5, 4}) {
		t.Errorf("of two bipartite graphs: %v", got)
	}
	if got := WithOffsets(CausalBand(4, 2), 0, 2).Kinds(); !slices.Equal(got, []int32{0, 1, 0, 2, 1, 0, 2, 1, 0}) {
		t.Errorf("of a causal band: %v", got)
	}
	if got := WithOffsets(Complete(0), 0, 0).Kinds(); got == nil || len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
	var shape *tensor.ShapeError
	if err := tensor.Try(func() { WithOffsets(Complete(2), 1, 0) }); !errors.As(err, &shape) {
		t.Errorf("no offsets: %v", err)
	}
}

func TestShiftedChains(t *testing.T) {
	lengths := []int{4, 0, 1, 6}
	for _, shifts := range [][]int{{0}, {0, 2, 4}, {-1, 0, 1}, {1, 1}, {9}, {math.MaxInt, math.MinInt, 0}} {
		g := ShiftedChains(lengths, shifts...)
		e := 0
		for i, n := range lengths {
			lo := g.NodeOffsets()[i]
			for v := range n {
				for k, s := range shifts {
					if u := float64(v) - float64(s); u < 0 || u >= float64(n) {
						continue
					}
					if e >= g.NumEdges() || int(g.In().Cols[e]) != lo+v-s || int(g.Destinations()[e]) != lo+v || int(g.Kinds()[e]) != k {
						t.Fatalf("shifts %v: edge %d is not that of kind %d into node %d", shifts, e, k, lo+v)
					}
					e++
				}
			}
		}
		if e != g.NumEdges() || len(g.NodeOffsets()) != 5 {
			t.Errorf("shifts %v: %d edges, want %d", shifts, g.NumEdges(), e)
		}
	}
	for what, f := range map[string]func(){
		"graph.ShiftedChains [-1]":     func() { ShiftedChains([]int{-1}, 0) },
		"graph.ShiftedChains [1 0]":    func() { ShiftedChains([]int{3}) },
		"graph.CausalBand [3 -1]":      func() { CausalBand(3, -1) },
		"graph.CausalBand [-1 -1]":     func() { CausalBand(-1, 1) },
		"graph.Chains [-2], as before": func() { Chains(1, -2) },
	} {
		var shape *tensor.ShapeError
		if err := tensor.Try(f); !errors.As(err, &shape) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// WithPlaces has the edges of the graph and the offsets of the places, on either side of a
// square graph; its reverse, blocks and batches follow.
func TestWithPlaces(t *testing.T) {
	g := Must(New(3, []int32{0, 1, 2}, []int32{1, 1, 0}))
	h := WithPlaces(g, []int32{7, 3, 5}, []int32{6, 9, 0})
	if got := offsetsOf(h); !h.Bipartite() || !slices.Equal(got, []int{1, 2, 6}) {
		t.Errorf("offsets %v of %v, want 6−5, 9−7 and 9−3", got, h)
	}
	if got := offsetsOf(Batch(h, h)); !slices.Equal(got, []int{1, 2, 6, 1, 2, 6}) {
		t.Errorf("offsets %v of a batch", got)
	}
	if got := offsetsOf(Reverse(h)); !slices.Equal(got, []int{-2, -6, -1}) {
		t.Errorf("offsets %v of the reverse", got)
	}
	if got := WithOffsets(g, -9, 9).Kinds(); !slices.Equal(got, []int32{7, 10, 9}) {
		t.Errorf("the graph itself has become another: %v", got)
	}
	for _, n := range []int{2, 4} {
		if err := tensor.Try(func() { WithPlaces(g, make([]int32, n), make([]int32, 3)) }); err == nil {
			t.Errorf("%d places for 3 sources were taken", n)
		}
	}
}
