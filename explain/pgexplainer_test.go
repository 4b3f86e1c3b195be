package explain

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// learntOf is what some model has learnt of n nodes.
func learntOf(n, width int) *tensor.Dense {
	z := tensor.New(n, width)
	z.Uniform(rand.New(rand.NewPCG(2, 3)), -1, 1)
	return z
}

// The loss is the published one, term by term, and its gradients are those of the Params.
func TestPGLoss(t *testing.T) {
	g := graph.Must(graph.New(5, []int32{1, 2, 3, 4, 0}, []int32{0, 0, 1, 2, 0}))
	x := tensor.New(5, 3)
	x.Uniform(rand.New(rand.NewPCG(1, 1)), 0.1, 1)
	node := sumsCase(t)
	link, err := NewLink(sums, g, x, 2, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := NewGraph(sums, g, x)
	if err != nil {
		t.Fatal(err)
	}
	z := learntOf(5, 2)
	for i, c := range []*Case{node, link, whole} {
		l := &PGExplainer{Hidden: 3, EdgeSize: 0.3, EdgeEntropy: 0.2}
		if i == 0 {
			l.EdgeSize, l.EdgeEntropy = 0, grad.Zero
		}
		l.init(rand.New(rand.NewPCG(4, uint64(i))), z)
		l.B1.Value.Uniform(rand.New(rand.NewPCG(4, 5)), -1, 1)
		l.B2.Value.Fill(0.3)
		drawn := noise(rand.New(rand.NewPCG(6, 7)), len(c.open))
		const heat = 1.7
		got, want := float64(l.loss(nil, c, drawn, heat).Value().Data[0]), pgLossByHand(l, c, drawn, heat)
		if math.Abs(got-want) > 1e-5 {
			t.Errorf("case %d: the loss is %v, want %v", i, got, want)
		}
		gradtest.Check(t, l, func(t *grad.Tape) *grad.Var { return l.loss(t, c, drawn, heat) })
	}
}

// pgLossByHand is the loss with loops.
func pgLossByHand(l *PGExplainer, c *Case, noise *tensor.Dense, heat float64) float64 {
	width, nodes := l.z.RowLen(), c.Graph.From().Src
	mean := make([]float64, width)
	for _, v := range c.about {
		for j := range mean {
			mean[j] += float64(l.z.Row(int(nodes[v]))[j]) / float64(len(c.about))
		}
	}
	w, size, entropy := c.weights(1), 0.0, 0.0
	for i, e := range c.open {
		u, v := nodes[c.Graph.In().Cols[e]], nodes[c.Graph.Destinations()[e]]
		in := append([]float64(nil), mean...)
		for j := width - 1; j >= 0; j-- {
			in = slices.Insert(in, 0, float64(l.z.Row(int(v))[j]))
		}
		for j := width - 1; j >= 0; j-- {
			in = slices.Insert(in, 0, float64(l.z.Row(int(u))[j]))
		}
		omega := float64(l.B2.Value.Data[0])
		for k := range l.Hidden {
			h := float64(l.B1.Value.Data[k])
			for j, x := range in {
				h += x * float64(l.W1.Value.Row(j)[k])
			}
			omega += max(0, h) * float64(l.W2.Value.Data[k])
		}
		p := 1 / (1 + math.Exp(-(float64(noise.Data[i])+omega)/heat))
		w.Data[e] = tensor.Float(p)
		size += p
		entropy -= (p*math.Log(p) + (1-p)*math.Log(1-p)) / float64(len(c.open))
	}
	return grad.Preset(l.EdgeSize, 0.05)*size + grad.Preset(l.EdgeEntropy, 1)*entropy - math.Log(c.probability(c.Features, w))
}

// stars is a graph of stars of two leaves: what the first leaf says is the centre's class,
// and the second has nothing to say.
func stars(n int) (g *graph.Graph, x *tensor.Dense, model Model) {
	var src, dst []int32
	x = tensor.New(3*n, 2)
	for i := range int32(n) {
		src, dst = append(src, 3*i+1, 3*i+2), append(dst, 3*i, 3*i)
		x.Row(int(3*i) + 1)[0] = 4
		x.Row(int(3*i) + 2)[1] = 1
	}
	return graph.Must(graph.New(3*n, src, dst)), x, func(_ *grad.Tape, g *graph.Graph, x, w *grad.Var) *grad.Var {
		m := message.U(x)
		if w != nil {
			m = m.Mul(message.E(w))
		}
		return message.UpdateAll(g, m, message.Sum).Mul(grad.Const(tensor.Of([]tensor.Float{1, 0.1}, 1, 2)))
	}
}

// What was learnt of some nodes explains others, and the seed fixes all.
func TestPGExplainer(t *testing.T) {
	g, x, model := stars(6)
	var cases []*Case
	for i := range int32(6) {
		c, err := New(model, g, x, Node{Number: 3 * i, Hops: 1})
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	l := &PGExplainer{LR: 0.02, Epochs: 40}
	if err := l.Fit(x, cases[:4]); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		if e := l.Explain(c); !(e.Edges[0] > 1.4 && e.Edges[1] < -1.4) || e.Features != nil {
			t.Errorf("star %d: %+v", i, e)
		}
	}
	first := l.Explain(cases[5]).Edges
	for _, seed := range []uint64{0, 1} {
		l.Seed = seed
		if err := l.Fit(x, cases[:4]); err != nil {
			t.Fatal(err)
		}
		if same := slices.Equal(l.Explain(cases[5]).Edges, first); same != (seed == 0) {
			t.Errorf("seed %d: the same scores: %v", seed, same)
		}
	}
}

// A model with Params stays as it is, and cases without edges are no error beside others.
func TestPGExplainerErrors(t *testing.T) {
	g, x, _ := stars(2)
	w := grad.NewParam(2, 2)
	w.Value.Uniform(rand.New(rand.NewPCG(1, 1)), -1, 1)
	before := w.Value.Clone()
	model := func(t *grad.Tape, g *graph.Graph, x, weight *grad.Var) *grad.Var {
		m := message.U(x.MatMul(t.Use(w)))
		if weight != nil {
			m = m.Mul(message.E(weight))
		}
		return message.UpdateAll(g, m, message.Sum)
	}
	var cases []*Case
	for _, v := range []int32{0, 1, 3} {
		c, err := New(model, g, x, Node{Number: v, Hops: 1})
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	l := new(PGExplainer)
	func() {
		defer func() {
			if err, ok := recover().(*grad.TapeError); !ok || !strings.Contains(err.Error(), "was Fit called?") {
				t.Errorf("panic %v", err)
			}
		}()
		l.Explain(cases[0])
	}()
	if err := l.Fit(x, cases[1:2]); err == nil || !strings.Contains(err.Error(), "in 1 cases there is no edge to learn from") {
		t.Errorf("error %v", err)
	}
	for want, f := range map[string]func(){
		"case 2 has the node 4, and z 4 rows":         func() { _ = l.Fit(x.RowRange(0, 4), cases) },
		"explain.PGExplainer: Hidden is -1":           func() { _ = (&PGExplainer{Hidden: -1}).Fit(x, cases) },
		"explain.PGExplainer: LR is NaN":              func() { _ = (&PGExplainer{LR: math.NaN()}).Fit(x, cases) },
		"explain.GNNExplainer: Steps is -1":           func() { (&GNNExplainer{Steps: -1}).Explain(cases[0]) },
		"explain.Case.Integrated: steps is -1":        func() { cases[0].Integrated(-1) },
		"is none of this Case":                        func() { cases[0].Fidelity(&Explanation{Edges: make([]float64, 99)}, Part{}) },
		"explain.Case.Undirected: the Explanation is": func() { cases[0].Undirected(nil) },
		"the attention of a layer is nil":             func() { cases[0].Attention(nil) },
		"the model, the graph or the features are":    func() { _, _ = New(nil, g, x, Node{}) },
		"the features have 4 rows, and the graph":     func() { _, _ = NewGraph(model, g, x.RowRange(0, 4)) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := l.Fit(x, cases); err != nil {
		t.Fatal(err)
	}
	if e := l.Explain(cases[1]); len(e.TopEdges(3)) != 0 {
		t.Errorf("node 1 hears %v", e.Edges)
	}
	if !slices.Equal(w.Value.Data, before.Data) {
		t.Error("explaining trains the model")
	}
}

// A link depends on what is near either end, a graph on all of it.
func TestQuestions(t *testing.T) {
	// 5 → 4 → 3 → 1, 2 → 0, 6 → 2, and a loop at 0
	g := graph.Must(graph.New(7, []int32{3, 4, 5, 2, 6, 0}, []int32{1, 3, 4, 0, 2, 0}))
	x := learntOf(7, 2)
	score := func(t *grad.Tape, g *graph.Graph, x, w *grad.Var) *grad.Var { // of nodes 0 and 1, as two logits
		y := sums(t, g, x, w)
		return grad.Concat(grad.Const(tensor.New(1, 1)), y.Rows([]int32{0}).Dot(y.Rows([]int32{1})))
	}
	c, err := NewLink(score, g, x, 1, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	pairs := func(c *Case) (list [][2]int32) {
		for _, e := range c.Edges() {
			list = append(list, [2]int32{c.number(c.Graph.In().Cols[e]), c.number(c.Graph.Destinations()[e])})
		}
		slices.SortFunc(list, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
		return list
	}
	if got, want := pairs(c), [][2]int32{{2, 0}, {3, 1}, {4, 3}, {6, 2}}; !slices.Equal(got, want) || c.number(0) != 1 || c.number(1) != 0 {
		t.Errorf("the link depends on %v, want %v", got, want)
	}
	whole := sums(nil, g, grad.Const(x), nil).Value()
	z := 0.0
	for j := range 2 {
		z += float64(whole.Row(0)[j]) * float64(whole.Row(1)[j])
	}
	class := 0
	if z > 0 {
		class = 1
	}
	if want := 1 / (1 + math.Exp(-math.Abs(z))); c.Class != class || math.Abs(c.Probability()-want) > 1e-5 {
		t.Errorf("class %d of probability %v, want %d of %v", c.Class, c.Probability(), class, want)
	}
	read := func(t *grad.Tape, g *graph.Graph, x, w *grad.Var) *grad.Var {
		return message.Readout(g, sums(t, g, x, w), message.Sum)
	}
	all, err := NewGraph(read, g, x)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := pairs(all), [][2]int32{{2, 0}, {3, 1}, {4, 3}, {5, 4}, {6, 2}}; !slices.Equal(got, want) {
		t.Errorf("the graph depends on %v, want %v", got, want)
	}
	e := all.Integrated(0)
	if !(e.Gap < 1e-3) || len(e.Edges) != 6 || e.Edges[slices.Index(all.Graph.In().Cols, 5)] == 0 {
		t.Errorf("%+v", e)
	}
	for what, err := range map[string]error{
		"there is no node 7": second(NewLink(score, g, x, 0, 7, 2)),
		"seed 1":             second(NewLink(score, g, x, 3, 3, 2)),
	} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("error %v, want %q", err, what)
		}
	}
}

func second(_ *Case, err error) error { return err }

// The temperature falls from Hot to Cold. Scores that are 0 and learn nothing leave (log ε − log(1−ε))/τ of
// the logits of an edge's share, whose mean size is that of an epoch's draws over τ.
func TestPGExplainerCools(t *testing.T) {
	const edges, epochs = 400, 20
	var src, dst []int32
	for i := range int32(edges) {
		src, dst = append(src, i), append(dst, edges)
	}
	var sizes []float64
	model := func(tp *grad.Tape, g *graph.Graph, x, w *grad.Var) *grad.Var {
		if tp.Recording() {
			size := 0.0
			for _, s := range w.Value().Data {
				size += math.Abs(math.Log(float64(s) / (1 - float64(s))))
			}
			sizes = append(sizes, size/edges)
		}
		return sums(tp, g, x, w)
	}
	x := tensor.New(edges+1, 3)
	x.Uniform(rand.New(rand.NewPCG(1, 1)), 0.1, 1)
	c, err := NewGraph(model, graph.Must(graph.New(edges+1, src, dst)), x)
	if err != nil {
		t.Fatal(err)
	}
	l := &PGExplainer{Epochs: epochs, LR: 1e-12, Hidden: 2, Hot: 4, Cold: 1}
	if err := l.Fit(tensor.New(edges+1, 2), []*Case{c}); err != nil {
		t.Fatal(err)
	}
	if len(sizes) != epochs {
		t.Fatalf("the model ran %d times in %d epochs", len(sizes), epochs)
	}
	// The mean of |log ε − log(1−ε)| over ε from 0.01 to 0.99, and the deviation of one draw from it.
	const mean, deviation = 1.3003, 1.0028
	for k, got := range sizes {
		heat := 4 * math.Pow(0.25, float64(k)/epochs)
		if math.Abs(got*heat-mean) > 5*deviation/math.Sqrt(edges) {
			t.Errorf("epoch %d: the mean size of a logit is %v, want %v", k, got, mean/heat)
		}
	}
}
