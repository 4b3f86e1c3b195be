package series

import (
	"fmt"
	"image/color"
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Flow goes down a valley by plain descent, by momentum and by Nesterov's descent, beside the flows
// that these are steps of and the bounds that their Lyapunov functions give.
var Flow = stage.Demo{Name: "flow", About: "down a valley by descent, momentum and Nesterov: steps of a flow, and the bound on how fast they are", Aside: []string{"gap"}, Lower: []string{"value", "rises", "above_bound"}, Seconds: 0.1, Act: stage.Func(runFlow)}

// The valley is f(w) = ½·Σ λ·w², whose least value is 0 at 0. No slope of its gradient is above 1, so
// that a rate below 1 is one that the bounds hold for.
const (
	flowRate  = 0.2
	flowSteps = 3 // hundreds
)

var flowSlopes = []float64{1, 0.05}

// valley is f.
func valley(w []float64) (sum float64) {
	for i, v := range w {
		sum += flowSlopes[i] * v * v / 2
	}
	return sum
}

// descent is a way down.
type descent struct {
	name  string
	end   *grad.Param // what the optimiser holds at the end
	at    [][]float64 // w after each step, the start first
	value []float64   // f there
	bound []float64   // that the value cannot be above; nil: none is known
	e     []float64   // the Lyapunov function, which never rises; nil: none is known
}

// descend takes steps from a point on. What an optimiser holds may be ahead of w, as far as Nesterov's
// momentum leads: w is what it was before, less the step. see gets both.
func descend(from []float64, opt train.Optimiser, rate float64, steps int, ahead bool, see func(k int, w, held []float64)) *grad.Param {
	p := grad.NewParam(len(from))
	for i, v := range from {
		p.Value.Data[i] = tensor.Float(v)
	}
	slopes := tensor.New(len(from))
	for i := range from {
		slopes.Data[i] = tensor.Float(flowSlopes[i])
	}
	t := grad.NewTape(1)
	see(0, from, from)
	for k := range steps {
		t.Reset()
		x := t.Use(p)
		grads := t.Backward(x.Square().Mul(grad.Const(slopes)).Sum().Scale(0.5))
		w := make([]float64, len(from))
		for i, v := range p.Value.Data {
			w[i] = float64(v) - rate*float64(grads.Param(p).Data[i])
		}
		opt.Step(grads)
		held := make([]float64, len(from))
		for i, v := range p.Value.Data {
			held[i] = float64(v)
		}
		if !ahead {
			w = held
		}
		see(k+1, w, held)
	}
	return p
}

// plainDescent is Euler's method on ẇ = −f′(w): E = t·f + ½‖w‖² never rises, so f ≤ ½‖w_0‖²/t, at t = kη.
func plainDescent(from []float64, steps int) *descent {
	d := &descent{name: "descent"}
	d.end = descend(from, &train.SGD{LR: flowRate}, flowRate, steps, false, func(k int, w, _ []float64) {
		t, f := float64(k)*flowRate, valley(w)
		d.at, d.value = append(d.at, w), append(d.value, f)
		d.e, d.bound = append(d.e, t*f+square(w)/2), append(d.bound, square(from)/2/t)
	})
	return d
}

// momentum is the heavy ball. Nothing is known of it for all convex f.
func momentum(from []float64, steps int) *descent {
	d := &descent{name: "momentum"}
	d.end = descend(from, &train.SGD{LR: flowRate, Momentum: 0.9}, flowRate, steps, false, func(_ int, w, _ []float64) {
		d.at, d.value = append(d.at, w), append(d.value, valley(w))
	})
	return d
}

// nesterov takes steps of ẅ + (3/t)·ẇ = −f′(w): with z_k = y_k + k/2·(y_k − w_k), where y_k is ahead of w_k,
// E = (k+1)²·η·f + 2‖z‖² never rises, so f ≤ 2‖w_0‖²/(η(k+1)²).
func nesterov(from []float64, steps int) *descent {
	d := &descent{name: "Nesterov"}
	d.end = descend(from, &train.Nesterov{LR: flowRate}, flowRate, steps, true, func(k int, w, y []float64) {
		at, f, z := float64(k+1), valley(w), make([]float64, len(w))
		for i := range z {
			z[i] = y[i] + float64(k)/2*(y[i]-w[i])
		}
		d.at, d.value = append(d.at, w), append(d.value, f)
		d.e, d.bound = append(d.e, at*at*flowRate*f+2*square(z)), append(d.bound, 2*square(from)/(flowRate*at*at))
	})
	return d
}

func square(w []float64) float64 { return length(w) * length(w) }

// rises is after how many steps the Lyapunov function is higher than before, above what is beyond the
// bound; rounding does not count.
func (d *descent) rises() (rises, above int) {
	for k := 1; k < len(d.e); k++ {
		if d.e[k] > d.e[k-1]+1e-5*d.e[0] {
			rises++
		}
		if d.value[k] > d.bound[k]*(1+1e-5) {
			above++
		}
	}
	return rises, above
}

// flowGap is how far the steps are from the flow at most, up to t = 8, of ½w² from 1 on: e^−t for descent,
// at t = kη, and 2·J₁(t)/t for Nesterov's, at t = k√η.
func flowGap(rate float64, accelerated bool) (gap float64) {
	unit, opt, flow := rate, train.Optimiser(&train.SGD{LR: rate}), func(t float64) float64 { return math.Exp(-t) }
	if accelerated {
		unit, opt, flow = math.Sqrt(rate), &train.Nesterov{LR: rate}, func(t float64) float64 { return 2 * math.J1(t) / t }
	}
	descend([]float64{1}, opt, rate, int(8/unit), accelerated, func(k int, w, _ []float64) {
		if k > 0 {
			gap = max(gap, math.Abs(w[0]-flow(float64(k)*unit)))
		}
	})
	return gap
}

func runFlow(s *stage.Stage) error {
	rng := s.RNG("start")
	angle := math.Pi * (0.1 + 0.3*rng.Float64()) // neither along the valley nor across it
	from := []float64{math.Cos(angle), math.Sin(angle)}
	steps := s.Steps() * s.EpochsOr(flowSteps)
	s.Say("f(w) = ½·(w₁² + %.2g·w₂²) is a long valley; descent begins at (%.2f, %.2f), with a rate of %.1f. A step of plain descent is a step of Euler's method on ẇ = −f′(w), a step of Nesterov's one on ẅ + (3/t)·ẇ = −f′(w).", flowSlopes[1], from[0], from[1], flowRate)
	all := []*descent{plainDescent(from, steps), momentum(from, steps), nesterov(from, steps)}
	values, rises, above := map[string]any{}, map[string]any{}, map[string]any{}
	s.Print("\n%-9s   f after %d steps       bound   E rises   steps above the bound\n", "", steps)
	for _, d := range all {
		last := stage.Last(d.value)
		values[d.name] = last
		if d.e == nil {
			s.Print("%-9s   %*.2e\n", d.name, len(fmt.Sprint(steps))+14, last)
			continue
		}
		up, over := d.rises()
		rises[d.name], above[d.name] = up, over
		s.Print("%-9s   %*.2e   %9.2e   %7d   %21d\n", d.name, len(fmt.Sprint(steps))+14, last, stage.Last(d.bound), up, over)
	}
	gaps := map[string]map[string]float64{"descent": {}, "Nesterov": {}}
	s.Print("\nthe largest distance from the flow up to t = 8\n   rate   descent, e^−t   Nesterov, 2·J₁(t)/t\n")
	for _, rate := range []float64{1e-1, 1e-2, 1e-3, 1e-4} {
		name := fmt.Sprint(rate)
		gaps["descent"][name], gaps["Nesterov"][name] = flowGap(rate, false), flowGap(rate, true)
		s.Print("%7s   %13.1e   %19.1e\n", name, gaps["descent"][name], gaps["Nesterov"][name])
	}
	s.Say("\nThe first falls with the rate, the second with its square root.")
	s.Result(map[string]any{"value": values, "rises": rises, "above_bound": above, "gap": gaps})
	s.Draw(flowPanels(all)...)
	return s.Keep(map[string]*grad.Param{"descent": all[0].end, "momentum": all[1].end, "Nesterov": all[2].end})
}

// flowPanels draw the ways down, how low they are, and E.
func flowPanels(all []*descent) [][]picture.Panel {
	ways := &picture.Chart{Title: "the ways down", X: picture.Axis{Label: "w₁"}, Y: picture.Axis{Label: "w₂"}}
	for _, level := range []float64{0.0005, 0.002, 0.006, 0.015, 0.04, 0.08, 0.14} {
		ways.Series = append(ways.Series, contour(level))
	}
	x := picture.Axis{Label: "step", Whole: true}
	low := &picture.Chart{Title: "f, and its bounds", X: x, Y: picture.Axis{Label: "log₁₀"}}
	e := &picture.Chart{Title: "E, to that at the start", X: x}
	for i, d := range all {
		way := picture.Series{Name: d.name, Mark: picture.Curve, Colour: picture.Colour(i)}
		for _, w := range d.at {
			way.Points = append(way.Points, picture.Point{X: w[0], Y: w[1]})
		}
		ways.Series = append(ways.Series, way)
		low.Series = append(low.Series, stage.Curve(d.name, i, logs(d.value[1:])))
		if d.e == nil {
			continue
		}
		low.Series = append(low.Series, stage.Curve("bound of "+d.name, 3+i/2, logs(d.bound[1:])))
		var share []float64
		for _, v := range d.e[1:] {
			share = append(share, v/d.e[0])
		}
		e.Series = append(e.Series, stage.Curve(d.name, i, share))
	}
	return [][]picture.Panel{{ways, low, e}}
}

// contour is where the valley is so high.
func contour(level float64) picture.Series {
	s := picture.Series{Mark: picture.Curve, Colour: color.RGBA{205, 205, 205, 255}}
	for k := range 101 {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / 100)
		p := picture.Point{X: math.Sqrt(2*level/flowSlopes[0]) * cos, Y: math.Sqrt(2*level/flowSlopes[1]) * sin}
		if math.Abs(p.X) > 0.6 || math.Abs(p.Y) > 1.05 {
			p.X = math.NaN() // a gap
		}
		s.Points = append(s.Points, p)
	}
	return s
}

// logs are logarithms to the base of ten.
func logs(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Log10(max(v, 1e-30))
	}
	return out
}
