package pointing

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/points"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/attention"
)

// Hull has a pointer network find the corners of the convex hull of points: as many as there
// are, so an answer ends with a key of its own.
var Hull = stage.Demo{Name: "hull", About: "the convex hull of points, by a network that points at its corners", Seconds: 21, Act: hull{}}

// hull are the flags of Hull.
type hull struct {
	Train string `placeholder:"FILE" help:"Learn from the sets of points in this file: two coordinates a line and an empty line between sets, or TSPLIB with EDGE_WEIGHT_TYPE EUC_2D. They are shuffled each time. Default: points are drawn."`
	Test  string `placeholder:"FILE" help:"Try the sets of points in this file, in the same form. Example: gatbench demo hull --test mine.txt."`
}

// Check returns an error for files that cannot be read.
func (f hull) Check(written []cli.File) error {
	return setFiles{stage.Files{Train: f.Train, Test: f.Test}}.check(written)
}

// learner returns a network that is to learn, and says of what.
func (f hull) learner(s *stage.Stage) (*pointing, string, error) {
	const reads = "A pointer network reads points of a plane, %s, and points at the corners of their convex hull, anticlockwise from the first, until it points at the end."
	task, net := points.Task{Count: 128, Min: 5, Max: 10}, attention.Pointer{In: 2, NoRepeat: true, End: true}
	if f.Train == "" {
		return newPointing(s, net, 96, task, points.Task.Hull), fmt.Sprintf(reads, "five to ten"), nil
	}
	all, err := setFiles{stage.Files{Train: f.Train}}.learnt(points.Hull)
	if err != nil {
		return nil, "", err
	}
	return newPointing(s, net, 96, task, sample(all, false, ring)), fmt.Sprintf(reads, fmt.Sprintf("the %d sets of %s", all.Len(), f.Train)), nil
}

// hulls are sets to find hulls of, and what the network says.
type hulls struct {
	points.Sets
	name, title string // of the results, behind what they are: empty, or such as _5; and in words
	got         [][]int32
}

// tried returns what there is to try.
func (f hull) tried(s *stage.Stage, p *pointing) ([]*hulls, error) {
	if f.Test == "" {
		return []*hulls{{Sets: p.unseen(s, 5), name: "_5", title: "5 points"}, {Sets: p.unseen(s, 10), name: "_10", title: "10 points"}}, nil
	}
	own, err := readSets(f.Test)
	if err != nil {
		return nil, err
	}
	sets, err := setsOf(own, points.Hull)
	return []*hulls{{Sets: sets, title: f.Test}}, err
}

// Run trains the network and shows its hulls beside the right ones.
func (f hull) Run(s *stage.Stage) error {
	p, about, err := f.learner(s)
	if err != nil {
		return err
	}
	all, err := f.tried(s, p)
	if err != nil {
		return err
	}
	s.Say("%s", about)
	score := func() (share float64, err error) {
		for _, h := range all {
			if h.got, err = p.answers(h.Sets, 3); err != nil {
				return 0, err
			}
		}
		return exact(all[0].got, all[0].Sets), nil
	}
	l := p.training(s, 20, "exact"+all[0].name, score)
	if err := l.Run(); err != nil {
		return err
	}
	out := map[string]any{}
	s.Print("\n")
	for _, h := range all {
		right, area := exact(h.got, h.Sets), hullArea(h.got, h.Sets)
		out["exact"+h.name], out["area"+h.name] = right, area
		s.Print("%s: %.1f %% of the hulls are exact, and the area is %.1f %% of the right one\n", h.title, 100*right, 100*area)
	}
	s.Result(out)
	last := all[len(all)-1]
	s.Print("\n")
	for i := range min(4, last.Len()) {
		note := ""
		if !slices.Equal(last.got[i], last.Answers[i]) {
			note = fmt.Sprintf("   (it is %d)", last.Answers[i])
		}
		s.Print("  hull %d of %d points: %d%s\n", i, last.Set(i).Rows(), last.got[i], note)
	}
	s.Print("\n")
	var rows [][]picture.Panel
	for _, h := range all {
		rows = append(rows, hullPanels(h.Sets, h.got))
	}
	panels, first := []picture.Panel{stage.LossPanel(l)}, all[0]
	if n := first.Set(0).Rows(); n <= 20 {
		weights := p.weightsPanel(fmt.Sprintf("weights of each step: hull 0 of %d points", n), first.Set(0), first.got[0], append(numbered(n), "end"))
		panels = append([]picture.Panel{weights}, panels...)
	}
	s.Draw(append(rows, panels)...)
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
	return planePanel(fmt.Sprintf("hull %d of %d points: %.1f %% of the area", i, x.Rows(), 100*points.Area(x, got[i])/max(points.Area(x, sets.Answers[i]), 1e-12)), x, got[i], sets.Answers[i])
}

// hullArea is the mean, over sets, of the share of a hull's area that an answer has; one whose
// sides cross has none.
func hullArea(got [][]int32, sets points.Sets) float64 {
	sum := 0.0
	for i, a := range got {
		x := sets.Set(i)
		switch whole := points.Area(x, sets.Answers[i]); {
		case whole == 0 && slices.Equal(a, sets.Answers[i]): // all points lie on a line
			sum++
		case whole > 0 && points.Simple(x, a):
			sum += max(0, points.Area(x, a)) / whole
		}
	}
	return sum / float64(max(1, len(got)))
}
