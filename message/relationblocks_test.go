package message_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// libraryBlock is a block of authors and books, in which nothing of "reads" is left, "likes" has no edge
// in the whole graph either, and cities hear nobody.
func libraryBlock(books ...int32) *hetero.Graph {
	pairs := func(nSrc, nDst int, src, dst []int32) *graph.Graph {
		return graph.Must(graph.NewBipartite(nSrc, nDst, src, dst))
	}
	h, err := hetero.New(map[string]int{"author": 4, "book": 5, "city": 2}, map[hetero.Rel]*graph.Graph{
		{Src: "author", Name: "wrote", Dst: "book"}: pairs(4, 5, []int32{0, 1, 1, 3, 0, 2, 2}, []int32{0, 0, 1, 1, 0, 4, 3}),
		{Src: "book", Name: "cites", Dst: "book"}:   graph.Must(graph.New(5, []int32{1, 0, 1, 4, 4}, []int32{0, 0, 1, 1, 2})),
		{Src: "author", Name: "reads", Dst: "book"}: pairs(4, 5, []int32{1}, []int32{4}),
		{Src: "author", Name: "likes", Dst: "book"}: pairs(4, 5, nil, nil),
		{Src: "city", Name: "of", Dst: "author"}:    pairs(2, 4, []int32{0, 1}, []int32{1, 0}),
	})
	if err != nil {
		panic(err)
	}
	whole, ends := hetero.Homogeneous(h)
	for i := range books {
		books[i] += int32(ends[1])
	}
	block, _, err := hetero.Split(h, graph.Must(graph.Block(whole, books)))
	if err != nil {
		panic(err)
	}
	return block
}

// into are the relations into books, of messages of width 2: one for each edge.
func into(h *hetero.Graph, by message.Reducer) (rels []message.Relation, edges []*grad.Param) {
	for i, r := range h.Into("book") {
		p := param(uint64(i+1), h.Graph(r).NumEdges(), 2)
		edges = append(edges, p)
		rels = append(rels, message.Relation{Graph: h.Graph(r), Msg: message.E(grad.Const(p.Value)), By: by})
	}
	return rels, edges
}

// What relations of a block say together is the definition, in float64, where some have no edges, or
// nothing leads to a destination.
func TestRelationsOfBlocks(t *testing.T) {
	for _, books := range [][]int32{{0, 3, 2, 1}, {2}, {}} {
		h := libraryBlock(slices.Clone(books)...)
		if reads := h.Graph(hetero.Rel{Src: "author", Name: "reads", Dst: "book"}); reads.NumEdges() != 0 || h.NumDst("book") != len(books) {
			t.Fatalf("%v: reads is %v", books, reads)
		}
		for across, join := range map[message.Reducer]func(a, b float64) float64{
			message.Sum: func(a, b float64) float64 { return a + b }, message.Mean: func(a, b float64) float64 { return a + b }, message.Max: math.Max, message.Min: math.Min,
		} {
			rels, edges := into(h, message.Sum)
			want := tensor.New(len(books), 2)
			for v := range books {
				for k := range 2 {
					total := 0.0
					for i, r := range rels {
						said := 0.0
						for e := range r.Graph.Sources(v) {
							said += float64(edges[i].Value.Row(int(e))[k])
						}
						if total = join(total, said); i == 0 {
							total = said
						}
					}
					if across == message.Mean {
						total /= 4
					}
					want.Row(v)[k] = tensor.Float(total)
				}
			}
			compare.Arrays(t, fmt.Sprint(books, across), []*tensor.Dense{message.UpdateRelations(across, rels...).Value()}, []*tensor.Dense{want}, rounded)
		}
		softmaxOfBlock(t, h)
	}
}

// softmaxOfBlock compares with the definition, and checks the gradients of what is summed by it.
func softmaxOfBlock(t *testing.T, h *hetero.Graph) {
	t.Helper()
	rels, edges := into(h, message.Sum)
	got := message.SoftmaxRelations(rels...)
	for v := range h.NumDst("book") {
		for k := range 2 {
			total := 0.0
			for i, r := range rels {
				for e := range r.Graph.Sources(v) {
					total += math.Exp(float64(edges[i].Value.Row(int(e))[k]))
				}
			}
			for i, r := range rels {
				for e := range r.Graph.Sources(v) {
					want := math.Exp(float64(edges[i].Value.Row(int(e))[k])) / total
					if y := float64(got[i].Value().Row(int(e))[k]); !(math.Abs(y-want) < 1e-5) {
						t.Errorf("relation %d, edge %d into book %d is %v, want %v", i, e, v, y, want)
					}
				}
			}
		}
	}
	for i, y := range got {
		if y.Dim(0) != rels[i].Graph.NumEdges() {
			t.Errorf("relation %d has %d edges and %d rows", i, rels[i].Graph.NumEdges(), y.Dim(0))
		}
	}
	if h.NumDst("book") == 0 {
		return
	}
	gradtest.Check(t, edges, func(tp *grad.Tape) *grad.Var {
		var sums []message.Relation
		for i, r := range rels {
			rels[i].Msg = message.E(tp.Use(edges[i]))
			sums = append(sums, message.Relation{Graph: r.Graph, By: message.Sum})
		}
		for i, alpha := range message.SoftmaxRelations(rels...) {
			sums[i].Msg = message.E(alpha.Square())
		}
		return weigh(message.UpdateRelations(message.Sum, sums...))
	})
}

// A relation within a type is a block of one type: its destinations are the first of all nodes.
func TestRelationWithinATypeOfABlock(t *testing.T) {
	h := libraryBlock(0, 3, 2, 1)
	g := h.Graph(hetero.Rel{Src: "book", Name: "cites", Dst: "book"})
	x := grad.Const(param(1, h.NumNodes("book"), 2).Value)
	got := message.UpdateAll(g, message.U(x).Mul(message.V(message.OnDst(g, x))), message.Sum).Value()
	want := message.UpdateAll(g, message.U(x).Mul(message.V(x.RowRange(0, h.NumDst("book")))), message.Sum).Value()
	if h.NumNodes("book") == h.NumDst("book") || !slices.Equal(got.Data, want.Data) || !slices.Equal(got.Shape(), []int{4, 2}) {
		t.Errorf("%v of %d books, want %v", got, h.NumNodes("book"), want)
	}
}
