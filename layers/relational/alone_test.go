package relational_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/layers/relational"
	"github.com/edgewise-ml/edgewise/tensor"
)

var (
	rated = hetero.Rel{Src: "user", Name: "rated", Dst: "item"}
	like  = hetero.Rel{Src: "item", Name: "like", Dst: "item"}
)

// shop is users and items.
func shop(ratings, likes *graph.Graph) *hetero.Graph {
	h, err := hetero.New(map[string]int{"user": ratings.NumSrc(), "item": likes.NumDst()}, map[hetero.Rel]*graph.Graph{rated: ratings, like: likes})
	if err != nil {
		panic(err)
	}
	return h
}

// partOf is what some items hear: they come first, then the items that they hear, and the users.
func partOf(h *hetero.Graph, seeds []int32) (part *hetero.Graph, users, items []int32) {
	b := graph.Must(graph.Block(h.Graph(like), seeds))
	items = b.From().Src
	var src, dst []int32
	for i, v := range seeds {
		for _, u := range h.Graph(rated).Sources(int(v)) {
			users, src, dst = append(users, u), append(src, u), append(dst, int32(i))
		}
	}
	slices.Sort(users)
	users = slices.Compact(users)
	for e, u := range src {
		at, _ := slices.BinarySearch(users, u)
		src[e] = int32(at)
	}
	return shop(graph.Must(graph.NewBipartite(len(users), len(items), src, dst)), graph.Must(graph.New(len(items), b.In().Cols, b.Destinations()))), users, items
}

// In an evaluation HGT's result for a node follows from its own operands, to the bit. Of HAN it
// cannot: all nodes of a type say together how much a relation counts.
func TestHGTAlone(t *testing.T) {
	const users, items = 500, 400
	rng := rand.New(rand.NewPCG(1, 5))
	likes := random.PowerLaw(rng, items, 2000, 0.75)
	src, dst := make([]int32, 3000), make([]int32, 3000)
	for e := range src {
		src[e], dst[e] = rng.Int32N(users), rng.Int32N(items)
	}
	h := shop(graph.Must(graph.NewBipartite(users, items, src, dst)), likes)
	for _, heads := range []int{1, 4, 8} {
		l := &relational.HGTConv{In: map[string]int{"user": 16, "item": 64}, Out: 64, Heads: heads, Rels: []hetero.Rel{rated, like}}
		l.Init(rng)
		xs := map[string]*grad.Var{}
		for _, name := range h.Types() {
			x := tensor.New(h.NumNodes(name), l.In[name])
			x.Normal(rng, 0, 0.3)
			for i := range x.Row(3) {
				x.Row(3)[i] *= 200
			}
			xs[name] = grad.Const(x)
		}
		whole := l.Forward(grad.NewEval(), h, xs)["item"].Value()
		for _, n := range []int{1, 1, 2, 8, 100} {
			var seeds []int32
			for _, v := range rng.Perm(items)[:n] {
				seeds = append(seeds, int32(v))
			}
			part, from, among := partOf(h, seeds)
			y := l.Forward(grad.NewEval(), part, map[string]*grad.Var{"user": xs["user"].Rows(from), "item": xs["item"].Rows(among)})["item"].Value()
			for i, v := range seeds {
				if !slices.Equal(y.Row(i), whole.Row(int(v))) {
					t.Errorf("%d heads: item %d of %d has %v, in the whole graph %v", heads, v, n, y.Row(i)[:3], whole.Row(int(v))[:3])
				}
			}
		}
	}
}
