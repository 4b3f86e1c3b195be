package picture

import (
	"image/color"
	"math"
)

// Tree is a tree of words: its leaves stand in a row in their order, each over its word,
// and every node has a shade. A node comes before its children, and one whose parent does
// not is a root too.
type Tree struct {
	Title     string
	Parent    []int32   // of each node; −1 of a root
	Words     []string  // of each node; of inner ones none
	Values    []float64 // of each node, from −1 to 1: red, white, blue
	Notes     []string  // in the nodes, a letter or two each; or none
	Low, High string    // what −1 and 1 are
}

// The measures of a tree.
const (
	treeWords  = 58  // room for words that stand upright
	treeRadius = 8.5 // of a node at most
)

var (
	treeLow     = color.RGBA{178, 24, 43, 255}
	treeHigh    = color.RGBA{33, 102, 172, 255}
	treeLetters = Letters{Size: 8, Colour: Ink}
)

// Leaning returns the colour of a number from −1 to 1: red, white, blue. What is no number
// is white.
func Leaning(v float64) color.RGBA {
	switch {
	case v < 0:
		return mix(White, treeLow, min(1, -v))
	case v > 0:
		return mix(White, treeHigh, min(1, v))
	}
	return White
}

// Draw draws the tree into a box.
func (t *Tree) Draw(c *Canvas, box Box) {
	box = Heading{Title: t.Title}.Draw(c, box)
	if len(t.Parent) == 0 {
		return
	}
	_, leaves, depths := t.shape()
	scale := box
	scale.Top = box.Bottom - heatScale
	t.scale(c, scale)
	slot := box.Width() / float64(len(leaves))
	upright := false // words do not fit beside each other
	for _, v := range leaves {
		upright = upright || treeLetters.Width(t.word(v))*(1+1./keySpare) > slot
	}
	area := box
	area.Bottom -= heatScale + 8 + treeLetters.Size
	if upright {
		area.Bottom -= treeWords - treeLetters.Size
	}
	radius := min(treeRadius, 0.42*slot, 0.42*area.Height()/float64(1+most(depths)))
	at := t.places(Box{area.Left, area.Top + radius, area.Right, area.Bottom - radius - 5}, leaves, depths)
	t.edges(c, at)
	t.nodes(c, at, radius)
	for _, v := range leaves {
		t.under(c, Point{at[v].X, area.Bottom}, t.word(v), upright)
	}
}

// most is the largest of some depths.
func most(depths []int) int {
	n := 0
	for _, d := range depths {
		n = max(n, d)
	}
	return n
}

func (t *Tree) word(v int) string {
	if v < len(t.Words) {
		return t.Words[v]
	}
	return ""
}

// parent is that of node v, −1 of a root.
func (t *Tree) parent(v int) int {
	if p := int(t.Parent[v]); p >= 0 && p < v {
		return p
	}
	return -1
}

// shape returns the nodes, each before its children, the leaves from left to right, and how deep each node is.
func (t *Tree) shape() (order, leaves, depths []int) {
	children := make([][]int, len(t.Parent))
	depths = make([]int, len(t.Parent))
	var open []int // nodes to come, the last first
	for v := range t.Parent {
		if p := t.parent(v); p >= 0 {
			children[p] = append(children[p], v)
			depths[v] = depths[p] + 1
		}
	}
	for v := len(t.Parent) - 1; v >= 0; v-- {
		if t.parent(v) < 0 {
			open = append(open, v)
		}
	}
	for len(open) > 0 {
		v := open[len(open)-1]
		open = open[:len(open)-1]
		order = append(order, v)
		if len(children[v]) == 0 {
			leaves = append(leaves, v)
		}
		for i := len(children[v]) - 1; i >= 0; i-- {
			open = append(open, children[v][i])
		}
	}
	return order, leaves, depths
}

// places returns where each node stands: a leaf at the bottom, any other by its depth and
// over the middle of its children.
func (t *Tree) places(area Box, leaves, depths []int) []Point {
	at, count, sum := make([]Point, len(t.Parent)), make([]int, len(t.Parent)), make([]float64, len(t.Parent))
	for i, v := range leaves {
		sum[v], count[v] = area.Left+(float64(i)+0.5)*area.Width()/float64(len(leaves)), 1
	}
	step := area.Height() / float64(max(1, most(depths)))
	for v := len(at) - 1; v >= 0; v-- {
		at[v] = Point{sum[v] / float64(count[v]), area.Top + float64(depths[v])*step}
		if p := t.parent(v); p >= 0 {
			sum[p] += at[v].X
			count[p]++
		}
	}
	for _, v := range leaves {
		at[v].Y = area.Bottom
	}
	return at
}

// edges draws a line from each node to its parent.
func (t *Tree) edges(c *Canvas, at []Point) {
	for v, from := range at {
		if p := t.parent(v); p >= 0 {
			c.Line(from, at[p], Stroke{Colour: Grey, Width: 0.8})
		}
	}
}

// nodes draws the nodes and what is in them.
func (t *Tree) nodes(c *Canvas, at []Point, radius float64) {
	letters := Letters{Size: 1.1 * radius, Anchor: Middle, Colour: Ink}
	for v, p := range at {
		value := 0.0
		if v < len(t.Values) {
			value = t.Values[v]
		}
		c.Circle(p, radius, Grey)
		c.Circle(p, radius-0.7, Leaning(value))
		if v < len(t.Notes) && radius > 3 {
			note := letters
			if math.Abs(value) > 0.6 {
				note.Colour = White
			}
			c.Text(Point{p.X, p.Y + note.Size*capital/2}, note.Fit(t.Notes[v], 2*radius), note)
		}
	}
}

// under writes the word of a leaf, from its place down.
func (t *Tree) under(c *Canvas, at Point, word string, upright bool) {
	letters := treeLetters
	if !upright {
		letters.Anchor = Middle
		c.Text(Point{at.X, at.Y + letters.Size*capital}, word, letters)
		return
	}
	letters.Rising, letters.Anchor = true, End
	c.Text(Point{at.X + letters.Size*capital/2, at.Y}, letters.Fit(word, treeWords), letters)
}

// scale draws the strip that says which colour is what.
func (t *Tree) scale(c *Canvas, box Box) {
	const steps = 40
	letters := heatLetters
	low := letters.Width(t.Low) * (1 + 1./keySpare)
	strip := Box{box.Left + low + 4, box.Top + 2, box.Left + low + 4 + min(120, box.Width()/2), box.Bottom - 2}
	w := strip.Width() / steps
	for i := range steps {
		c.Rect(Box{strip.Left + float64(i)*w, strip.Top, strip.Left + float64(i+1)*w, strip.Bottom}, Leaning((float64(i)+0.5)*2/steps-1))
	}
	y := strip.Middle().Y + letters.Size*capital/2
	c.Text(Point{box.Left, y}, t.Low, letters)
	c.Text(Point{strip.Right + 4, y}, t.High, letters)
}
