package memories

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
)

// showCapacity finds how many patterns a network holds: units that are wrong after a recall that
// began at the pattern itself.
func showCapacity(s *stage.Stage) error {
	const units = 500
	s.Say("Random patterns are stored in %d units, and each is used as its own cue. Near 0.14 patterns per unit, Hebb's memory breaks down abruptly.", units)
	rules := []memory.Rule{memory.Hebb, memory.Storkey, memory.PseudoInverse}
	chart := &picture.Chart{Title: "units that are wrong, of a hundred", X: picture.Axis{Label: "patterns a unit"}}
	held := map[string]any{}
	s.Print("patterns a unit")
	for i, r := range rules {
		chart.Series = append(chart.Series, picture.Series{Name: r.String(), Mark: picture.Curve, Colour: picture.Colour(i)})
		s.Print("  %16s", r)
	}
	s.Print("\n")
	for _, load := range []float64{0.02, 0.05, 0.08, 0.1, 0.12, 0.13, 0.138, 0.15, 0.16, 0.18, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6} {
		s.Print("%15.3f", load)
		for i, r := range rules {
			if err := s.Ctx.Err(); err != nil {
				return fmt.Errorf("interrupted at %v patterns a unit", load)
			}
			wrong, err := wrongAt(s, r, units, int(load*units))
			if err != nil {
				return err
			}
			line := &chart.Series[i]
			line.Points = append(line.Points, picture.Point{X: load, Y: 100 * wrong})
			s.Print("  %9.2f %% wrong", 100*wrong)
			if at, ok := crossing(line.Points); ok && held[r.String()] == nil {
				held[r.String()] = at
			}
		}
		s.Print("\n")
	}
	s.Result(map[string]any{"capacity": held, "units": units})
	for _, r := range rules {
		if at, ok := held[r.String()]; ok {
			s.Print("%-15s has one unit in a hundred wrong at %.3f patterns a unit\n", r, at)
		} else {
			s.Print("%-15s has less than one unit in a hundred wrong at all of these\n", r)
		}
	}
	s.Say("In theory, Hebb's rule breaks down at 0.138.")
	s.Draw([]picture.Panel{chart})
	return nil
}

// crossing is where the last two points go from under to over one in a hundred.
func crossing(ps []picture.Point) (x float64, ok bool) {
	if len(ps) < 2 {
		return 0, false
	}
	a, b := ps[len(ps)-2], ps[len(ps)-1]
	if a.Y > 1 || b.Y <= 1 {
		return 0, false
	}
	return a.X + (b.X-a.X)*(1-a.Y)/(b.Y-a.Y), true
}

// wrongAt is which share of the units is wrong with so many patterns stored.
func wrongAt(s *stage.Stage, rule memory.Rule, units, patterns int) (float64, error) {
	x := coins(s, units, patterns)
	h, err := memory.Store(rule, x)
	if err != nil {
		return 0, err
	}
	got, err := h.Recall(x, memory.Recall{})
	if err != nil {
		return 0, err
	}
	return average(memory.Wrong(got.States, x)), nil
}

// coins are random patterns, a row of +1 and −1 each.
func coins(s *stage.Stage, units, patterns int) *tensor.Dense {
	return drawn(rand.New(rand.NewPCG(s.Stream("patterns", uint64(patterns)), 0)), patterns, units)
}
