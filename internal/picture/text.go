package picture

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/plain"
)

// The columns of a terminal: those of one whose width is not known, and the fewest that a text is made for.
const (
	usualColumns = 80
	leastColumns = 30
)

// Text returns the panels of a picture for a terminal of that many columns, one below the other.
// No line is longer than that. A width of 0 is that of a usual terminal, 80, and one below 30 is taken
// as 30. Colours are escape sequences for a terminal of 256. Words from data are made harmless.
//
// A panel has a text form if it has a method Text(width int, colour bool) string.
func Text(rows [][]Panel, width int, colour bool) string {
	var texts []string
	for _, row := range rows {
		for _, p := range row {
			if t, ok := p.(interface {
				Text(width int, colour bool) string
			}); ok {
				texts = append(texts, t.Text(textWidth(width), colour))
				continue
			}
			only := &List{Title: titleOf(p), Legend: []Key{{Name: "only in a picture"}}}
			texts = append(texts, only.Text(width, colour))
		}
	}
	return strings.Join(texts, "\n")
}

// titleOf is the title of a panel that has no other text: the first words that it draws.
func titleOf(p Panel) string {
	c := New(panelWidth, panelHeight)
	p.Draw(c, Box{0, 0, panelWidth, panelHeight})
	for _, s := range c.shapes {
		if w, ok := s.(words); ok {
			return w.text
		}
	}
	return ""
}

func textWidth(width int) int {
	if width <= 0 {
		return usualColumns
	}
	return max(width, leastColumns)
}

// marks tell series apart where there are no colours. The first one is drawn as with colours.
const marks = "×+o*#@%&=~^:$"

// markOf is the character that the i-th series is drawn with; empty: dots or blocks.
func markOf(i int, colour bool) string {
	all := []rune(marks)
	if colour || i == 0 {
		return ""
	}
	return string(all[(i-1)%len(all)])
}

// page is lines of a terminal that are written to in any order.
type page struct {
	width int
	lines [][]cell
}

// cell is a character of a page; the zero value is a blank.
type cell struct {
	text string     // with the marks that combine with it
	dots byte       // of a braille pattern, where there is no text
	fore color.RGBA // zero: the terminal's own
}

// behind is the text of the right half of a wide character.
const behind = "\x00"

func newPage(width int) *page { return &page{width: textWidth(width)} }

// next is the first line below all others.
func (p *page) next() int { return len(p.lines) }

// at returns a cell. The page has lines down to it from then on.
func (p *page) at(x, y int) *cell {
	for len(p.lines) <= y {
		p.lines = append(p.lines, make([]cell, p.width))
	}
	return &p.lines[y][x]
}

// put writes words from a column on and returns the column behind them. What does not fit is cut.
func (p *page) put(x, y int, words string, fore color.RGBA) int {
	p.at(0, y) // an empty line is a line too
	from := x
	for _, r := range plain.Fit(plain.Text(words), max(0, p.width-x)) {
		switch w := plain.Width(string(r)); {
		case r == ' ':
			*p.at(x, y) = cell{}
			x++
		case w > 0:
			*p.at(x, y) = cell{text: string(r), fore: visible(fore)}
			if w == 2 {
				*p.at(x+1, y) = cell{text: behind}
			}
			x += w
		case x > from:
			p.at(x-1, y).text += string(r) // also behind the right half of a wide character
		}
	}
	return x
}

// visible is a colour that stands out from a dark background and from a light one; zero: the terminal's own does.
func visible(c color.RGBA) color.RGBA {
	if max(c.R, c.G, c.B) < 64 || min(c.R, c.G, c.B) > 224 {
		return color.RGBA{}
	}
	return c
}

// text returns the lines of the page.
func (p *page) text(colour bool) string {
	var b strings.Builder
	for _, line := range p.lines {
		for len(line) > 0 && line[len(line)-1] == (cell{}) {
			line = line[:len(line)-1]
		}
		var now color.RGBA
		for _, c := range line {
			if colour && c.fore != now && c != (cell{}) && !strings.HasPrefix(c.text, behind) {
				b.WriteString(foreground(c.fore))
				now = c.fore
			}
			switch {
			case c.text != "":
				b.WriteString(strings.TrimPrefix(c.text, behind))
			case c.dots != 0:
				b.WriteRune('⠀' + rune(c.dots))
			default:
				b.WriteByte(' ')
			}
		}
		if now != (color.RGBA{}) {
			b.WriteString(foreground(color.RGBA{}))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// foreground is the escape sequence for a colour of letters.
func foreground(c color.RGBA) string {
	if c == (color.RGBA{}) {
		return "\x1b[0m"
	}
	return fmt.Sprintf("\x1b[38;5;%dm", cube(c))
}

// legendLines is how many lines a legend has at most.
const legendLines = 6

// samples are the marks of a legend.
var samples = map[Mark]string{Curve: "⠒⠒", Dots: "⠶", Bars: barAbove, Upright: "┊"}

// heading writes a title and a legend. own are other marks than the usual of the keys, or empty.
func (p *page) heading(title string, keys []Key, own []string) {
	if title != "" {
		p.put(0, p.next(), title, color.RGBA{})
	}
	x, y := 0, p.next()
	last := y + legendLines - 1
	for i, k := range keys {
		sample := samples[k.Mark]
		if i < len(own) && own[i] != "" {
			sample = own[i]
		}
		if sample != "" {
			sample += " "
		}
		if n := plain.Width(sample + plain.Text(k.Name)); x > 0 && x+n > p.width {
			x, y = 0, y+1
		}
		if y == last && i+1 < len(keys) {
			p.put(0, y, fmt.Sprintf("… and %d more", len(keys)-i), color.RGBA{})
			return
		}
		x = p.put(p.put(x, y, sample, k.Colour), y, k.Name, color.RGBA{}) + 2
	}
}

// plot is a part of a page that is drawn on in the dots of braille characters, two across and
// four down in each.
type plot struct {
	*page
	left, top, columns, lines int
}

// area is the box of the dots.
func (p plot) area() Box { return Box{0, 0, float64(2*p.columns - 1), float64(4*p.lines - 1)} }

// cellOf returns the column and the line of the plot in which a point is.
func cellOf(at Point) (x, y int) { return int(math.Round(at.X)) / 2, int(math.Round(at.Y)) / 4 }

// pen is what a series is drawn with.
type pen struct {
	mark   string // in the place of dots
	colour color.RGBA
}

// braille are the bits of the dots of a character, by line and column.
var braille = [4][2]byte{{1, 8}, {2, 16}, {4, 32}, {64, 128}}

// dot draws a point.
func (p plot) dot(at Point, with pen) {
	x, y := int(math.Round(at.X)), int(math.Round(at.Y))
	if x < 0 || y < 0 || x >= 2*p.columns || y >= 4*p.lines {
		return
	}
	if c := p.at(p.left+x/2, p.top+y/4); with.mark != "" {
		*c = cell{text: with.mark, fore: visible(with.colour)}
	} else {
		*c = cell{dots: c.dots | braille[y%4][x%2], fore: visible(with.colour)}
	}
}

// line draws a line.
func (p plot) line(from, to Point, with pen) {
	steps := math.Ceil(max(math.Abs(to.X-from.X), math.Abs(to.Y-from.Y), 1))
	for i := 0.0; i <= steps; i++ {
		p.dot(Point{from.X + i/steps*(to.X-from.X), from.Y + i/steps*(to.Y-from.Y)}, with)
	}
}

// xAxis draws the lower axis below the dots, with a label for each tick that has room for it. at returns
// where the value of a tick is. names is how many of the labels are names, which may be cut.
func (p plot) xAxis(ticks []tick, names int, at func(Point) Point, label string) {
	y, end := p.top+p.lines, -1
	p.put(p.left-1, y, "└"+strings.Repeat("─", p.columns), color.RGBA{})
	for _, t := range ticks {
		x, _ := cellOf(at(Point{X: t.value}))
		if x < 0 || x >= p.columns {
			continue
		}
		lines := strings.SplitN(t.label, "\n", 3)
		lines, wide := lines[:min(2, len(lines))], 0
		for i := range lines {
			lines[i] = plain.Text(lines[i])
			if names > 0 {
				lines[i] = plain.Fit(lines[i], max(5, p.columns/names-1))
			}
			wide = max(wide, plain.Width(lines[i]))
		}
		from := max(0, min(p.left+x-wide/2, p.width-wide))
		if from <= end {
			continue
		}
		p.put(p.left+x, y, "┬", color.RGBA{})
		for i, line := range lines {
			p.put(from+(wide-plain.Width(line))/2, y+1+i, line, color.RGBA{})
		}
		end = from + wide
	}
	if label != "" {
		label = plain.Text(label)
		p.put(max(0, p.left+(p.columns-plain.Width(label))/2), p.next(), label, color.RGBA{})
	}
}
