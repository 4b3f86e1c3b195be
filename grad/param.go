package grad

import "github.com/edgewise-ml/edgewise/tensor"

// Param is an array that is trained. It takes part in a computation through
// [Tape.Use].
type Param struct {
	Value  *tensor.Dense
	Frozen bool // not trained: gets no gradient, changes through Tape.Update
}

// NewParam returns a Param of zeros.
func NewParam(shape ...int) *Param { return &Param{Value: tensor.New(shape...)} }
