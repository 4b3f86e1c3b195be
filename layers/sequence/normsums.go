package sequence

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// normSums is an operation before the levels of a sweep, of the gains and biases that their
// gates read. Its result is never read: the gradient of that is where the chunks of every level
// add up what they have for those of the gains and biases, each in a row of its own, so that one
// thread need not add them after each level.
type normSums struct {
	of [5]*grad.Var // as affine lists them
}

// sumNorms has v sum up in the levels of g, of so many parts of m, unless there are many rows.
func (v *gateOperands) sumNorms(g *graph.Graph, blocks, m int) {
	levels, err := g.Levels()
	if err != nil {
		panic(err)
	}
	widest := 0
	for i := range levels.Len() {
		widest = max(widest, levels.Offsets[i+1]-levels.Offsets[i])
	}
	n := chunks(widest, blocks*m)
	if n == 0 || n > fewSums {
		return
	}
	op := grad.Begin("sequence.NormSums", gateOperands{gainX: v.gainX, b: v.b, gain: v.gain, gainC: v.gainC, biasC: v.biasC}.list(nil)...)
	if !op.Needs() {
		return
	}
	v.sums = op.New(n, 3*blocks*m+2*m)
	tape.RecordBy(op, v.sums, &normSums{v.affine()})
}

// affine are the gains and biases, some nil.
func (v *gateOperands) affine() [5]*grad.Var {
	return [5]*grad.Var{v.gainX, v.b, v.gain, v.gainC, v.biasC}
}

// Pull adds the chunks' sums to the gradients.
func (s *normSums) Pull(dy *tensor.Dense) {
	room := scratch.Borrow(dy.RowLen())
	defer scratch.Repay(room)
	total := *room
	copy(total, dy.Row(0))
	vec.AddRows(total, dy.Data[len(total):])
	addAffine(s.of, total)
}

// addAffine adds sums, of each gain and bias one behind the other, to their gradients. There is
// room for a bias that is nil.
func addAffine(of [5]*grad.Var, sums []tensor.Float) {
	for i, x := range of {
		n := of[0].Dim(0) // of gates
		if i > 2 {
			n = of[3].Dim(0) // of the cell
		}
		if x != nil && x.Needs() {
			dx := x.Grad().Data
			vec.Add.Forward(dx, dx, sums[:n], 1, 1)
		}
		sums = sums[n:]
	}
}
