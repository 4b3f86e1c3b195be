package knowledge

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Adversarial is a loss that learns most from the false facts that a model believes most.
//
//	loss = mean_e ½·( −log σ(s_e) − Σ_i p_ei · log σ(−s_ei) ),   p_e = softmax_i(Temperature·s_ei)
//
// with the score s_e of a fact and s_ei of its false ones; p takes no gradient. It is the
// self-adversarial negative sampling of Sun and others, "RotatE", ICLR 2019. At a
// Temperature of 0 all false facts count alike, which is the loss of [DistMult] and
// [ComplEx].
type Adversarial struct{ Temperature float64 }

// Of returns the loss for the scores of facts, E×1, and of false ones, whose places at
// are those that sample.Corruptions gives: as many for each fact, one fact after another.
func (a Adversarial) Of(facts, not *grad.Var, at []int32) *grad.Var {
	edges := facts.Dim(0)
	if edges == 0 || len(at) == 0 || len(at)%edges != 0 {
		panic(&tensor.ShapeError{Op: "knowledge.Adversarial", Shapes: [][]int{slices.Clone(facts.Shape()), slices.Clone(not.Shape())},
			Why: fmt.Sprintf("%d false facts for %d facts: each has as many, and one at least", len(at), edges)})
	}
	wrong := not.Rows(at).Reshape(edges, len(at)/edges)
	weight := wrong.Detach().Scale(a.Temperature).Softmax()
	right := facts.LogSigmoid().Mean()
	return right.Add(weight.Mul(wrong.Neg().LogSigmoid()).Sum().Scale(1 / float64(edges))).Scale(-0.5)
}
