package pointing

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/points"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/attention"
)

// Hull has a pointer network find the corners of the convex hull of points: as many as there
// are, so an answer ends with a key of its own.
var Hull = stage.Demo{Name: "hull", About: "the convex hull of points, by a network that points at its corners", Seconds: 21, Act: stage.Func(runHull)}

func runHull(s *stage.Stage) error {
	s.Say("A pointer network reads points of a plane, five to ten, and points at the corners of their convex hull, anticlockwise from the first, until it points at the end.")
	p := newPointing(s, attention.Pointer{In: 2, NoRepeat: true, End: true}, 96, points.Task{Count: 128, Min: 5, Max: 10}, points.Task.Hull)
	sizes := []points.Sets{p.unseen(s, 5), p.unseen(s, 10)}
	got := make([][][]int32, 2) // of each size, the answers
	score := func() (share float64, err error) {
		for i, sets := range sizes {
			if got[i], err = p.answers(sets, 3); err != nil {
				return 0, err
			}
		}
		return exact(got[0], sizes[0]), nil
	}
	l := p.training(s, 20, "exact_5", score)
	if err := l.Run(); err != nil {
		return err
	}
	out := map[string]any{}
	s.Print("\n")
	for i, name := range []string{"5", "10"} {
		right, area := exact(got[i], sizes[i]), hullArea(got[i], sizes[i])
		out["exact_"+name], out["area_"+name] = right, area
		s.Print("%2s points: %.1f %% of the hulls are exact, and the area is %.1f %% of the right one\n", name, 100*right, 100*area)
	}
	s.Result(out)
	s.Print("\n")
	for i := range 4 {
		note := ""
		if !slices.Equal(got[1][i], sizes[1].Answers[i]) {
			note = fmt.Sprintf("   (it is %d)", sizes[1].Answers[i])
		}
		s.Print("  hull %d of ten points: %d%s\n", i, got[1][i], note)
	}
	s.Print("\n")
	five := sizes[0]
	s.Draw(hullPanels(five, got[0]), hullPanels(sizes[1], got[1]), []picture.Panel{
		p.weightsPanel("weights of each step: hull 0 of 5 points", five.Set(0), got[0][0], append(numbered(5), "end")), stage.LossPanel(l),
	})
	return s.Keep(p.net)
}

// hullPanels shows the first hull, and the first that is wrong.
func hullPanels(sets points.Sets, got [][]int32) []picture.Panel {
	panels := []picture.Panel{hullPanel(sets, got, 0)}
	for i := range got {
		if i > 0 && exact(got[i:i+1], points.Sets{Answers: sets.Answers[i : i+1]}) == 0 {
			return append(panels, hullPanel(sets, got, i))
		}
	}
	return panels
}

func hullPanel(sets points.Sets, got [][]int32, i int) picture.Panel {
	x := sets.Set(i)
	return planePanel(fmt.Sprintf("hull %d of %d points: %.1f %% of the area", i, x.Rows(), 100*points.Area(x, got[i])/points.Area(x, sets.Answers[i])), x, got[i], sets.Answers[i])
}

// hullArea is the mean, over sets, of the share of a hull's area that an answer has; one whose
// sides cross has none.
func hullArea(got [][]int32, sets points.Sets) float64 {
	sum := 0.0
	for i, a := range got {
		if x := sets.Set(i); points.Simple(x, a) {
			sum += max(0, points.Area(x, a)) / points.Area(x, sets.Answers[i])
		}
	}
	return sum / float64(max(1, len(got)))
}
