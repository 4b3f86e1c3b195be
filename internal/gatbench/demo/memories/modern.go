package memories

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Modern stores more and more patterns in 64 units: Hebb's weights hold a few, attention over
// the patterns themselves more than there is room to draw.
var Modern = stage.Demo{Name: "modern", About: "how many patterns 64 units hold: Hebb's weights beside attention", Aside: []string{"hebb"}, Seconds: 1.1, Act: stage.Func(runModern)}

const (
	modernUnits  = 64
	modernTurned = 6  // of a cue
	modernCues   = 50 // of each number of patterns, at most
)

func runModern(s *stage.Stage) error {
	s.Say("Patterns of %d units, +1 or −1, and cues with %d of them flipped. A Hopfield network stores weights. A modern one stores the patterns themselves, and a cue attends to them once, with β = 1.", modernUnits, modernTurned)
	names := []string{"Hebb's weights", "attention, one step"}
	chart := &picture.Chart{Title: "cues that find their pattern, of a hundred", X: picture.Axis{Label: "log₁₀ of the patterns"}}
	for i, name := range names {
		chart.Series = append(chart.Series, picture.Series{Name: name, Mark: picture.Curve, Colour: picture.Colour(i)})
	}
	found := map[string]map[string]float64{"hebb": {}, "attention": {}} // by the number of patterns
	s.Print("cues that find their pattern\n%9s   %s   %s\n", "patterns", names[0], names[1])
	for _, n := range []int{2, 5, 10, 20, 50, 100, 300, 1000, 3000, 10_000, 30_000, 100_000} {
		if err := s.Ctx.Err(); err != nil {
			return fmt.Errorf("interrupted at %d patterns", n)
		}
		if s.Few > 0 && n > 10*s.Few {
			break
		}
		classic, attention, err := modernAt(s, n)
		if err != nil {
			return err
		}
		for i, v := range []float64{classic, attention} {
			chart.Series[i].Points = append(chart.Series[i].Points, picture.Point{X: math.Log10(float64(n)), Y: 100 * v})
		}
		found["hebb"][fmt.Sprint(n)], found["attention"][fmt.Sprint(n)] = classic, attention
		s.Print("%9d   %11.0f %%   %15.0f %%\n", n, 100*classic, 100*attention)
	}
	s.Result(map[string]any{"found": found})
	s.Say("The weights between 64 units are 2,016 numbers, however many patterns they store. Attention keeps every pattern, and the number that it can tell apart grows exponentially with the number of units.")
	s.Draw([]picture.Panel{chart})
	kept := &attended{Net: memory.Modern{Beta: 1}, Patterns: grad.NewParam(1000, modernUnits)}
	copy(kept.Patterns.Value.Data, coins(s, modernUnits, 1000).Data)
	return s.Keep(kept)
}

// attended is a memory and what it holds.
type attended struct {
	Net      memory.Modern
	Patterns *grad.Param
}

// modernAt returns which share of the cues finds its pattern among n.
func modernAt(s *stage.Stage, n int) (classic, modern float64, err error) {
	x := coins(s, modernUnits, n)
	some := tensor.Of(x.Data[:min(n, modernCues)*modernUnits], min(n, modernCues), modernUnits)
	cues := noisy(s, some, float64(modernTurned)/modernUnits)
	h, err := memory.Store(memory.Hebb, x)
	if err != nil {
		return 0, 0, err
	}
	got, err := h.Recall(cues, memory.Recall{})
	if err != nil {
		return 0, 0, err
	}
	one := (&memory.Modern{Beta: 1}).Retrieve(x, cues)
	for i, v := range one.Data {
		one.Data[i] = 1
		if v < 0 {
			one.Data[i] = -1
		}
	}
	all := float64(some.Rows())
	return float64(recalledOf(got.States, some)) / all, float64(recalledOf(one, some)) / all, nil
}
