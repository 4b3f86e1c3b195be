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
	p := newPanel(fmt.Sprintf("node %d, layer %d: attention, mean of %d heads", a.node, layer+1, len(a.edges[0].heads[layer])), "", "")
	p.HideAxes()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -1.8, 3, -1.3, 1.3
	n := &neighbourhood{session: s, attended: a, layer: layer}
	p.Add(n)
	for _, c := range n.classes() {
		p.Legend.Add(s.className(c), dot{colour(c)})
	}
	return p
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

// Plot draws the edges, and the nodes over them. The widest edge is the most
// attended one; the node itself stands in the middle, with its attention to
// itself below its number.
func (n *neighbourhood) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(i, of int) vg.Point {
		angle := 2*math.Pi*float64(i)/float64(of) + math.Pi/2
		return vg.Point{X: x(1.1 * math.Cos(angle)), Y: y(1.1 * math.Sin(angle))}
	}
	middle := vg.Point{X: x(0), Y: y(0)}
	top, around := 1e-12, 0
	for _, e := range n.edges {
		top = max(top, e.mean(n.layer))
		if e.source != n.node {
			around++
		}
	}
	i, itself := 0, 0.0
	for _, e := range n.edges {
		w := e.mean(n.layer)
		if e.source == n.node {
			itself = w
			continue
		}
		line := draw.LineStyle{Color: color.Gray{110}, Width: vg.Points(0.2 + 5*w/top)}
		c.StrokeLine2(line, middle.X, middle.Y, at(i, around).X, at(i, around).Y)
		i++
	}
	i = 0
	for _, e := range n.edges {
		if e.source != n.node {
			n.node1(c, at(i, around), e.source, e.mean(n.layer), around <= 24, p)
			i++
		}
	}
	n.node1(c, middle, n.node, itself, true, p)
}

// node1 draws a node, with its number and its share where there is room.
func (n *neighbourhood) node1(c draw.Canvas, at vg.Point, node int32, share float64, room bool, p *plot.Plot) {
	radius := vg.Points(4)
	if room {
		radius = vg.Points(7)
	}
	shade := color.Color(color.Gray{200})
	if label := n.Labels[node]; label >= 0 {
		shade = colour(int(label))
	}
	c.DrawGlyph(draw.GlyphStyle{Color: shade, Radius: radius, Shape: draw.CircleGlyph{}}, at)
	if !room {
		return
	}
	style := p.X.Tick.Label
	style.Font.Size = vg.Points(7)
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	c.FillText(style, vg.Point{X: at.X, Y: at.Y - radius - vg.Points(5)}, fmt.Sprintf("%d: %.0f %%", node, 100*share))
}

// dot is a class in a legend.
type dot struct{ color.Color }

// Thumbnail draws the dot.
func (d dot) Thumbnail(c *draw.Canvas) {
	c.DrawGlyph(draw.GlyphStyle{Color: d.Color, Radius: vg.Points(3), Shape: draw.CircleGlyph{}}, c.Center())
}
