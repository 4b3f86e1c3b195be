package relational_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/layers/relational"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// split returns the blocks that two layers read to say something of some nodes, and what the first
// reads: rows of each type.
func split(h *hetero.Graph, seeds map[string][]int32) (blocks []*hetero.Graph, rows map[string][]int32) {
	whole, ends := hetero.Homogeneous(h)
	var of []int32
	for k, name := range h.Types() {
		for _, v := range seeds[name] {
			of = append(of, v+int32(ends[k]))
		}
	}
	for i, b := range graph.Must(graph.Blocks(whole, of, 2)) {
		block, at, err := hetero.Split(h, b)
		if err != nil {
			panic(err)
		}
		blocks = append(blocks, block)
		if i > 0 {
			continue
		}
		rows = map[string][]int32{}
		for k, name := range h.Types() {
			for _, row := range at[name] {
				rows[name] = append(rows[name], b.From().Src[row]-int32(ends[k]))
			}
		}
	}
	return blocks, rows
}

// deep is two layers.
type deep struct {
	First, Second layer
	X             map[string]*grad.Param
}

func newDeep(rng *rand.Rand, first, second layer, h *hetero.Graph, widths map[string]int) *deep {
	m := &deep{first, second, map[string]*grad.Param{}}
	first.Init(rng)
	second.Init(rng)
	for _, name := range h.Types() {
		m.X[name] = grad.NewParam(h.NumNodes(name), widths[name])
		m.X[name].Value.Normal(rng, 0, 0.5)
	}
	return m
}

// forward runs the layers, each on its graph; rows are the nodes that the first reads, nil for all.
func (m *deep) forward(t *grad.Tape, graphs []*hetero.Graph, rows map[string][]int32) map[string]*grad.Var {
	x := map[string]*grad.Var{}
	for name, p := range m.X {
		if x[name] = t.Use(p); rows != nil {
			x[name] = x[name].Rows(rows[name])
		}
	}
	return m.Second.Forward(t, graphs[1], m.First.Forward(t, graphs[0], x))
}

// deeps returns networks of each layer. HAN's have one relation into a type, so that no row follows from
// those that are not in a block.
func deeps(rng *rand.Rand, h *hetero.Graph, widths map[string]int, out, heads int, alone []hetero.Rel) []*deep {
	then := map[string]int{}
	for name := range widths {
		then[name] = out
	}
	return []*deep{
		newDeep(rng, &relational.HGTConv{In: widths, Out: out, Heads: heads, Rels: h.Rels()}, &relational.HGTConv{In: then, Out: out, Heads: heads, Rels: h.Rels()}, h, widths),
		newDeep(rng, &relational.HANConv{In: widths, Out: out, Heads: heads, Rels: alone}, &relational.HANConv{In: then, Out: out, Heads: heads, Rels: alone}, h, widths),
	}
}

// market is users and items with hubs among them, makers that nothing leads to, and a relation without
// edges.
func market(rng *rand.Rand) (h *hetero.Graph, alone []hetero.Rel) {
	const users, items, makers = 300, 200, 40
	list := func(nSrc, nDst, edges int) *graph.Graph {
		src, dst := make([]int32, edges), make([]int32, edges)
		for e := range src {
			src[e], dst[e] = rng.Int32N(int32(nSrc)), rng.Int32N(1+rng.Int32N(int32(nDst)))
		}
		return graph.Must(graph.NewBipartite(nSrc, nDst, src, dst))
	}
	back, makes := hetero.Rel{Src: "item", Name: "rated", Dst: "user"}, hetero.Rel{Src: "maker", Name: "makes", Dst: "item"}
	h, err := hetero.New(map[string]int{"user": users, "item": items, "maker": makers}, map[hetero.Rel]*graph.Graph{
		rated: list(users, items, 900), back: list(items, users, 700), makes: list(makers, items, 150),
		like:                                     random.PowerLaw(rng, items, 500, 0.75),
		{Src: "user", Name: "owns", Dst: "item"}: list(users, items, 0),
	})
	if err != nil {
		panic(err)
	}
	return h, []hetero.Rel{rated, back}
}

// Two layers on blocks of all neighbours are those of the whole graph, to the bit.
func TestBlocksAreTheWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	h, alone := market(rng)
	widths := map[string]int{"user": 16, "item": 24, "maker": 5}
	for _, heads := range []int{1, 8} {
		for _, m := range deeps(rng, h, widths, 16, heads, alone) {
			whole := m.forward(grad.NewEval(), []*hetero.Graph{h, h}, nil)
			for _, seeds := range []map[string][]int32{{"item": {7}}, {"user": {5, 2}, "item": {0, 1, 199, 3}, "maker": {39, 1}}, {"maker": {2}}, {}} {
				blocks, rows := split(h, seeds)
				part := m.forward(grad.NewEval(), blocks, rows)
				for _, name := range h.Types() {
					if part[name].Dim(0) != len(seeds[name]) {
						t.Fatalf("%T: %d rows for the nodes %v of type %s", m.First, part[name].Dim(0), seeds[name], name)
					}
					for i, v := range seeds[name] {
						if got, want := part[name].Value().Row(i), whole[name].Value().Row(int(v)); !slices.Equal(got, want) {
							t.Errorf("%T, %d heads: %s %d is %v, in the whole graph %v", m.First, heads, name, v, got[:3], want[:3])
						}
					}
				}
			}
		}
	}
}

// Gradients through two blocks are those of a loss over the seeds.
func TestBlockGradients(t *testing.T) {
	if !gradtest.Sharp {
		t.Skip("needs -tags f64")
	}
	h, back := library(), []hetero.Rel{{Src: "author", Name: "wrote", Dst: "book"}, {Src: "book", Name: "by", Dst: "author"}}
	blocks, rows := split(h, map[string][]int32{"book": {1, 0}})
	rng := rand.New(rand.NewPCG(1, 4)) // of HAN no ReLU is near its kink
	for i, m := range deeps(rng, h, widths, 4, 2, back) {
		loss := func(tp *grad.Tape) *grad.Var { return m.forward(tp, blocks, rows)["book"].Square().Sum() }
		read, tp := map[*grad.Param]bool{}, grad.NewTape(1)
		for _, g := range tp.Backward(loss(tp)) {
			read[g.Param] = true
		}
		var params []*grad.Param
		for _, p := range grad.Params(m) {
			if read[p] {
				params = append(params, p)
			}
		}
		if len(params) < []int{40, 10}[i] {
			t.Errorf("%T: only %d params have a gradient", m.First, len(params))
		}
		gradtest.Check(t, params, loss)
	}
}

// What nothing leads to in a block, and blocks of no nodes, have a result of so many rows and gradients
// that are numbers.
func TestBlocksOfFew(t *testing.T) {
	h := library()
	whole, ends := hetero.Homogeneous(h)
	for name, seeds := range map[string][]int32{"nothing": nil, "a city": {int32(ends[2])}, "a book that hears nothing": {int32(ends[1]) + 2}, "an author": {3}} {
		block, _, err := hetero.Split(h, graph.Must(graph.Block(whole, seeds)))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range all(h.Rels()) {
			m := newModel(l, block)
			tp := grad.NewTape(1)
			y, loss, rows := m.apply(tp, block), tp.Use(m.X["book"]).Sum(), 0
			for _, of := range h.Types() {
				rows += y[of].Dim(0)
				loss = loss.Add(y[of].Sum())
			}
			if rows != len(seeds) {
				t.Errorf("%T, %s: %d rows", l, name, rows)
			}
			for _, g := range append(tp.Backward(loss), grad.Grad{Value: loss.Value()}) {
				if slices.ContainsFunc(g.Value.Data, func(d tensor.Float) bool { return d != d }) {
					t.Errorf("%T, %s: the result or a gradient is NaN", l, name)
				}
			}
		}
	}
}

// Sparse features of a block say what dense ones do.
func TestBlockOfSparseFeatures(t *testing.T) {
	h := shelf()
	for _, l := range []layer{&relational.HGTConv{In: widths, Out: 6, Heads: 2, Rels: h.Rels()}, &relational.HANConv{In: widths, Out: 6, Heads: 2, Rels: h.Rels()}} {
		m := newModel(l, h)
		x := map[string]*grad.Var{}
		for name, p := range m.X {
			p.Value.Zero()
			for i := range p.Value.Rows() { // one word each, so that no sum is rounded
				p.Value.Row(i)[i%widths[name]] = 1
			}
			x[name] = grad.Const(sparse.FromDense(p.Value))
		}
		got, want := l.Forward(grad.NewEval(), h, x), m.apply(grad.NewEval(), h)
		for _, name := range h.Types() {
			if !slices.Equal(got[name].Value().Data, want[name].Value().Data) {
				t.Errorf("%T: %s is %v, of dense features %v", l, name, got[name].Value().Data, want[name].Value().Data)
			}
		}
	}
}
