package picture

import (
	"image/color"
	"math"
	"strings"
)

// Series is points of a chart that belong together. One without a name is not in
// the legend. Points that are no numbers, or beyond ±1e290, are left out; a curve
// has a gap there.
type Series struct {
	Name   string
	Mark   Mark
	Colour color.RGBA
	Points []Point
}

// Chart is series of points between two axes.
type Chart struct {
	Title  string
	X, Y   Axis
	Series []Series
}

// The measures of a chart.
const (
	leftMargin   = 46 // at least, for what stands at the axis
	bottomMargin = 40 // for two lines of names and the axis's label
	tickLength   = 3.5
	tickLine     = 9.5
)

var (
	labelLetters = Letters{Size: 9, Colour: Ink, Anchor: Middle}
	tickLetters  = Letters{Size: 8, Colour: color.RGBA{70, 70, 70, 255}}
	axisStroke   = Stroke{Colour: color.RGBA{90, 90, 90, 255}, Width: 0.7}
	gridStroke   = Stroke{Colour: faint, Width: 0.6}
)

// frame is a chart being drawn: what its axes show, and where.
type frame struct {
	*Chart
	*Canvas
	area           Box
	xs, ys         span
	xTicks, yTicks []tick
}

// Draw draws the chart into a box.
func (ch *Chart) Draw(c *Canvas, box Box) {
	f := &frame{Chart: ch, Canvas: c}
	f.xs, f.ys = ch.spans()
	f.xTicks, f.yTicks = ch.X.ticks(f.xs), ch.Y.ticks(f.ys)
	f.area = box
	f.area.Left += max(leftMargin, f.yWidth()+tickLength+labelLetters.Size+10)
	f.area = Heading{ch.Title, ch.legend()}.Draw(c, f.area)
	f.area.Top += 6
	f.area.Bottom -= bottomMargin
	f.axes(box)
	for _, s := range ch.Series {
		f.series(s)
	}
}

func (ch *Chart) legend() []Key {
	var keys []Key
	for _, s := range ch.Series {
		if s.Name != "" {
			keys = append(keys, Key{s.Name, s.Mark, s.Colour})
		}
	}
	return keys
}

// drawable reports whether a point can be placed on axes.
func drawable(p Point) bool { return math.Abs(p.X) <= 1e290 && math.Abs(p.Y) <= 1e290 }

// spans returns what the axes show: every point, with a little room around.
func (ch *Chart) spans() (xs, ys span) {
	xs, ys = nothing, nothing
	bars, dots := false, false
	for _, s := range ch.Series {
		bars, dots = bars || s.Mark == Bars, dots || s.Mark == Dots
		for _, p := range s.Points {
			if drawable(p) {
				xs = xs.with(p.X)
				if s.Mark != Upright {
					ys = ys.with(p.Y)
				}
			}
		}
	}
	if bars {
		ys = ys.with(0)
	}
	if n := len(ch.X.Names); n > 0 {
		xs = xs.with(0).with(float64(n - 1))
	}
	if (bars || ch.X.Names != nil) && xs.lo <= xs.hi {
		xs = span{xs.lo - 0.5, xs.hi + 0.5}
	}
	low := ys.lo
	xs, ys = xs.padded(roomBeside(dots)), ys.padded(0.04)
	if bars && low == 0 {
		ys.lo = 0 // bars stand on the axis
	}
	return xs, ys
}

// roomBeside is the share of the X axis before and after its points, which dots
// need for their own width.
func roomBeside(dots bool) float64 {
	if dots {
		return 0.03
	}
	return 0
}

// yWidth returns how wide the widest label of the upright axis is.
func (f *frame) yWidth() float64 {
	width := 0.0
	for _, t := range f.yTicks {
		width = max(width, tickLetters.Width(t.label))
	}
	return width
}

// at returns the place of a point.
func (f *frame) at(p Point) Point {
	return Point{f.xs.at(p.X, f.area.Left, f.area.Right), f.ys.at(p.Y, f.area.Bottom, f.area.Top)}
}

// axes draws what is behind the series, and the labels.
func (f *frame) axes(box Box) {
	f.xAxis()
	f.yAxis()
	a := f.area
	f.Polyline([]Point{{a.Left, a.Top}, {a.Left, a.Bottom}, {a.Right, a.Bottom}}, axisStroke)
	down := a.Bottom + tickLength + 2*tickLine + 12
	if f.X.Names == nil {
		down -= tickLine
	}
	f.Canvas.Text(Point{(a.Left + a.Right) / 2, down}, labelLetters.Fit(f.X.Label, a.Width()), labelLetters)
	rising := labelLetters
	rising.Rising = true
	f.Canvas.Text(Point{box.Left + labelLetters.Size, (a.Top + a.Bottom) / 2}, rising.Fit(f.Y.Label, a.Height()), rising)
}

// xAxis draws the ticks of the lower axis and the lines above them.
func (f *frame) xAxis() {
	letters := f.nameLetters()
	letters.Anchor = Middle
	for _, t := range f.xTicks {
		x := f.at(Point{X: t.value}).X
		if f.X.Names == nil {
			f.Line(Point{x, f.area.Top}, Point{x, f.area.Bottom}, gridStroke)
		}
		f.Line(Point{x, f.area.Bottom}, Point{x, f.area.Bottom + tickLength}, axisStroke)
		lines := strings.Split(t.label, "\n")
		for i, line := range lines[:min(len(lines), 2)] {
			middle := min(x, f.width-letters.Width(line)/2) // a long one ends with the page
			f.Canvas.Text(Point{middle, f.area.Bottom + tickLength + float64(i+1)*tickLine}, line, letters)
		}
	}
}

// nameLetters are the letters of the lower axis: smaller where its names would
// otherwise run into each other.
func (f *frame) nameLetters() Letters {
	letters, widest := tickLetters, 1.0
	for _, name := range f.X.Names {
		for _, line := range strings.Split(name, "\n") {
			widest = max(widest, letters.Width(line))
		}
	}
	if f.X.Names != nil {
		letters.Size *= min(1, 0.92*f.area.Width()/(f.xs.hi-f.xs.lo)/widest)
	}
	return letters
}

// yAxis draws the ticks of the upright axis and the lines beside them.
func (f *frame) yAxis() {
	letters := tickLetters
	letters.Anchor = End
	for _, t := range f.yTicks {
		y := f.at(Point{Y: t.value}).Y
		f.Line(Point{f.area.Left, y}, Point{f.area.Right, y}, gridStroke)
		f.Line(Point{f.area.Left - tickLength, y}, Point{f.area.Left, y}, axisStroke)
		f.Canvas.Text(Point{f.area.Left - tickLength - 2, y + letters.Size*capital/2}, t.label, letters)
	}
}

// series draws the marks of a series.
func (f *frame) series(s Series) {
	if s.Mark == Curve {
		f.curve(s)
		return
	}
	half := 0.3 * f.area.Width() / (f.xs.hi - f.xs.lo) // of a bar
	for _, p := range s.Points {
		if !drawable(p) {
			continue
		}
		at := f.at(p)
		switch s.Mark {
		case Dots:
			f.Circle(at, 1.4, s.Colour)
		case Bars:
			nought := f.at(Point{}).Y
			f.Rect(Box{at.X - half, min(at.Y, nought), at.X + half, max(at.Y, nought)}, s.Colour)
		case Upright:
			f.Line(Point{at.X, f.area.Bottom}, Point{at.X, f.area.Top}, upright(s.Colour))
		}
	}
}

// curve draws a line through each run of points; a run of one is a dot.
func (f *frame) curve(s Series) {
	stroke := Stroke{Colour: s.Colour, Width: 1.3}
	var run []Point
	end := func() {
		if len(run) == 1 {
			f.Circle(run[0], 2.2, s.Colour)
		}
		f.Polyline(run, stroke)
		run = nil
	}
	for _, p := range s.Points {
		if drawable(p) {
			run = append(run, f.at(p))
		} else {
			end()
		}
	}
	end()
}
