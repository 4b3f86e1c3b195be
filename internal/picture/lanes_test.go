package picture

import (
	"bytes"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"
)

// boxesOf places bars in a lane of ten columns, from 0 to 10.
func boxesOf(bars ...Bar) map[color.RGBA][]Box {
	out := map[color.RGBA][]Box{}
	place(out, bars, Box{0, 0, 10, 1}, 10)
	return out
}

// A column has the colour that takes most of it, paler where some of it is empty; columns alike are one box.
func TestPlace(t *testing.T) {
	red, blue := color.RGBA{255, 0, 0, 255}, color.RGBA{0, 0, 255, 255}
	for _, tt := range []struct {
		name string
		bars []Bar
		want map[color.RGBA][]Box
	}{
		{"whole columns, in any order", []Bar{{5, 7, blue}, {1, 4, red}}, map[color.RGBA][]Box{red: {{1, 0, 4, 1}}, blue: {{5, 0, 7, 1}}}},
		{"two that meet", []Bar{{1, 2.5, red}, {2.5, 4, red}}, map[color.RGBA][]Box{red: {{1, 0, 4, 1}}}},
		{"most of a column", []Bar{{0, 1.3, red}, {1.3, 2, blue}}, map[color.RGBA][]Box{red: {{0, 0, 1, 1}}, blue: {{1, 0, 2, 1}}}},
		{"half a column", []Bar{{3, 3.5, red}}, map[color.RGBA][]Box{mix(White, red, 0.5): {{3, 0, 4, 1}}}},
		{"too small to be seen", []Bar{{3, 3.01, red}}, map[color.RGBA][]Box{}},
		{"beyond both ends", []Bar{{-5, 2, red}, {9, 1e300, blue}}, map[color.RGBA][]Box{red: {{0, 0, 2, 1}}, blue: {{9, 0, 10, 1}}}},
		{"no numbers", []Bar{{math.NaN(), 2, red}, {1, math.NaN(), red}, {3, 2, red}, {math.Inf(-1), math.Inf(1), blue}}, map[color.RGBA][]Box{blue: {{0, 0, 10, 1}}}},
	} {
		got := boxesOf(tt.bars...)
		if len(got) != len(tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
		for colour, boxes := range tt.want {
			if !slices.Equal(got[colour], boxes) {
				t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
			}
		}
	}
	var small []Bar
	for i := range 100_000 {
		at := float64(i) / 10_000
		small = append(small, Bar{at, at + 1e-4, []color.RGBA{red, blue, blue}[i%3]})
	}
	if got := boxesOf(small...); len(got) != 1 || len(got[blue]) != 1 {
		t.Errorf("100,000 bars are %v", got)
	}
}

// A picture is as high as it says, has a box in the lane of each thread, and is the same every time.
func TestLanes(t *testing.T) {
	l := &Lanes{Title: "a title", Axis: "ms", End: 4, Legend: []Key{{"a loop", Bars, Colour(0)}}, Groups: []LaneGroup{
		{Name: "one", Lanes: [][]Bar{{{0, 4, Colour(0)}}}},
		{Name: "three", Lanes: [][]Bar{{{0, 1, Colour(0)}}, nil, {{2, 3, Colour(1)}}}},
	}}
	draw := func(form string) string {
		height := l.Height(400)
		c := New(400, height)
		l.Draw(c, Box{0, 0, 400, height})
		var b bytes.Buffer
		if err := c.Write(&b, form); err != nil {
			t.Fatal(err)
		}
		for _, s := range c.shapes {
			if w, ok := s.(words); ok && (w.at.Y > height || w.at.Y < 0) {
				t.Errorf("%q stands at %g of %g", w.text, w.at.Y, height)
			}
		}
		return b.String()
	}
	text := draw("svg")
	for _, want := range []string{">a title<", ">a loop<", ">one<", ">three<", ">ms<", ">4<", "h400v8h-400z", "M200 "} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture lacks %q:\n%s", want, text)
		}
	}
	if draw("svg") != text || len(draw("png")) < 1000 {
		t.Error("the picture is another one, or empty")
	}
	for _, end := range []float64{0, -1, math.NaN(), math.Inf(1), 1e300} {
		l.End = end
		draw("svg") // must end
	}
}
