package sequence

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/tensor"
)

// retention is where the bias of a gate that keeps the state begins: at a number, or as
// long distances want it.
type retention struct {
	op       string
	constant float64
	chrono   int // the longest distance; 0: none is named
}

// fill sets the biases of a gate, times sign: to the constant, or log U(1, T−1), each
// drawn for itself.
func (k retention) fill(rng *rand.Rand, bias []tensor.Float, sign float64) {
	switch {
	case k.chrono == 0:
		fill(bias, tensor.Float(sign*k.constant))
		return
	case k.chrono < 2:
		panic(&grad.TapeError{Op: k.op, Why: fmt.Sprintf("Chrono is %d, the longest distance in steps, want at least 2", k.chrono)})
	case k.constant != 0:
		panic(&grad.TapeError{Op: k.op, Why: "a constant bias and Chrono both say where the bias begins; choose one"})
	}
	for j := range bias {
		bias[j] = tensor.Float(sign * math.Log(1+rng.Float64()*float64(k.chrono-2)))
	}
}

// recurrentStart returns the m×blocks·m weights that a state of m is multiplied by: uniform up to
// 1/√m or, if orthogonal, an orthogonal matrix for each of the blocks.
func recurrentStart(rng *rand.Rand, m, blocks int, orthogonal bool) *grad.Param {
	if !orthogonal {
		return compose.Uniform(rng, m, blocks*m, m)
	}
	p, one := grad.NewParam(m, blocks*m), tensor.New(m, m)
	for b := range blocks {
		one.Orthogonal(rng)
		for i := range m {
			copy(p.Value.Row(i)[b*m:(b+1)*m], one.Row(i))
		}
	}
	return p
}
