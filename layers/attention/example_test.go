package attention_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// One expression is every form that differs by who may look at whom. Here all rows are
// alike, so that each looks evenly at what it may see.
func ExampleSoft() {
	look := &attention.Soft{Score: attention.ScaledDot{}}
	x := grad.Const(tensor.New(5, 2))
	masked := graph.Must(graph.New(5, []int32{0, 2, 4, 0, 1}, []int32{0, 0, 0, 3, 3})) // any list of pairs

	for _, form := range []struct {
		name string
		g    *graph.Graph
	}{
		{"all", graph.Complete(5)}, {"causal", graph.Causal(5)}, {"local", graph.Band(5, 1)},
		{"a causal band", graph.CausalBand(5, 1)}, {"masked", masked},
	} {
		out := look.Apply(grad.NewEval(), form.g, layers.In{Src: x})
		fmt.Println(form.name)
		fmt.Print(table(form.g, out.Attention))
	}
	// Output:
	// all
	// 0.20 0.20 0.20 0.20 0.20
	// 0.20 0.20 0.20 0.20 0.20
	// 0.20 0.20 0.20 0.20 0.20
	// 0.20 0.20 0.20 0.20 0.20
	// 0.20 0.20 0.20 0.20 0.20
	// causal
	// 1.00  .    .    .    .
	// 0.50 0.50  .    .    .
	// 0.33 0.33 0.33  .    .
	// 0.25 0.25 0.25 0.25  .
	// 0.20 0.20 0.20 0.20 0.20
	// local
	// 0.50 0.50  .    .    .
	// 0.33 0.33 0.33  .    .
	//  .   0.33 0.33 0.33  .
	//  .    .   0.33 0.33 0.33
	//  .    .    .   0.50 0.50
	// a causal band
	// 1.00  .    .    .    .
	// 0.50 0.50  .    .    .
	//  .   0.50 0.50  .    .
	//  .    .   0.50 0.50  .
	//  .    .    .   0.50 0.50
	// masked
	// 0.33  .   0.33  .   0.33
	//  .    .    .    .    .
	//  .    .    .    .    .
	// 0.50 0.50  .    .    .
	//  .    .    .    .    .
}

// table shows weights, a row a query.
func table(g *graph.Graph, alpha message.Msg) string {
	w, out := message.ApplyEdges(g, alpha).Value(), ""
	for v := range g.NumDst() {
		row := make([]string, g.NumSrc())
		for u := range row {
			row[u] = " .  "
		}
		for e, u := range g.Sources(v) {
			row[u] = fmt.Sprintf("%.2f", w.Data[e])
		}
		out += strings.TrimRight(strings.Join(row, " "), " ") + "\n"
	}
	return out
}

// Keys are compared with the query, and values are read: a table that is looked up softly,
// by two queries at a time.
func ExampleSoft_Read() {
	keys := rows([]float64{1, 0}, []float64{0, 1}, []float64{-1, 0})
	values := rows([]float64{10}, []float64{20}, []float64{30})
	queries := rows([]float64{9, 0}, []float64{0, 0})

	look := &attention.Soft{Score: attention.Dot{}}
	g := graph.CompleteBipartite(3, 2) // three keys, two queries
	out := look.Read(grad.NewEval(), g, layers.In{Src: keys, Dst: queries}, values)
	fmt.Printf("%.1f\n", out.Y.Value().Data)
	fmt.Print(table(g, out.Attention))
	// Output:
	// [10.0 20.0]
	// 1.00 0.00 0.00
	// 0.33 0.33 0.33
}

// rows are constants, a row each.
func rows(rows ...[]float64) *grad.Var {
	x := tensor.New(len(rows), len(rows[0]))
	for i, row := range rows {
		for j, v := range row {
			x.Row(i)[j] = tensor.Float(v)
		}
	}
	return grad.Const(x)
}

// The same scores weighed in other ways.
func ExampleWeighing() {
	scores := rows([]float64{2}, []float64{1.5}, []float64{0}, []float64{-3})
	g := graph.CompleteBipartite(4, 1)
	for _, w := range []attention.Weighing{
		{}, {By: attention.Smoothing}, {By: attention.Sparsemax}, {By: attention.Threshold, Least: 0.1},
		{By: attention.TopK, K: 1}, {By: attention.Hardmax}, {By: attention.Gating},
	} {
		fmt.Printf("%-10s%s", w.By, table(g, w.Of(message.U(scores))))
	}
	// Output:
	//           0.57 0.35 0.08 0.00
	// smoothing 0.39 0.36 0.22 0.02
	// sparsemax 0.75 0.25 0.00 0.00
	// threshold 0.62 0.38 0.00 0.00
	// topk      1.00 0.00 0.00 0.00
	// hardmax   1.00 0.00 0.00 0.00
	// gating    0.88 0.82 0.50 0.05
}

// A pool reads each sentence of a batch, or each graph of one, into a row.
func ExampleAttentionPool() {
	pool := &attention.AttentionPool{Score: &attention.Additive{Key: 2, Query: 3, Hidden: 4}, Query: 3}
	pool.Init(rand.New(rand.NewPCG(1, 1)))

	g := graph.Chains(3, 0, 2) // three words, none, two words
	x := rows([]float64{1, 0}, []float64{1, 0}, []float64{1, 0}, []float64{2, 2}, []float64{2, 2})
	y := pool.Apply(grad.NewEval(), graph.Membership(g), layers.In{Src: x}).Y.Value()
	for i := range 3 {
		fmt.Printf("%.0f\n", y.Row(i))
	}
	// Output:
	// [1 0]
	// [0 0]
	// [2 2]
}

// A query that draws a key learns from how good the draw was.
func ExampleHardAttention() {
	hard := &attention.HardAttention{Score: attention.Dot{}}
	g, baseline := graph.CompleteBipartite(3, 4), &attention.Baseline{}
	keys, queries := rows([]float64{1, 0}, []float64{0, 1}, []float64{1, 1}), grad.Const(tensor.New(4, 2))
	values := rows([]float64{1, 0}, []float64{0, 2}, []float64{0, 0})

	t := grad.NewTape(1)
	c := hard.Read(t, g, layers.In{Src: keys, Dst: t.Watch(queries.Value())}, values)
	each := grad.CrossEntropy{Reduction: grad.EachLoss}.Of(c.Y, []int32{0, 0, 0, 0})
	loss := each.Mean().Add(c.LogP.Reinforce(baseline.Advantage(each)))
	t.Backward(loss)
	fmt.Printf("log p of each draw %.2f, entropy %.2f\n", c.LogP.Value().Data, c.Entropy().Value().Data[0])

	c = hard.Read(grad.NewEval(), g, layers.In{Src: keys, Dst: queries}, values)
	fmt.Print(table(g, c.Attention)) // evaluated, the likeliest; of equals the lowest
	// Output:
	// log p of each draw [-1.10 -1.10 -1.10 -1.10], entropy 1.10
	// 1.00 0.00 0.00
	// 1.00 0.00 0.00
	// 1.00 0.00 0.00
	// 1.00 0.00 0.00
}

// Words are read into sentences, and these into documents.
func ExampleHierarchical() {
	pool := func() *attention.AttentionPool {
		return &attention.AttentionPool{Score: &attention.Saliency{Key: 2, Hidden: 2}}
	}
	han := &attention.Hierarchical{Tiers: []attention.Tier{{Pool: pool()}, {Pool: pool()}}}
	han.Init(rand.New(rand.NewPCG(1, 1)))

	words, sentences := graph.Chains(2, 1, 3), graph.Chains(2, 1) // three sentences, two documents
	x := grad.Const(tensor.New(6, 2))
	_, weights := han.Forward(grad.NewEval(), []*graph.Graph{words, sentences}, x)
	fmt.Print(table(graph.Membership(words), weights[0]))
	fmt.Print(table(graph.Membership(sentences), weights[1]))
	// Output:
	// 0.50 0.50  .    .    .    .
	//  .    .   1.00  .    .    .
	//  .    .    .   0.33 0.33 0.33
	// 0.50 0.50  .
	//  .    .   1.00
}

// A state that likes company: what lies between two chosen nodes is chosen with them.
func ExampleChainAttention() {
	chain := &attention.ChainAttention{}
	chain.Init(rand.New(rand.NewPCG(1, 1)))
	copy(chain.CRF.Trans.Value.Data, []tensor.Float{2, -2, -2, 2})
	chain.CRF.Begin.Value.Fill(0)
	chain.CRF.End.Value.Fill(0)

	theta := rows([]float64{4, 0}, []float64{0, 4}, []float64{0, 0}, []float64{0, 4}, []float64{4, 0})
	g := graph.Chains(5)
	out := chain.Forward(grad.NewEval(), g, theta, rows([]float64{1}, []float64{2}, []float64{3}, []float64{4}, []float64{5}))
	fmt.Print(table(graph.Membership(g), out.Attention))
	fmt.Printf("%.1f\n", out.Y.Value().Data)
	// Output:
	// 0.40 0.79 0.79 0.79 0.40
	// [9.5]
}
