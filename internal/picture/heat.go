package picture

import (
	"fmt"
	"image/color"
	"math"
)

// Heat is a table of numbers from nought on, shown as shades: a confusion of classes,
// the weights of an alignment or of the heads of attention. A darker cell is a larger
// number; one that is none, or negative, is as nought.
//
// Of ratios, those above 1 are blue and those below it orange, in a frame, so that they can be
// told apart without colours. Both are the darker the further from 1; one that is no number, or
// not above nought, is as 1.
type Heat struct {
	Title   string
	Legend  []Key
	Across  string      // what the columns are, over them
	Down    string      // what the rows are, beside them
	Columns []string    // their names, or none
	Rows    []string    // their names, or none
	Values  [][]float64 // a row of cells for each row
	Top     float64     // what is darkest; 0: the largest value
	Format  string      // of the numbers in the cells, such as "%.0f"; empty: none are written
	Words   [][]string  // in the cells, in the place of numbers: a sentence a row; or none
	Ratios  bool        // the numbers are
}

// The measures of a heat map, and its darkest shade.
const (
	heatName  = 84 // room for names at most
	heatScale = 12 // the strip that explains the shades
)

var (
	heatDark    = color.RGBA{8, 48, 107, 255}
	heatMiddle  = color.RGBA{66, 146, 198, 255}
	warmDark    = color.RGBA{127, 39, 4, 255}
	warmMiddle  = color.RGBA{230, 120, 30, 255}
	heatLetters = Letters{Size: 7.5, Colour: Ink}
)

// Shade returns the colour of a share of the top, from 0 to 1: white to dark blue. What
// is no number is white.
func Shade(share float64) color.RGBA {
	return shade(share, heatMiddle, heatDark)
}

// shade is the colour of a share between white, a colour in the middle and the darkest.
func shade(share float64, middle, dark color.RGBA) color.RGBA {
	switch {
	case !(share > 0):
		return White
	case share >= 1:
		return dark
	case share < 0.5:
		return mix(White, middle, 2*share)
	}
	return mix(middle, dark, 2*share-1)
}

// Ratio returns the colour of a ratio of which top, or its inverse, is darkest.
func Ratio(v, top float64) color.RGBA { return signed(ratioShare(v, top)) }

// signed is the colour of a share from -1 to 1.
func signed(share float64) color.RGBA {
	if share < 0 {
		return shade(-share, warmMiddle, warmDark)
	}
	return Shade(share)
}

// ratioShare is how far a ratio is from 1, from -1 to 1.
func ratioShare(v, top float64) float64 {
	if !(v > 0) {
		return 0
	}
	return max(-1, min(1, math.Log(v)/math.Log(top)))
}

// share is how dark a number is, from 0 to 1; of a ratio below 1 from 0 to -1.
func (h *Heat) share(v, top float64) float64 {
	if h.Ratios {
		return ratioShare(v, top)
	}
	return max(0, or0(v)/top)
}

// Draw draws the table into a box.
func (h *Heat) Draw(c *Canvas, box Box) {
	top := h.top()
	box = Heading{Title: h.Title, Legend: h.Legend}.Draw(c, box)
	rows, columns := len(h.Values), h.columns()
	if rows == 0 || columns == 0 {
		return
	}
	scale := box
	scale.Top = box.Bottom - heatScale
	area := box
	area.Left += h.nameWidth(h.Rows) + h.labelRoom(h.Down)
	level := h.level(area.Width() / float64(columns))
	if level {
		area.Top += heatLetters.Size + 5 + h.labelRoom(h.Across)
	} else {
		area.Top += h.nameWidth(h.Columns) + h.labelRoom(h.Across)
	}
	area.Bottom -= heatScale + 8
	h.cells(c, area, top)
	h.names(c, area, level)
	h.labels(c, box, area)
	scale.Left = area.Left
	h.scale(c, scale, top)
}

// top is the number of the darkest shade.
func (h *Heat) top() float64 {
	if h.Top > 0 {
		return h.Top
	}
	top := 0.0
	for _, row := range h.Values {
		for _, v := range row {
			switch {
			case math.IsInf(v, 0):
			case h.Ratios && v > 0:
				top = max(top, v, 1/v)
			case !h.Ratios:
				top = max(top, or0(v))
			}
		}
	}
	switch {
	case h.Ratios:
		return max(top, leastRatio)
	case top == 0:
		return 1
	}
	return top
}

// leastRatio is the least that is darkest: ratios that all are near 1 are to look so.
const leastRatio = 2

// or0 returns v, 0 if it is no number.
func or0(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// columns is how many the longest row has.
func (h *Heat) columns() int {
	n := 0
	for _, row := range h.Values {
		n = max(n, len(row))
	}
	return n
}

// nameWidth is the room that names want.
func (h *Heat) nameWidth(names []string) float64 {
	w := 0.0
	for _, name := range names {
		w = max(w, heatLetters.Width(name)*(1+1./keySpare))
	}
	if w == 0 {
		return 0
	}
	return min(w, heatName) + 5
}

// level reports whether each column's name has room above cells of a width; else they rise.
func (h *Heat) level(cell float64) bool {
	for _, name := range h.Columns {
		if heatLetters.Width(name)*(1+1./keySpare) > cell {
			return false
		}
	}
	return len(h.Columns) > 0
}

// labelRoom is the room that the label of an axis wants.
func (h *Heat) labelRoom(label string) float64 {
	if label == "" {
		return 0
	}
	return labelLetters.Size + 6
}

// cell is the box of a cell.
func (h *Heat) cell(area Box, i, j int) Box {
	w, t := area.Width()/float64(h.columns()), area.Height()/float64(len(h.Values))
	return Box{area.Left + float64(j)*w, area.Top + float64(i)*t, area.Left + float64(j+1)*w, area.Top + float64(i+1)*t}
}

// cells draws the shades, the numbers in them, and a frame.
func (h *Heat) cells(c *Canvas, area Box, top float64) {
	var behind []Box
	for i, row := range h.Values {
		for j, v := range row {
			b := h.cell(area, i, j)
			share := h.share(v, top)
			if share != 0 {
				c.Rect(b, signed(share))
			}
			if share < 0 {
				behind = append(behind, b)
			}
			word := h.word(i, j)
			if word == "" || b.Width() < 14 || b.Height() < 8 {
				continue
			}
			letters := heatLetters
			letters.Anchor = Middle
			if math.Abs(share) > 0.5 {
				letters.Colour = White
			}
			at := b.Middle()
			at.Y += letters.Size * capital / 2
			c.Text(at, letters.Fit(word, b.Width()), letters)
		}
	}
	outline(c, area, axisStroke)
	for _, b := range behind {
		outline(c, Box{b.Left + 1.5, b.Top + 1.5, b.Right - 1.5, b.Bottom - 1.5}, Stroke{Colour: Ink, Width: 1})
	}
}

// outline draws the edges of a box.
func outline(c *Canvas, b Box, s Stroke) {
	c.Polyline([]Point{{b.Left, b.Top}, {b.Right, b.Top}, {b.Right, b.Bottom}, {b.Left, b.Bottom}, {b.Left, b.Top}}, s)
}

// word is what stands in a cell: a word, or the number.
func (h *Heat) word(i, j int) string {
	switch {
	case i < len(h.Words) && j < len(h.Words[i]):
		return h.Words[i][j]
	case h.Format != "":
		return fmt.Sprintf(h.Format, h.Values[i][j])
	}
	return ""
}

// names writes those of rows and columns, as far as there is room.
func (h *Heat) names(c *Canvas, area Box, level bool) {
	down, across := heatLetters, heatLetters
	if down.Anchor, across.Rising = End, !level; level {
		across.Anchor = Middle
	}
	for i := 0; i < min(len(h.Rows), len(h.Values)); i += everyth(area.Height()/float64(len(h.Values)), down.Size) {
		b := h.cell(area, i, 0)
		c.Text(Point{area.Left - 4, b.Middle().Y + down.Size*capital/2}, down.Fit(h.Rows[i], heatName), down)
	}
	for j := 0; j < min(len(h.Columns), h.columns()); j += everyth(area.Width()/float64(h.columns()), across.Size) {
		at := Point{h.cell(area, 0, j).Middle().X, area.Top - 4}
		if across.Rising {
			at.X += across.Size * capital / 2
		}
		c.Text(at, across.Fit(h.Columns[j], heatName), across)
	}
}

// everyth says that each such name has room where cells are so large.
func everyth(cell, letters float64) int { return max(1, int(math.Ceil(letters*1.05/cell))) }

// labels writes what rows and columns are.
func (h *Heat) labels(c *Canvas, box, area Box) {
	if h.Across != "" {
		c.Text(Point{area.Middle().X, box.Top + labelLetters.Size*capital + 1}, labelLetters.Fit(h.Across, area.Width()), labelLetters)
	}
	if h.Down != "" {
		rising := labelLetters
		rising.Rising = true
		c.Text(Point{box.Left + labelLetters.Size*capital, area.Middle().Y}, rising.Fit(h.Down, area.Height()), rising)
	}
}

// scale draws the strip that says which shade is which number.
func (h *Heat) scale(c *Canvas, box Box, top float64) {
	const steps = 40
	least := "0"
	if h.Ratios {
		least = fmt.Sprintf("%.2g", 1/top)
	}
	strip := Box{box.Left + 14, box.Top + 2, box.Left + 14 + min(120, box.Width()/2), box.Bottom - 2}
	w := strip.Width() / steps
	for i := range steps {
		share := (float64(i) + 0.5) / steps
		if h.Ratios {
			share = 2*share - 1
		}
		c.Rect(Box{strip.Left + float64(i)*w, strip.Top, strip.Left + float64(i+1)*w, strip.Bottom}, signed(share))
	}
	letters := heatLetters
	y := strip.Middle().Y + letters.Size*capital/2
	c.Text(Point{strip.Right + 4, y}, fmt.Sprintf("%.3g", top), letters)
	if letters.Anchor = Middle; h.Ratios {
		c.Text(Point{strip.Middle().X, y}, "1", letters)
	}
	letters.Anchor = End
	c.Text(Point{strip.Left - 4, y}, least, letters)
}
