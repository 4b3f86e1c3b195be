package train

import (
	"math"

	"github.com/edgewise-ml/edgewise/tensor"
)

// TeacherForcing says of each token whether a decoder that is trained is fed the
// true one or its own: scheduled sampling (Bengio and others, 2015). The
// probability of the truth is the schedule's factor in a step, kept within 0 and 1;
// a nil schedule is 1. [Constant], [Linear], [Exponential] and [InverseSigmoid] are
// those of the paper.
//
// A draw is a function of the seed, the step and the token's number, so that a run
// taken up again draws the same:
//
//	if forcing.Truth(int(t.Step()), node) {
//		in[node] = truth[node]
//	}
type TeacherForcing struct {
	Schedule Schedule
	Seed     uint64
}

// Probability returns that of the truth in a step.
func (f TeacherForcing) Probability(step int) float64 {
	if f.Schedule == nil {
		return 1
	}
	return math.Max(0, math.Min(1, f.Schedule.Factor(step)))
}

// forcingOp sets the draws apart from those of dropout under the same seed.
const forcingOp = 1<<32 - 1

// Truth reports whether the token of that number is fed the truth in a step.
func (f TeacherForcing) Truth(step, token int) bool {
	m := tensor.NewMask(f.Seed, uint64(step), forcingOp, 1-f.Probability(step))
	return m.Keeps(token, 0)
}

// Constant is a Schedule of one factor.
type Constant float64

// Factor returns the factor of every step.
func (s Constant) Factor(int) float64 { return float64(s) }

// InverseSigmoid falls slowly, then fast, then slowly from nearly 1 to 0: in step i
//
//	K/(K + exp(i/K))
//
// It is one half near step K·ln K.
type InverseSigmoid struct{ K float64 } // at least 1

// Factor returns the factor of a step.
func (s InverseSigmoid) Factor(step int) float64 { return s.K / (s.K + math.Exp(float64(step)/s.K)) }
