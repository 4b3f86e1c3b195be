package grad

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Param is an array that is trained. It takes part in a computation through
// [Tape.Use].
type Param struct {
	Value  *tensor.Dense
	Frozen bool // not trained: gets no gradient, changes through Tape.Update

	changes uint64
}

// NewParam returns a Param of zeros.
func NewParam(shape ...int) *Param { return &Param{Value: tensor.New(shape...)} }

// Glorot returns the weights of a layer of in inputs and out outputs, in×out, drawn as
// Glorot and Bengio (2010) do: uniformly from −b to b with b = √(6/(in+out)).
func Glorot(rng *rand.Rand, in, out int) *Param {
	p := NewParam(in, out)
	p.Value.GlorotUniform(rng, in, out, 1)
	return p
}

// Changed says that elements of p.Value were written, so that packed copies of them
// ([Weights]) are made anew. The optimisers, Update, Load and all else in this module
// that changes a Param say so.
func (p *Param) Changed() { p.changes++ }
