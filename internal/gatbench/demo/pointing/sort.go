package pointing

import (
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/points"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Sort has a pointer network put numbers in order by pointing at them: it learns from sets of
// five, and is tried on sets of ten, too.
var Sort = stage.Demo{Name: "sort", About: "numbers in order, by a network that points at them", Seconds: 11, Act: stage.Func(runSort)}

func runSort(s *stage.Stage) error {
	s.Say("A pointer network reads five numbers and points at the lowest, the next and so on. It is trained on five numbers only, with the right order given; then it has to sort ten.")
	p := newPointing(s, attention.Pointer{In: 1, NoRepeat: true}, 64, points.Task{Count: 128, Min: 5}, points.Task.Ascending)
	five, ten := p.unseen(s, 5), p.unseen(s, 10)
	var got [][]int32
	right := func(sets points.Sets) (share float64, err error) {
		got, err = p.answers(sets, 1)
		return exact(got, sets), err
	}
	l := p.training(s, 30, "sorted_5", func() (float64, error) { return right(five) })
	if err := l.Run(); err != nil {
		return err
	}
	short := got[0]
	longer, err := right(ten)
	if err != nil {
		return err
	}
	s.Result(map[string]any{"sorted_5": stage.Last(l.Scores), "sorted_10": longer})
	s.Print("\n  %-39s   ->   %s\n", "ten numbers", "as it puts them")
	for i := range 4 {
		s.Print("  %s   ->   %s%s\n", numbersOf(ten.Set(i), stage.Every(10)), numbersOf(ten.Set(i), got[i]), unsorted(ten.Set(i), got[i]))
	}
	s.Print("\nwholly right: %.1f %% of sets of five (a guess: 0.8 %%), %.1f %% of sets of ten (a guess: none)\n", 100*stage.Last(l.Scores), 100*longer)
	s.Draw([]picture.Panel{
		p.weightsPanel("weights of each step: five numbers", five.Set(0), short, values(five.Set(0))),
		p.weightsPanel("weights of each step: ten numbers", ten.Set(0), got[0], values(ten.Set(0))),
	}, []picture.Panel{stage.LossPanel(l)})
	return s.Keep(p.net)
}

// values are the numbers of a set, as names.
func values(x *tensor.Dense) []string {
	out := make([]string, x.Rows())
	for i := range out {
		out[i] = fmt.Sprintf("%.2f", x.Data[i])
	}
	return out
}

// numbersOf are the numbers of a set in some order.
func numbersOf(x *tensor.Dense, order []int32) string {
	text := ""
	for _, i := range order {
		text += " " + strings.TrimPrefix(fmt.Sprintf("%.2f", x.Data[i]), "0")
	}
	return text[1:]
}

// unsorted says where an order first goes down.
func unsorted(x *tensor.Dense, order []int32) string {
	for k := 1; k < len(order); k++ {
		if a, b := x.Data[order[k-1]], x.Data[order[k]]; a > b {
			return fmt.Sprintf("   (%.3f before %.3f)", a, b)
		}
	}
	return ""
}
