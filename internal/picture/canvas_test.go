package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
)

// written returns a canvas in a form.
func written(t *testing.T, c *Canvas, form string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := c.Write(&b, form); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// painted returns a canvas's pixels.
func painted(t *testing.T, c *Canvas) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(written(t, c, "png")))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// element is one of SVG, with its attributes and text.
type element struct {
	name, text string
	attr       map[string]string
}

// elements reads SVG, which must be well-formed.
func elements(t *testing.T, doc []byte) []element {
	t.Helper()
	var out []element
	for d := xml.NewDecoder(bytes.NewReader(doc)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%v in %.300s", err, doc)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attr: map[string]string{}}
			for _, a := range token.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			out = append(out, e)
		case xml.CharData:
			out[len(out)-1].text += strings.TrimSpace(string(token))
		}
	}
}

func TestSVGEscapes(t *testing.T) {
	const hostile = `<script>alert("1")</script> & 'x' ]]> ü …`
	c := New(100, 50)
	c.Text(Point{10, 20}, hostile, Letters{Size: 8})
	c.Text(Point{10, 20}, "a\x00b\x1b", Letters{Size: 8})
	all := elements(t, written(t, c, "svg"))
	if len(all) != 4 || all[2].text != hostile || all[3].text != "a\ufffdb\ufffd" {
		t.Errorf("read back %q", all)
	}
}

// Each shape becomes one element with its numbers.
func TestSVGElements(t *testing.T) {
	c := New(100.5, 50)
	red := color.RGBA{255, 1, 2, 255}
	c.Line(Point{1, 2}, Point{3.456, -0.001}, Stroke{Colour: red, Width: 2, Dash: 3})
	c.Circle(Point{4, 5}, 6, red)
	c.Rect(Box{1, 2, 11, 22}, red)
	c.Text(Point{50, 40}, "words", Letters{Size: 10, Anchor: End, Colour: red, Rising: true})
	want := []element{
		{"svg", "", map[string]string{"width": "100.5pt", "height": "50pt", "viewBox": "0 0 100.5 50"}},
		{"rect", "", map[string]string{"width": "100.5", "height": "50", "fill": "#ffffff"}},
		{"polyline", "", map[string]string{"points": "1,2 3.46,0", "stroke": "#ff0102", "stroke-width": "2", "stroke-dasharray": "3", "fill": "none"}},
		{"circle", "", map[string]string{"cx": "4", "cy": "5", "r": "6", "fill": "#ff0102"}},
		{"rect", "", map[string]string{"x": "1", "y": "2", "width": "10", "height": "20"}},
		{"text", "words", map[string]string{"x": "50", "y": "40", "font-size": "10", "text-anchor": "end", "transform": "rotate(-90 50 40)", "textLength": number(Letters{Size: 10}.Width("words"))}},
	}
	got := elements(t, written(t, c, "svg"))
	if len(got) != len(want) {
		t.Fatalf("%d elements, want %d", len(got), len(want))
	}
	for i, w := range want {
		if got[i].name != w.name || got[i].text != w.text {
			t.Errorf("element %d is %v", i, got[i])
		}
		for name, value := range w.attr {
			if got[i].attr[name] != value {
				t.Errorf("%s: %s is %q, want %q", w.name, name, got[i].attr[name], value)
			}
		}
	}
}

// Every number of every chart can be read, and is one.
func TestSVGNumbers(t *testing.T) {
	for name, ch := range charts() {
		for _, e := range elements(t, written(t, Grid([][]Panel{{ch}}), "svg"))[1:] {
			for attr, value := range e.attr {
				if attr == "fill" || attr == "stroke" || attr == "text-anchor" || attr == "transform" || strings.Contains(attr, "line") || attr == "lengthAdjust" {
					continue
				}
				for _, s := range strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == ',' }) {
					if v, err := strconv.ParseFloat(s, 64); err != nil || !finite(v) {
						t.Errorf("%s: %s of %s is %q", name, attr, e.name, value)
					}
				}
			}
		}
	}
}

// at returns the colour at a point of a canvas.
func at(img image.Image, x, y float64) color.RGBA {
	return color.RGBAModel.Convert(img.At(int(x*pixels), int(y*pixels))).(color.RGBA)
}

// A PNG has two pixels a point, with ink where a shape is and none beside it.
func TestPNG(t *testing.T) {
	red, blue := color.RGBA{255, 0, 0, 255}, color.RGBA{0, 0, 255, 255}
	c := New(100, 60.2)
	c.Rect(Box{10, 10, 30, 20}, red)
	c.Circle(Point{20, 15}, 3, blue) // over the rectangle
	c.Line(Point{50, 10}, Point{90, 10}, Stroke{Colour: blue, Width: 2})
	c.Line(Point{50, 30}, Point{90, 30}, Stroke{Colour: red, Width: 2, Dash: 4})
	c.Polyline([]Point{{60, 50}, {70, 40}, {60, 50}, {70, 40}, {80, 50}}, Stroke{Colour: red, Width: 2}) // back and forth
	c.Polyline([]Point{{10, 40}, {20, 40}, {20, 50}}, Stroke{Colour: red, Width: 4})                     // a round corner
	c.Circle(Point{99, 59}, 10, blue)                                                                    // beyond the edge
	c.Circle(Point{-50, 10}, 3, blue)                                                                    // nowhere
	img := painted(t, c)
	if b := img.Bounds(); b.Dx() != 200 || b.Dy() != 121 {
		t.Fatalf("the picture is %v", b)
	}
	for _, p := range []struct {
		x, y float64
		want color.RGBA
	}{
		{11, 11, red}, {29, 19, red}, {9, 15, White}, {31, 15, White}, {20, 15, blue}, {20, 12.5, blue}, {16.5, 12.5, red},
		{51, 10, blue}, {89, 9.6, blue}, {49, 10, White}, {70, 11.6, White}, {51, 30, red}, {56, 30, White}, {59, 30, red}, {64, 30, White},
		{65, 45, red}, {75, 45, red}, {70, 45, White}, {99, 59, blue}, {11, 40, red}, {19.4, 39.1, red}, {20.6, 39.1, red}, {21.7, 38.2, White}, {1, 1, White},
	} {
		if got := at(img, p.x, p.y); got != p.want {
			t.Errorf("at %g, %g: %v, want %v", p.x, p.y, got, p.want)
		}
	}
}

// ink returns the box around what is not white.
func ink(img image.Image) image.Rectangle {
	var out image.Rectangle
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if at := image.Rect(x, y, x+1, y+1); color.RGBAModel.Convert(img.At(x, y)) != color.Color(White) {
				out = out.Union(at)
			}
		}
	}
	return out
}

// Words stand on their base line at their anchor, and rise when they are told to.
func TestPNGWords(t *testing.T) {
	f := Letters{Size: 20, Colour: Ink}
	width := f.Width("HHH")
	for _, tt := range []struct {
		anchor Anchor
		rising bool
		want   Box
	}{
		{Start, false, Box{100, 86, 100 + width, 100}}, {Middle, false, Box{100 - width/2, 86, 100 + width/2, 100}},
		{End, false, Box{100 - width, 86, 100, 100}}, {Start, true, Box{86, 100 - width, 100, 100}},
		{End, true, Box{86, 100, 100, 100 + width}},
	} {
		f.Anchor, f.Rising = tt.anchor, tt.rising
		c := New(200, 200)
		c.Text(Point{100, 100}, "HHH", f)
		got := ink(painted(t, c))
		for i, d := range []float64{float64(got.Min.X) - pixels*tt.want.Left, float64(got.Min.Y) - pixels*tt.want.Top,
			float64(got.Max.X) - pixels*tt.want.Right, float64(got.Max.Y) - pixels*tt.want.Bottom} {
			if math.Abs(d) > 5 { // a letter has a little room on both sides
				t.Errorf("anchor %d, rising %t: ink in %v, side %d wants %v", tt.anchor, tt.rising, got, i, tt.want)
			}
		}
	}
}

// A shape that has no place is left out of both forms.
func TestNowhere(t *testing.T) {
	c := New(10, 10)
	nan, inf := Point{math.NaN(), 1}, Point{1, math.Inf(-1)}
	for _, p := range []Point{nan, inf} {
		c.Line(Point{1, 1}, p, Stroke{Width: 1})
		c.Circle(p, 3, Ink)
		c.Rect(Box{p.X, p.Y, 9, 9}, Ink)
		c.Text(p, "x", Letters{Size: 5})
	}
	c.Polyline([]Point{{1, 1}}, Stroke{Width: 3})
	c.Text(Point{1, 9}, "", Letters{Size: 5})
	c.Circle(Point{5, 5}, math.NaN(), Ink)
	if len(c.shapes) != 0 || !ink(painted(t, c)).Empty() {
		t.Errorf("shapes %v", c.shapes)
	}
}

func TestWriteErrors(t *testing.T) {
	c := New(10, 10)
	if err := c.Write(io.Discard, "gif"); err == nil || err.Error() != `a picture of the form "gif": it must be svg or png` {
		t.Errorf("error %v", err)
	}
	for _, form := range []string{"svg", "png"} {
		if err := c.Write(full{}, form); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s on a full disk: %v", form, err)
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
