package draw

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Attended is how much a node attends to each of its in-neighbours.
type Attended struct {
	Node  int32
	Edges []AttendedEdge
}

// AttendedEdge is one in-edge of a node.
type AttendedEdge struct {
	Source int32
	Heads  [][]tensor.Float // for each layer, for each head
}

// mean is the attention of a layer over its heads.
func (e AttendedEdge) mean(layer int) float64 {
	sum := 0.0
	for _, v := range e.Heads[layer] {
		sum += float64(v)
	}
	return sum / float64(len(e.Heads[layer]))
}

// Neighbourhoods are what some nodes attend to.
type Neighbourhoods struct {
	*datasets.Dataset
	Heads []int // of each layer
	Nodes []Attended
}

// Write draws a row of panels for each node, a panel for each layer: the node, its
// in-neighbours around it, and edges as wide as they are attended to. Below stand the tables
// of its heads, if there are any.
func (n *Neighbourhoods) Write(path string) error { return savePanels(path, n.panels()) }

// Text returns the same for a terminal of that many columns. An in-neighbour is a line with a bar.
func (n *Neighbourhoods) Text(width int, colour bool) string {
	return picture.Text(n.panels(), width, colour)
}

func (n *Neighbourhoods) panels() (panels [][]picture.Panel) {
	for _, a := range n.Nodes {
		var row []picture.Panel
		for layer, heads := range n.Heads {
			row = append(row, &neighbourhood{Dataset: n.Dataset, Attended: a, layer: layer, heads: heads})
		}
		panels = append(panels, row)
		var below []picture.Panel
		for _, table := range n.tables(a) {
			below = append(below, table)
		}
		if below != nil {
			panels = append(panels, below)
		}
	}
	return panels
}

// over says that a number is a mean of several heads.
func over(heads int) string {
	if heads == 1 {
		return ""
	}
	return fmt.Sprintf(", mean of %d heads", heads)
}

// neighbourhood is the panel of a node and a layer: the node in the middle of its
// in-neighbours.
type neighbourhood struct {
	*datasets.Dataset
	Attended
	layer, heads int
}

// classes returns those that occur, ascending.
func (n *neighbourhood) classes() []int {
	seen := make([]bool, n.Classes)
	for _, e := range n.Edges {
		if c := n.Labels[e.Source]; c >= 0 {
			seen[c] = true
		}
	}
	var out []int
	for c, ok := range seen {
		if ok {
			out = append(out, c)
		}
	}
	return out
}

// heading names the panel and the classes, and says how even the attention is.
func (n *neighbourhood) heading() picture.Heading {
	h := picture.Heading{Title: fmt.Sprintf("node %d, layer %d: attention%s", n.Node, n.layer+1, over(n.heads))}
	for _, c := range n.classes() {
		h.Legend = append(h.Legend, picture.Key{Name: className(n.Dataset, c), Mark: picture.Dots, Colour: picture.Colour(c)})
	}
	even := n.evenness(n.layer)
	h.Legend = append(h.Legend, even.key(), picture.Key{Name: even.String()})
	return h
}

// Draw draws the edges, and the nodes over them. An edge is as wide as it is attended to,
// beside uniform attention; below the node in the middle stands what it attends to itself.
func (n *neighbourhood) Draw(c *picture.Canvas, box picture.Box) {
	box = n.heading().Draw(c, box)
	shares, itself := n.shares()
	even := n.evenness(n.layer)
	const most = 16                                             // nodes that have room for a number
	size := math.Min(1, most/math.Max(1, float64(len(shares)))) // smaller where there are more
	r := ring{box.Middle(), box.Height()/2 - 20, len(shares)}
	for i, s := range shares {
		c.Line(r.middle, r.at(i), picture.Stroke{Colour: edgeColour, Width: even.width(s.of)})
	}
	for i, s := range shares {
		n.disc(c, r.at(i), s.node, math.Max(1.5, 6*size))
		if len(shares) <= most {
			at, anchor := r.outside(i)
			s.write(c, at, anchor)
		}
	}
	n.disc(c, r.middle, n.Node, 6)
	share{n.Node, itself}.write(c, picture.Point{X: r.middle.X, Y: r.middle.Y + 14}, picture.Middle)
}

// Text returns a line for the node and for each in-neighbour, with its class and its share, the largest first.
func (n *neighbourhood) Text(width int, colour bool) string {
	even := n.evenness(n.layer)
	l := &picture.List{Title: n.heading().Title, Legend: []picture.Key{{Name: even.key().Name}, {Name: even.String()}}}
	shares, itself := n.shares()
	most := itself
	for _, s := range shares {
		most = max(most, s.of)
	}
	slices.SortStableFunc(shares, func(a, b share) int { return cmp.Compare(b.of, a.of) })
	for _, s := range append([]share{{n.Node, itself}}, shares...) {
		name, shade := nodeName(n.Dataset, s.node, fmt.Sprint(s.node))
		if s.node == n.Node {
			name += ", itself"
		}
		l.Entries = append(l.Entries, picture.Entry{Name: name, Share: s.of / most, Note: percent(s.of), Colour: shade})
	}
	return l.Text(width, colour)
}

// nodeName is what a node is called with its class, and the colour of that.
func nodeName(d *datasets.Dataset, node int32, id string) (string, color.RGBA) {
	label := labelOf(d, node)
	if label < 0 {
		return id, picture.Grey
	}
	return id + " " + className(d, label), picture.Colour(label)
}

// labelOf is the class of a node; −1: nothing is known of it.
func labelOf(d *datasets.Dataset, node int32) int {
	if int(node) >= len(d.Labels) {
		return -1
	}
	return int(d.Labels[node])
}

// edgeColour is lighter than any node.
var edgeColour = color.RGBA{190, 190, 190, 255}

// ring is the places of nodes around a node, clockwise from the top on.
type ring struct {
	middle picture.Point
	radius float64
	nodes  int
}

// towards returns the direction of the i-th node.
func (r ring) towards(i int) picture.Point {
	angle := 2 * math.Pi * float64(i) / float64(r.nodes)
	return picture.Point{X: math.Sin(angle), Y: -math.Cos(angle)}
}

func (r ring) at(i int) picture.Point { return r.beyond(i, 0) }

// beyond returns the place so far outside that of the i-th node.
func (r ring) beyond(i int, far float64) picture.Point {
	d := r.towards(i)
	return picture.Point{X: r.middle.X + (r.radius+far)*d.X, Y: r.middle.Y + (r.radius+far)*d.Y}
}

// outside returns the middle of the left or right end of what is written at the
// i-th node, or of all of it above and below.
func (r ring) outside(i int) (picture.Point, picture.Anchor) {
	const level = 0.2 // the share of the radius to either side within which a node is above or below
	switch d := r.towards(i); {
	case d.X > level:
		return r.beyond(i, 10), picture.Start
	case d.X < -level:
		return r.beyond(i, 10), picture.End
	}
	return r.beyond(i, 13), picture.Middle
}

// share is how much of a node's attention goes to an in-neighbour.
type share struct {
	node int32
	of   float64
}

// shares returns those of the in-neighbours, and that of the node itself.
func (n *neighbourhood) shares() (others []share, itself float64) {
	for _, e := range n.Edges {
		if v := e.mean(n.layer); e.Source == n.Node {
			itself = v
		} else {
			others = append(others, share{e.Source, v})
		}
	}
	return others, itself
}

// disc draws a node in the colour of its class.
func (n *neighbourhood) disc(c *picture.Canvas, at picture.Point, node int32, radius float64) {
	_, shade := nodeName(n.Dataset, node, "")
	c.Circle(at, radius, shade)
}

// write writes a node's number and its share at a point of its middle line.
func (s share) write(c *picture.Canvas, at picture.Point, anchor picture.Anchor) {
	letters := picture.Letters{Size: 7.5, Colour: picture.Ink, Anchor: anchor}
	text := fmt.Sprintf("%d: %s", s.node, percent(s.of))
	if anchor == picture.Middle { // what is under it would cross it out
		half := letters.Width(text)/2 + 1
		c.Rect(picture.Box{Left: at.X - half, Top: at.Y - 4, Right: at.X + half, Bottom: at.Y + 4}, picture.White)
	}
	c.Text(picture.Point{X: at.X, Y: at.Y + 2.7}, text, letters)
}
