package picture

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/plain"
)

// The measures of a heat map in a terminal.
const (
	textAcross = 78 // columns that names and cells may take where no width is given
	textName   = 20 // columns of a row's name, or lines of a column's, at most
	textCells  = 64 // rows and columns that are shown at most
)

// blocks are the shades without colours, in order.
var blocks = []string{" ", "░", "▒", "▓", "█"}

// Text returns the table in lines for a terminal of that many columns: shades of blue as escape
// sequences for 256 colours, or blocks where colour is false. Names stand over their columns if there
// is room, and else fall from top to bottom. Of a large table the first 64 rows and columns
// are shown. Columns that do not fit beside each other continue below. A width of 0 is no limit.
// Names from data are made harmless.
func (h *Heat) Text(width int, colour bool) string {
	t := h.text(width, colour)
	if t.rows == 0 || t.columns == 0 {
		return t.words(plain.Text(h.Title))
	}
	var b strings.Builder
	if h.Title != "" {
		b.WriteString(t.words(plain.Text(h.Title)))
	}
	if h.Down != "" || h.Across != "" {
		b.WriteString(t.words(strings.Trim(plain.Text(h.Down)+" ↓   "+plain.Text(h.Across)+" →", " ")))
	}
	for from := 0; from < t.columns; {
		to := t.fitting(from)
		b.WriteString(t.header(from, to))
		for i := range t.rows {
			b.WriteString(t.row(i, from, to))
		}
		from = to
	}
	if more := len(h.Values) - t.rows; more > 0 {
		b.WriteString(t.words(fmt.Sprintf("… and %d more rows", more)))
	}
	if more := h.columns() - t.columns; more > 0 {
		b.WriteString(t.words(fmt.Sprintf("… and %d more columns", more)))
	}
	return b.String() + t.scale()
}

// heatText is a table on its way to a terminal.
type heatText struct {
	*Heat
	width         int // of the terminal
	colour        bool
	top           float64
	rows, columns int
	side          int   // columns of the rows' names
	widths        []int // of the columns
	falling       bool  // names of columns go down
}

func (h *Heat) text(width int, colour bool) *heatText {
	t := &heatText{Heat: h, width: math.MaxInt, colour: colour, top: h.top(), rows: min(len(h.Values), textCells), columns: min(h.columns(), textCells)}
	if width > 0 {
		t.width = textWidth(width)
	}
	for i := range t.rows {
		t.side = max(t.side, min(textName, t.width/3, plain.Width(t.name(h.Rows, i))))
	}
	t.widths = make([]int, t.columns)
	least, all, longest, room := make([]int, t.columns), t.side+1, 0, t.width-t.side-1
	for j := range t.widths {
		name := plain.Width(t.name(h.Columns, j))
		least[j] = min(t.least(j), room)
		t.widths[j] = min(max(least[j], name+1), room)
		all, longest = all+t.widths[j], max(longest, min(textName, name))
	}
	level := t.lines(1)
	names := t.widths
	t.widths = least
	if t.falling = all > textAcross && width == 0 || t.lines(longest) < level; !t.falling {
		t.widths = names
	}
	return t
}

// lines is how many lines the cells take below names of a height.
func (t *heatText) lines(height int) (n int) {
	for from := 0; from < t.columns; from = t.fitting(from) {
		n += height + t.rows
	}
	return n
}

// fitting returns the end of the columns that have room beside each other from one on.
func (t *heatText) fitting(from int) int {
	room := t.width - t.side - 1 - t.widths[from]
	for to := from + 1; ; to++ {
		if to == t.columns || t.widths[to] > room {
			return to
		}
		room -= t.widths[to]
	}
}

// words is a line of words.
func (t *heatText) words(s string) string { return line(plain.Fit(s, t.width)) }

// least is how wide a column is for its cells.
func (t *heatText) least(j int) int {
	n := 2
	for i, row := range t.Values[:t.rows] {
		if j >= len(row) {
			continue
		}
		if word := plain.Text(t.word(i, j)); word != "" {
			n = max(n, plain.Width(word)+2) // a blank, and without colours a block
		}
	}
	return n
}

func (t *heatText) name(names []string, i int) string {
	if i >= len(names) {
		return ""
	}
	return plain.Text(names[i])
}

// header is the lines with the names of some columns.
func (t *heatText) header(from, to int) string {
	if len(t.Columns) == 0 {
		return ""
	}
	indent := strings.Repeat(" ", t.side+1)
	if !t.falling {
		s := indent
		for j := from; j < to; j++ {
			s += plain.Pad(plain.Fit(t.name(t.Columns, j), t.widths[j]-1), t.widths[j])
		}
		return line(s)
	}
	names, lines := make([][]rune, to), 0
	for j := from; j < to; j++ {
		names[j] = []rune(t.name(t.Columns, j))
		lines = max(lines, min(textName, len(names[j])))
	}
	var b strings.Builder
	for i := range lines {
		s := indent
		for j := from; j < to; j++ {
			letter := ""
			if at := i - (lines - min(textName, len(names[j]))); at >= 0 { // names end above their cells
				letter = string(names[j][at])
			}
			s += plain.Pad(letter, t.widths[j])
		}
		b.WriteString(line(s))
	}
	return b.String()
}

// row is a line of some cells behind its name.
func (t *heatText) row(i, from, to int) string {
	s := plain.Pad(plain.Fit(t.name(t.Rows, i), t.side), t.side) + " "
	for j := from; j < min(to, len(t.Values[i])); j++ {
		s += t.cell(plain.Text(t.word(i, j)), t.share(t.Values[i][j], t.top), t.widths[j])
	}
	return line(s)
}

// cell is a share of the top in so many columns, with a word in it.
func (t *heatText) cell(word string, share float64, width int) string {
	word = plain.Fit(word, width-1) // cut only where a single cell is wider than the terminal
	if !t.colour {
		block := blocks[max(0, min(len(blocks)-1, int(math.Ceil(math.Abs(share)*float64(len(blocks)-1)-0.5))))]
		if word == "" {
			return strings.Repeat(block, width)
		}
		return plain.Pad(block+word, width)
	}
	letters := 16 // black
	if math.Abs(share) > 0.5 {
		letters = 231 // white
	}
	return fmt.Sprintf("\x1b[48;5;%d;38;5;%dm%s\x1b[0m", cube(signed(share)), letters, plain.Pad(word, width))
}

// scale is the line that says which shade is which number.
func (t *heatText) scale() string {
	low, least, high := "0 ", 0.0, fmt.Sprintf(" %.3g", t.top)
	if t.Ratios {
		low, least = fmt.Sprintf("%.2g ", 1/t.top), -1
	}
	s := strings.Repeat(" ", max(0, min(t.side+1, t.width-len(low)-2*len(blocks)-len(high)))) + low
	for i := range blocks {
		s += t.cell("", least+float64(i)/float64(len(blocks)-1)*(1-least), 2)
	}
	return line(s + high)
}

// line ends a line, without blanks before its end.
func line(s string) string {
	if s = strings.TrimRight(s, " "); s == "" {
		return ""
	}
	return s + "\n"
}

// cube is the number of the colour, of a terminal's 256, that is nearest to c among the
// 216 that have six levels of each light.
func cube(c color.RGBA) int {
	n := 16
	for i, v := range [...]uint8{c.R, c.G, c.B} {
		level, nearest := 0, math.Inf(1)
		for k, l := range [...]float64{0, 95, 135, 175, 215, 255} {
			if d := math.Abs(l - float64(v)); d < nearest {
				level, nearest = k, d
			}
		}
		n += level * [...]int{36, 6, 1}[i]
	}
	return n
}
