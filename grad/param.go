package grad

import "github.com/edgewise-ml/edgewise/tensor"

// Param is an array that is trained. It takes part in a computation through
// [Tape.Use].
type Param struct {
	Value  *tensor.Dense
	Frozen bool // not trained: gets no gradient, changes through Tape.Update

	changes uint64
}

// NewParam returns a Param of zeros.
func NewParam(shape ...int) *Param { return &Param{Value: tensor.New(shape...)} }

// Changed says that elements of p.Value were written, so that packed copies of them
// ([Weights]) are made anew. The optimisers, Update, Load and all else in this module
// that changes a Param say so.
func (p *Param) Changed() { p.changes++ }
