package picture

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// The whole text of a small table, as a terminal shows it without colours.
func TestHeatText(t *testing.T) {
	h := &Heat{Title: "weights", Down: "written", Across: "read", Rows: []string{"ich", "möchte"}, Columns: []string{"i", "want"},
		Values: [][]float64{{1, 0.25}, {0, 0.5}}}
	want := "weights\n" +
		"written ↓   read →\n" +
		"       i want\n" +
		"ich    ██░░░░░\n" +
		"möchte   ▒▒▒▒▒\n" +
		"       0   ░░▒▒▓▓██ 1\n"
	if got := h.Text(0, false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	h.Format = "%.2f"
	if got := h.Text(0, false); !strings.Contains(got, "ich    █1.00 ░0.25\n") {
		t.Errorf("no numbers in\n%s", got)
	}
}

// Words stand in the cells of a sentence, whose rows are of any lengths.
func TestHeatTextOfWords(t *testing.T) {
	h := &Heat{Values: [][]float64{{0, 1}, {0.5}}, Words: [][]string{{"a", "dog"}, {"three\t"}}}
	want := "  a         █dog\n ▒\"three\\t\"\n 0   ░░▒▒▓▓██ 1\n"
	if got := h.Text(0, false); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	var b strings.Builder
	if err := Grid([][]Panel{{h}}).Write(&b, "svg"); err != nil || !strings.Contains(b.String(), ">dog<") {
		t.Errorf("the SVG does not say the word: %v", err)
	}
}

// Colours are those of the picture, as near as 256 come to them, and reset in each cell.
func TestHeatTextInColours(t *testing.T) {
	h := &Heat{Values: [][]float64{{0, 1}}}
	got := h.Text(0, true)
	for _, v := range []float64{0, 1} {
		if cell := fmt.Sprintf("\x1b[48;5;%dm", cube(Shade(v))); !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(got, ";38;5;231", ""), ";38;5;16", ""), cell) {
			t.Errorf("%q lacks %q", got, cell)
		}
	}
	if strings.Count(got, "\x1b[0m") != strings.Count(got, "\x1b[48") {
		t.Errorf("a colour goes on: %q", got)
	}
	if white, dark := cube(White), cube(heatDark); white != 231 || dark == 16 || dark >= white {
		t.Errorf("white is %d, the darkest %d", white, dark)
	}
}

// Many columns have names that fall; more than fit are counted; names cannot steer the
// terminal; and what is no number is as nought.
func TestHeatTextOfMuch(t *testing.T) {
	h := &Heat{Columns: []string{"long name of a column", "b"}, Rows: []string{"\x1b[2J"}, Values: [][]float64{make([]float64, 100)}}
	h.Values[0][1] = 1
	for range 70 {
		h.Values = append(h.Values, []float64{math.NaN(), math.Inf(1), -1})
	}
	got := h.Text(0, false)
	for _, want := range []string{"… and 36 more columns\n", "… and 7 more rows\n", "  m b\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Error("a name steers the terminal")
	}
	if got := (&Heat{Title: "none", Values: [][]float64{{}}}).Text(0, true); got != "none\n" {
		t.Errorf("an empty table is %q", got)
	}
}
