package train

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
)

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
