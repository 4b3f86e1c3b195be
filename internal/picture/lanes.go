package picture

import (
	"cmp"
	"image/color"
	"maps"
	"math"
	"slices"
)

// Lanes shows what each of some threads did when: groups of lanes below each other, on one axis.
// Bars of one lane may be many more than there are pixels. Where several share a column of a point,
// it has the colour that takes most of it, paler where much of it is empty.
type Lanes struct {
	Title  string
	Axis   string // what the lower axis shows
	End    float64
	Legend []Key
	Groups []LaneGroup
}

// LaneGroup is lanes that belong together. A bar that goes on after the end of the axis is cut.
type LaneGroup struct {
	Name  string
	Lanes [][]Bar
}

// Bar is a stretch of a lane. Bars of a lane do not overlap.
type Bar struct {
	From, To float64
	Colour   color.RGBA
}

// The measures of lanes.
const (
	laneName   = 13 // the height of a group's name
	laneRoom   = 6  // between two groups
	laneMost   = 9  // the height of a lane
	laneLeast  = 3
	groupMost  = 110 // the height of a group, unless its lanes are many
	laneShades = 4   // of a colour
)

// laneHeight is how high a lane of so many is.
func laneHeight(lanes int) float64 {
	return math.Floor(min(laneMost, max(laneLeast, groupMost/float64(max(lanes, 1)))))
}

// Height returns how high a box of some width must be for the lanes.
func (l *Lanes) Height(width float64) float64 {
	free := Heading{l.Title, l.Legend}.Draw(New(width, 1e4), Box{0, 0, width, 1e4})
	height := free.Top + bottomMargin - tickLine
	for _, g := range l.Groups {
		height += laneName + laneHeight(len(g.Lanes))*float64(len(g.Lanes)) + laneRoom
	}
	return height
}

// Draw draws the lanes into a box.
func (l *Lanes) Draw(c *Canvas, box Box) {
	area := Heading{l.Title, l.Legend}.Draw(c, box)
	y := area.Top
	end := l.end()
	bottom := l.bottom(area)
	for _, t := range (span{0, end}).ticks() {
		x := area.Left + t.value/end*area.Width()
		c.Line(Point{x, area.Top + laneName}, Point{x, bottom}, gridStroke)
		letters := tickLetters
		letters.Anchor = Middle
		c.Text(Point{min(x, area.Right-letters.Width(t.label)/2), bottom + tickLength + tickLine}, t.label, letters)
	}
	boxes := map[color.RGBA][]Box{}
	for _, g := range l.Groups {
		c.Text(Point{area.Left, y + laneName - 3}, legendLetters.Fit(g.Name, area.Width()), legendLetters)
		y += laneName
		height := laneHeight(len(g.Lanes))
		for _, bars := range g.Lanes {
			gap := 1.
			if height <= laneLeast {
				gap = 0.5
			}
			place(boxes, bars, Box{area.Left, y, area.Right, y + height - gap}, end)
			y += height
		}
		c.Line(Point{area.Left, y}, Point{area.Right, y}, gridStroke)
		y += laneRoom
	}
	for _, colour := range slices.SortedFunc(maps.Keys(boxes), func(a, b color.RGBA) int {
		return cmp.Compare(weight(a), weight(b))
	}) {
		c.Rects(boxes[colour], colour)
	}
	c.Text(Point{area.Middle().X, bottom + tickLength + tickLine + 12}, labelLetters.Fit(l.Axis, area.Width()), labelLetters)
}

// end is that of the axis.
func (l *Lanes) end() float64 {
	if !(l.End > 0) || l.End > 1e290 {
		return 1
	}
	return l.End
}

// bottom is where the axis is, the last group above it.
func (l *Lanes) bottom(area Box) float64 {
	y := area.Top
	for _, g := range l.Groups {
		y += laneName + laneHeight(len(g.Lanes))*float64(len(g.Lanes)) + laneRoom
	}
	return y
}

// weight orders colours.
func weight(c color.RGBA) int { return int(c.R)<<16 | int(c.G)<<8 | int(c.B) }

// place adds the bars of a lane, which is a box, to those of each shade.
func place(boxes map[color.RGBA][]Box, bars []Bar, lane Box, end float64) {
	columns := int(lane.Width())
	if columns < 1 {
		return
	}
	shades := make([]color.RGBA, columns) // the zero value is nothing
	most, all := make([]float64, columns), make([]float64, columns)
	share := map[color.RGBA]float64{}
	at, worked := -1, false // the column whose share is gathered
	settle := func() {
		if !worked {
			return
		}
		for colour, s := range share {
			if s > most[at] || s == most[at] && weight(colour) < weight(shades[at]) {
				most[at], shades[at] = s, colour
			}
		}
		clear(share)
		worked = false
	}
	bars = slices.Clone(bars)
	slices.SortFunc(bars, func(a, b Bar) int { return cmp.Compare(a.From, b.From) })
	scale := float64(columns) / end
	for _, b := range bars {
		from, to := max(b.From*scale, 0), min(b.To*scale, float64(columns))
		if !(from < to) { // also of what is no number
			continue
		}
		for x := int(from); x < columns && float64(x) < to; x++ {
			if x != at {
				settle()
				at = x
			}
			part := min(to, float64(x+1)) - max(from, float64(x))
			share[b.Colour] += part
			all[x] += part // not from the map, whose order would change the last bit
			worked = true
		}
	}
	settle()
	for x := range shades {
		shades[x] = mix(White, shades[x], math.Ceil(min(all[x], 1)*laneShades-0.25)/laneShades)
	}
	for x := 0; x < columns; {
		next := x + 1
		for next < columns && shades[next] == shades[x] {
			next++
		}
		if shades[x] != White {
			boxes[shades[x]] = append(boxes[shades[x]], Box{lane.Left + float64(x), lane.Top, lane.Left + float64(next), lane.Bottom})
		}
		x = next
	}
}
