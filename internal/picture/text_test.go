package picture

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/plain"
)

// only is a panel without a text form.
type only struct{}

func (only) Draw(c *Canvas, box Box) { Heading{Title: "a title"}.Draw(c, box) }

// testChart has a curve with a gap, dots, bars and an upright line.
func testChart() *Chart {
	ch := &Chart{Title: "four marks", X: Axis{Label: "epoch", Whole: true}, Y: Axis{Label: "per cent"}, Series: []Series{
		{Name: "curve", Mark: Curve, Colour: Colour(0)}, {Name: "dots", Mark: Dots, Colour: Colour(1)},
		{Name: "bars", Mark: Bars, Colour: Colour(2)}, {Name: "epoch 12", Mark: Upright, Colour: Grey, Points: []Point{{X: 12}}},
	}}
	for i := range 20 {
		x := float64(i)
		ch.Series[0].Points = append(ch.Series[0].Points, Point{x, 100 - x*x/4})
		ch.Series[1].Points = append(ch.Series[1].Points, Point{x, 4 * x})
	}
	ch.Series[0].Points[8].Y = math.NaN()
	ch.Series[2].Points = []Point{{3, 20}, {16, -20}}
	return ch
}

// testTree has a value of each sign, one that is no number, and a word that is harmful and too long.
func testTree() *Tree {
	return &Tree{
		Title: "not\x1b[2J bad", Parent: []int32{-1, 0, 1, 1, 0, -1}, Notes: []string{"+", "0"}, Low: "negative", High: "positive",
		Words: []string{"", "", "not", "bad\nand much more than has room", "映画"}, Values: []float64{0.5, 0, -0.25, -1, math.NaN(), 0.01},
	}
}

// The text of a chart and of a tree is that of a golden file.
func TestGoldenTexts(t *testing.T) {
	for name, p := range map[string]Panel{"chart": testChart(), "tree": testTree()} {
		path := filepath.Join("testdata", name+".txt")
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := Text([][]Panel{{p}}, 40, false); got != string(want) {
			t.Errorf("%s is not\n%s", path, got)
		}
	}
}

// Panels stand below each other, colours are those of the series, and each series has a mark of its own without them.
func TestText(t *testing.T) {
	panels := [][]Panel{{testChart(), only{}}, {testTree()}}
	text := Text(panels, 0, true)
	if !strings.Contains(text, "\n\na title\nonly in a picture\n\n\"not") {
		t.Errorf("the panels are not below each other:\n%s", text)
	}
	for i := range 3 {
		if want := foreground(Colour(i)); strings.Count(text, want) < 3 {
			t.Errorf("series %d is not drawn in its colour", i)
		}
	}
	if text := Text(panels, 0, false); strings.Count(text, "×") < 10 || strings.Count(text, "+") < 10 || strings.Contains(text, "\x1b") {
		t.Errorf("series do not differ without colours:\n%s", text)
	}
}

// Each loop of the lanes has its own mark without colours, and the points of a plane have their names.
func TestTextOfLanesAndPlane(t *testing.T) {
	l := &Lanes{Title: "a step", Axis: "ms", End: 8, Legend: []Key{{"one", Bars, Colour(0)}, {"two", Bars, Colour(1)}},
		Groups: []LaneGroup{{Name: "a thread", Lanes: [][]Bar{{{0, 2, Colour(0)}, {4, 8, Colour(1)}}}}}}
	want := "a step\n█ one  × two\na thread\n██████████          ××××××××××××××××××××\n"
	if got := l.Text(40, false); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	p := &Plane{Points: []Point{{0, 0}, {1, 0}, {1, 1}, {math.Inf(1), 0}}, Names: []string{"a", "b", "c", "d"},
		Lines: []Through{{Points: []int32{0, 1, 3, 2, 9}, Closed: true}}}
	got := p.Text(40, false)
	for _, want := range []string{"a•", "•b", "•c", "⣀⣀"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "d") {
		t.Errorf("a point beyond all others is in\n%s", got)
	}
}

// Bars with names are a list, whose longest bar is the largest number's.
func TestTextOfNamedBars(t *testing.T) {
	ch := &Chart{Title: "errors", X: Axis{Names: []string{"1\n(20)", "2"}}, Series: []Series{{Mark: Bars, Points: []Point{{0, 8}, {1, -4}, {7, math.NaN()}}}}}
	want := "errors\n" +
		"1 (20) " + strings.Repeat("█", 29) + "   8\n" +
		"2      " + strings.Repeat("▒", 15) + strings.Repeat(" ", 15) + " -4\n" +
		strings.Repeat(" ", 37) + "NaN\n"
	if got := ch.Text(40, false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Columns of a table that have no room beside the others continue below them, under their names.
func TestHeatTextContinues(t *testing.T) {
	h := &Heat{Rows: []string{"row"}, Columns: []string{"first", "second", "third"}, Values: [][]float64{{1, 2, 3}}, Format: "%.12f"}
	want := "    first           second\n" +
		"row ░1.000000000000 ▓2.000000000000\n" +
		"    third\n" +
		"row █3.000000000000\n" +
		"    0   ░░▒▒▓▓██ 3\n"
	if got := h.Text(40, false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

var escapes = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// Whatever the numbers and the words, no line is wider than the terminal, and nothing steers it.
func FuzzText(f *testing.F) {
	number := func(v float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)) }
	var odd []byte
	for _, v := range []float64{math.NaN(), 1, 1e290, -1e290, math.Inf(1), 5e-324, -3, 0} {
		odd = append(odd, number(v)...)
	}
	f.Add([]byte{}, "", uint8(40), uint8(0))
	f.Add(odd, "映画 e\u0301\u200d\n\x1b[2J", uint8(30), uint8(1))
	f.Add(odd[:16], strings.Repeat("long ", 40), uint8(80), uint8(2))
	f.Add(odd[:8], "\u0301\xff", uint8(0), uint8(19))
	f.Fuzz(func(t *testing.T, raw []byte, name string, width, kind uint8) {
		var numbers []float64
		for ; len(raw) >= 8 && len(numbers) < 150; raw = raw[8:] {
			numbers = append(numbers, math.Float64frombits(binary.LittleEndian.Uint64(raw)))
		}
		panels := [][]Panel{fuzzed(numbers, name, kind)}
		for _, colour := range []bool{false, true} {
			text := Text(panels, int(width), colour)
			for line := range strings.Lines(text) {
				line = strings.TrimSuffix(line, "\n")
				if colour {
					line = escapes.ReplaceAllString(line, "")
				}
				if w := plain.Width(line); w > textWidth(int(width)) || plain.Text(line) != line {
					t.Errorf("a line of %d columns of %d: %q", w, width, line)
				}
			}
		}
	})
}

// fuzzed is a panel of each kind.
func fuzzed(numbers []float64, name string, kind uint8) []Panel {
	s := Series{Name: name, Mark: Mark(kind % 6), Colour: Colour(int(kind))}
	l := &Lanes{Title: name, Axis: name, End: float64(kind), Legend: []Key{{name, Bars, Colour(0)}}, Groups: []LaneGroup{{Name: name}}}
	tree, plane := &Tree{Title: name, Words: []string{name, "", name}, Notes: []string{"", name}, Values: numbers, High: name}, &Plane{Title: name}
	heat := &Heat{Title: name, Across: name, Rows: []string{name, name}, Columns: []string{name, "", name}, Ratios: kind&32 != 0, Values: [][]float64{numbers, {1}}}
	if kind&64 != 0 {
		heat.Format = "%.3g"
	}
	through := Through{Name: name, Closed: kind&1 != 0}
	for i, v := range numbers {
		q := Point{v, numbers[(i+int(kind))%len(numbers)]}
		s.Points, plane.Points = append(s.Points, q), append(plane.Points, q)
		plane.Names, through.Points = append(plane.Names, name), append(through.Points, int32(i*3-1))
		l.Groups[0].Lanes = append(l.Groups[0].Lanes, []Bar{{q.X, q.Y, Colour(i)}})
		tree.Parent = append(tree.Parent, int32(i-1-int(kind)%5*(i%3)))
	}
	plane.Lines = []Through{through, through}
	named := &Chart{Title: name, X: Axis{Label: name, Names: []string{name, name + "\n" + name, ""}}, Y: Axis{Label: name}, Series: []Series{s}}
	return []Panel{&Chart{Title: name, X: Axis{Label: name}, Y: Axis{Label: name, Names: named.X.Names[:kind%2]}, Series: []Series{s, s, s}}, named, l, tree, plane, heat, only{}}
}
