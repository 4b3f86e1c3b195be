package picture

import (
	"math"
	"slices"
	"testing"
)

// lines returns both ends of every line of a colour.
func lines(c *Canvas, s Stroke) (out [][]Point) {
	for _, shape := range c.shapes {
		if l, ok := shape.(polyline); ok && l.Stroke == s {
			out = append(out, l.points)
		}
	}
	return out
}

// A square is as wide as it is high, with its first corner at the bottom left, and a closed
// line has as many sides as corners.
func TestPlane(t *testing.T) {
	closed, open := Stroke{Colour: Colour(0), Width: 2}, Stroke{Colour: Colour(1), Width: 1}
	c := Grid([][]Panel{{&Plane{Title: "a square", Points: []Point{{0, 0}, {3, 0}, {3, 3}, {0, 3}, {math.NaN(), 1}}, Names: []string{"a", "b"},
		Lines: []Through{{Name: "closed", Points: []int32{0, 1, 2, 3}, Closed: true, Stroke: closed}, {Points: []int32{0, 1, 4, 2, 9, 3, 0}, Stroke: open}}}}})
	sides := lines(c, closed)
	var side func(i int) Point
	if len(sides) < 4 {
		t.Fatalf("%d sides", len(sides))
	}
	sides = slices.DeleteFunc(sides, func(l []Point) bool { return l[0].Y < 40 && l[1].Y < 40 && l[1].X-l[0].X < 30 }) // the legend's
	side = func(i int) Point { return Point{sides[i][1].X - sides[i][0].X, sides[i][1].Y - sides[i][0].Y} }
	length := side(0).X
	for i, want := range []Point{{length, 0}, {0, -length}, {-length, 0}, {0, length}} {
		if got := side(i); length < 100 || math.Abs(got.X-want.X) > 1e-9 || math.Abs(got.Y-want.Y) > 1e-9 {
			t.Errorf("side %d goes %v, want %v", i, got, want)
		}
	}
	if n := len(lines(c, open)); n != 2 { // 0 to 1, and 3 to 0: the others lead to what is not there
		t.Errorf("the open line has %d pieces", n)
	}
	inside(t, "plane", c)
	elements(t, written(t, c, "svg"))
}

// Points in one place, none, and those that are too large are drawn, as far as they can be.
func TestPlaneOfOddPoints(t *testing.T) {
	for name, points := range map[string][]Point{
		"none": nil, "one": {{2, 2}}, "same": {{1, 1}, {1, 1}}, "large": {{1e300, 0}, {0, 0}, {math.Inf(1), 3}}, "line": {{0, 5}, {9, 5}},
	} {
		c := Grid([][]Panel{{&Plane{Title: name, Points: points, Names: []string{"a long name that has no room", "b"}, Lines: []Through{{Points: []int32{0, 1, -1}, Closed: true}}}}})
		inside(t, name, c)
		elements(t, written(t, c, "svg"))
	}
}
