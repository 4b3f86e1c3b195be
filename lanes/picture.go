package lanes

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/internal/plain"
)

// The measures of a picture, in points.
const (
	pictureWidth = 900
	pictureRoom  = 14
)

// The colours: a loop's by its place, of the loops beyond those, and of what is between loops.
var (
	loopColours  = colours(12)
	otherColour  = color.RGBA{190, 190, 190, 255}
	serialColour = picture.Ink
)

// colours returns so many that are told apart, none of them grey.
func colours(n int) (out []color.RGBA) {
	for i := 0; len(out) < n; i++ {
		if c := picture.Colour(i); c.R != c.G || c.G != c.B {
			out = append(out, c)
		}
	}
	return out
}

// Draw draws records below each other, as "svg" or "png": of each what was measured and what is
// predicted for some numbers of threads, a lane a thread, on one axis. A colour is a loop's; what is
// between loops is black, on the lane of the caller. The axis ends with the longest prediction; a measured
// schedule that takes longer is cut there.
func Draw(w io.Writer, format string, records []*Record, costs Costs, threads ...int) error {
	height := 0.
	var panels []*picture.Lanes
	for _, r := range records {
		p := r.panel(costs, threads)
		height += p.Height(pictureWidth-2*pictureRoom) + pictureRoom
		panels = append(panels, p)
	}
	if height+pictureRoom > pictureMost {
		return fmt.Errorf("a picture of %d records would be %.0f points high, and is at most %d: draw fewer, or fewer numbers of threads", len(records), height, pictureMost)
	}
	c := picture.New(pictureWidth, height+pictureRoom)
	y := float64(pictureRoom)
	for _, p := range panels {
		high := p.Height(pictureWidth - 2*pictureRoom)
		p.Draw(c, picture.Box{Left: pictureRoom, Top: y, Right: pictureWidth - pictureRoom, Bottom: y + high})
		y += high + pictureRoom
	}
	return c.Write(w, format)
}

// Text returns the same for a terminal of so many columns, in colours or in blocks.
func Text(width int, colour bool, records []*Record, costs Costs, threads ...int) string {
	var rows [][]picture.Panel
	for _, r := range records {
		rows = append(rows, []picture.Panel{r.panel(costs, threads)})
	}
	return picture.Text(rows, width, colour)
}

// pictureMost is how high a picture may be, in points.
const pictureMost = 16000

// panel is the record and its predictions.
func (r *Record) panel(costs Costs, threads []int) *picture.Lanes {
	m := r.Measured()
	all, says := []*Schedule{m}, []string{"measured"}
	var longest time.Duration
	for _, n := range threads {
		s := r.On(n, costs)
		all, says, longest = append(all, s), append(says, "predicted"), max(longest, s.Took)
	}
	p := &picture.Lanes{Title: plain.Text(r.Name), Axis: "milliseconds", End: float64(cmp.Or(longest, m.Took)) / 1e6}
	colour := r.colours(p)
	for i, s := range all {
		name := fmt.Sprintf("%s, %s: %s, busy %.0f %%", many(s.Threads, "thread"), says[i], long(s.Took), 100*s.Busy)
		if float64(s.Took)/1e6 > p.End*1.001 {
			name += "; the end is cut off"
		}
		p.Groups = append(p.Groups, picture.LaneGroup{Name: name, Lanes: s.lanes(colour)})
	}
	return p
}

// colours returns the colour of each loop's name, those with most work first, and adds the legend.
func (r *Record) colours(p *picture.Lanes) map[string]color.RGBA {
	work, out := map[string]time.Duration{}, map[string]color.RGBA{}
	for _, o := range append([]*Record{r}, r.Others...) {
		for i := range o.Loops {
			work[o.Loops[i].Name] += o.Loops[i].work()
		}
	}
	names := slices.SortedFunc(maps.Keys(work), func(a, b string) int {
		return cmp.Or(cmp.Compare(work[b], work[a]), cmp.Compare(a, b))
	})
	for i, name := range names {
		out[name] = otherColour
		if i < len(loopColours) {
			out[name] = loopColours[i]
			p.Legend = append(p.Legend, picture.Key{Name: plain.Text(name), Mark: picture.Bars, Colour: loopColours[i]})
		}
	}
	if more := len(names) - len(loopColours); more > 0 {
		p.Legend = append(p.Legend, picture.Key{Name: many(more, "other loop"), Mark: picture.Bars, Colour: otherColour})
	}
	p.Legend = append(p.Legend, picture.Key{Name: "between loops", Mark: picture.Bars, Colour: serialColour})
	return out
}

// lanes are the bars of each thread.
func (s *Schedule) lanes(colour map[string]color.RGBA) [][]picture.Bar {
	out := make([][]picture.Bar, s.Threads)
	add := func(lane int, from, to time.Duration, c color.RGBA) {
		if to > from {
			out[lane] = append(out[lane], picture.Bar{From: float64(from) / 1e6, To: float64(to) / 1e6, Colour: c})
		}
	}
	var before time.Duration
	for i := range s.Loops {
		l := &s.Loops[i]
		add(0, before, l.Start, serialColour)
		for _, c := range l.Chunks {
			add(min(max(c.Thread, 0), s.Threads-1), c.Start, c.End, colour[l.Name])
		}
		before = l.End
	}
	add(0, before, s.Took, serialColour)
	return out
}
