package pointing

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/points"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/attention"
)

// Salesman has a pointer network find a short tour of points; the shortest is known beside it.
var Salesman = stage.Demo{Name: "salesman", About: "a short tour of points, by a network that points at the next", Lower: []string{"length_5", "length_10"}, Seconds: 20, Act: stage.Func(runSalesman)}

func runSalesman(s *stage.Stage) error {
	s.Say("A pointer network reads points of a plane, five to ten, and points at them in the order of a tour, from the first and back to it. It learns from shortest tours, by the dynamic programme of Held and Karp.")
	p := newPointing(s, attention.Pointer{In: 2, NoRepeat: true}, 96, points.Task{Count: 128, Min: 5, Max: 10}, points.Task.Salesman)
	sizes := []points.Sets{p.unseen(s, 5), p.unseen(s, 10)}
	got := make([][][]int32, 2) // of each size, the tours
	score := func() (ratio float64, err error) {
		for i, sets := range sizes {
			if got[i], err = p.answers(sets, 3); err != nil {
				return 0, err
			}
		}
		return tourRatio(got[0], sizes[0]), nil
	}
	l := p.training(s, 15, "length_5", score)
	if err := l.Run(); err != nil {
		return err
	}
	out := map[string]any{}
	s.Print("\n")
	for i, name := range []string{"5", "10"} {
		ratio, shortest, valid := tourRatio(got[i], sizes[i]), exact(got[i], sizes[i]), toursOfAll(got[i], sizes[i])
		out["length_"+name], out["shortest_"+name], out["valid_"+name] = ratio, shortest, valid
		s.Print("%2s points: tours are %.1f %% longer than the shortest, %.1f %% are the shortest, %.0f %% visit all points once\n", name, 100*(ratio-1), 100*shortest, 100*valid)
	}
	s.Result(out)
	s.Print("\n")
	for i := range 4 {
		x, note := sizes[1].Set(i), ""
		if !slices.Equal(got[1][i], sizes[1].Answers[i]) {
			note = fmt.Sprintf("   (the shortest: length %.3f, order %d)", points.Length(x, sizes[1].Answers[i]), sizes[1].Answers[i])
		}
		s.Print("  tour %d of ten points: length %.3f, order %d%s\n", i, points.Length(x, got[1][i]), got[1][i], note)
	}
	s.Print("\n")
	var said, right []picture.Panel
	for k, i := range []int{0, longest(got[1], sizes[1])} {
		x := sizes[1].Set(i)
		title := fmt.Sprintf("%s, tour %d: %.3f", []string{"the first", "the worst"}[k], i, points.Length(x, got[1][i]))
		said = append(said, planePanel(title, x, got[1][i], nil))
		right = append(right, planePanel(fmt.Sprintf("the shortest: %.3f", points.Length(x, sizes[1].Answers[i])), x, nil, sizes[1].Answers[i]))
	}
	s.Draw(said, right, []picture.Panel{p.weightsPanel("weights of each step: tour 0", sizes[1].Set(0), got[1][0], numbered(10)), stage.LossPanel(l)})
	return s.Keep(p.net)
}

// longest returns the tour that is longest beside the shortest.
func longest(got [][]int32, sets points.Sets) int {
	found, most := 0, 0.0
	for i, tour := range got {
		if x := sets.Set(i); points.Length(x, tour) > most*points.Length(x, sets.Answers[i]) {
			found, most = i, points.Length(x, tour)/points.Length(x, sets.Answers[i])
		}
	}
	return found
}

// toursOfAll is the share of tours that visit every point once.
func toursOfAll(got [][]int32, sets points.Sets) float64 {
	valid := 0
	for i, tour := range got {
		if slices.Equal(slices.Sorted(slices.Values(tour)), stage.Every(sets.Set(i).Rows())) {
			valid++
		}
	}
	return float64(valid) / float64(max(1, len(got)))
}

// tourRatio is the mean, over sets, of the length of a tour in shares of the shortest.
func tourRatio(got [][]int32, sets points.Sets) float64 {
	sum := 0.0
	for i, tour := range got {
		x := sets.Set(i)
		sum += points.Length(x, tour) / points.Length(x, sets.Answers[i])
	}
	return sum / float64(max(1, len(got)))
}
