package picture

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/plain"
)

// The lines of the plot in the text of a chart, and of a plane at most.
const (
	chartLines = 15
	planeLines = 24
)

// Text returns the chart in lines for a terminal of that many columns. A chart of named bars alone is a list.
func (ch *Chart) Text(width int, colour bool) string {
	if l := ch.list(); l != nil {
		return l.Text(width, colour)
	}
	f := &frame{Chart: ch}
	f.xs, f.ys = ch.spans()
	f.xTicks, f.yTicks = ch.X.ticks(f.xs), ch.Y.ticks(f.ys)
	page := newPage(width)
	var keys []Key
	var own []string
	pens := make([]pen, len(ch.Series))
	drawn := 0
	for i, s := range ch.Series {
		pens[i] = pen{colour: s.Colour}
		switch s.Mark {
		case Upright:
			pens[i].mark = samples[Upright]
		case Curve, Dots, Bars:
			pens[i].mark = markOf(drawn, colour)
			drawn++
		}
		if s.Name != "" {
			keys, own = append(keys, Key{s.Name, s.Mark, s.Colour}), append(own, pens[i].mark)
		}
	}
	page.heading(ch.Title, keys, own)
	if ch.Y.Label != "" {
		page.put(0, page.next(), ch.Y.Label, color.RGBA{})
	}
	p := plot{page: page, left: 1, top: page.next(), lines: chartLines}
	for _, t := range f.yTicks {
		p.left = max(p.left, min(plain.Width(plain.Text(t.label)), page.width/3)+2)
	}
	p.columns = page.width - p.left
	f.area = p.area()
	p.yAxis(f)
	p.xAxis(f.xTicks, len(ch.X.Names), f.at, ch.X.Label)
	for _, first := range []bool{true, false} { // upright lines are behind all others
		for i, s := range ch.Series {
			if (s.Mark == Upright) == first {
				p.series(f, s, pens[i])
			}
		}
	}
	return page.text(colour)
}

// yAxis draws the axis at the left of the dots, with its labels.
func (p plot) yAxis(f *frame) {
	for y := range p.lines {
		p.put(p.left-1, p.top+y, "│", color.RGBA{})
	}
	for _, t := range f.yTicks {
		if _, y := cellOf(f.at(Point{Y: t.value})); y >= 0 && y < p.lines {
			label := plain.Fit(plain.Text(t.label), p.left-2)
			p.put(p.left-2-plain.Width(label), p.top+y, label, color.RGBA{})
			p.put(p.left-1, p.top+y, "┤", color.RGBA{})
		}
	}
}

// series draws the points of a series.
func (p plot) series(f *frame, s Series, with pen) {
	half := 0.3 * f.area.Width() / (f.xs.hi - f.xs.lo) // of a bar
	var before *Point
	for _, q := range s.Points {
		if !drawable(q) {
			before = nil
			continue
		}
		at := f.at(q)
		switch s.Mark {
		case Curve:
			if before == nil {
				before = &at
			}
			p.line(*before, at, with)
			before = &at
		case Dots:
			p.dot(at, with)
		case Bars:
			for x := math.Max(0, at.X-half); x <= min(at.X+half, f.area.Right); x++ {
				p.line(Point{x, f.at(Point{}).Y}, Point{x, at.Y}, with)
			}
		case Upright:
			p.line(Point{at.X, 0}, Point{at.X, f.area.Bottom}, with)
		}
	}
}

// list is the chart if it is of named bars alone, which have room beside their names.
func (ch *Chart) list() *List {
	if len(ch.Series) != 1 || ch.Series[0].Mark != Bars || ch.X.Names == nil {
		return nil
	}
	s, most := ch.Series[0], 0.0
	for _, p := range s.Points {
		if drawable(p) {
			most = math.Max(most, math.Abs(p.Y))
		}
	}
	l := &List{Title: ch.Title}
	for _, label := range []string{s.Name, ch.X.Label, ch.Y.Label} {
		if label != "" {
			l.Legend = append(l.Legend, Key{Name: label})
		}
	}
	for _, p := range s.Points {
		name := ""
		if i := math.Round(p.X); i >= 0 && i < float64(len(ch.X.Names)) {
			name = strings.ReplaceAll(ch.X.Names[int(i)], "\n", " ")
		}
		l.Entries = append(l.Entries, Entry{Name: name, Share: p.Y / most, Note: fmt.Sprintf("%.3g", p.Y), Colour: s.Colour})
	}
	return l
}

// Text returns the plane in lines for a terminal of that many columns.
func (p *Plane) Text(width int, colour bool) string {
	page := newPage(width)
	var keys []Key
	var own []string
	for i, l := range p.Lines {
		if l.Name != "" {
			keys, own = append(keys, Key{l.Name, Curve, l.Stroke.Colour}), append(own, markOf(i, colour))
		}
	}
	page.heading(p.Title, keys, own)
	dots := plot{page: page, top: page.next(), columns: page.width, lines: min(planeLines, page.width/2)}
	at := p.places(dots.area())
	for i, l := range p.Lines {
		l.each(at, func(from, to Point) { dots.line(from, to, pen{markOf(i, colour), l.Stroke.Colour}) })
	}
	for _, a := range at {
		dots.dot(a, pen{mark: "•"})
	}
	for i, a := range at[:min(len(at), len(p.Names))] {
		if a.finite() {
			dots.name(a, p.Names[i])
		}
	}
	return page.text(colour)
}

// name writes the name of a point on the side of it that is away from the middle, unless something is written there.
func (p plot) name(at Point, name string) {
	name = plain.Fit(plain.Text(name), p.columns/5)
	x, y := cellOf(at)
	y += p.top
	from := x + 1
	if x < p.columns/2 {
		from = x - plain.Width(name)
	}
	if from < 0 || from+plain.Width(name) > p.width {
		return
	}
	for i := range plain.Width(name) {
		if !strings.Contains(marks, p.at(from+i, y).text) { // lines may be interrupted
			return
		}
	}
	p.put(from, y, name, color.RGBA{})
}

// Text returns the lanes in lines for a terminal of that many columns. Of a group of many lanes the first 64 are shown.
func (l *Lanes) Text(width int, colour bool) string {
	page := newPage(width)
	own, marks := make([]string, len(l.Legend)), map[color.RGBA]string{}
	for i, k := range l.Legend {
		own[i] = markOf(i, colour)
		for shade := range laneShades {
			marks[mix(White, k.Colour, float64(shade+1)/laneShades)] = own[i]
		}
	}
	page.heading(l.Title, l.Legend, own)
	end := l.end()
	for _, g := range l.Groups {
		page.put(0, page.next(), g.Name, color.RGBA{})
		for _, bars := range g.Lanes[:min(len(g.Lanes), textCells)] {
			y := page.next()
			page.put(0, y, "", color.RGBA{})
			boxes := map[color.RGBA][]Box{}
			place(boxes, bars, Box{0, 0, float64(page.width), 1}, end)
			for shade, all := range boxes {
				mark := marks[shade]
				if mark == "" {
					mark = barAbove
				}
				for _, b := range all {
					page.put(int(b.Left), y, strings.Repeat(mark, int(b.Width())), shade)
				}
			}
		}
		if more := len(g.Lanes) - textCells; more > 0 {
			page.put(0, page.next(), fmt.Sprintf("… and %d more", more), color.RGBA{})
		}
	}
	axis := plot{page: page, left: 1, top: page.next(), columns: page.width - 1}
	axis.xAxis(span{0, end}.ticks(), 0, func(v Point) Point { return Point{X: v.X / end * axis.area().Right} }, l.Axis)
	return page.text(colour)
}
