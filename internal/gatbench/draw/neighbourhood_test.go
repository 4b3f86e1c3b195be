package draw

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/picture"
)

// The numbers around a node neither overlap nor lie on the nodes.
func TestRing(t *testing.T) {
	for n := 1; n <= 16; n++ {
		r := ring{picture.Point{X: 200, Y: 150}, 75, n}
		var boxes []picture.Box
		for i := range n {
			at, anchor := r.outside(i)
			length := picture.Letters{Size: 7.5}.Width("19716: 100 %")
			left := at.X - length*float64(anchor)/2 // it starts, has its middle or ends there
			boxes = append(boxes, picture.Box{Left: left, Top: at.Y + 2.7 - 0.7*7.5, Right: left + length, Bottom: at.Y + 2.7})
		}
		for i, b := range boxes {
			for j := range n {
				d := r.at(j)
				node := picture.Box{Left: d.X - 5, Top: d.Y - 5, Right: d.X + 5, Bottom: d.Y + 5}
				if overlap(b, node) || i != j && overlap(b, boxes[j]) {
					t.Errorf("of %d nodes, number %d is on node or number %d", n, i, j)
				}
			}
			if far := math.Hypot(b.Middle().X-r.at(i).X, b.Middle().Y-r.at(i).Y); far > 40 {
				t.Errorf("of %d nodes, number %d is %.0f points away", n, i, far)
			}
		}
	}
}

func overlap(a, b picture.Box) bool {
	return a.Left < b.Right && b.Left < a.Right && a.Top < b.Bottom && b.Top < a.Bottom
}
