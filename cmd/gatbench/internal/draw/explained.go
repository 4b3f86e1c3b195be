package draw

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/picture"
)

// Explained is what a node's class comes from.
type Explained struct {
	*datasets.Dataset
	Title  string
	Graph  *graph.Graph // the neighbourhood; node 0 is the one that is explained
	Edges  []int32      // of it that count
	Scores []float64    // of its edges
	Best   []int32      // the edges that are the explanation
}

// Write draws the node in the middle, its neighbours around it, theirs around them, and
// so on; edges as wide as they score, the best ones dark and their nodes with numbers.
func (x *Explained) Write(path string) error {
	return savePanels(path, [][]picture.Panel{{x}})
}

// distances returns how many edges lie between each node and node 0, and the node next
// to it on the way.
func (x *Explained) distances() (far, by []int) {
	far, by = make([]int, x.Graph.NumNodes()), make([]int, x.Graph.NumNodes())
	for v := range far {
		far[v] = -1
	}
	far[0] = 0
	for queue := []int{0}; len(queue) > 0; queue = queue[1:] {
		v := queue[0]
		for _, u := range x.Graph.Sources(v) {
			if far[u] < 0 {
				far[u], by[u] = far[v]+1, v
				queue = append(queue, int(u))
			}
		}
	}
	return far, by
}

// places returns where the nodes are: on rings by their distance, behind the node that
// they are reached from.
func (x *Explained) places(middle picture.Point, radius float64) []picture.Point {
	far, by := x.distances()
	rings := make([][]int, slices.Max(far)+1)
	for v, d := range far {
		rings[d] = append(rings[d], v)
	}
	at, turn := make([]picture.Point, len(far)), make([]int, len(far))
	at[0] = middle
	for d, nodes := range rings[1:] {
		slices.SortStableFunc(nodes, func(a, b int) int { return turn[by[a]] - turn[by[b]] })
		r := ring{middle, radius * float64(d+1) / float64(len(rings)-1), len(nodes)}
		for i, v := range nodes {
			at[v], turn[v] = r.at(i), i
		}
	}
	return at
}

// heading names the panel, the classes that occur, and what dark edges are.
func (x *Explained) heading() picture.Heading {
	h := picture.Heading{Title: x.Title}
	seen := make([]bool, x.Classes)
	for _, v := range x.Graph.From().Src {
		if c := x.Labels[v]; c >= 0 {
			seen[c] = true
		}
	}
	for c, there := range seen {
		if there {
			h.Legend = append(h.Legend, picture.Key{Name: className(x.Dataset, c), Mark: picture.Dots, Colour: picture.Colour(c)})
		}
	}
	best := fmt.Sprintf("the best %d of %d edges", len(x.Best), len(x.Edges))
	h.Legend = append(h.Legend, picture.Key{Name: best, Mark: picture.Curve, Colour: picture.Ink})
	return h
}

// Draw draws edges first, then nodes, then numbers.
func (x *Explained) Draw(c *picture.Canvas, box picture.Box) {
	box = x.heading().Draw(c, box)
	at := x.places(box.Middle(), box.Height()/2-14)
	most := 0.0
	for _, e := range x.Edges {
		most = math.Max(most, math.Abs(x.Scores[e]))
	}
	line := func(e int32, s picture.Stroke) {
		if most > 0 {
			s.Width += 2.5 * math.Max(0, x.Scores[e]) / most
		}
		c.Line(at[x.Graph.In().Cols[e]], at[x.Graph.Destinations()[e]], s)
	}
	for _, e := range x.Edges {
		line(e, picture.Stroke{Colour: edgeColour, Width: 0.3})
	}
	named := map[int32]bool{0: true}
	for _, e := range x.Best {
		line(e, picture.Stroke{Colour: picture.Ink, Width: 0.5})
		named[x.Graph.In().Cols[e]], named[x.Graph.Destinations()[e]] = true, true
	}
	nodes := x.Graph.From().Src
	size := min(4.5, 60/math.Sqrt(float64(len(nodes))))
	for v, p := range at {
		n := neighbourhood{Dataset: x.Dataset}
		n.disc(c, p, nodes[v], size)
	}
	for v, p := range at {
		if named[int32(v)] {
			c.Text(picture.Point{X: p.X + size + 1, Y: p.Y - size}, fmt.Sprint(nodes[v]), picture.Letters{Size: 7, Colour: picture.Ink, Anchor: picture.Start})
		}
	}
}
