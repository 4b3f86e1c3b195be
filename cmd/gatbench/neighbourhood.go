package main

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// attentionPicture draws a row of panels for each node, a panel for each layer:
// the node, its in-neighbours around it, and edges as wide as they are attended
// to.
func (s *session) attentionPicture(path string, all []attended) error {
	const most = 12 // rows that a picture can hold
	if len(all) > most {
		return misuse("--attention %s: a picture holds %d nodes at most, and --nodes names %d", path, most, len(all))
	}
	var panels [][]*plot.Plot
	for _, a := range all {
		var row []*plot.Plot
		for layer := range s.net.Layers {
			row = append(row, s.neighbourhood(a, layer))
		}
		panels = append(panels, row)
	}
	return savePanels(path, panels)
}

// neighbourhood is the panel of a node and a layer.
func (s *session) neighbourhood(a attended, layer int) *plot.Plot {
	p := newPanel(fmt.Sprintf("node %d, layer %d: attention%s", a.node, layer+1, over(s.net.Recipe.headsOf(layer))), "", "")
	p.HideAxes()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -1.9, 3.4, -1.3, 1.4
	n := &neighbourhood{session: s, attended: a, layer: layer}
	p.Add(n)
	for _, c := range n.classes() {
		p.Legend.Add(s.className(c), dot{colour(c)})
	}
	return p
}

// over says that a number is a mean of several heads.
func over(heads int) string {
	if heads == 1 {
		return ""
	}
	return fmt.Sprintf(", mean of %d heads", heads)
}

// neighbourhood draws a node in the middle of its in-neighbours.
type neighbourhood struct {
	*session
	attended
	layer int
}

// classes returns those that occur, ascending.
func (n *neighbourhood) classes() []int {
	seen := make([]bool, n.Classes)
	for _, e := range n.edges {
		if c := n.Labels[e.source]; c >= 0 {
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

// Plot draws the edges, and the nodes over them. The most attended edge is the
// widest; below the node in the middle stands what it attends to itself.
func (n *neighbourhood) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	middle := vg.Point{X: x(0), Y: y(0)}
	shares, itself := n.shares()
	top := itself
	for _, s := range shares {
		top = max(top, s.of)
	}
	const most = 16                                             // nodes that have room for a number
	size := math.Min(1, most/math.Max(1, float64(len(shares)))) // smaller where there are more
	at := func(i int) vg.Point {
		angle := math.Pi/2 - 2*math.Pi*float64(i)/float64(len(shares)) // from the top on
		return vg.Point{X: x(1.05 * math.Cos(angle)), Y: y(1.05 * math.Sin(angle))}
	}
	for i, s := range shares {
		line := draw.LineStyle{Color: color.Gray{190}, Width: vg.Points(5 * size * s.of / math.Max(top, 1e-12))}
		c.StrokeLine2(line, middle.X, middle.Y, at(i).X, at(i).Y)
	}
	for i, s := range shares {
		n.disc(c, at(i), s.node, math.Max(1.5, 6*size))
		if len(shares) <= most {
			n.write(c, p, outside(middle, at(i)), s)
		}
	}
	n.disc(c, middle, n.node, 6)
	n.write(c, p, vg.Point{X: middle.X, Y: middle.Y - vg.Points(13)}, share{n.node, itself})
}

// share is how much of a node's attention goes to an in-neighbour.
type share struct {
	node int32
	of   float64
}

// shares returns those of the in-neighbours, and that of the node itself.
func (n *neighbourhood) shares() (others []share, itself float64) {
	for _, e := range n.edges {
		if v := e.mean(n.layer); e.source == n.node {
			itself = v
		} else {
			others = append(others, share{e.source, v})
		}
	}
	return others, itself
}

// outside returns the point beyond at where its number is written.
func outside(middle, at vg.Point) vg.Point {
	d := at.Sub(middle)
	far := vg.Length(math.Hypot(float64(d.X), float64(d.Y)))
	return at.Add(vg.Point{X: d.X / far * vg.Points(28), Y: d.Y / far * vg.Points(13)})
}

// disc draws a node in the colour of its class.
func (n *neighbourhood) disc(c draw.Canvas, at vg.Point, node int32, radius float64) {
	shade := color.Color(color.Gray{120})
	if label := n.Labels[node]; label >= 0 {
		shade = colour(int(label))
	}
	c.DrawGlyph(draw.GlyphStyle{Color: shade, Radius: vg.Points(radius), Shape: draw.CircleGlyph{}}, at)
}

// write writes a node's number and its share.
func (n *neighbourhood) write(c draw.Canvas, p *plot.Plot, at vg.Point, s share) {
	style := p.X.Tick.Label
	style.Font.Size = vg.Points(7)
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	text := fmt.Sprintf("%d: %.0f %%", s.node, 100*s.of)
	box := style.Rectangle(text).Add(at) // what is under it would cross it out
	c.FillPolygon(color.White, []vg.Point{box.Min, {X: box.Max.X, Y: box.Min.Y}, box.Max, {X: box.Min.X, Y: box.Max.Y}})
	c.FillText(style, at, text)
}

// dot is a class in a legend.
type dot struct{ color.Color }

// Thumbnail draws the dot.
func (d dot) Thumbnail(c *draw.Canvas) {
	c.DrawGlyph(draw.GlyphStyle{Color: d.Color, Radius: vg.Points(3), Shape: draw.CircleGlyph{}}, c.Center())
}
