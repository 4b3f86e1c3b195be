package pointing

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/points"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Salesman has a pointer network find a short tour of points; the shortest is known beside it.
var Salesman = stage.Demo{
	Name: "salesman", About: "a short tour of points, by a network that points at the next", Seconds: 20, Act: salesman{},
	Lower: []string{"length", "length_5", "length_10", "best", "best_5", "best_10"},
}

// salesman are the flags of Salesman.
type salesman struct {
	Orders   int    `default:"8" placeholder:"N" help:"Read the points of each set in N orders, as they are listed and shuffled, and keep the shortest of N tours. Default: 8."`
	Train    string `placeholder:"FILE" help:"Learn from the sets of points in this file, of 16 points or fewer each: two coordinates a line and an empty line between sets, or TSPLIB with EDGE_WEIGHT_TYPE EUC_2D. Default: points are drawn."`
	Test     string `placeholder:"FILE" help:"Try the sets of points in this file, in the same form. The length of the shortest tour known may stand before a set, as '# best known 7542', or in its head, as 'BEST_KNOWN : 7542'. Example: gatbench demo salesman --test berlin52.tsp."`
	AsListed bool   `name:"as-listed" help:"With --train: learn the points of each set in the order in which they are listed. By default they are shuffled each time."`
}

// Check returns an error for flags that do not go together, or files that cannot be read.
func (f salesman) Check(written []cli.File) error {
	switch {
	case f.Orders < 1 || f.Orders > 1000:
		return cli.Misuse("--orders %d: it must be from 1 to 1000", f.Orders)
	case f.AsListed && f.Train == "":
		return cli.Misuse("--as-listed is about the sets of --train: name them, too")
	}
	return setFiles{stage.Files{Train: f.Train, Test: f.Test}}.check(written)
}

// tours are sets to find tours of, and what is known of them.
type tours struct {
	points.Sets
	name, title string // of the results, behind what they are: empty, or such as _5; and in words
	length      func(i int, tour []int32) float64
	shortest    []float64 // the shortest known; NaN where none is
	called      []string  // sets of a user's file

	listed, best [][]int32 // what the network says of the points as they are listed, and the shortest of several orders
}

// drawnTours are those of drawn sets, whose answers are the shortest.
func drawnTours(sets points.Sets, name string) *tours {
	t := &tours{Sets: sets, name: "_" + name, title: name + " points", length: func(i int, tour []int32) float64 { return points.Length(sets.Set(i), tour) }}
	for i, a := range sets.Answers {
		t.shortest = append(t.shortest, t.length(i, a))
	}
	return t
}

// ownTours are those of a user's sets. The shortest is what the file says, or is found if there are few points.
func ownTours(path string) (*tours, error) {
	own, err := readSets(path)
	if err != nil {
		return nil, err
	}
	t := &tours{title: path, length: func(i int, tour []int32) float64 { return own[i].length(tour) }}
	t.Sets, err = setsOf(own, func(x *tensor.Dense) ([]int32, error) {
		if x.Rows() > points.MostOnTour {
			return nil, nil
		}
		return points.Tour(x)
	})
	for i, o := range own {
		shortest := o.best
		if shortest == 0 {
			shortest = math.NaN()
			if a := t.Answers[i]; a != nil {
				shortest = t.length(i, a)
			}
		}
		t.shortest, t.called = append(t.shortest, shortest), append(t.called, fmt.Sprintf("%s, %d points", o.name, len(o.at)))
	}
	return t, err
}

// ask has the network find tours by a beam, in one order or in several.
func (t *tours) ask(p *pointing, orders int, seed uint64) (err error) {
	if t.listed, err = p.answers(t.Sets, 3); err != nil {
		return err
	}
	t.best = slices.Clone(t.listed)
	for k := 1; k < orders; k++ {
		again, was := shuffled(t.Sets, rand.New(rand.NewPCG(seed, uint64(k))), nil)
		got, err := p.answers(again, 3)
		if err != nil {
			return err
		}
		for i, tour := range got {
			if tour = places(tour, was[i]); t.length(i, tour) < t.length(i, t.best[i]) {
				t.best[i] = tourOf(tour)
			}
		}
	}
	return nil
}

// ratio is the mean length of tours, in shares of the shortest known; NaN if none is.
func (t *tours) ratio(got [][]int32) float64 {
	sum, n := 0.0, 0.0
	for i, tour := range got {
		if known := t.shortest[i]; known > 0 {
			sum, n = sum+t.length(i, tour)/known, n+1
		}
	}
	return sum / n
}

// longest returns the tour that is longest beside the shortest known.
func (t *tours) longest(got [][]int32) int {
	found, most := 0, 0.0
	for i, tour := range got {
		if r := t.length(i, tour) / t.shortest[i]; r > most {
			found, most = i, r
		}
	}
	return found
}

// valid is the share of tours that visit every point once.
func (t *tours) valid(got [][]int32) float64 {
	valid := 0
	for i, tour := range got {
		if slices.Equal(slices.Sorted(slices.Values(tour)), stage.Every(t.Set(i).Rows())) {
			valid++
		}
	}
	return float64(valid) / float64(max(1, len(got)))
}

// learner returns a network that is to learn, and says of what.
func (f salesman) learner(s *stage.Stage) (*pointing, string, error) {
	const reads = "A pointer network reads points of a plane, %s, and points at them in the order of a tour, from the first and back to it. It learns from shortest tours, by the dynamic programme of Held and Karp."
	task, net := points.Task{Count: 128, Min: 5, Max: 10}, attention.Pointer{In: 2, NoRepeat: true}
	if f.Train == "" {
		return newPointing(s, net, 96, task, points.Task.Salesman), fmt.Sprintf(reads, "five to ten"), nil
	}
	all, err := setFiles{stage.Files{Train: f.Train}}.learnt(points.Tour)
	if err != nil {
		return nil, "", err
	}
	return newPointing(s, net, 96, task, sample(all, f.AsListed, tourOf)), fmt.Sprintf(reads, fmt.Sprintf("the %d sets of %s", all.Len(), f.Train)), nil
}

// Run trains the network and shows its tours beside the shortest.
func (f salesman) Run(s *stage.Stage) error {
	p, about, err := f.learner(s)
	if err != nil {
		return err
	}
	var all []*tours
	if f.Test != "" {
		own, err := ownTours(f.Test)
		if err != nil {
			return err
		}
		all = []*tours{own}
	} else {
		all = []*tours{drawnTours(p.unseen(s, 5), "5"), drawnTours(p.unseen(s, 10), "10")}
	}
	s.Say("%s", about)
	l := p.training(s, 15, "length"+all[0].name, func() (float64, error) {
		got, err := p.answers(all[0].Sets, 3)
		return all[0].ratio(got), err
	})
	if err := l.Run(); err != nil {
		return err
	}
	out := map[string]any{}
	s.Print("\n")
	for _, t := range all {
		if err := t.ask(p, f.Orders, s.Stream("orders", 0)); err != nil {
			return err
		}
		t.report(s, f.Orders, out)
	}
	s.Result(out)
	last := all[len(all)-1]
	last.show(s)
	said, right := last.panels()
	panels := []picture.Panel{stage.LossPanel(l)}
	if n := last.Set(0).Rows(); n <= 20 {
		panels = append([]picture.Panel{p.weightsPanel("weights of each step: tour 0", last.Set(0), last.listed[0], numbered(n))}, panels...)
	}
	s.Draw(said, right, panels)
	return s.Keep(p.net)
}

// report says how long the tours are, beside the shortest.
func (t *tours) report(s *stage.Stage, orders int, out map[string]any) {
	listed, best, valid := t.ratio(t.listed), t.ratio(t.best), t.valid(t.best)
	out["length"+t.name], out["best"+t.name], out["valid"+t.name] = report.Number(listed), report.Number(best), valid
	s.Print("%s: all points are visited once by %.0f %% of the tours\n", t.title, 100*valid)
	if math.IsNaN(listed) {
		return
	}
	if t.called == nil {
		out["shortest"+t.name] = exact(t.listed, t.Sets)
		s.Print("  %.1f %% are the shortest\n", 100*exact(t.listed, t.Sets))
	}
	s.Print("  %.1f %% longer than the shortest known, the shortest of %d orders %.1f %%\n", 100*(listed-1), orders, 100*(best-1))
}

// show prints some of the tours.
func (t *tours) show(s *stage.Stage) {
	s.Print("\n")
	most := 4
	if t.called != nil {
		most = 20
	}
	for i := range min(most, t.Len()) {
		name := fmt.Sprintf("tour %d", i)
		if t.called != nil {
			name = t.called[i]
		}
		note := ""
		if known := t.shortest[i]; known > 0 {
			note = fmt.Sprintf("; the shortest known %.4g", known)
		}
		s.Say("%s: length %.4g, of several orders %.4g%s; order %d", name, t.length(i, t.listed[i]), t.length(i, t.best[i]), note, t.best[i])
	}
	s.Print("\n")
}

// panels are the first tour and the one that is longest beside the shortest known: what the network says, and what is right.
func (t *tours) panels() (said, right []picture.Panel) {
	for k, i := range slices.Compact([]int{0, t.longest(t.best)}) {
		x, title := t.Set(i), fmt.Sprintf("%s, tour %d", []string{"the first", "the worst"}[k], i)
		said = append(said, planePanel(fmt.Sprintf("%s: %.4g", title, t.length(i, t.best[i])), x, t.best[i], nil))
		if a := t.Answers[i]; a != nil {
			right = append(right, planePanel(fmt.Sprintf("the shortest: %.4g", t.shortest[i]), x, nil, a))
		}
	}
	return said, right
}
