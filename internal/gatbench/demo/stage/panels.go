package stage

import (
	"github.com/edgewise-ml/edgewise/internal/picture"
)

// Every returns the numbers of n rows.
func Every(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// LossPanel shows the loss of each epoch, or hundred steps.
func LossPanel(ls ...*Training) picture.Panel {
	ch := &picture.Chart{Title: "loss", X: ls[0].axis()}
	for i, l := range ls {
		ch.Series = append(ch.Series, Curve(l.Name, i, l.Losses))
	}
	return ch
}

// Curve is a line through numbers, from 1 on.
func Curve(name string, colour int, ys []float64) picture.Series {
	s := picture.Series{Name: name, Mark: picture.Curve, Colour: picture.Colour(colour)}
	for i, y := range ys {
		s.Points = append(s.Points, picture.Point{X: float64(i + 1), Y: y})
	}
	return s
}
