package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/internal/plain"
)

// Explained is what a node's class comes from.
type Explained struct {
	*datasets.Dataset
	Class  int          // that of node 0, which is explained
	Answer string       // what the model calls it; empty: as the dataset does
	Method string       // what has explained it
	Graph  *graph.Graph // the neighbourhood; node 0 is the one that is explained
	Edges  []int32      // of it that count
	Scores []float64    // of its edges
	Best   []int32      // the edges that are the explanation
	IDs    []string     // of the nodes of the dataset; nil: they are numbered
}

// id is what a node of the dataset is called.
func (x *Explained) id(v int32) string {
	if int(v) < len(x.IDs) {
		return plain.Text(x.IDs[v])
	}
	return fmt.Sprint(v)
}

// Write draws the node in the middle, its neighbours around it, theirs around them, and
// so on; edges as wide as they score, the best ones dark and their nodes with numbers.
func (x *Explained) Write(path string) error {
	return savePanels(path, [][]picture.Panel{{x}})
}

// tree is the neighbourhood as breadth-first search finds it.
type tree struct {
	order    []int // nodes, the nearest first
	far      []int // edges between a node and node 0; −1: more than the search goes
	children [][]int
	weight   []float64 // room that a node wants: that of those behind it, and some of its own
}

// tree returns that of the neighbourhood.
func (x *Explained) tree() *tree {
	n := x.Graph.NumNodes()
	t := &tree{[]int{0}, slices.Repeat([]int{-1}, n), make([][]int, n), make([]float64, n)}
	t.far[0] = 0
	for i := 0; i < len(t.order); i++ {
		v := t.order[i]
		for _, u := range x.Graph.Sources(v) {
			if t.far[u] < 0 {
				t.far[u] = t.far[v] + 1
				t.children[v], t.order = append(t.children[v], int(u)), append(t.order, int(u))
			}
		}
	}
	const own = 8 // so that those with nothing behind them have room too
	for _, v := range slices.Backward(t.order) {
		t.weight[v] = own
		for _, u := range t.children[v] {
			t.weight[v] += t.weight[u] / own
		}
	}
	return t
}

// places returns where the nodes are: on rings by their distance, each in a sector behind
// the node that it is reached from; and how large they can be drawn.
func (t *tree) places(middle picture.Point, radius float64) (at []picture.Point, size []float64) {
	last := max(1, t.far[t.order[len(t.order)-1]])
	at, size = make([]picture.Point, len(t.far)), make([]float64, len(t.far))
	from, to := make([]float64, len(t.far)), make([]float64, len(t.far))
	to[0] = 2 * math.Pi
	for _, v := range t.order {
		far, angle := radius*float64(t.far[v])/float64(last), (from[v]+to[v])/2
		at[v] = picture.Point{X: middle.X + far*math.Sin(angle), Y: middle.Y - far*math.Cos(angle)}
		size[v] = 4.5
		if v > 0 {
			size[v] = min(4.5, max(1, far*(to[v]-from[v])/2))
		}
		sum, next := 0.0, from[v]
		for _, u := range t.children[v] {
			sum += t.weight[u]
		}
		for _, u := range t.children[v] {
			from[u] = next
			next += (to[v] - from[v]) * t.weight[u] / sum
			to[u] = next
		}
	}
	return at, size
}

// heading names the panel, the classes that occur, and what dark edges are.
func (x *Explained) heading() picture.Heading {
	h := picture.Heading{Title: fmt.Sprintf("node %s: why %s, by %s", x.id(x.Graph.From().Src[0]), cmp.Or(plain.Text(x.Answer), className(x.Dataset, x.Class)), x.Method)}
	seen := make([]bool, x.Classes)
	for _, v := range x.Graph.From().Src {
		if c := labelOf(x.Dataset, v); c >= 0 && c < len(seen) {
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
	at, size := x.tree().places(box.Middle(), box.Height()/2-14)
	from, to, share := x.Graph.In().Cols, x.Graph.Destinations(), x.shares()
	for _, e := range x.Edges {
		c.Line(at[from[e]], at[to[e]], picture.Stroke{Colour: edgeColour, Width: 0.25 + 0.5*share[e]})
	}
	named := map[int32]bool{0: true}
	for _, e := range x.Best {
		c.Line(at[from[e]], at[to[e]], picture.Stroke{Colour: picture.Ink, Width: 0.5 + 1.5*share[e]})
		named[from[e]], named[to[e]] = true, true
	}
	nodes := x.Graph.From().Src
	for v, p := range at {
		(&neighbourhood{Dataset: x.Dataset}).disc(c, p, nodes[v], size[v])
	}
	for v, p := range at {
		if named[int32(v)] {
			number(c, picture.Point{X: p.X, Y: p.Y - size[v] - 5}, x.id(nodes[v]))
		}
	}
}

// Text returns the best edges for a terminal of that many columns: below each node those it hears of, with bars as long as
// their scores. A node that is there more than once has those below it where it comes first.
func (x *Explained) Text(width int, colour bool) string {
	h := x.heading()
	l := &picture.List{Title: h.Title, Legend: []picture.Key{{Name: h.Legend[len(h.Legend)-1].Name}}}
	from, to, share, nodes := x.Graph.In().Cols, x.Graph.Destinations(), x.shares(), x.Graph.From().Src
	into := map[int32][]int32{}
	for _, e := range x.Best {
		into[to[e]] = append(into[to[e]], e)
	}
	var add func(v int32, entry picture.Entry)
	add = func(v int32, entry picture.Entry) {
		entry.Name, entry.Colour = nodeName(x.Dataset, nodes[v], x.id(nodes[v]))
		l.Entries = append(l.Entries, entry)
		edges := into[v]
		delete(into, v)
		for _, e := range edges {
			add(from[e], picture.Entry{Depth: entry.Depth + 1, Share: share[e], Note: fmt.Sprintf("%.3g", x.Scores[e])})
		}
	}
	add(0, picture.Entry{})
	for _, v := range x.tree().order { // what is not heard through other best edges
		if into[int32(v)] != nil {
			add(int32(v), picture.Entry{})
		}
	}
	return l.Text(width, colour)
}

// shares returns the edges' scores beside the largest, 0 for what speaks against the class.
func (x *Explained) shares() []float64 {
	most, out := 0.0, make([]float64, len(x.Scores))
	for _, e := range x.Edges {
		most = math.Max(most, x.Scores[e])
	}
	for _, e := range x.Edges {
		if x.Scores[e] > 0 {
			out[e] = x.Scores[e] / most
		}
	}
	return out
}

// number writes a node's number over what is there.
func number(c *picture.Canvas, at picture.Point, text string) {
	letters := picture.Letters{Size: 7, Colour: picture.Ink, Anchor: picture.Middle}
	half := letters.Width(text)/2 + 0.5
	c.Rect(picture.Box{Left: at.X - half, Top: at.Y - 3.5, Right: at.X + half, Bottom: at.Y + 3.5}, picture.White)
	c.Text(picture.Point{X: at.X, Y: at.Y + 2.5}, text, letters)
}
