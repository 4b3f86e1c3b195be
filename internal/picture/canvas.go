package picture

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
)

// Point is a place on a canvas, in points from its top left corner, or a value
// on the axes of a chart.
type Point struct{ X, Y float64 }

// finite reports whether a place can be drawn.
func (p Point) finite() bool { return finite(p.X) && finite(p.Y) }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Box is an upright rectangle on a canvas.
type Box struct{ Left, Top, Right, Bottom float64 }

// Middle returns the centre of b.
func (b Box) Middle() Point { return Point{(b.Left + b.Right) / 2, (b.Top + b.Bottom) / 2} }

// Width returns how wide b is.
func (b Box) Width() float64 { return b.Right - b.Left }

// Height returns how high b is.
func (b Box) Height() float64 { return b.Bottom - b.Top }

// Stroke is how a line is drawn.
type Stroke struct {
	Colour color.RGBA
	Width  float64
	Dash   float64 // length of a dash, and of the gap after it; 0 is a whole line
}

// Canvas is a list of shapes, each over those before it, on a white ground. A
// shape with a coordinate that is no finite number is left out.
type Canvas struct {
	width, height float64
	shapes        []shape
}

// shape is one entry of the list, which each form of output draws in its way.
type shape interface {
	svg(w *svgWriter)
	paint(p *painter)
}

type (
	polyline struct {
		points []Point
		Stroke
	}
	disc struct {
		at     Point
		radius float64
		fill   color.RGBA
	}
	rectangle struct {
		Box
		fill color.RGBA
	}
	rectangles struct {
		boxes []Box
		fill  color.RGBA
	}
	words struct {
		at   Point
		text string
		Letters
	}
)

// New returns an empty canvas of a size in points.
func New(width, height float64) *Canvas { return &Canvas{width: width, height: height} }

// Line draws a line from a to b.
func (c *Canvas) Line(a, b Point, s Stroke) { c.Polyline([]Point{a, b}, s) }

// Polyline draws a line through two or more points, with round corners.
func (c *Canvas) Polyline(points []Point, s Stroke) {
	for _, p := range points {
		if !p.finite() {
			return
		}
	}
	if len(points) > 1 {
		c.shapes = append(c.shapes, polyline{points, s})
	}
}

// Circle draws a filled disc.
func (c *Canvas) Circle(at Point, radius float64, fill color.RGBA) {
	if at.finite() && finite(radius) {
		c.shapes = append(c.shapes, disc{at, radius, fill})
	}
}

// Rect draws a filled rectangle.
func (c *Canvas) Rect(b Box, fill color.RGBA) {
	if b.Middle().finite() {
		c.shapes = append(c.shapes, rectangle{b, fill})
	}
}

// Rects draws filled rectangles of one colour, in less room than one by one. They do not overlap.
func (c *Canvas) Rects(boxes []Box, fill color.RGBA) {
	if len(boxes) > 0 && !slices.ContainsFunc(boxes, func(b Box) bool { return !b.Middle().finite() }) {
		c.shapes = append(c.shapes, rectangles{boxes, fill})
	}
}

// Text writes one line of text. Its base line starts, is centred or ends at a
// point, as f.Anchor says.
func (c *Canvas) Text(at Point, text string, f Letters) {
	if at.finite() && text != "" {
		c.shapes = append(c.shapes, words{at, text, f})
	}
}

// Write writes the picture as "svg" or as "png".
func (c *Canvas) Write(w io.Writer, format string) error {
	switch format {
	case "svg":
		return c.writeSVG(w)
	case "png":
		return c.writePNG(w)
	}
	return fmt.Errorf("a picture of the form %q: it must be svg or png", format)
}

// The shades of a chart.
var (
	White = color.RGBA{255, 255, 255, 255}
	Ink   = color.RGBA{35, 35, 35, 255}
	Grey  = color.RGBA{128, 128, 128, 255}
	faint = color.RGBA{230, 230, 230, 255} // of lines across a chart
)

// palette tells lines and classes apart, for people who see few colours too
// (Okabe and Ito, 2008).
var palette = []color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{230, 159, 0, 255}, {86, 180, 233, 255}, {90, 90, 90, 255}, {240, 228, 66, 255},
}

// Colour returns the i-th of 24 colours: eight that are told apart easily, the
// same darker, the same lighter, and then again from the first on.
func Colour(i int) color.RGBA {
	n := len(palette)
	c := palette[i%n]
	switch i / n % 3 {
	case 1:
		return mix(c, color.RGBA{0, 0, 0, 255}, 0.4)
	case 2:
		return mix(c, White, 0.5)
	}
	return c
}

// mix returns a with a share of b.
func mix(a, b color.RGBA, share float64) color.RGBA {
	of := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + share*(float64(y)-float64(x)))) }
	return color.RGBA{of(a.R, b.R), of(a.G, b.G), of(a.B, b.B), 255}
}

// Panel is a part of a picture.
type Panel interface {
	// Draw draws the panel into a box of a canvas.
	Draw(c *Canvas, box Box)
}

// The size of a panel with the room around it, and that room, in points.
const (
	panelWidth  = 412
	panelHeight = 298
	panelRoom   = 14
)

// Grid returns a picture of rows of panels, all of one size.
func Grid(rows [][]Panel) *Canvas {
	columns := 0
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	c := New(panelWidth*float64(columns), panelHeight*float64(len(rows)))
	for j, row := range rows {
		for i, p := range row {
			left, top := panelWidth*float64(i), panelHeight*float64(j)
			p.Draw(c, Box{left + panelRoom, top + panelRoom, left + panelWidth - panelRoom, top + panelHeight - panelRoom/2})
		}
	}
	return c
}
