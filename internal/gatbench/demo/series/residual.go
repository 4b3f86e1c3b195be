package series

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// byLength is what becomes of a residual state, a_t = a_t−1 + tanh(…), in sequences of a length.
type byLength struct {
	Length    int
	Right     float64 // the share of symbols that are named
	Size      float64 // of an element of the last state: the root of its mean square
	Saturated float64 // the share of elements whose tanh has a slope below a tenth in the last step
}

// lengths has a residual network name the first symbol of shorter and longer sequences.
func (r *reader) lengths(s *stage.Stage) []byLength {
	var out []byLength
	for _, n := range []int{recallLength / 4, recallLength / 2, recallLength, 2 * recallLength, 4 * recallLength} {
		x, want := text.Task{Count: s.Count(200), Min: n, Seed: s.Stream("lengths", uint64(n))}.Recall()
		g := x.Graph()
		t := grad.NewEval()
		a := r.states(t, g, grad.Const(x.X))
		b := byLength{Length: n, Right: train.Accuracy(r.Out.Forward(t, a.Rows(g.Sinks())).Value(), want)}
		b.Size, b.Saturated = saturation(g, a.Value())
		out = append(out, b)
	}
	return out
}

// saturation returns how large the elements of the last states of chains are, and of how many of
// them what was added last, f = a_t − a_t−1, is so near ±1 that its slope, 1 − f², is below a tenth.
func saturation(g *graph.Graph, a *tensor.Dense) (size, saturated float64) {
	sum, flat, n := 0.0, 0, 0
	for _, v := range g.Sinks() {
		for _, u := range g.Sources(int(v)) {
			for j, after := range a.Row(int(v)) {
				f := float64(after - a.Row(int(u))[j])
				sum += float64(after) * float64(after)
				n++
				if 1-f*f < 0.1 {
					flat++
				}
			}
		}
	}
	return math.Sqrt(sum / float64(max(1, n))), float64(flat) / float64(max(1, n))
}

// lengthNumbers are those of all lengths, for machines.
func lengthNumbers(all []byLength) map[string]any {
	out := map[string]any{}
	for _, b := range all {
		out[fmt.Sprint(b.Length)] = map[string]any{"right": b.Right, "size": b.Size, "saturated": b.Saturated}
	}
	return out
}

// lengthPanels prints and draws how the state grows with the length.
func lengthPanels(s *stage.Stage, all []byLength) []picture.Panel {
	x := picture.Axis{Label: "length of the sequence"}
	size := picture.Series{Mark: picture.Curve, Colour: picture.Colour(0)}
	right, flat := picture.Series{Name: "right", Mark: picture.Curve, Colour: picture.Colour(0)}, picture.Series{Name: "saturated", Mark: picture.Curve, Colour: picture.Colour(1)}
	s.Say("What is added stays, so the state grows with the length; with it grows what tanh reads, until its slope is all but nought:")
	s.Print("length   right   size of an element   saturated\n")
	for _, b := range all {
		at := float64(b.Length)
		s.Print("%6d   %5.2f   %18.2f   %9.2f\n", b.Length, b.Right, b.Size, b.Saturated)
		size.Points = append(size.Points, picture.Point{X: at, Y: b.Size})
		right.Points, flat.Points = append(right.Points, picture.Point{X: at, Y: b.Right}), append(flat.Points, picture.Point{X: at, Y: b.Saturated})
	}
	s.Print("\n")
	return []picture.Panel{
		&picture.Chart{Title: "size of an element of the last state", X: x, Series: []picture.Series{size}},
		&picture.Chart{Title: "symbols right, and elements saturated", X: x, Y: picture.Axis{Label: "share"}, Series: []picture.Series{right, flat}},
	}
}
