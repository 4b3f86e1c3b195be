package message

import (
	goflag "flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/rules"
	"github.com/edgewise-ml/edgewise/tensor"
)

var everyReducer = Reducers()

// wild generates graphs: lists of edges, blocks, views and bipartite graphs.
func anyGraph(t *rapid.T) *graph.Graph {
	return randomGraph(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "graph"), 1)))
}

// plain generates homogeneous graphs whose edges shrink one by one.
func plain(t *rapid.T) *graph.Graph {
	n := rapid.Int32Range(1, 9).Draw(t, "nodes")
	end := rapid.Int32Range(0, n-1)
	var src, dst []int32
	for range rapid.IntRange(0, 30).Draw(t, "edges") {
		src, dst = append(src, end.Draw(t, "u")), append(dst, end.Draw(t, "v"))
	}
	return graph.Must(graph.New(int(n), src, dst))
}

// sown generates expressions on g.
func sown(t *rapid.T, g *graph.Graph) (*sprout, Msg) {
	seed := rapid.Uint64().Draw(t, "expression")
	s := &sprout{Rand: rand.New(rand.NewPCG(seed, 2)), g: g, tape: grad.NewTape(seed)}
	s.tape.Reset()
	return s, s.tree(rapid.IntRange(0, 4).Draw(t, "depth"))
}

// carrying says where the rows of an expression's leaves are on another graph.
type carrying struct {
	u, v, e func(x *grad.Var) *grad.Var
	kinds   func(k []int32) []int32
	swap    bool // sources and destinations change places
	seen    map[*expr]*expr
}

// of returns the expression with its leaves carried over. What belongs to edges
// by number, a dropout, must have been made a factor before: see explicit.
func (c *carrying) of(e *expr) *expr {
	if e == nil {
		return nil
	}
	if c.seen == nil {
		c.seen = map[*expr]*expr{}
	}
	if done := c.seen[e]; done != nil {
		return done
	}
	y := *e
	switch e.kind {
	case ops.LeafU:
		y.x = c.u(e.x)
		if c.swap {
			y.kind = ops.LeafV
		}
	case ops.LeafV:
		y.x = c.v(e.x)
		if c.swap {
			y.kind = ops.LeafU
		}
	case ops.LeafE:
		y.x = c.e(e.x)
	}
	if e.rows != nil {
		y.rows = c.kinds(e.rows)
	}
	y.a, y.b = c.of(e.a), c.of(e.b)
	c.seen[e] = &y
	return &y
}

// explicit returns e with constants for leaves, a factor for each dropout, and rows of edges for what else is random.
// Without across, steps across the in-edges are left out.
func explicit(g *graph.Graph, e *expr, across bool, seen map[*expr]*expr) *expr {
	if e == nil {
		return nil
	}
	if done := seen[e]; done != nil {
		return done
	}
	y := *e
	y.a, y.b = explicit(g, e.a, across, seen), explicit(g, e.b, across, seen)
	switch {
	case e.kind.IsLeaf():
		y.x = grad.Const(e.x.Value())
	case e.kind == ops.Dropout:
		y = *treeOf(msgOf(y.a).Mul(E(grad.Const(mask(g, e)))))
	case e.kind.Op().Extra == ops.Mask:
		y = *treeOf(E(grad.Const(ApplyEdges(g, msgOf(e)).Value())))
	case e.kind.AcrossInEdges() && !across:
		y = *y.a
	}
	seen[e] = &y
	return &y
}

// mask is what a dropout multiplies each element with.
func mask(g *graph.Graph, e *expr) *tensor.Dense {
	m := tensor.New(ApplyEdges(g, msgOf(e.a)).Shape()...)
	for i := range m.Rows() {
		for k := range m.Row(i) {
			if e.drop.Keep(e.drop.Row(i), k) {
				m.Row(i)[k] = tensor.Float(e.drop.Scale)
			}
		}
	}
	return m
}

// gather returns a function that gathers rows.
func gather(rows []int32) func(x *grad.Var) *grad.Var {
	return func(x *grad.Var) *grad.Var { return x.Rows(rows) }
}

// gatherKinds returns a function that gathers kinds.
func gatherKinds(rows []int32) func(k []int32) []int32 {
	return func(k []int32) []int32 {
		out := make([]int32, len(rows))
		for i, r := range rows {
			out[i] = k[r]
		}
		return out
	}
}

// TestPropertyRelabelling numbers the nodes otherwise: every node, and every
// edge, gets the bits that it had.
func TestPropertyRelabelling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := plain(t)
		_, m := sown(t, g)
		e := explicit(g, treeOf(m), true, map[*expr]*expr{})
		nodes := make([]int32, g.NumNodes())
		for i := range nodes {
			nodes[i] = int32(i)
		}
		nodes = rapid.Permutation(nodes).Draw(t, "order")
		h := graph.Must(graph.Permute(g, nodes))
		from := h.From().Edges
		c := &carrying{u: gather(nodes), v: gather(nodes), e: gather(from), kinds: gatherKinds(from)}
		other := msgOf(c.of(e))
		compare.Bits(t, "edges", ApplyEdges(h, other).Value().Data, ApplyEdges(g, msgOf(e)).Rows(from).Value().Data)
		for _, r := range everyReducer {
			compare.Bits(t, r.String(), UpdateAll(h, other, r).Value().Data, UpdateAll(g, msgOf(e), r).Rows(nodes).Value().Data)
		}
	})
}

// TestPropertyParts evaluates messages on some destinations alone, as a block and as a view, to
// the bits that these have in the whole graph.
func TestPropertyParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		g := random.PowerLaw(rand.New(rand.NewPCG(seed, 6)), 12, rapid.IntRange(0, 200).Draw(t, "edges"), 0.75)
		s := &sprout{Rand: rand.New(rand.NewPCG(seed, 7)), g: g, tape: grad.NewTape(seed)}
		s.tape.Reset()
		m, rs := s.tree(4), []Reducer{Sum}
		if s.IntN(2) == 0 {
			m, rs = s.recognised()
		}
		e := explicit(g, treeOf(m), true, map[*expr]*expr{})
		rows := rapid.Permutation(g.DstRows()).Draw(t, "order")[:rapid.IntRange(0, g.NumDst()).Draw(t, "rows")]
		for name, part := range map[string]*graph.Graph{"block": graph.Must(graph.Block(g, rows)), "view": graph.Must(graph.Dst(g, rows))} {
			from := part.From()
			c := &carrying{u: gather(from.Src), v: gather(from.Dst), e: gather(from.Edges), kinds: gatherKinds(from.Edges)}
			few := msgOf(c.of(e))
			compare.Bits(t, name+", edges", ApplyEdges(part, few).Value().Data, ApplyEdges(g, msgOf(e)).Rows(from.Edges).Value().Data)
			for _, rs := range [][]Reducer{rs, {Sum}, {Mean, Max}, everyReducer} {
				if len(rs) > 0 {
					compare.Bits(t, fmt.Sprint(name, ", ", rs), UpdateAll(part, few, rs...).Value().Data, UpdateAll(g, msgOf(e), rs...).Rows(rows).Value().Data)
				}
			}
		}
	})
}

// TestPropertyBatch runs graphs as one and one by one, to the same bits.
func TestPropertyBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var gs []*graph.Graph
		for range rapid.IntRange(1, 3).Draw(t, "members") {
			gs = append(gs, anyGraph(t))
		}
		both := graph.Batch(gs...)
		_, m := sown(t, both)
		e := explicit(both, treeOf(m), true, map[*expr]*expr{})
		edges, src, dst, first := ApplyEdges(both, msgOf(e)), both.SrcOffsets(), both.DstOffsets(), 0
		for i, g := range gs {
			last := first + g.NumEdges()
			part := func(lo, hi int) func(x *grad.Var) *grad.Var {
				return func(x *grad.Var) *grad.Var { return x.RowRange(lo, hi) }
			}
			c := &carrying{u: part(src[i], src[i+1]), v: part(dst[i], dst[i+1]), e: part(first, last), kinds: func(k []int32) []int32 { return k[first:last] }}
			one := msgOf(c.of(e))
			compare.Bits(t, fmt.Sprint("edges of member ", i), ApplyEdges(g, one).Value().Data, edges.RowRange(first, last).Value().Data)
			for _, r := range everyReducer {
				whole := UpdateAll(both, msgOf(e), r).RowRange(dst[i], dst[i+1])
				compare.Bits(t, fmt.Sprint(r, " of member ", i), UpdateAll(g, one, r).Value().Data, whole.Value().Data)
			}
			first = last
		}
	})
}

// TestPropertyReverse turns edges round: once, with U and V exchanged, what stays
// on an edge is the same; twice, everything is.
func TestPropertyReverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := plain(t)
		_, m := sown(t, g)
		there := graph.Reverse(g)
		back := graph.Reverse(there)
		for _, r := range everyReducer {
			compare.Bits(t, "twice, "+r.String(), UpdateAll(back, m, r).Value().Data, UpdateAll(g, m, r).Value().Data)
		}
		e := explicit(g, treeOf(m), false, map[*expr]*expr{})
		same := func(x *grad.Var) *grad.Var { return x }
		from := there.From().Edges
		c := &carrying{u: same, v: same, e: gather(from), kinds: gatherKinds(from), swap: true}
		compare.Bits(t, "once", ApplyEdges(there, msgOf(c.of(e))).Value().Data, ApplyEdges(g, msgOf(e)).Rows(from).Value().Data)
	})
}

// linear returns a message that is linear in the array x that it makes.
func (s *sprout) linear(c Msg) (m Msg, x *grad.Var, name string) {
	n, shape := s.g.NumSrc(), []int{2, 3}
	weight := c.SumLast()
	switch s.IntN(9) {
	case 0:
		x, name = s.array(n, shape...), "U"
		return U(x).Mul(c.Tanh()), x, name
	case 1:
		x, name = s.array(s.g.NumDst(), shape...), "V"
		return V(x).Mul(c.Tanh()), x, name
	case 2:
		x, name = s.array(s.g.NumEdges(), shape...), "E"
		return E(x).Sub(E(x).Mul(c.Sigmoid())), x, name
	case 3:
		x, name = s.array(2, 3), "W"
		return W(x).Mul(c.Tanh()), x, name
	case 4:
		x, name = s.array(n, 4, 3), "Pick"
		return U(x).Pick(s.kinds(4)).Mul(c.Tanh()), x, name
	case 5:
		x, name = s.array(n, shape...), "Dropout"
		return U(x).Dropout(s.tape, 0.4).Scale(0.7), x, name
	case 6:
		x, name = s.array(n, shape...), "Sample"
		drawn, _ := weight.Sample(s.tape)
		return U(x).Mul(drawn), x, name
	case 7:
		x, name = s.array(n, shape...), "attention"
		return U(x).Mul(weight.LeakyReLU(0.2).Softmax().Dropout(s.tape, 0.4)), x, name
	}
	x, name = s.array(n, shape...), "Dot"
	return U(x).Dot(c.Tanh().Add(W(s.array(2, 3)))), x, name
}

// TestPropertyAdjoint finds that ⟨Ax, y⟩ = ⟨x, Aᵀy⟩ of messages A that are linear.
func TestPropertyAdjoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		defer func() { rules.TilesOnly = false }()
		rules.TilesOnly = rapid.Bool().Draw(t, "tiles only")
		s, c := sown(t, anyGraph(t))
		m, x, name := s.linear(c)
		y := UpdateAll(s.g, m, rapid.SampledFrom([]Reducer{Sum, Mean}).Draw(t, "reducer"))
		z := tensor.New(y.Shape()...)
		z.Normal(s.Rand, 0, 1)
		there, back, scale := 0.0, 0.0, 1.0
		for i, v := range y.Value().Data {
			there += float64(v) * float64(z.Data[i])
			scale += math.Abs(float64(v) * float64(z.Data[i]))
		}
		for i, d := range s.tape.Backward(y.Mul(grad.Const(z)).Sum()).Of(x).Data {
			back += float64(d) * float64(x.Value().Data[i])
			scale += math.Abs(float64(d) * float64(x.Value().Data[i]))
		}
		tol := 1e-5
		if gradtest.Sharp {
			tol = 1e-12
		}
		if d := math.Abs(there - back); !(d <= tol*scale) {
			t.Fatalf("%s: ⟨Ax, y⟩ is %v, ⟨x, Aᵀy⟩ %v\n%s", name, there, back, Explain(s.g, m))
		}
	})
}

// recognised returns a message that has a rule, and its reducers: none if it
// stays on the edges.
func (s *sprout) recognised() (m Msg, rs []Reducer) {
	heads, width := 1+s.IntN(3), 1+s.IntN(6)
	n, d, e := s.g.NumSrc(), s.g.NumDst(), s.g.NumEdges()
	x := U(s.array(n, heads, width))
	sum := []Reducer{Sum}
	switch s.IntN(6) {
	case 0:
		return x, []Reducer{[]Reducer{Sum, Mean, Max, Min}[s.IntN(4)]}
	case 1:
		return x.Mul(E(s.array(e, heads, 1))), sum
	case 2:
		return x.Dot(V(s.array(d, heads, width))), nil
	case 3:
		return E(s.array(e, heads)).Softmax(), nil
	}
	logit := U(s.array(n, heads, 1)).Add(V(s.array(d, heads, 1)))
	if s.IntN(2) == 0 {
		logit = logit.Add(E(s.array(e, heads, 1)))
	}
	a := logit.LeakyReLU(0.2).Softmax()
	if s.IntN(2) == 0 {
		a = a.Dropout(s.tape, 0.4)
	}
	if s.IntN(2) == 0 {
		a = a.Mul(E(s.array(e, heads, 1)))
	}
	return x.Mul(a), sum
}

// done returns the result of a message and then the gradients of the sum of its
// squares by all of its leaves.
func done(s *sprout, m Msg, rs []Reducer) (out [][]tensor.Float) {
	var y *grad.Var
	if rs == nil {
		y = ApplyEdges(s.g, m)
	} else {
		y = UpdateAll(s.g, m, rs...)
	}
	out = append(out, y.Value().Data)
	if y.Needs() {
		gs := s.tape.Backward(y.Mul(y).Sum())
		for _, x := range s.made {
			out = append(out, gs.Of(x).Data)
		}
	}
	return out
}

// truth is what the formula says of what done returns.
func (s *sprout) truth(m Msg, rs []Reducer) [][]rounding.Result {
	r := Reference(s.g, m, nil)
	y := r.Edges()
	if rs != nil {
		y = r.Reduced(reducers[rs[0]])
	}
	dy := r.Results(y)
	for i, v := range dy {
		dy[i] = rounding.Result{Value: 2 * v.Value, Bound: 2 * v.Bound}
	}
	gradients, out := r.Gradients(y, dy), [][]rounding.Result{r.Results(y)}
	for _, x := range s.made {
		out = append(out, gradients(r.Of(x.Value().Data)))
	}
	return out
}

// TestPropertyRules holds what has a rule, by its rule and in tiles of any size, against its
// formula.
func TestPropertyRules(t *testing.T) {
	known := 0
	rapid.Check(t, func(t *rapid.T) {
		defer func() { rules.TilesOnly, exec.TileBytes = false, 32<<10 }()
		g, seed := anyGraph(t), rapid.Uint64().Draw(t, "expression")
		bytes := rapid.IntRange(8, 4096).Draw(t, "bytes of a tile")
		for i, way := range []string{"by its rule", "in tiles"} {
			rules.TilesOnly, exec.TileBytes = i != 0, []int{32 << 10, bytes}[i]
			s := &sprout{Rand: rand.New(rand.NewPCG(seed, 3)), g: g, tape: grad.NewTape(seed)}
			s.tape.Reset()
			m, rs := s.recognised()
			got, want := done(s, m, rs), s.truth(m, rs)
			for k := range got {
				if _, _, err := rounding.Largest(got[k], want[k]); err != nil {
					t.Fatalf("%s, array %d: %v\n%s", way, k, err, Explain(g, m, rs...))
				}
			}
			if isRule := strings.HasPrefix(Explain(g, m, rs...), "rule"); isRule {
				known++
			} else if i == 0 && !g.Bipartite() {
				t.Fatalf("no rule for\n%s", Explain(g, m, rs...))
			}
		}
	})
	if known == 0 {
		t.Error("no rule was found")
	}
}

// few lowers the number of cases of a property that is dear to check, if not sparing.Full.
func few(t *testing.T) {
	if f := goflag.Lookup("rapid.checks"); f != nil && f.Value.String() == f.DefValue && !sparing.Full() {
		t.Cleanup(func() { f.Value.Set(f.DefValue) })
		f.Value.Set("40")
	}
}

// TestPropertyThreads finds the same bits on one and three threads, by rules and in
// tiles of any size, of graphs with enough edges for all of them.
func TestPropertyThreads(t *testing.T) {
	few(t)
	rapid.Check(t, func(t *rapid.T) {
		defer func() { rules.TilesOnly, exec.TileBytes = false, 32<<10 }()
		seed, edges := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 3000).Draw(t, "edges")
		var want [2][][]tensor.Float // without rules, and with
		for _, threads := range []int{1, 3} {
			for k := range want {
				rules.TilesOnly = k != 1
				if rules.TilesOnly {
					exec.TileBytes = rapid.IntRange(8, 64<<10).Draw(t, "bytes of a tile")
				}
				rng := rand.New(rand.NewPCG(seed, 4))
				s := &sprout{Rand: rng, g: random.PowerLaw(rng, 40, edges, 0.75), tape: grad.NewTape(seed)}
				s.tape.Reset()
				m, rs := s.any()
				undo := par.SetThreads(threads)
				got := done(s, m, rs)
				undo()
				if threads == 1 {
					want[k] = got
					continue
				}
				for i := range got {
					compare.Bits(t, fmt.Sprintf("array %d on %d threads", i, threads), got[i], want[k][i])
				}
			}
		}
	})
}

// any returns a message of any form, and reducers for it.
func (s *sprout) any() (Msg, []Reducer) {
	switch s.IntN(4) {
	case 0:
		return s.recognised()
	case 1:
		drawn, logp := s.tree(2).SumLast().Sample(s.tape)
		return s.leaf().Mul(drawn).Add(logp), []Reducer{Sum}
	case 2:
		m, _, _ := s.linear(s.tree(2))
		return m, []Reducer{Mean, Max}
	}
	return s.tree(4), []Reducer{Sum, everyReducer[s.IntN(len(everyReducer))]}
}
