package attention_test

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
)

// gruLoop is the state of a GRU at each row of xs, read in that order.
func gruLoop(l *sequence.GRU, xs [][]float64) [][]float64 {
	product := func(x []float64, w *grad.Param, col int) (y float64) {
		for i, v := range x {
			y += v * float64(w.Value.Row(i)[col])
		}
		return y
	}
	sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	n, h := l.Hidden, make([]float64, l.Hidden)
	var states [][]float64
	for _, x := range xs {
		next := make([]float64, n)
		for j := range n {
			gate := func(k int) float64 {
				return sigmoid(product(x, l.W, k*n+j) + product(h, l.U, k*n+j) + float64(l.B.Value.Data[k*n+j]))
			}
			r, z := gate(0), gate(1)
			heard := product(h, l.U, 2*n+j) + float64(l.BN.Value.Data[j])
			next[j] = (1-z)*math.Tanh(product(x, l.W, 2*n+j)+float64(l.B.Value.Data[2*n+j])+r*heard) + z*h[j]
		}
		h, states = next, append(states, next)
	}
	return states
}

// reversed returns the rows from the last to the first.
func reversed(xs [][]float64) [][]float64 {
	out := make([][]float64, len(xs))
	for i, x := range xs {
		out[len(xs)-1-i] = x
	}
	return out
}

// tierLoop is a tier with two GRUs and a Saliency on one chain: its row, and the weights.
func tierLoop(tier attention.Tier, xs [][]float64) (y, weights []float64) {
	body, score := tier.Body.(*sequence.Stack), tier.Pool.Score.(*attention.Saliency)
	ahead := gruLoop(body.Layers[0].(*sequence.GRU), xs)
	back := reversed(gruLoop(body.Back[0].(*sequence.GRU), reversed(xs)))
	y = make([]float64, score.Key)
	logits, rows := make([]float64, len(xs)), make([][]float64, len(xs))
	for i := range xs {
		rows[i] = append(append([]float64(nil), ahead[i]...), back[i]...)
		for k := range score.Hidden {
			z := float64(score.B.Value.Data[k])
			for j, v := range rows[i] {
				z += v * float64(score.W.Value.Row(j)[k])
			}
			logits[i] += math.Tanh(z) * float64(score.C.Value.Data[k])
		}
	}
	if len(xs) == 0 {
		return y, nil
	}
	weights = softmax(logits)
	for i, row := range rows {
		for j, v := range row {
			y[j] += weights[i] * v
		}
	}
	return y, weights
}

// Words become sentences and these documents as loops over both tiers' formulas have it; a
// sentence without words is a row of zeros among the others, and a document without sentences
// is one, too.
func TestHierarchicalIsItsFormula(t *testing.T) {
	l, x := twoTiers(), param(5, 8, 3)
	for name, p := range grad.Params(l) { // biases, too, are not zero
		copy(p.Value.Data, param(uint64(len(name)), p.Value.Shape()...).Value.Data)
	}
	words, sentences := []int{3, 0, 1, 4}, []int{3, 0, 1}
	y, weights := l.Forward(grad.NewEval(), []*graph.Graph{graph.Chains(words...), graph.Chains(sentences...)}, grad.Const(x.Value))
	alphas := [][]float64{
		floats(message.ApplyEdges(graph.Membership(graph.Chains(words...)), weights[0]).Value().Data),
		floats(message.ApplyEdges(graph.Membership(graph.Chains(sentences...)), weights[1]).Value().Data),
	}
	check := func(what string, got []float64, want []float64) []float64 {
		compare.Near(t, what+": weights", got[:len(want)], want, compare.Off(1e-5, 0))
		return got[len(want):]
	}
	word, sentence := 0, 0
	var read [][]float64
	for _, n := range words {
		var xs [][]float64
		for i := range n {
			xs = append(xs, floats(x.Value.Row(word+i)))
		}
		row, alpha := tierLoop(l.Tiers[0], xs)
		alphas[0] = check("word", alphas[0], alpha)
		word, read = word+n, append(read, row)
	}
	for d, n := range sentences {
		row, alpha := tierLoop(l.Tiers[1], read[sentence:sentence+n])
		alphas[1] = check("sentence", alphas[1], alpha)
		sentence += n
		for j, v := range row {
			compare.Number(t, "document", y.Value().Row(d)[j], v, rounded)
		}
	}
}
