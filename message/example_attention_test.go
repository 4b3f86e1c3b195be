package message_test

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// [primitives]
// selfAttention: y_v = Σ_u softmax_u(k_u·q_v/√d)·v_u, a head at a time; the graph is the mask, w is [Q K V]
func selfAttention(g *graph.Graph, x, w *grad.Var, heads int) *grad.Var {
	p := x.MatMul(w).Reshape(x.Dim(0), 3*heads, -1).SplitAxis(1, heads, heads, heads) // each N×H×D
	q, k, v := p[0], p[1], p[2]
	score := message.UDotV(k, q).Scale(1 / math.Sqrt(float64(q.Dim(-1))))
	y := message.UpdateAll(g, message.U(v).Mul(score.Softmax()), message.Sum)
	return y.Reshape(x.Dim(0), -1) // the heads side by side
}

// [primitives]
// hopfield: s'_v = sign(Σ_u w_uv·s_u), and s_v where the sum is 0, on CompleteNoLoops(n)
func hopfield(g *graph.Graph, s, w *grad.Var) *grad.Var {
	field := message.UpdateAll(g, message.UMulE(s, w), message.Sum).Value()
	next := s.Value().Clone()
	for v, h := range field.Data {
		if h != 0 {
			next.Data[v] = tensor.Float(math.Copysign(1, float64(h)))
		}
	}
	return grad.Const(next)
}

func Example_selfAttention() {
	x := column(1, 2, 3)
	w := vars([]int{1, 3}, 0, 0, 1) // queries and keys are zero: all that is heard weighs the same
	show(selfAttention(graph.Complete(3), x, w, 1))
	show(selfAttention(graph.Causal(3), x, w, 1))
	q := grad.Const(tensor.New(3, 2, 8))
	m := message.U(q).Mul(message.UDotV(q, q).Scale(0.35).Softmax())
	fmt.Print(message.Explain(graph.Causal(3), m, message.Sum))
	// Output:
	// 2.00
	// 2.00
	// 2.00
	// 1.00
	// 1.50
	// 2.00
	// rule: dot-product attention on blocks: products of matrices with a softmax that goes along
}

func Example_pointer() {
	g := graph.CompleteBipartite(4, 1) // four inputs, one step
	inputs, steps := column(0, 0, 3, 0), column(0)
	loss := pointer(g, inputs, steps, vars([]int{1}, 100), []int32{2})
	show(loss.Reshape(1, 1))
	// Output: 0.00
}

func Example_hop() {
	g := graph.CompleteBipartite(3, 1) // three slots, one query
	keys, values := column(0, 50, -50), column(1, 2, 3)
	show(hop(g, keys, values, column(1)))
	// Output: 3.00
}

func Example_hopfield() {
	g := graph.CompleteNoLoops(6)
	patterns := vars([]int{6, 1}, 1, 1, 1, -1, -1, -1)                     // a column each
	w := message.ApplyEdges(g, message.UDotV(patterns, patterns)).Scale(1) // Hebb's rule
	show(hopfield(g, column(1, 1, -1, -1, -1, -1), w).Reshape(1, 6))       // the third is wrong
	// Output: 1.00 1.00 1.00 -1.00 -1.00 -1.00
}
