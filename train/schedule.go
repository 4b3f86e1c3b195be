package train

import (
	"cmp"
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/grad"
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
