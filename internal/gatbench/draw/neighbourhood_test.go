package draw

import (
	"math"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
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

// The text names the node itself first and then the in-neighbours, the largest share first, and has the tables of the heads.
func TestNeighbourhoodsText(t *testing.T) {
	d := &datasets.Dataset{Classes: 1, Labels: []int32{0, -1, 0}}
	n := &Neighbourhoods{Dataset: d, Heads: []int{1}, Nodes: []Attended{attending(0.25, 0.25, 0.5)}}
	want := "node 0, layer 1: attention\n" +
		"uniform: 33.3 %\n" +
		"0.75 to 1.50 × uniform, entropy 94.6 % …\n" +
		"0 class 0, itself ███████▌        25.0 %\n" +
		"2 class 0         ███████████████ 50.0 %\n" +
		"1                 ███████▌        25.0 %\n" +
		"\nnode 0, layer 1\nhead ↓"
	if got := n.Text(40, false); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s…", got, want)
	}
}
