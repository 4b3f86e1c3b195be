package picture

import (
	"fmt"
	"image/color"
)

// Mark is what a series of a chart is drawn with.
type Mark int

// The marks.
const (
	Words   Mark = iota // nothing, and in a legend words alone
	Curve               // a line through the points
	Dots                // a dot a point
	Bars                // an upright bar a point, from nought on
	Upright             // a dashed line from bottom to top at each point's X
)

// Key is an entry of a legend.
type Key struct {
	Name   string
	Mark   Mark
	Colour color.RGBA
}

// Heading is a title with a legend under it.
type Heading struct {
	Title  string
	Legend []Key
}

// The measures of a heading.
const (
	titleLine  = 19 // from the top of the title to the legend
	legendLine = 12.5
	keyGap     = 9 // from the end of a name to the next mark
	keySpare   = 6 // a name has this part of its width more, for viewers of SVG with another font
)

var (
	titleLetters  = Letters{Size: 11.5, Colour: Ink}
	legendLetters = Letters{Size: 8.5, Colour: Ink}
)

// Draw draws the heading at the top of a box and returns what is left of it.
// Names too long for a line are shortened, and a legend too long for a third of
// the box says how many names it leaves out.
func (h Heading) Draw(c *Canvas, box Box) Box {
	c.Text(Point{box.Left, box.Top + titleLetters.Size*capital}, titleLetters.Fit(h.Title, box.Width()), titleLetters)
	lowest := box.Top + titleLine
	for _, k := range h.place(Box{box.Left, lowest, box.Right, box.Bottom}) {
		k.draw(c)
		lowest = k.at.Y + legendLine
	}
	box.Top = lowest
	return box
}

// placed is an entry of a legend at its place: the left end of its line's middle.
type placed struct {
	Key
	at Point
}

// indent is how far from the start of a mark its words begin.
func (m Mark) indent() float64 {
	switch m {
	case Words:
		return 0
	case Dots, Bars:
		return 11
	}
	return 18
}

// width is that of an entry without the gap after it.
func (k Key) width() float64 {
	return k.Mark.indent() + legendLetters.Width(k.Name)*(1+1./keySpare)
}

// place puts the entries into lines from the top of a box on.
func (h Heading) place(box Box) []placed {
	most := max(1, int(box.Height()/3/legendLine))
	var out []placed
	x, line := box.Left, 0
	for _, k := range h.Legend {
		k.Name = legendLetters.Fit(k.Name, (box.Width()-k.Mark.indent())/(1+1./keySpare))
		if x > box.Left && x+k.width() > box.Right {
			x, line = box.Left, line+1
		}
		if line == most {
			return h.cut(out, box.Right)
		}
		out = append(out, placed{k, Point{x, box.Top + float64(line)*legendLine + legendLine/2}})
		x += k.width() + keyGap
	}
	return out
}

// cut ends a legend that has no more room, its last entries making way for a
// word on how many are missing.
func (h Heading) cut(out []placed, right float64) []placed {
	for n := len(out) - 1; ; n-- {
		more := Key{Name: fmt.Sprintf("and %d more", len(h.Legend)-n)}
		at := out[n].at
		if at.X+more.width() <= right || n == 0 {
			return append(out[:n], placed{more, at})
		}
	}
}

// draw draws an entry.
func (k placed) draw(c *Canvas) {
	end, middle := k.at, k.at
	end.X, middle.X = k.at.X+14, k.at.X+3.5
	switch k.Mark {
	case Curve:
		c.Line(k.at, end, Stroke{Colour: k.Colour, Width: 1.6})
	case Upright:
		c.Line(k.at, end, upright(k.Colour))
	case Dots:
		c.Circle(middle, 3.2, k.Colour)
	case Bars:
		c.Rect(Box{middle.X - 3.5, middle.Y - 3.5, middle.X + 3.5, middle.Y + 3.5}, k.Colour)
	}
	c.Text(Point{k.at.X + k.Mark.indent(), k.at.Y + legendLetters.Size*capital/2}, k.Name, legendLetters)
}

// upright is the line of the mark of that name.
func upright(colour color.RGBA) Stroke { return Stroke{Colour: colour, Width: 1, Dash: 2.8} }
