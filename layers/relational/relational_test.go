package relational_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/docs"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/relational"
	"github.com/edgewise-ml/edgewise/tensor"
)

// layer is one of this package.
type layer interface {
	Init(rng *rand.Rand)
	Forward(t *grad.Tape, h *hetero.Graph, x map[string]*grad.Var) map[string]*grad.Var
}

// library has parallel edges, a loop, books and authors without in-edges, and nothing
// that leads to cities.
func library() *hetero.Graph {
	pairs := func(nSrc, nDst int, src, dst []int32) *graph.Graph {
		return graph.Must(graph.NewBipartite(nSrc, nDst, src, dst))
	}
	h, err := hetero.New(map[string]int{"author": 4, "book": 3, "city": 2}, map[hetero.Rel]*graph.Graph{
		{Src: "author", Name: "wrote", Dst: "book"}: pairs(4, 3, []int32{0, 1, 1, 3, 0}, []int32{0, 0, 1, 1, 0}),
		{Src: "book", Name: "cites", Dst: "book"}:   graph.Must(graph.New(3, []int32{1, 0, 1}, []int32{0, 0, 1})),
		{Src: "book", Name: "by", Dst: "author"}:    pairs(3, 4, []int32{0, 2, 1}, []int32{0, 0, 3}),
		{Src: "city", Name: "of", Dst: "author"}:    pairs(2, 4, []int32{0, 1}, []int32{1, 0}),
	})
	if err != nil {
		panic(err)
	}
	return h
}

// shelf is the block of library that tells book 1 and author 0: of three books, three authors and a
// city.
func shelf() *hetero.Graph {
	h := library()
	whole, ends := hetero.Homogeneous(h)
	block, _, err := hetero.Split(h, graph.Must(graph.Block(whole, []int32{int32(ends[1]) + 1, 0})))
	if err != nil {
		panic(err)
	}
	return block
}

var widths = map[string]int{"author": 3, "book": 4, "city": 2}

// model is a layer and its inputs as Params.
type model struct {
	L layer
	X map[string]*grad.Param
}

func newModel(l layer, h *hetero.Graph) *model {
	rng := rand.New(rand.NewPCG(1, 2))
	l.Init(rng)
	m := &model{l, map[string]*grad.Param{}}
	for _, name := range h.Types() {
		m.X[name] = grad.NewParam(h.NumNodes(name), widths[name])
	}
	for _, p := range grad.Params(m) {
		p.Value.Normal(rng, 0, 0.7)
	}
	return m
}

func (m *model) apply(t *grad.Tape, h *hetero.Graph) map[string]*grad.Var {
	x := map[string]*grad.Var{}
	for name, p := range m.X {
		x[name] = t.Use(p)
	}
	return m.L.Forward(t, h, x)
}

func all(rels []hetero.Rel) []layer {
	return []layer{
		&relational.HGTConv{In: widths, Out: 4, Heads: 2, Rels: rels},
		&relational.HANConv{In: widths, Out: 4, Heads: 2, Rels: rels},
		&relational.HGTConv{In: widths, Out: 4, Heads: 2, Rels: rels, NoBias: true, NoActivation: true},
	}
}

func row(p *grad.Param, i int) (r []float64) {
	for _, v := range p.Value.Row(i) {
		r = append(r, float64(v))
	}
	return r
}

// affine is x·w + b.
func affine(x []float64, l *layers.Linear) []float64 {
	y := make([]float64, l.Out)
	for j := range y {
		if l.B != nil {
			y[j] = float64(l.B.Value.Data[j])
		}
		for k, v := range x {
			y[j] += v * float64(l.W.Value.Row(k)[j])
		}
	}
	return y
}

// byHead multiplies each head of x by its columns of w, D×(Heads·D).
func byHead(x []float64, w *grad.Param) []float64 {
	d := w.Value.Rows()
	y := make([]float64, len(x))
	for j := range y {
		for k := range d {
			y[j] += x[j/d*d+k] * float64(w.Value.Row(k)[j])
		}
	}
	return y
}

func hgtOracle(l *relational.HGTConv, h *hetero.Graph, m *model, dst string, v int) []float64 {
	d := l.Out / l.Heads
	heard := make([]float64, l.Out)
	query := affine(row(m.X[dst], v), l.Query[dst])
	for head := range l.Heads {
		total := 0.0
		for _, weighing := range []bool{false, true} {
			for _, r := range l.Rels {
				if r.Dst != dst {
					continue
				}
				g := h.Graph(r)
				for e, to := range g.Destinations() {
					if int(to) != v {
						continue
					}
					x, score := row(m.X[r.Src], int(g.In().Cols[e])), 0.0
					key, value := byHead(affine(x, l.Key[r.Src]), l.WKey[r.String()]), byHead(affine(x, l.Value[r.Src]), l.WValue[r.String()])
					for k := head * d; k < (head+1)*d; k++ {
						score += key[k] * query[k]
					}
					weight := math.Exp(score * float64(l.Prior[r.String()].Value.Data[head]) / math.Sqrt(float64(d)))
					if !weighing {
						total += weight
						continue
					}
					for k := head * d; k < (head+1)*d; k++ {
						heard[k] += weight / total * value[k]
					}
				}
			}
		}
	}
	for k, z := range heard {
		if l.NoActivation {
			break
		}
		heard[k] = z * (1 + math.Erf(z/math.Sqrt2)) / 2
	}
	y := affine(heard, l.Mix[dst])
	if s := l.Skip[dst]; s != nil {
		share := 1 / (1 + math.Exp(-float64(s.Value.Data[0])))
		for k, x := range row(m.X[dst], v) {
			y[k] = share*y[k] + (1-share)*x
		}
	}
	return y
}

// hanRelation is z of all nodes by a relation.
func hanRelation(l *relational.HANConv, h *hetero.Graph, m *model, r hetero.Rel) [][]float64 {
	g, d := h.Graph(r), l.Out/l.Heads
	z := make([][]float64, g.NumDst())
	for v := range z {
		z[v] = make([]float64, l.Out)
		own := affine(row(m.X[r.Dst], v), l.Project[r.Dst])
		for head := range l.Heads {
			total := 0.0
			for _, weighing := range []bool{false, true} {
				for e, to := range g.Destinations() {
					if int(to) != v {
						continue
					}
					x, score := affine(row(m.X[r.Src], int(g.In().Cols[e])), l.Project[r.Src]), 0.0
					for k := range d {
						score += x[head*d+k]*row(l.AttnL[r.String()], head)[k] + own[head*d+k]*row(l.AttnR[r.String()], head)[k]
					}
					if score < 0 {
						score *= 0.2
					}
					if !weighing {
						total += math.Exp(score)
						continue
					}
					for k := head * d; k < (head+1)*d; k++ {
						z[v][k] += math.Exp(score) / total * x[k]
					}
				}
			}
		}
		for k := range z[v] {
			z[v][k] = max(0, z[v][k])
		}
	}
	return z
}

func hanOracle(l *relational.HANConv, h *hetero.Graph, m *model, dst string, v int) []float64 {
	y, total := make([]float64, l.Out), 0.0
	for _, r := range l.Rels {
		if r.Dst != dst {
			continue
		}
		z, score := hanRelation(l, h, m, r), 0.0
		for _, one := range z {
			for k, s := range affine(one, l.Semantic) {
				score += math.Tanh(s) * float64(l.Question.Value.Data[k]) / float64(len(z))
			}
		}
		total += math.Exp(score)
		for k := range y {
			y[k] += math.Exp(score) * z[v][k]
		}
	}
	for k := range y {
		if total > 0 {
			y[k] /= total
		}
	}
	return y
}

// All layers are their formulas in loops, for every node of every type, and for the destinations of
// a block.
func TestOracle(t *testing.T) {
	for _, h := range []*hetero.Graph{library(), shelf()} {
		oracle(t, h)
	}
}

func oracle(t *testing.T, h *hetero.Graph) {
	for _, l := range all(h.Rels()) {
		m := newModel(l, h)
		y := m.apply(nil, h)
		for _, name := range h.Types() {
			if y[name].Dim(0) != h.NumDst(name) || y[name].Dim(1) != 4 {
				t.Fatalf("%T: %s is %v", l, name, y[name].Shape())
			}
			for v := range h.NumDst(name) {
				var want []float64
				switch l := l.(type) {
				case *relational.HGTConv:
					want = hgtOracle(l, h, m, name, v)
				case *relational.HANConv:
					want = hanOracle(l, h, m, name, v)
				}
				compare.Near(t, fmt.Sprintf("%T: %s %d", l, name, v), y[name].Value().Row(v), want, compare.Off(2e-5, 0))
			}
		}
	}
}

func TestGradients(t *testing.T) {
	if !gradtest.Sharp {
		t.Skip("needs -tags f64")
	}
	for _, h := range []*hetero.Graph{library(), shelf()} {
		gradients(t, h)
	}
}

func gradients(t *testing.T, h *hetero.Graph) {
	for _, l := range all(h.Rels())[:2] {
		m := newModel(l, h)
		gradtest.Check(t, m, func(tp *grad.Tape) *grad.Var {
			var loss *grad.Var
			y := m.apply(tp, h)
			for i, name := range h.Types() {
				if name == "city" { // nothing leads there, so much of it is not used
					if _, ok := l.(*relational.HANConv); ok {
						continue
					}
				}
				part := y[name].Square().Sum().Scale(float64(i + 1))
				if loss == nil {
					loss = part
				} else {
					loss = loss.Add(part)
				}
			}
			for _, p := range unread(l, h) { // Params that no relation reads
				loss = loss.Add(tp.Use(p).Sum())
			}
			return loss
		})
	}
}

// unread is the queries of cities, to which nothing leads, of an HGTConv, and what makes their result
// where it has no rows.
func unread(l layer, h *hetero.Graph) (params []*grad.Param) {
	hgt, ok := l.(*relational.HGTConv)
	if !ok {
		return nil
	}
	unread := []*layers.Linear{hgt.Query["city"]}
	if h.NumDst("city") == 0 {
		unread = append(unread, hgt.Mix["city"])
	}
	for _, p := range grad.Params(unread) {
		params = append(params, p)
	}
	return params
}

// What is read back from a layer's JSON has the same Params after Init.
func TestJSON(t *testing.T) {
	for _, l := range all(library().Rels()) {
		l.Init(rand.New(rand.NewPCG(1, 1)))
		text, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		back := reflect.New(reflect.TypeOf(l).Elem()).Interface().(layer)
		if err := json.Unmarshal(text, back); err != nil {
			t.Fatal(err)
		}
		back.Init(rand.New(rand.NewPCG(1, 1)))
		if !reflect.DeepEqual(l, back) {
			t.Errorf("%s came back as %+v", text, back)
		}
	}
}

// Dropout does something while a tape records, and nothing else changes.
func TestDropout(t *testing.T) {
	h := library()
	rels := h.Rels()
	for _, l := range []layer{
		&relational.HGTConv{In: widths, Out: 4, Heads: 2, Rels: rels, AttnDrop: 0.5},
		&relational.HANConv{In: widths, Out: 4, Heads: 2, Rels: rels, AttnDrop: 0.5},
	} {
		m := newModel(l, h)
		trained, evaluated := m.apply(grad.NewTape(1), h)["book"].Value(), m.apply(nil, h)["book"].Value()
		if reflect.DeepEqual(trained.Data, evaluated.Data) {
			t.Errorf("%T: nothing was dropped", l)
		}
	}
}

// The gradient of HANConv's question against float64: Σ_r (dscore_r)·mean_v tanh(z^r_v·W + b), in which
// dscore_r = β_r·(dβ_r − Σ_s β_s·dβ_s) are differences and add up to zero.
func TestHANQuestionGradient(t *testing.T) {
	const n, out = 800, 8
	rng := rand.New(rand.NewPCG(3, 3))
	rels := map[hetero.Rel]*graph.Graph{}
	for _, name := range []string{"wrote", "read", "owns"} {
		var src, dst []int32
		for v := range int32(n) {
			for range 2 {
				src, dst = append(src, rng.Int32N(n)), append(dst, v)
			}
		}
		rels[hetero.Rel{Src: "author", Name: name, Dst: "book"}] = graph.Must(graph.NewBipartite(n, n, src, dst))
	}
	h, err := hetero.New(map[string]int{"author": n, "book": n}, rels)
	if err != nil {
		t.Fatal(err)
	}
	l := &relational.HANConv{In: map[string]int{"author": 3, "book": 4}, Out: out, Heads: 2, Rels: h.Rels()}
	m := newModel(l, h)
	for _, p := range m.X { // positive, so that relations are much alike
		p.Value.Uniform(rng, 0.5, 1)
	}
	dy := tensor.New(n, out)
	dy.Uniform(rng, 0.5, 1.5)
	tp := grad.NewTape(1)
	got := tp.Backward(m.apply(tp, h)["book"].Mul(grad.Const(dy)).Sum()).Param(l.Question)

	var means [][]float64
	var scores, dbeta []float64
	for _, r := range l.Rels {
		mean, score, d := make([]float64, out), 0.0, 0.0
		for v, z := range hanRelation(l, h, m, r) {
			for k, s := range affine(z, l.Semantic) {
				mean[k] += math.Tanh(s) / n
				d += z[k] * float64(dy.Row(v)[k])
			}
		}
		for k, x := range mean {
			score += x * float64(l.Question.Value.Data[k])
		}
		means, scores, dbeta = append(means, mean), append(scores, score), append(dbeta, d)
	}
	total, along := 0.0, 0.0
	for r, s := range scores {
		total, along = total+math.Exp(s), along+math.Exp(s)*dbeta[r]
	}
	for k := range out {
		want, size := 0.0, 0.0
		for r, mean := range means {
			term := math.Exp(scores[r]) / total * (dbeta[r] - along/total) * mean[k]
			want, size = want+term, size+math.Abs(term)
		}
		// Each of the three terms has its dscore rounded some times, as a part of itself.
		if d := math.Abs(float64(got.Data[k]) - want); !(d < 8*0x1p-24*size) {
			t.Errorf("the gradient of column %d is %v, want %v: %.2g of the terms", k, got.Data[k], want, d/size)
		}
	}
}

// HANConv drops weights behind the softmax: the only edge of a node, whose weight is 1, is there twice
// or not at all. In front of it the softmax would make up for what is dropped.
func TestHANDropsWeights(t *testing.T) {
	const n = 40
	nodes := make([]int32, n)
	for i := range nodes {
		nodes[i] = int32(i)
	}
	rel := hetero.Rel{Src: "author", Name: "wrote", Dst: "book"}
	h, err := hetero.New(map[string]int{"author": n, "book": n}, map[hetero.Rel]*graph.Graph{rel: graph.Must(graph.NewBipartite(n, n, nodes, nodes))})
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(&relational.HANConv{In: map[string]int{"author": 3, "book": 4}, Out: 4, Heads: 2, Rels: h.Rels(), AttnDrop: 0.5}, h)
	whole, dropped := m.apply(nil, h)["book"].Value(), m.apply(grad.NewTape(1), h)["book"].Value()
	times := map[int]int{}
	for v := range n {
		for head := range 2 {
			for k := 2 * head; k < 2*head+2; k++ {
				x, y := whole.Row(v)[k], dropped.Row(v)[k]
				switch {
				case x == 0 && y == 0:
				case y == 0:
					times[0]++
				case math.Abs(float64(y-2*x)) < 1e-5*math.Abs(float64(x)):
					times[2]++
				default:
					t.Fatalf("node %d, head %d: %v came of %v", v, head, y, x)
				}
			}
		}
	}
	if times[0] < 10 || times[2] < 10 {
		t.Errorf("so many elements are there so often: %v", times)
	}
}

// Graphs without nodes or without edges give zeros or biases, and train.
func TestEmpty(t *testing.T) {
	for _, n := range []int{0, 3} {
		none := graph.Must(graph.New(n, nil, nil))
		rel := hetero.Rel{Src: "book", Name: "cites", Dst: "book"}
		h, err := hetero.New(map[string]int{"author": n, "book": n, "city": n}, map[hetero.Rel]*graph.Graph{rel: none})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range all(h.Rels()) {
			m := newModel(l, h)
			tp := grad.NewTape(1)
			y := m.apply(tp, h)["book"]
			if y.Dim(0) != n {
				t.Errorf("%T: %d rows for %d nodes", l, y.Dim(0), n)
			}
			for _, g := range tp.Backward(y.Add(tp.Use(m.X["book"])).Sum()) {
				for _, d := range g.Value.Data {
					if d != d {
						t.Errorf("%T: a gradient is NaN", l)
					}
				}
			}
		}
	}
}

// Wrong inputs are refused by the layer, by name.
func TestMisuse(t *testing.T) {
	h := library()
	wrote := hetero.Rel{Src: "author", Name: "wrote", Dst: "book"}
	for want, f := range map[string]func(){
		"Out 4 cannot be cut into 3 Heads": func() { (&relational.HGTConv{In: widths, Out: 4, Heads: 3}).Init(nil) },
		"no width for the type shop": func() {
			(&relational.HANConv{In: widths, Out: 4, Rels: []hetero.Rel{{Src: "shop", Name: "sells", Dst: "book"}}}).Init(rand.New(rand.NewPCG(1, 1)))
		},
		"HGTConv: it has no Params": func() { (&relational.HGTConv{In: widths}).Forward(nil, h, nil) },
		"HANConv: it has no Params": func() { (&relational.HANConv{In: widths}).Forward(nil, h, nil) },
		"the graph has no relation author -burnt-> book": func() {
			m := newModel(&relational.HANConv{In: widths, Out: 4, Rels: []hetero.Rel{wrote, {Src: "author", Name: "burnt", Dst: "book"}}}, h)
			m.apply(nil, h)
		},
		"no features of the type book": func() {
			m := newModel(&relational.HGTConv{In: widths, Out: 4, Rels: []hetero.Rel{wrote}}, h)
			m.L.Forward(nil, h, map[string]*grad.Var{"author": grad.Const(tensor.New(4, 3))})
		},
		"x of author has 5 rows": func() {
			m := newModel(&relational.HGTConv{In: widths, Out: 4, Rels: []hetero.Rel{wrote}}, h)
			m.L.Forward(nil, h, map[string]*grad.Var{"author": grad.Const(tensor.New(5, 3)), "book": grad.Const(tensor.New(3, 4)), "city": grad.Const(tensor.New(2, 2))})
		},
		"x of book has 1 rows, and the graph 3 nodes of it": func() { // the destinations of a block
			m := newModel(&relational.HGTConv{In: widths, Out: 4, Rels: []hetero.Rel{wrote}}, h)
			m.L.Forward(nil, shelf(), map[string]*grad.Var{"author": grad.Const(tensor.New(3, 3)), "book": grad.Const(tensor.New(1, 4)), "city": grad.Const(tensor.New(1, 2))})
		},
		"the graph is nil": func() {
			m := newModel(&relational.HGTConv{In: widths, Out: 4, Rels: []hetero.Rel{wrote}}, h)
			m.L.Forward(nil, nil, nil)
		},
	} {
		var said error
		func() {
			defer func() { said, _ = recover().(error) }()
			f()
		}()
		if said == nil || !strings.Contains(said.Error(), want) || !strings.Contains(said.Error(), "relational.") {
			t.Errorf("got %v, want an error about %q", said, want)
		}
	}
}

// docs/models/layers.md has both.
func TestCatalogue(t *testing.T) {
	page, err := docs.Guides.ReadFile("models/layers.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all(nil) {
		if name := fmt.Sprintf("`%v`", reflect.TypeOf(l).Elem()); !strings.Contains(string(page), name) {
			t.Errorf("docs/models/layers.md has no %s", name)
		}
	}
}

// Authors and their books, each of which learns from the other.
func Example() {
	h, err := hetero.New(map[string]int{"author": 2, "book": 3}, map[hetero.Rel]*graph.Graph{
		{Src: "author", Name: "wrote", Dst: "book"}: graph.Must(graph.NewBipartite(2, 3, []int32{0, 0, 1}, []int32{0, 1, 2})),
		{Src: "book", Name: "by", Dst: "author"}:    graph.Must(graph.NewBipartite(3, 2, []int32{0, 1, 2}, []int32{0, 0, 1})),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	conv := &relational.HGTConv{In: map[string]int{"author": 5, "book": 7}, Out: 8, Heads: 2, Rels: h.Rels()}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	y := conv.Forward(grad.NewEval(), h, map[string]*grad.Var{"author": grad.Const(tensor.New(2, 5)), "book": grad.Const(tensor.New(3, 7))})
	fmt.Println(y["author"].Shape(), y["book"].Shape())
	// Output: [2 8] [3 8]
}

// Two relations into books: which of them counts is learnt.
func ExampleHANConv() {
	h := library()
	conv := &relational.HANConv{In: widths, Out: 8, Heads: 2, Rels: h.Rels()}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	x := map[string]*grad.Var{}
	for name, width := range widths {
		x[name] = grad.Const(tensor.New(h.NumNodes(name), width))
	}
	fmt.Println(conv.Forward(grad.NewEval(), h, x)["book"].Shape())
	// Output: [3 8]
}
