package train

import (
	"cmp"
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Schedule says what an optimiser's rates are multiplied by in each of its
// steps, which count from 0. All rates of all groups share the factor. Those of
// this package but [Plateau] depend on the step alone, so any number of
// optimisers may share one.
type Schedule interface {
	Factor(step int) float64
}

// ScheduleFunc is a Schedule by a function.
type ScheduleFunc func(step int) float64

// Factor calls f.
func (f ScheduleFunc) Factor(step int) float64 { return f(step) }

// Warmup rises evenly to 1 in a number of steps, (i+1)/Steps in step i, and then
// goes on with another schedule, whose steps count from there.
type Warmup struct {
	Steps int
	Then  Schedule // nil means 1
}

// Factor returns the factor of a step.
func (s Warmup) Factor(step int) float64 {
	switch {
	case step < s.Steps:
		return float64(step+1) / float64(s.Steps)
	case s.Then == nil:
		return 1
	}
	return s.Then.Factor(step - s.Steps)
}

// Noam is the schedule of the Transformer (Vaswani and others, 2017): in step i
//
//	Width^−½ · min((i+1)^−½, (i+1)·Warmup^−1½)
//
// It is the rate itself where LR is 1.
type Noam struct {
	Width  int // of the model
	Warmup int // steps of rising
}

// Factor returns the factor of a step.
func (s Noam) Factor(step int) float64 {
	i := float64(step + 1)
	return math.Min(1/math.Sqrt(i), i*math.Pow(float64(s.Warmup), -1.5)) / math.Sqrt(float64(s.Width))
}

// StepDecay is Gamma to the power of step/Every, rounded down.
type StepDecay struct {
	Every int
	Gamma float64 // 0 means 0.1
}

// Factor returns the factor of a step.
func (s StepDecay) Factor(step int) float64 {
	return math.Pow(grad.Preset(s.Gamma, 0.1), float64(step/max(1, s.Every)))
}

// MultiStep is multiplied by Gamma at each of some steps.
type MultiStep struct {
	At    []int
	Gamma float64 // 0 means 0.1
}

// Factor returns the factor of a step.
func (s MultiStep) Factor(step int) float64 {
	n := 0
	for _, at := range s.At {
		if at <= step {
			n++
		}
	}
	return math.Pow(grad.Preset(s.Gamma, 0.1), float64(n))
}

// Exponential is Gamma to the power of the step.
type Exponential struct{ Gamma float64 }

// Factor returns the factor of a step.
func (s Exponential) Factor(step int) float64 { return math.Pow(s.Gamma, float64(step)) }

// Linear goes evenly from one factor to another in a number of steps, and stays
// there.
type Linear struct {
	From, To float64
	Steps    int
}

// Factor returns the factor of a step.
func (s Linear) Factor(step int) float64 { return s.From + (s.To-s.From)*part(step, s.Steps) }

// Polynomial is (1 − step/Steps) to a power, and 0 at the end and after.
type Polynomial struct {
	Steps int
	Power float64 // 0 means 1
}

// Factor returns the factor of a step.
func (s Polynomial) Factor(step int) float64 {
	return math.Pow(1-part(step, s.Steps), grad.Preset(s.Power, 1))
}

// part is how much of a number of steps is over, at most 1.
func part(step, steps int) float64 { return math.Min(1, float64(step)/float64(max(1, steps))) }

// wrongSchedule says what of a schedule of this package was left out that has no
// preset, so that its factor would be 0 or mean nothing; else it returns nothing.
func wrongSchedule(s Schedule) string {
	least := func(name string, n int) string {
		if n < 1 {
			return fmt.Sprintf("the Schedule's %s is %d; it must be at least 1", name, n)
		}
		return ""
	}
	switch s := s.(type) {
	case Warmup:
		return wrongSchedule(s.Then)
	case ScheduleFunc:
		if s == nil {
			return "the Schedule is a ScheduleFunc that is nil; leave the Schedule out"
		}
	case Noam:
		return cmp.Or(least("Width", s.Width), least("Warmup", s.Warmup))
	case StepDecay:
		return least("Every", s.Every)
	case Exponential:
		if s.Gamma == 0 {
			return "the Schedule's Gamma is 0; an Exponential has no preset"
		}
	case Constant:
		if s == 0 {
			return "the Schedule is a Constant of 0; nothing would ever change"
		}
	case InverseSigmoid:
		if !(s.K >= 1) {
			return fmt.Sprintf("the Schedule's K is %v; it must be at least 1", s.K)
		}
	case Linear:
		if s.From == 0 && s.To == 0 {
			return "the Schedule goes from 0 to 0; set From, To or both"
		}
	case Polynomial:
		return least("Steps", s.Steps)
	case Cosine:
		return least("Steps", s.Steps)
	case CosineRestarts:
		return least("First", s.First)
	case OneCycle:
		return least("Steps", s.Steps)
	}
	return ""
}

// Cosine falls from 1 to Min along half a wave (Loshchilov and Hutter, 2017):
//
//	Min + (1−Min)·(1 + cos(π·step/Steps))/2
//
// Beyond Steps it goes on along the wave, and rises again.
type Cosine struct {
	Steps int
	Min   float64 // a factor: 0.1 ends at a tenth of the rate
}

// Factor returns the factor of a step.
func (s Cosine) Factor(step int) float64 {
	return between(s.Min, 1, math.Cos(math.Pi*float64(step)/float64(max(1, s.Steps))))
}

// between is low at a cosine of −1 and high at 1.
func between(low, high, cosine float64) float64 { return low + (high-low)*(1+cosine)/2 }

// CosineRestarts is [Cosine] that begins again at 1 after First steps, and then
// after periods each Times as long as the one before.
type CosineRestarts struct {
	First int     // steps of the first period
	Times int     // 0 means 1: all periods are as long
	Min   float64 // a factor
}

// Factor returns the factor of a step.
func (s CosineRestarts) Factor(step int) float64 {
	period := max(1, s.First)
	for step >= period {
		step -= period
		period *= max(1, s.Times)
	}
	return Cosine{Steps: period, Min: s.Min}.Factor(step)
}

// OneCycle rises to 1 and falls to almost nothing, once (Smith and Topin, 2019):
// LR is the highest rate. It begins at 1/Start and ends at 1/(Start·End). After
// Steps it stays there.
type OneCycle struct {
	Steps      int
	Rise       float64 // the part of Steps that it rises in; 0 means 0.3
	Start      float64 // 0 means 25
	End        float64 // 0 means 1e4
	Straight   bool    // along lines rather than cosines
	ThreePhase bool    // falls to 1/Start in as many steps as it rose in, and then to the end
}

// Factor returns the factor of a step.
func (s OneCycle) Factor(step int) float64 {
	top := float64(grad.Preset(s.Rise, 0.3)*float64(s.Steps)) - 1 // rounded first, also on processors that would fuse both
	last, x := float64(s.Steps-1), float64(step)
	low := 1 / grad.Preset(s.Start, 25)
	end := low / grad.Preset(s.End, 1e4)
	switch {
	case x == top: // which may be the first step of all
		return 1
	case x < top:
		return s.ease(low, 1, x/top)
	case !s.ThreePhase:
		return s.ease(1, end, (x-top)/(last-top))
	case x <= 2*top:
		return s.ease(1, low, (x-top)/top)
	}
	return s.ease(low, end, (x-2*top)/(last-2*top))
}

// ease goes from a at 0 to b at 1.
func (s OneCycle) ease(a, b, x float64) float64 {
	if x = math.Min(x, 1); s.Straight {
		return a + (b-a)*x
	}
	return between(b, a, math.Cos(math.Pi*x))
}

// Plateau multiplies the rates by By whenever a score has not improved for more
// than Patience observations. [Fit] shows it the validation loss of each epoch,
// or the accuracy if Rising, or the training loss if there is no Eval; another
// loop calls Observe. One Plateau serves one run.
type Plateau struct {
	By        float64 // 0 means 0.1
	Patience  int
	Threshold float64 // an improvement is by more than this part of the best score
	Absolute  bool    // the Threshold is a difference, not a part
	Cooldown  int     // observations after a change that do not count
	Min       float64 // the factor does not go below it
	Rising    bool    // more is better

	state plateau
}

// plateau is what a Plateau remembers; a checkpoint holds it.
type plateau struct {
	Begun   bool      `json:"begun"`
	Best    jsonFloat `json:"best"`
	Factor  jsonFloat `json:"factor"`
	Waited  int       `json:"waited"`
	Resting int       `json:"resting"`
}

// Factor returns the factor of this moment, whatever the step.
func (s *Plateau) Factor(int) float64 {
	if !s.state.Begun {
		return 1
	}
	return float64(s.state.Factor)
}

// Observe takes note of a score. A NaN is no improvement.
func (s *Plateau) Observe(score float64) {
	p := &s.state
	if !p.Begun {
		*p = plateau{Begun: true, Best: jsonFloat(math.Inf(1)), Factor: 1}
		if s.Rising {
			p.Best = jsonFloat(math.Inf(-1))
		}
	}
	if s.better(score, float64(p.Best)) {
		p.Best, p.Waited = jsonFloat(score), 0
	} else {
		p.Waited++
	}
	if p.Resting > 0 {
		p.Resting--
		p.Waited = 0
	}
	if p.Waited > s.Patience {
		p.Factor = max(p.Factor*jsonFloat(grad.Preset(s.By, 0.1)), min(p.Factor, jsonFloat(s.Min)))
		p.Waited, p.Resting = 0, s.Cooldown
	}
}

func (s *Plateau) better(score, best float64) bool {
	margin := s.Threshold
	if !s.Absolute && !math.IsInf(best, 0) {
		margin *= best
	}
	if s.Rising {
		return score > best+margin
	}
	return score < best-margin
}

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
