package memories

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
)

// showContinuous recalls letters by units of two states, by continuous ones that are warm and cold, and by
// one step of attention.
func showContinuous(s *stage.Stage, l *lesson) error {
	s.Say("The same letters, cues and weights (pseudo-inverse), with units of two states and with continuous ones, τ·dh/dt = −h + W·s, s = tanh(β·h). A small β is warm: units come to rest inside of (−1, 1). The modern network attends to the letters once.")
	net, err := memory.Store(memory.PseudoInverse, l.x)
	if err != nil {
		return err
	}
	energy := &picture.Chart{Title: "energy of the first cue", X: picture.Axis{Label: "time, in τ"}}
	right, whole, size, steps, rise := map[string]any{}, map[string]any{}, map[string]any{}, map[string]any{}, 0.0
	s.Print("%-24s %10s   %14s   %9s   %s\n", "network", "dots right", "letters right", "mean |s|", "steps")
	say := func(name string, states *tensor.Dense, stepped string) {
		signs := signsOf(states)
		dots, n := 1-average(memory.Wrong(signs, l.want)), recalledOf(signs, l.want)
		right[name], whole[name], size[name] = dots, n, meanSize(states)
		s.Print("%-24s %8.1f %%   %14s   %9.3f   %s\n", name, 100*dots, fmt.Sprintf("%d of %d", n, l.want.Rows()), meanSize(states), stepped)
	}
	two, err := net.Recall(l.cues, memory.Recall{})
	if err != nil {
		return err
	}
	say("two states", two.States, fmt.Sprintf("%d sweeps", slices.Max(two.Sweeps)+1))
	half := l.cues.Clone()
	for i := range half.Data {
		half.Data[i] /= 2
	}
	rows := l.panels([]string{"", "cue"}, l.want, l.cues)
	for i, beta := range []float64{1.2, 2, 50} {
		for _, kutta := range []bool{false, true} {
			c := &memory.Continuous{Net: net, Beta: beta, RungeKutta: kutta, Most: 4000, Trace: true}
			name := fmt.Sprintf("β = %g, Euler", beta)
			if kutta {
				c.Step, name = 0.5, fmt.Sprintf("β = %g, Runge–Kutta", beta)
			}
			got, err := c.Recall(half)
			if err != nil {
				return err
			}
			say(name, got.States, fmt.Sprintf("%d of %g τ", got.Steps, max(c.Step, 0.1)))
			steps[name] = got.Steps
			rise = max(rise, largestRise(got.Energy))
			if kutta {
				rows = append(rows, l.panels([]string{fmt.Sprintf("at rest, β = %g", beta)}, got.States)...)
				energy.Series = append(energy.Series, flowing(fmt.Sprintf("β = %g", beta), i, got.Energy[0], c.Step))
			}
		}
	}
	say("modern, one step", (&memory.Modern{Beta: 0.1}).Retrieve(l.x, l.cues), "1")
	s.Result(map[string]any{"right": right, "letters": whole, "size": size, "sweeps": steps, "rise": rise})
	s.Say("The energy never rose by more than %.1g in a step: rounding.", rise)
	s.Draw(append(rows, []picture.Panel{energy})...)
	return s.Keep(net)
}

// signsOf is +1 from nought on, and −1 below.
func signsOf(x *tensor.Dense) *tensor.Dense {
	y := x.Clone()
	for i, v := range y.Data {
		y.Data[i] = 1
		if v < 0 {
			y.Data[i] = -1
		}
	}
	return y
}

// meanSize is the mean of |x|.
func meanSize(x *tensor.Dense) float64 {
	sum := 0.0
	for _, v := range x.Data {
		sum += math.Abs(float64(v))
	}
	return sum / float64(len(x.Data))
}

// largestRise is the most that an energy has risen in a step.
func largestRise(traces [][]float64) (most float64) {
	for _, trace := range traces {
		for i := 1; i < len(trace); i++ {
			most = max(most, trace[i]-trace[i-1])
		}
	}
	return most
}

// flowing is a line through numbers that are so far apart, from 0 to at most 12.
func flowing(name string, colour int, ys []float64, apart float64) picture.Series {
	c := picture.Series{Name: name, Mark: picture.Curve, Colour: picture.Colour(colour)}
	for i, y := range ys {
		if x := apart * float64(i); x <= 12 {
			c.Points = append(c.Points, picture.Point{X: x, Y: y})
		}
	}
	return c
}

// showThresholds recalls the letters with thresholds, by Hebb's sum divided by the units and by the patterns.
func showThresholds(s *stage.Stage, l *lesson) error {
	s.Say("Hebb's sum of %d patterns may be divided by the %d units or by the patterns. Without thresholds the signs are the same. A threshold stays as it is, and what units hear is %.3g times as much where the sum is divided by the patterns.",
		l.x.Rows(), l.x.RowLen(), float64(l.x.RowLen())/float64(l.x.Rows()))
	rules := []memory.Rule{memory.Hebb, memory.HebbMean}
	names, right := []string{"by the units", "by the patterns"}, map[string]map[string]float64{}
	chart := &picture.Chart{Title: "dots that are right, of a hundred", X: picture.Axis{Label: "threshold"}}
	for i, name := range names {
		right[name] = map[string]float64{}
		chart.Series = append(chart.Series, picture.Series{Name: name, Mark: picture.Curve, Colour: picture.Colour(i)})
	}
	s.Print("dots right, with the sum divided\n%9s   %s   %s\n", "threshold", names[0], names[1])
	for _, threshold := range []float64{0, 0.25, 0.5, 1, 1.5, 2, 3, 5, 8, 12, 16, 20, 24, 30} {
		s.Print("%9g", threshold)
		for i, rule := range rules {
			h, err := memory.Store(rule, l.x)
			if err != nil {
				return err
			}
			h.B = constant(h.Units, -threshold)
			got, err := h.Recall(l.cues, memory.Recall{})
			if err != nil {
				return err
			}
			dots := 1 - average(memory.Wrong(got.States, l.want))
			right[names[i]][fmt.Sprint(threshold)] = dots
			chart.Series[i].Points = append(chart.Series[i].Points, picture.Point{X: threshold, Y: 100 * dots})
			s.Print("   %*.1f %%", len(names[i])-2, 100*dots)
		}
		s.Print("\n")
	}
	s.Result(map[string]any{"right": right})
	s.Draw([]picture.Panel{chart})
	h, err := memory.Store(memory.HebbMean, l.x)
	if err != nil {
		return err
	}
	return s.Keep(h)
}
