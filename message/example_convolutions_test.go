package message_test

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The functions after a [primitives] mark are quoted word for word in
// docs/library/primitives.md, and so is what their examples print of [message.Explain].

// [primitives]
// gcn: y_v = Σ_u x_u·W/√(d_u·d_v) + b, where d counts in-edges
func gcn(g *graph.Graph, x, w, b *grad.Var) *grad.Var {
	c := tensor.New(g.NumNodes(), 1)
	for v := range c.Data {
		if d := g.InDegree(v); d > 0 {
			c.Data[v] = tensor.Float(1 / math.Sqrt(float64(d)))
		}
	}
	s := grad.Const(c)
	return message.UpdateAll(g, message.CopyU(x.MatMul(w).Mul(s)), message.Sum).Mul(s).Add(b)
}

// [primitives]
// sage: y_v = x_v·W₀ + mean_u x_u·W + b
func sage(g *graph.Graph, x, self, w, b *grad.Var) *grad.Var {
	heard := message.UpdateAll(g, message.CopyU(x), message.Mean)
	return message.OnDst(g, x).MatMul(self).Add(heard.MatMul(w)).Add(b)
}

// [primitives]
// gin: y_v = W₂·ReLU(W₁·((1+ε)·x_v + Σ_u x_u))
func gin(g *graph.Graph, x, eps, w1, w2 *grad.Var) *grad.Var {
	sum := message.UpdateAll(g, message.CopyU(x), message.Sum)
	return x.Mul(eps.Shift(1)).Add(sum).MatMul(w1).ReLU().MatMul(w2)
}

// [primitives]
// gat: y_v = Σ_u α_uv·Wx_u,  α_uv = softmax_u(LeakyReLU(a_l·Wx_u + a_r·Wx_v)), a head at a time
func gat(g *graph.Graph, x, w, al, ar *grad.Var) *grad.Var {
	ft := x.MatMul(w).Reshape(x.Dim(0), al.Dim(0), al.Dim(1)) // N×H×D
	el, er := ft.Dot(al), ft.Dot(ar)                          // N×H×1
	alpha := message.UAddV(el, er).LeakyReLU(0.2).Softmax()
	return message.UpdateAll(g, message.U(ft).Mul(alpha), message.Sum)
}

// [primitives]
// gatv2: y_v = Σ_u α_uv·s_u,  α_uv = softmax_u(a·LeakyReLU(s_u + d_v)),  s = xW_s,  d = xW_d
func gatv2(g *graph.Graph, x, ws, wd, a *grad.Var) *grad.Var {
	s := x.MatMul(ws).Reshape(x.Dim(0), a.Dim(0), a.Dim(1)) // N×H×D
	d := x.MatMul(wd).Reshape(x.Dim(0), a.Dim(0), a.Dim(1))
	alpha := message.UAddV(s, d).LeakyReLU(0.2).Dot(message.W(a)).Softmax()
	return message.UpdateAll(g, message.U(s).Mul(alpha), message.Sum)
}

// [primitives]
// gated: y_v = x_v·A + Σ_u η_uv ⊙ x_u·B,  η = σ(ê)/Σ_u σ(ê),  ê_uv = x_u·C + x_v·D + e_uv; w is [A B C D]
func gated(g *graph.Graph, x, e, w *grad.Var) (y, edges *grad.Var) {
	f := w.Dim(1) / 4
	p := x.MatMul(w).Split(f, f, f, f)
	logit := message.UAddV(p[2], p[3]).Add(message.E(e))
	m := message.U(p[1]).Mul(logit.Sigmoid().Normalise())
	return p[0].Add(message.UpdateAll(g, m, message.Sum)), message.ApplyEdges(g, logit)
}

// [primitives]
// monet: y_v = Σ_k Σ_u exp(−½·Σ_j ((p_uv,j − μ_kj)/σ_kj)²)·x_u·W_k, where w holds the W_k side by side
func monet(g *graph.Graph, x, p, mu, sigma, w *grad.Var) *grad.Var {
	far := message.E(p.InsertAxis(1)).Sub(message.W(mu)).Div(message.W(sigma)) // K×d on every edge
	weight := far.Mul(far).SumLast().Scale(-0.5).Exp()                         // K×1
	xw := x.MatMul(w).Reshape(x.Dim(0), mu.Dim(0), -1)                         // N×K×F
	return message.UpdateAll(g, message.U(xw).Mul(weight), message.Sum).SumAxis(1)
}

// cites is a graph of four papers: 0 and 1 are cited by 2, which is cited by 1,
// and 3 has nothing to do with anybody. Node 0 hears nobody either.
func cites() *graph.Graph { return graph.Must(graph.New(4, []int32{0, 1, 2}, []int32{2, 2, 1})) }

// show prints a row a line, without the sign of a zero.
func show(y *grad.Var) {
	for i := range y.Dim(0) {
		for j, v := range y.Value().Row(i) {
			if j > 0 {
				fmt.Print(" ")
			}
			fmt.Printf("%.2f", math.Round(float64(v)*100)/100+0)
		}
		fmt.Println()
	}
}

// vars is a constant of the given shape.
func vars(shape []int, x ...float64) *grad.Var { return grad.Const(dense(x, shape...)) }

func Example_gcn() {
	g := graph.WithSelfLoops(cites())
	x, w, b := column(1, 2, 3, 4), vars([]int{1, 1}, 1), vars([]int{1}, 0)
	show(gcn(g, x, w, b))
	fmt.Print(message.Explain(g, message.CopyU(x), message.Sum))
	// Output:
	// 1.00
	// 2.22
	// 2.39
	// 4.00
	// rule: sum of U(x): one sparse-dense product
}

func Example_sage() {
	x, one := column(1, 2, 3, 4), vars([]int{1, 1}, 1)
	show(sage(cites(), x, one, one, vars([]int{1}, 10)))
	fmt.Print(message.Explain(cites(), message.CopyU(x), message.Mean))
	// Output:
	// 11.00
	// 15.00
	// 14.50
	// 14.00
	// rule: mean of U(x): one sparse-dense product, divided by the in-degrees
}

func Example_rgcn() {
	g := graph.Must(graph.WithKinds(cites(), []int32{0, 1, 1}))
	one, w := vars([]int{1, 1}, 1), vars([]int{1, 2}, 1, 10) // relation 1 counts ten times
	show(rgcn(g, column(1, 2, 3, 4), w, one, column(1, 1, 1)))
	// Output:
	// 1.00
	// 32.00
	// 24.00
	// 4.00
}

func Example_pna() {
	mean := vars([]int{12, 1}, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	mostScaled := vars([]int{12, 1}, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)
	x, delta := column(1, 2, 3, 4), math.Log(2) // a node of one in-edge is scaled by 1
	show(pna(cites(), x, mean, delta))
	show(pna(cites(), x, mostScaled, delta))
	// Output:
	// 0.00
	// 3.00
	// 1.50
	// 0.00
	// 0.00
	// 3.00
	// 3.17
	// 0.00
}

func Example_edgeConv() {
	one := vars([]int{1, 1}, 1)
	g, x := cites(), column(1, 2, 3, 4)
	show(edgeConv(g, x, one, vars([]int{1, 1}, -1), one)) // the largest step down to v
	fmt.Print(message.Explain(g, message.UAddV(x, x).ReLU().MatMul(one), message.Max))
	// Output:
	// 0.00
	// 1.00
	// 0.00
	// 0.00
	// tiles: 1024 edges at a time, 2 elements of scratch an edge (forward)
	//    0 U              [1]
	//    1 V              [1]
	//    2 Add            [1] of 0, 1
	//    3 ReLU           [1] of 2
	//    4 W              [1 1]
	//    5 MatMul         [1] of 3 by 4, which stays where it is
	//   reduced by [Max] onto 4 destinations
}

func Example_gin() {
	one := vars([]int{1, 1}, 1)
	show(gin(cites(), column(1, 2, 3, 4), vars([]int{1}, 0.5), one, one))
	// Output:
	// 1.50
	// 6.00
	// 7.50
	// 6.00
}

func Example_gat() {
	g, x := cites(), vars([]int{4, 2}, 1, 0, 0, 1, 1, 1, 5, 5)
	w, a := vars([]int{2, 2}, 1, 0, 0, 1), vars([]int{1, 2}, 1, 1)
	show(gat(g, x, w, a, a))
	ft, el := x.Reshape(4, 1, 2), x.SumAxis(1).Reshape(4, 1, 1)
	m := message.U(ft).Mul(message.UAddV(el, el).LeakyReLU(0.2).Softmax())
	fmt.Print(message.Explain(g, m, message.Sum))
	// Output:
	// 0.00 0.00
	// 1.00 1.00
	// 0.50 0.50
	// 0.00 0.00
	// rule: graph attention: softmax and weighted sum in one pass over each destination's edges
}

func Example_gatv2() {
	g, x := cites(), vars([]int{4, 2}, 1, 0, 0, 1, 1, 1, 5, 5)
	w, a := vars([]int{2, 2}, 1, 0, 0, 1), vars([]int{1, 2}, 1, 1)
	show(gatv2(g, x, w, w, a))
	s := x.Reshape(4, 1, 2)
	m := message.U(s).Mul(message.UAddV(s, s).LeakyReLU(0.2).Dot(message.W(a)).Softmax())
	fmt.Print(message.Explain(g, m, message.Sum))
	// Output:
	// 0.00 0.00
	// 1.00 1.00
	// 0.50 0.50
	// 0.00 0.00
	// tiles: 1024 edges at a time, 7 elements of scratch an edge (forward)
	//    0 U              [1 2]
	//    1 V              [1 2]
	//    2 Add            [1 2] of 0, 1
	//    3 LeakyReLU      [1 2] of 2
	//    4 W              [1 2]
	//    5 Dot            [1 1] of 3, 4
	//    6 Softmax        [1 1] of 5
	//    7 Mul by runs    [1 2] of 0, 6
	//   reduced by [Sum] onto 4 destinations
	// each step across the in-edges keeps two numbers a column for every destination: 8 numbers
}

func Example_gated() {
	x, e := column(1, 2, 3, 4), column(0, 0, 0)
	y, edges := gated(cites(), x, e, vars([]int{1, 4}, 1, 1, 0, 0))
	show(y)
	show(edges.Reshape(1, 3))
	// Output:
	// 1.00
	// 5.00
	// 4.50
	// 4.00
	// 0.00 0.00 0.00
}

func Example_monet() {
	x, near := column(1, 2, 3, 4), column(0, 0, 1)
	mu, sigma := vars([]int{2, 1}, 0, 1), vars([]int{2, 1}, 0.1, 0.1)
	show(monet(cites(), x, near, mu, sigma, vars([]int{1, 2}, 1, 100)))
	// Output:
	// 0.00
	// 3.00
	// 201.00
	// 0.00
}
