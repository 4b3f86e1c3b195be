package picture

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/sparing"
)

// charts are what a series can hold, hostile ones too.
func charts() map[string]*Chart {
	nan, inf := math.NaN(), math.Inf(1)
	points := map[string][]Point{
		"none": nil, "one": {{3, 7}}, "two": {{1, 2}, {2, 3}},
		"constant": {{1, 5}, {2, 5}, {3, 5}}, "one place": {{4, 4}, {4, 4}}, "noughts": {{0, 0}, {0, 0}},
		"NaN": {{1, nan}, {nan, 2}, {nan, nan}}, "infinite": {{1, inf}, {-inf, 2}},
		"some NaN": {{1, 1}, {2, nan}, {3, 3}, {4, 2}, {5, inf}, {6, 2}},
		"large":    {{1, 1e300}, {2, -1e300}, {3, 1e289}, {4, -1e289}}, "tiny": {{1, 5e-324}, {2, 1e-310}},
		"close": {{1e16, 1}, {1e16 + 2, 1 + 1e-16}}, "negative": {{-3, -5}, {-2, -7}},
	}
	out := map[string]*Chart{"empty": {}}
	for name, p := range points {
		for mark, of := range []string{Curve: "curve", Dots: "dots", Bars: "bars", Upright: "upright"} {
			if of != "" {
				out[name+", "+of] = &Chart{Title: name, X: Axis{Label: "x"}, Y: Axis{Label: "y"},
					Series: []Series{{Name: of, Mark: Mark(mark), Colour: Colour(1), Points: p}}}
			}
		}
	}
	return out
}

// Whatever a chart holds, all that is drawn is at finite places on the canvas.
func TestChartStaysInside(t *testing.T) {
	for name, ch := range charts() {
		c := Grid([][]Panel{{ch}})
		inside(t, name, c)
		var a, b bytes.Buffer
		if c.Write(&a, "svg") != nil || Grid([][]Panel{{ch}}).Write(&b, "svg") != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s: two svg differ", name)
		}
		if !strings.HasPrefix(name, "some NaN") && !strings.HasPrefix(name, "one place,") && name != "empty" && !sparing.Full() {
			continue // to paint a shape is not another thing where it is elsewhere
		}
		if err := c.Write(&b, "png"); err != nil {
			t.Errorf("%s: png: %v", name, err)
		}
	}
}

// inside checks that all that is drawn is on the canvas.
func inside(t *testing.T, name string, c *Canvas) {
	t.Helper()
	for _, s := range c.shapes {
		for _, p := range reach(s) {
			if !p.finite() || p.X < 0 || p.Y < 0 || p.X > c.width || p.Y > c.height {
				t.Errorf("%s: %#v is at %v", name, s, p)
			}
		}
	}
}

// reach returns places as far out as a shape goes.
func reach(s shape) []Point {
	switch s := s.(type) {
	case polyline:
		return s.points
	case disc:
		return []Point{{s.at.X - s.radius, s.at.Y - s.radius}, {s.at.X + s.radius, s.at.Y + s.radius}}
	case rectangle:
		return []Point{{s.Left, s.Top}, {s.Right, s.Bottom}}
	case words:
		before := s.start(s.text)
		after := s.Letters.Width(s.text) - before
		if s.Rising {
			return []Point{{s.at.X - s.Size, s.at.Y + before}, {s.at.X, s.at.Y - after}}
		}
		return []Point{{s.at.X - before, s.at.Y - s.Size*capital}, {s.at.X + after, s.at.Y}}
	}
	return nil
}

// shapes returns those of one kind and colour that a chart is drawn with.
func shapes[T shape](ch *Chart, of func(T) bool) (out []T) {
	for _, s := range Grid([][]Panel{{ch}}).shapes {
		if v, ok := s.(T); ok && of(v) {
			out = append(out, v)
		}
	}
	return out
}

// A curve goes where its points are, and has a gap where one is missing.
func TestCurve(t *testing.T) {
	colour := Colour(4)
	ch := &Chart{Series: []Series{{Mark: Curve, Colour: colour, Points: []Point{{0, 0}, {1, 10}, {2, math.NaN()}, {3, 5}, {4, 5}, {5, math.Inf(1)}, {6, 0}}}}}
	lines := shapes(ch, func(l polyline) bool { return l.Colour == colour })
	dots := shapes(ch, func(d disc) bool { return d.fill == colour })
	if len(lines) != 2 || len(dots) != 1 || len(lines[0].points) != 2 || len(lines[1].points) != 2 {
		t.Fatalf("%v and %v, want two lines and a dot", lines, dots)
	}
	first, second, alone := lines[0].points, lines[1].points, dots[0].at
	step := first[1].X - first[0].X
	if math.Abs(second[0].X-first[0].X-3*step) > 1e-9 || math.Abs(alone.X-first[0].X-6*step) > 1e-9 {
		t.Errorf("steps of X at %v, %v and %v", first, second, alone)
	}
	if middle := (first[0].Y + first[1].Y) / 2; math.Abs(second[0].Y-middle) > 1e-9 || first[1].Y >= first[0].Y || alone.Y != first[0].Y {
		t.Errorf("heights at %v, %v and %v", first, second, alone)
	}
}

// Bars stand on nought, side by side, and are as high as their values.
func TestBars(t *testing.T) {
	colour := Colour(0)
	ch := &Chart{X: Axis{Names: []string{"a\n(1)", "b\n(2)", "c\n(3)"}}, Series: []Series{{Mark: Bars, Colour: colour, Points: []Point{{0, 10}, {1, 5}, {2, 0}}}}}
	bars := shapes(ch, func(r rectangle) bool { return r.fill == colour })
	if len(bars) != 3 {
		t.Fatalf("%d bars", len(bars))
	}
	a, b, c := bars[0], bars[1], bars[2]
	if math.Abs(a.Height()-2*b.Height()) > 1e-9 || c.Height() != 0 || a.Bottom != b.Bottom || b.Bottom != c.Bottom {
		t.Errorf("heights of 10, 5 and 0: %v %v %v", a, b, c)
	}
	if a.Right >= b.Left || b.Right >= c.Left || math.Abs(a.Width()-b.Width()) > 1e-9 {
		t.Errorf("bars at %v %v %v", a, b, c)
	}
	under := shapes(ch, func(w words) bool { return w.text == "b" || w.text == "(2)" })
	if len(under) != 2 || math.Abs(under[0].at.X-b.Middle().X) > 1e-9 || under[1].at.X != under[0].at.X || under[0].at.Y <= b.Bottom || under[1].at.Y <= under[0].at.Y {
		t.Errorf("%v stand under %v", under, b)
	}
}

// Many long names under an axis get smaller instead of running into each other.
func TestNamesApart(t *testing.T) {
	ch := &Chart{X: Axis{Names: []string{}}, Series: []Series{{Mark: Bars}}}
	for range 16 {
		ch.X.Names = append(ch.X.Names, "8193–16384\n(3)")
		under := shapes(ch, func(w words) bool { return w.text == "8193–16384" })
		for i, w := range under[1:] {
			if under[i].at.X+w.Letters.Width(w.text) > w.at.X {
				t.Fatalf("of %d names, %v runs into %v", len(under), under[i], w)
			}
		}
	}
}

// An upright mark goes from the bottom to the top at its X and does not stretch
// the other axis.
func TestUpright(t *testing.T) {
	curve := Series{Mark: Curve, Colour: Colour(0), Points: []Point{{0, 100}, {10, 200}}}
	mark := Series{Name: "here", Mark: Upright, Colour: Colour(1), Points: []Point{{X: 5}}}
	ch := &Chart{Series: []Series{curve, mark}}
	line := shapes(ch, func(l polyline) bool { return l.Colour == mark.Colour && l.points[0].Y != l.points[1].Y })
	with := shapes(ch, func(l polyline) bool { return l.Colour == curve.Colour })
	if len(line) != 1 || len(with) != 1 || line[0].Dash == 0 {
		t.Fatalf("%v and %v", line, with)
	}
	m, p := line[0].points, with[0].points
	if math.Abs(m[0].X-(p[0].X+p[1].X)/2) > 1e-9 || m[0].X != m[1].X || p[0].Y-p[1].Y < 0.9*(m[0].Y-m[1].Y) {
		t.Errorf("the mark %v beside the curve %v", m, p)
	}
}

// Panels are side by side, a row under the other, and keep to their boxes.
func TestGrid(t *testing.T) {
	var boxes []Box
	p := boxed(func(b Box) { boxes = append(boxes, b) })
	c := Grid([][]Panel{{p, p}, {p}})
	if c.width != 2*panelWidth || c.height != 2*panelHeight || len(boxes) != 3 {
		t.Fatalf("%g by %g, %d boxes", c.width, c.height, len(boxes))
	}
	if boxes[0].Right >= boxes[1].Left || boxes[0].Bottom >= boxes[2].Top || boxes[2].Left != boxes[0].Left || boxes[1].Right >= c.width || boxes[2].Bottom >= c.height {
		t.Errorf("boxes %v", boxes)
	}
}

// boxed is a panel that draws nothing.
type boxed func(Box)

func (f boxed) Draw(_ *Canvas, b Box) { f(b) }
