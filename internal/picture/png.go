package picture

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/vector"
)

// pixels is how many pixels a point has on each side.
const pixels = 2

// painter fills paths. A path is gathered in pixels and filled in one go, its
// pieces all wound the same way, so that where two overlap nothing cancels out.
type painter struct {
	image *image.RGBA
	path  []segment
}

// writePNG paints the picture.
func (c *Canvas) writePNG(w io.Writer) error {
	bounds := image.Rect(0, 0, int(math.Ceil(c.width*pixels)), int(math.Ceil(c.height*pixels)))
	p := &painter{image: image.NewRGBA(bounds)}
	draw.Draw(p.image, bounds, image.NewUniform(White), image.Point{}, draw.Src)
	for _, s := range c.shapes {
		s.paint(p)
	}
	return png.Encode(w, p.image)
}

func (p *painter) add(op sfnt.SegmentOp, to ...Point) {
	s := segment{op: op}
	for i, at := range to {
		s.to[i] = Point{at.X * pixels, at.Y * pixels}
	}
	p.path = append(p.path, s)
}

// polygon adds a closed shape with straight edges.
func (p *painter) polygon(first Point, others ...Point) {
	p.add(sfnt.SegmentOpMoveTo, first)
	for _, at := range others {
		p.add(sfnt.SegmentOpLineTo, at)
	}
}

// circle adds a circle of four curves.
func (p *painter) circle(at Point, r float64) {
	const pull = 0.5523 // of a cubic curve that is a quarter of a circle
	p.add(sfnt.SegmentOpMoveTo, Point{at.X + r, at.Y})
	from := Point{r, 0}
	for range 4 {
		to := Point{from.Y, -from.X}
		p.add(sfnt.SegmentOpCubeTo, Point{at.X + from.X + pull*to.X, at.Y + from.Y + pull*to.Y},
			Point{at.X + to.X + pull*from.X, at.Y + to.Y + pull*from.Y}, Point{at.X + to.X, at.Y + to.Y})
		from = to
	}
}

// stroke adds a straight line of some width, with flat ends.
func (p *painter) stroke(a, b Point, width float64) {
	long := math.Hypot(b.X-a.X, b.Y-a.Y)
	if long == 0 {
		return
	}
	x, y := (a.Y-b.Y)/long*width/2, (b.X-a.X)/long*width/2
	p.polygon(Point{a.X + x, a.Y + y}, Point{b.X + x, b.Y + y}, Point{b.X - x, b.Y - y}, Point{a.X - x, a.Y - y})
}

// dashes adds a line with gaps. The first dash starts at a.
func (p *painter) dashes(a, b Point, s Stroke) {
	long := math.Hypot(b.X-a.X, b.Y-a.Y)
	along := func(d float64) Point {
		t := min(d/long, 1)
		return Point{a.X + t*(b.X-a.X), a.Y + t*(b.Y-a.Y)}
	}
	for d := 0.0; d < long; d += 2 * s.Dash {
		p.stroke(along(d), along(d+s.Dash), s.Width)
	}
}

func (l polyline) paint(p *painter) {
	for i, to := range l.points[1:] {
		from := l.points[i]
		if l.Dash > 0 {
			p.dashes(from, to, l.Stroke)
			continue
		}
		p.stroke(from, to, l.Width)
		if i > 0 {
			p.circle(from, l.Width/2) // the corner
		}
	}
	p.fill(l.Colour)
}

func (d disc) paint(p *painter) {
	p.circle(d.at, d.radius)
	p.fill(d.fill)
}

func (r rectangle) paint(p *painter) {
	p.polygon(Point{r.Left, r.Top}, Point{r.Right, r.Top}, Point{r.Right, r.Bottom}, Point{r.Left, r.Bottom})
	p.fill(r.fill)
}

func (r rectangles) paint(p *painter) {
	for _, b := range r.boxes {
		p.polygon(Point{b.Left, b.Top}, Point{b.Right, b.Top}, Point{b.Right, b.Bottom}, Point{b.Left, b.Bottom})
	}
	p.fill(r.fill)
}

func (t words) paint(p *painter) {
	along := -t.start(t.text) // of the text so far, from its point
	for _, r := range t.text {
		g := regular().glyph(r)
		place := func(at Point) Point {
			x, y := along+at.X*t.Size, at.Y*t.Size
			if t.Rising {
				x, y = y, -x
			}
			return Point{t.at.X + x, t.at.Y + y}
		}
		for _, s := range g.outline {
			p.add(s.op, place(s.to[0]), place(s.to[1]), place(s.to[2]))
		}
		along += g.advance * t.Size
	}
	p.fill(t.Colour)
}

// fill paints the path and forgets it. Only the pixels around it are looked at.
func (p *painter) fill(with color.RGBA) {
	area := p.around().Intersect(p.image.Bounds())
	if !area.Empty() {
		z := vector.NewRasterizer(area.Dx(), area.Dy())
		z.DrawOp = draw.Over
		p.trace(z, area.Min)
		z.Draw(p.image, area, image.NewUniform(with), image.Point{})
	}
	p.path = p.path[:0]
}

// trace hands the path to a rasterizer whose corner is at a pixel.
func (p *painter) trace(z *vector.Rasterizer, corner image.Point) {
	at := func(q Point) (x, y float32) {
		return float32(q.X - float64(corner.X)), float32(q.Y - float64(corner.Y))
	}
	for _, s := range p.path {
		x0, y0 := at(s.to[0])
		x1, y1 := at(s.to[1])
		x2, y2 := at(s.to[2])
		switch s.op {
		case sfnt.SegmentOpMoveTo:
			z.ClosePath()
			z.MoveTo(x0, y0)
		case sfnt.SegmentOpLineTo:
			z.LineTo(x0, y0)
		case sfnt.SegmentOpQuadTo:
			z.QuadTo(x0, y0, x1, y1)
		case sfnt.SegmentOpCubeTo:
			z.CubeTo(x0, y0, x1, y1, x2, y2)
		}
	}
	z.ClosePath()
}

// around returns the pixels that the path may touch.
func (p *painter) around() image.Rectangle {
	low, high := Point{math.Inf(1), math.Inf(1)}, Point{math.Inf(-1), math.Inf(-1)}
	for _, s := range p.path {
		for _, q := range s.to[:arguments[s.op]] {
			low = Point{min(low.X, q.X), min(low.Y, q.Y)}
			high = Point{max(high.X, q.X), max(high.Y, q.Y)}
		}
	}
	if len(p.path) == 0 {
		return image.Rectangle{}
	}
	return image.Rect(int(math.Floor(low.X)), int(math.Floor(low.Y)), int(math.Ceil(high.X)), int(math.Ceil(high.Y)))
}

// arguments is how many points a piece of a path has.
var arguments = [...]int{sfnt.SegmentOpMoveTo: 1, sfnt.SegmentOpLineTo: 1, sfnt.SegmentOpQuadTo: 2, sfnt.SegmentOpCubeTo: 3}
