package picture

import (
	"bytes"
	"image/png"
	"math"
	"strings"
	"testing"
)

// A larger number is darker, and what is none is white.
func TestShade(t *testing.T) {
	last := 3 * 256
	for i := range 101 {
		s := Shade(float64(i) / 100)
		if now := int(s.R) + int(s.G) + int(s.B); now > last || i > 0 && now == last && i != 100 {
			t.Fatalf("%d %% is %v, no darker than what is less", i, s)
		} else {
			last = now
		}
	}
	for _, v := range []float64{math.NaN(), -1, 0, math.Inf(-1)} {
		if Shade(v) != White {
			t.Errorf("%v is %v", v, Shade(v))
		}
	}
	if Shade(math.Inf(1)) != heatDark {
		t.Error("infinity is not the darkest")
	}
}

// A cell's shade is in the picture where the cell stands.
func TestHeat(t *testing.T) {
	h := &Heat{Title: "confusion", Across: "taken for", Down: "is", Columns: []string{"a", "b"}, Rows: []string{"a", "b"},
		Values: [][]float64{{0, 4}, {2, 1}}, Format: "%.0f"}
	var b bytes.Buffer
	c := Grid([][]Panel{{h}})
	if err := c.Write(&b, "png"); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	count := map[[3]uint32]int{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			r, g, bl, _ := img.At(x, y).RGBA()
			count[[3]uint32{r >> 8, g >> 8, bl >> 8}]++
		}
	}
	for _, v := range []float64{4, 2, 1} {
		s := Shade(v / 4)
		if n := count[[3]uint32{uint32(s.R), uint32(s.G), uint32(s.B)}]; n < 5000 {
			t.Errorf("%d points have the shade of %v", n, v)
		}
	}
	var svg bytes.Buffer
	if err := c.Write(&svg, "svg"); err != nil || !strings.Contains(svg.String(), ">taken for<") {
		t.Errorf("the SVG does not say what columns are: %v", err)
	}
}

// Names of columns stand level where each has room above its cell; else all rise.
func TestHeatNames(t *testing.T) {
	for name, rises := range map[string]bool{"a": false, "mochte": false, strings.Repeat("long", 30): true} {
		var svg bytes.Buffer
		h := &Heat{Columns: []string{"b", name}, Values: [][]float64{{0, 1}}}
		if err := Grid([][]Panel{{h}}).Write(&svg, "svg"); err != nil || strings.Contains(svg.String(), "rotate(") != rises {
			t.Errorf("%s rises %t, want %t (%v)", name, !rises, rises, err)
		}
	}
}

// Nothing, rows of other lengths, names without cells and no numbers at all make a
// picture too.
func TestHeatOfLittle(t *testing.T) {
	for _, h := range []*Heat{
		{}, {Values: [][]float64{{}}}, {Values: [][]float64{{1}, {}, {1, 2, 3}}, Rows: []string{"only one"}},
		{Values: [][]float64{{math.NaN(), math.Inf(1)}, {math.Inf(-1), -3}}, Format: "%g", Columns: []string{strings.Repeat("long ", 40)}},
		{Values: make([][]float64, 5000)},
	} {
		if len(h.Values) == 5000 {
			for i := range h.Values {
				h.Values[i] = []float64{1}
			}
		}
		var b bytes.Buffer
		if err := Grid([][]Panel{{h}}).Write(&b, "svg"); err != nil {
			t.Error(err)
		}
	}
}

// Ratios are blue above 1 and orange below it, each as dark as its inverse in the other; those
// below 1 have a frame.
func TestRatios(t *testing.T) {
	last := -1
	for _, v := range []float64{1, 1.2, 2, 3, 4} {
		up, down := Ratio(v, 4), Ratio(1/v, 4)
		if v > 1 && (up.B <= up.R || down.R <= down.B) || v == 1 && (up != White || down != White) {
			t.Errorf("%v is %v, and its inverse %v", v, up, down)
		}
		if now := 3*256 - int(up.R) - int(up.G) - int(up.B); now <= last {
			t.Errorf("%v is no darker than what is nearer 1", v)
		} else {
			last = now
		}
	}
	if Ratio(100, 4) != Ratio(4, 4) || Ratio(0.01, 4) != Ratio(0.25, 4) || Ratio(math.NaN(), 4) != White || Ratio(-1, 4) != White || Ratio(0, 4) != White {
		t.Error("what is beyond the darkest, or no ratio, has another colour")
	}
	lines := func(values ...float64) int {
		var svg bytes.Buffer
		h := &Heat{Values: [][]float64{values}, Ratios: true}
		if err := Grid([][]Panel{{h}}).Write(&svg, "svg"); err != nil {
			t.Fatal(err)
		}
		return strings.Count(svg.String(), "<poly") + strings.Count(svg.String(), "<path")
	}
	if none, two := lines(1, 2, math.NaN()), lines(0.5, 2, 0.9); two != none+2 {
		t.Errorf("two cells below 1 have %d frames", two-none)
	}
	h := &Heat{Values: [][]float64{{1, 3, 0.1}, {math.Inf(1), 0, math.NaN()}}, Ratios: true}
	if got := h.top(); got != 10 {
		t.Errorf("the darkest of %v is %v, want 10 for 0.1", h.Values, got)
	}
	if text := h.Text(0, false); !strings.Contains(text, "█") {
		t.Errorf("as text:\n%s", text)
	}
}
