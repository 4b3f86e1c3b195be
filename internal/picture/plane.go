package picture

import "math"

// Plane is points of a plane and lines through them, such as a hull or a tour: a length is as
// long across as it is upright. Points that are no numbers, or beyond ±1e290, are left out, and
// so are the pieces of lines from or to them.
type Plane struct {
	Title  string
	Points []Point
	Names  []string // of the points, beside them; or none
	Lines  []Through
}

// Through is a line through some points of a plane.
type Through struct {
	Name   string  // in the legend; empty: not there
	Points []int32 // their places among the points
	Closed bool    // the last is joined to the first
	Stroke Stroke
}

// The measures of a plane.
const (
	planeDot  = 2.6  // the radius of a point
	planeRoom = 0.06 // beside the outermost points, in shares of what they span
)

var planeLetters = Letters{Size: 8, Colour: Ink}

// Draw draws the plane into a box.
func (p *Plane) Draw(c *Canvas, box Box) {
	var keys []Key
	for _, l := range p.Lines {
		if l.Name != "" {
			keys = append(keys, Key{l.Name, Curve, l.Stroke.Colour})
		}
	}
	box = Heading{p.Title, keys}.Draw(c, box)
	box.Top, box.Bottom = box.Top+4, box.Bottom-4
	c.Polyline([]Point{{box.Left, box.Top}, {box.Right, box.Top}, {box.Right, box.Bottom}, {box.Left, box.Bottom}, {box.Left, box.Top}}, gridStroke)
	at := p.places(box)
	for _, l := range p.Lines {
		l.each(at, func(from, to Point) { c.Line(from, to, l.Stroke) })
	}
	for i, a := range at {
		if a.finite() {
			c.Circle(a, planeDot, Ink)
			p.name(c, box, i, a)
		}
	}
}

// name writes the name of a point on the side of it that is away from the middle, where the
// lines are not.
func (p *Plane) name(c *Canvas, box Box, i int, a Point) {
	if i >= len(p.Names) {
		return
	}
	letters, side, room := planeLetters, 1., box.Right-a.X
	if a.X < box.Middle().X {
		letters.Anchor, side, room = End, -1, a.X-box.Left
	}
	y := a.Y - planeDot
	if a.Y > box.Middle().Y {
		y = a.Y + planeDot + letters.Size*capital
	}
	c.Text(Point{a.X + side*(planeDot+1), y}, letters.Fit(p.Names[i], room-planeDot-1), letters)
}

// places returns where in a box the points are: NaN of those that are left out.
func (p *Plane) places(box Box) []Point {
	xs, ys := nothing, nothing
	for _, q := range p.Points {
		if drawable(q) {
			xs, ys = xs.with(q.X), ys.with(q.Y)
		}
	}
	xs, ys = xs.padded(planeRoom), ys.padded(planeRoom)
	scale := min(box.Width()/(xs.hi-xs.lo), box.Height()/(ys.hi-ys.lo))
	centre := box.Middle()
	out := make([]Point, len(p.Points))
	for i, q := range p.Points {
		out[i] = Point{math.NaN(), math.NaN()}
		if drawable(q) {
			out[i] = Point{centre.X + scale*(q.X-(xs.lo+xs.hi)/2), centre.Y - scale*(q.Y-(ys.lo+ys.hi)/2)}
		}
	}
	return out
}

// each calls piece for each piece of a line, whose points are at these places.
func (l Through) each(at []Point, piece func(from, to Point)) {
	n := len(l.Points)
	for i := range n {
		if i+1 == n && !l.Closed {
			break
		}
		from, to := l.Points[i], l.Points[(i+1)%n]
		if has(from, at) && has(to, at) {
			piece(at[from], at[to])
		}
	}
}

// has reports whether there is such a point to draw.
func has(i int32, at []Point) bool { return i >= 0 && int(i) < len(at) && at[i].finite() }
