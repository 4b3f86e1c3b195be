package explain_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/explain"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// town is a graph with loops, features, and the weights of a convolution on all of it:
// 5 → 4 → 3 → 1 → 0, 2 → 0, 6 → 2, 3 → 2, 0 → 3, 7 → 5.
func town() (*graph.Graph, *tensor.Dense) {
	g := graph.WithSelfLoops(graph.Must(graph.New(8, []int32{1, 2, 3, 4, 5, 6, 3, 0, 7}, []int32{0, 0, 1, 3, 4, 2, 2, 3, 5})))
	x := tensor.New(8, 3)
	x.Uniform(rand.New(rand.NewPCG(5, 6)), -1, 1)
	return g, x
}

// gcn is two convolutions.
type gcn struct {
	whole *graph.Graph
	a, b  layers.GCNConv
}

func newGCN(g *graph.Graph) *gcn {
	n := &gcn{g, layers.GCNConv{In: 3, Out: 4, Norm: layers.NormNone, Activation: grad.ELU}, layers.GCNConv{In: 4, Out: 3, Norm: layers.NormNone}}
	rng := rand.New(rand.NewPCG(1, 2))
	n.a.Init(rng)
	n.b.Init(rng)
	return n
}

func (n *gcn) model(t *grad.Tape, g *graph.Graph, x, weight *grad.Var) *grad.Var {
	w := layers.SymmetricWeights(n.whole, nil)
	if g != n.whole {
		w = w.Rows(g.From().Edges)
	}
	if weight != nil {
		w = w.Mul(weight)
	}
	return n.b.Apply(t, g, layers.In{Src: n.a.Apply(t, g, layers.In{Src: x, Weight: w}).Y, Weight: w}).Y
}

func caseOf(t *testing.T, node int32) (*explain.Case, *gcn) {
	t.Helper()
	g, x := town()
	n := newGCN(g)
	c, err := explain.New(n.model, g, x, explain.Node{Number: node, Hops: 2})
	if err != nil {
		t.Fatal(err)
	}
	return c, n
}

// ends names an edge of the case by the nodes of the whole graph.
func ends(c *explain.Case, e int32) [2]int32 {
	nodes := c.Graph.From().Src
	return [2]int32{nodes[c.Graph.In().Cols[e]], nodes[c.Graph.Destinations()[e]]}
}

// A case is what the class depends on, and gives the class of the whole graph.
func TestCase(t *testing.T) {
	c, n := caseOf(t, 0)
	var got [][2]int32
	for _, e := range c.Edges() {
		got = append(got, ends(c, e))
	}
	if want := [][2]int32{{1, 0}, {2, 0}, {3, 1}, {6, 2}, {3, 2}}; !slices.Equal(got, want) {
		t.Errorf("the edges that count are %v, want %v", got, want) // not 0 → 3, which is too far
	}
	g := n.whole
	_, x := town()
	logits := n.model(nil, g, grad.Const(x), nil).Value().Row(0)
	sum, best := 0.0, slices.Index(logits, slices.Max(logits))
	for _, v := range logits {
		sum += math.Exp(float64(v - logits[best]))
	}
	if c.Class != best || math.Abs(c.Probability()-1/sum) > 1e-6 {
		t.Errorf("class %d of probability %v, want %d of %v", c.Class, c.Probability(), best, 1/sum)
	}
	sparseCase, err := explain.New(n.model, g, csr(x), explain.Node{Number: 0, Hops: 2})
	if err != nil || !slices.Equal(sparseCase.Features.Data, c.Features.Data) {
		t.Errorf("sparse features: %v, %v", sparseCase, err)
	}
}

// csr is x as a sparse matrix.
func csr(x *tensor.Dense) *sparse.CSR {
	a := &sparse.CSR{Offsets: []int64{0}, NumRows: x.Rows(), NumCols: x.RowLen()}
	for i := range x.Rows() {
		for j, v := range x.Row(i) {
			a.Cols, a.Values = append(a.Cols, int32(j)), append(a.Values, v)
		}
		a.Offsets = append(a.Offsets, int64(len(a.Cols)))
	}
	return a
}

func TestErrors(t *testing.T) {
	g, x := town()
	model := newGCN(g).model
	bad := func(*grad.Tape, *graph.Graph, *grad.Var, *grad.Var) *grad.Var {
		return grad.Const(tensor.Of([]tensor.Float{0, tensor.Float(math.NaN())}, 1, 2))
	}
	tests := []struct {
		model explain.Model
		x     tensor.Array
		at    explain.Node
		want  string
	}{
		{model, x, explain.Node{Number: 8, Hops: 2}, "there is no node 8: the graph has the nodes 0 to 7"},
		{model, x, explain.Node{Number: -1, Hops: 2}, "there is no node -1"},
		{model, x, explain.Node{Hops: -1}, "-1 hops"},
		{bad, x, explain.Node{}, "logit 1 of node 0 is NaN"},
	}
	for _, tt := range tests {
		if _, err := explain.New(tt.model, g, tt.x, tt.at); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want %q", tt.at, err, tt.want)
		}
	}
}

// logit is that of the case's class with other features and weights.
func logit(c *explain.Case, x, w *tensor.Dense) float64 {
	return float64(c.Model(nil, c.Graph, grad.Const(x), grad.Const(w)).Value().Row(0)[c.Class])
}

func ones(c *explain.Case) *tensor.Dense {
	w := tensor.New(c.Graph.NumEdges(), 1)
	w.Fill(1)
	return w
}

// Saliency is what a small change of each feature and each edge changes.
func TestSaliency(t *testing.T) {
	c, _ := caseOf(t, 0)
	e := c.Saliency()
	h, tol := 1e-2, 2e-3
	if gradtest.Sharp {
		h, tol = 1e-5, 1e-7
	}
	change := func(a *tensor.Dense, i int, x, w *tensor.Dense) float64 {
		old := a.Data[i]
		a.Data[i] = old + tensor.Float(h)
		up := logit(c, x, w)
		a.Data[i] = old - tensor.Float(h)
		down := logit(c, x, w)
		a.Data[i] = old
		return (up - down) / (2 * h)
	}
	x, w := c.Features.Clone(), ones(c)
	columns := make([]float64, 3)
	for i := range x.Data {
		want := change(x, i, x, w) * float64(x.Data[i])
		if columns[i%3] += want; math.Abs(float64(e.Each.Data[i])-want) > tol {
			t.Errorf("feature %d: %v, want %v", i, e.Each.Data[i], want)
		}
	}
	for edge := range w.Data {
		want := 0.0
		if slices.Contains(c.Edges(), int32(edge)) {
			want = change(w, edge, x, w)
		}
		if math.Abs(e.Edges[edge]-want) > tol {
			t.Errorf("edge %v: %v, want %v", ends(c, int32(edge)), e.Edges[edge], want)
		}
	}
	compare.Near(t, "columns", e.Features, columns, compare.Off(10*tol, 0))
}

// Integrated gradients add up: of features to what they change, of edges too.
func TestCompleteness(t *testing.T) {
	for node := range int32(8) {
		c, _ := caseOf(t, node)
		e := c.Integrated(0)
		whole := logit(c, c.Features, ones(c))
		none := ones(c)
		for _, edge := range c.Edges() {
			none.Data[edge] = 0
		}
		features, edges := 0.0, 0.0
		for _, v := range e.Each.Data {
			features += float64(v)
		}
		for _, v := range e.Edges {
			edges += v
		}
		const tol = 2e-4 // of 64 steps
		if want := whole - logit(c, c.Features.Like(), ones(c)); math.Abs(features-want) > tol {
			t.Errorf("node %d: the features add up to %v, want %v", node, features, want)
		}
		if want := whole - logit(c, c.Features, none); math.Abs(edges-want) > tol {
			t.Errorf("node %d: the edges add up to %v, want %v", node, edges, want)
		}
		if rough := c.Integrated(1); !(e.Gap <= tol) || len(c.Edges()) > 0 && !(rough.Gap > e.Gap) {
			t.Errorf("node %d: the gap is %v, and %v with one step", node, e.Gap, rough.Gap)
		}
	}
}

// A linear model's integrated gradients are its terms, whatever the steps.
func TestIntegratedLinear(t *testing.T) {
	g := graph.Must(graph.New(3, []int32{1, 2}, []int32{0, 0}))
	x := tensor.Of([]tensor.Float{0, 0, 2, 0, 3, 0}, 3, 2)
	model := func(t *grad.Tape, g *graph.Graph, x, w *grad.Var) *grad.Var {
		m := message.U(x)
		if w != nil {
			m = m.Mul(message.E(w))
		}
		return message.UpdateAll(g, m, message.Sum)
	}
	c, err := explain.New(model, g, x, explain.Node{Hops: 1})
	if err != nil {
		t.Fatal(err)
	}
	e := c.Integrated(1)
	if !slices.Equal(e.Edges, []float64{2, 3}) || !slices.Equal(e.Features, []float64{5, 0}) || e.Gap != 0 {
		t.Errorf("got %+v", e)
	}
	c.Class = 1
	if e := c.Integrated(1); !slices.Equal(e.Edges, []float64{0, 0}) {
		t.Errorf("of the other class: %+v", e)
	}
}

// Attention is the mean over heads and layers, without self-loops.
func TestAttention(t *testing.T) {
	c, _ := caseOf(t, 0)
	n := c.Graph.NumEdges()
	a, b := tensor.New(n, 2, 1), tensor.New(n, 1)
	for i := range n {
		a.Row(i)[0], a.Row(i)[1], b.Data[i] = tensor.Float(i), 2, 5
	}
	e := c.Attention(a, b)
	for i := range n {
		want := 0.0
		if slices.Contains(c.Edges(), int32(i)) {
			want = ((float64(i)+2)/2 + 5) / 2
		}
		if e.Edges[i] != want {
			t.Errorf("edge %d: %v, want %v", i, e.Edges[i], want)
		}
	}
	if err := tensor.Try(func() { c.Attention(tensor.New(n+1, 1)) }); err == nil {
		t.Error("rows of other edges are taken")
	}
	if err := tensor.Try(func() { c.Attention() }); err == nil {
		t.Error("no layers are taken")
	}
}

// Fidelity is probabilities with and without the best, as the loop has them.
func TestFidelity(t *testing.T) {
	c, _ := caseOf(t, 0)
	e := c.Integrated(0)
	probability := func(x, w *tensor.Dense) float64 {
		row := c.Model(nil, c.Graph, grad.Const(x), grad.Const(w)).Value().Row(0)
		sum := 0.0
		for _, v := range row {
			sum += math.Exp(float64(v))
		}
		return math.Exp(float64(row[c.Class])) / sum
	}
	best, column := e.TopEdges(2), e.TopFeatures(1)[0]
	for _, edge := range c.Edges() {
		if !slices.Contains(best, edge) && e.Edges[edge] > e.Edges[best[1]] {
			t.Errorf("edge %d is better than the second best", edge)
		}
	}
	without, alone, less, only := ones(c), ones(c), c.Features.Clone(), c.Features.Clone()
	for _, edge := range c.Edges() {
		if slices.Contains(best, edge) {
			without.Data[edge] = 0
		} else {
			alone.Data[edge] = 0
		}
	}
	for i := range less.Data {
		if int32(i%3) == column {
			less.Data[i] = 0
		} else {
			only.Data[i] = 0
		}
	}
	all := probability(c.Features, ones(c))
	tests := []struct {
		part explain.Part
		want explain.Fidelity
	}{
		{explain.Part{Edges: 2}, explain.Fidelity{Probability: all, Plus: all - probability(c.Features, without), Minus: all - probability(c.Features, alone), Sparsity: 0.6}},
		{explain.Part{Features: 1}, explain.Fidelity{Probability: all, Plus: all - probability(less, ones(c)), Minus: all - probability(only, ones(c)), Sparsity: 1}},
		{explain.Part{Edges: 2, Features: 1}, explain.Fidelity{Probability: all, Plus: all - probability(less, without), Minus: all - probability(only, alone), Sparsity: 0.6}},
		{explain.Part{}, explain.Fidelity{Probability: all, Sparsity: 1}},
	}
	for _, tt := range tests {
		got := c.Fidelity(e, tt.part)
		for i, d := range []float64{got.Probability - tt.want.Probability, got.Plus - tt.want.Plus, got.Minus - tt.want.Minus, got.Sparsity - tt.want.Sparsity} {
			if math.Abs(d) > 1e-5 {
				t.Errorf("%+v: got %+v, want %+v (number %d)", tt.part, got, tt.want, i)
			}
		}
	}
}

// Whether the class flips and holds is by the likeliest class: a node's class here is that of the sum
// of what comes in and a bias of its own.
func TestFidelityOfClasses(t *testing.T) {
	g := graph.Must(graph.New(3, []int32{1, 2}, []int32{0, 0}))
	x := tensor.Of([]tensor.Float{0.4, 0, 0, 1, 0.5, 0}, 3, 2) // node 1 speaks for class 1, node 2 for class 0
	c, err := explain.New(func(t *grad.Tape, g *graph.Graph, x, w *grad.Var) *grad.Var {
		m := message.U(x)
		if w != nil {
			m = m.Mul(message.E(w))
		}
		return x.Add(message.UpdateAll(g, m, message.Sum))
	}, g, x, explain.Node{Hops: 1})
	if err != nil || c.Class != 1 {
		t.Fatal(c, err)
	}
	at := func(u int32) int { // the edge from a node of the whole graph
		return slices.IndexFunc(c.Graph.In().Cols, func(s int32) bool { return c.Graph.From().Src[s] == u })
	}
	for _, tt := range []struct {
		best         int32
		class        int
		flips, holds bool
	}{{1, 1, true, true}, {2, 1, false, false}, {2, 0, true, true}} {
		c.Class = tt.class
		e := c.Saliency()
		clear(e.Edges)
		e.Edges[at(tt.best)] = 1
		if f := c.Fidelity(e, explain.Part{Edges: 1}); f.Flips != tt.flips || f.Holds != tt.holds {
			t.Errorf("edge from %d, class %d: flips %v, holds %v", tt.best, tt.class, f.Flips, f.Holds)
		}
	}
}

// Both ways of an edge have the mean of their scores, and one without a way back its own.
func TestUndirected(t *testing.T) {
	g := graph.Must(graph.New(3, []int32{1, 2, 1, 2}, []int32{0, 0, 2, 1}))
	c, err := explain.New(func(t *grad.Tape, g *graph.Graph, x, w *grad.Var) *grad.Var { return x }, g, tensor.New(3, 2), explain.Node{Hops: 2})
	if err != nil {
		t.Fatal(err)
	}
	e := c.Saliency()
	copy(e.Edges, []float64{1, 2, 3, 7}) // 1 → 0, 2 → 0, 2 → 1, 1 → 2
	if got := c.Undirected(e); !slices.Equal(got.Edges, []float64{1, 2, 5, 5}) || e.Edges[3] != 7 {
		t.Errorf("got %v of %v", got.Edges, e.Edges)
	}
}
