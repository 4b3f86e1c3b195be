package picture

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/plain"
)

// List is names below each other, each with a bar: the text of a panel that has no axes. The first 64 are shown.
type List struct {
	Title   string
	Legend  []Key
	Entries []Entry
}

// Entry is a line of a list. It is a child of the nearest entry before it that is less deep.
type Entry struct {
	Depth  int
	Name   string
	Share  float64    // of the longest bar, from −1 to 1; what is no number, or 0, has no bar
	Note   string     // behind the bar
	Colour color.RGBA // of the bar
}

// The signs of bars above nought and below it.
const (
	barAbove = "█"
	barBelow = "▒"
)

// listBar is how many columns the longest bar has at most.
const listBar = 40

// Text returns the list in lines for a terminal of that many columns.
func (l *List) Text(width int, colour bool) string {
	p := newPage(width)
	p.heading(l.Title, l.Legend, nil)
	branches := l.branches(p.width / 3)
	shown := l.Entries[:len(branches)]
	names, notes, bars := 0, 0, false
	for i, e := range shown {
		names = max(names, plain.Width(branches[i]+plain.Text(e.Name)))
		notes = max(notes, plain.Width(plain.Text(e.Note)))
		bars = bars || e.Share != 0
	}
	notes, room := min(notes, p.width/4), 0
	names = min(names, p.width-notes-2)
	if bars {
		names = min(names, p.width/2)
		room = min(listBar, p.width-names-notes-2)
	}
	for i, e := range shown {
		y := p.next()
		x := p.put(0, y, branches[i], Grey)
		p.put(x, y, plain.Fit(plain.Text(e.Name), max(0, names-x)), color.RGBA{})
		p.put(names+1, y, bar(e.Share, room), e.Colour)
		note := plain.Fit(plain.Text(e.Note), notes)
		p.put(names+room+2+notes-plain.Width(note), y, note, color.RGBA{})
	}
	if more := len(l.Entries) - len(shown); more > 0 {
		p.put(0, p.next(), fmt.Sprintf("… and %d more", more), color.RGBA{})
	}
	return p.text(colour)
}

// bar is a bar that takes a share of some columns, to an eighth of one if it is above nought.
func bar(share float64, columns int) string {
	if !(share > 0) {
		n := math.Round(min(1, max(0, -or0(share))) * float64(columns))
		return strings.Repeat(barBelow, int(n))
	}
	eighths := int(math.Round(min(1, share) * float64(8*columns)))
	if rest := eighths % 8; rest > 0 {
		return strings.Repeat(barAbove, eighths/8) + string('█'+rune(8-rest)) // █ is followed by ▉ to ▏
	}
	return strings.Repeat(barAbove, eighths/8)
}

// branches returns what stands before the names that are shown: lines from a parent to its
// children. Entries for which that takes more than some columns are indented as far as there is room.
func (l *List) branches(room int) []string {
	deepest := 0
	for _, e := range l.Entries {
		deepest = max(deepest, e.Depth)
	}
	blank, on, branch, last := "  ", "│ ", "├ ", "└ "
	if 2*deepest > room {
		blank, on, branch, last = " ", "│", "├", "└"
	}
	deepest = min(deepest, room/len(blank))
	out := make([]string, min(len(l.Entries), textCells))
	goes := make([]bool, deepest+1) // whether a later entry continues the line of a depth
	for i := len(l.Entries) - 1; i >= 0; i-- {
		depth := max(0, min(deepest, l.Entries[i].Depth))
		if i < len(out) && depth > 0 {
			for _, g := range goes[1:depth] {
				if g {
					out[i] += on
				} else {
					out[i] += blank
				}
			}
			if goes[depth] {
				out[i] += branch
			} else {
				out[i] += last
			}
		}
		goes[depth] = true
		clear(goes[depth+1:])
	}
	return out
}

// Text returns the tree in lines for a terminal of that many columns: each node above its children, with its value as a bar.
func (t *Tree) Text(width int, colour bool) string {
	l := &List{Title: t.Title}
	order, _, depths := t.shape()
	for _, v := range order {
		e := Entry{Depth: depths[v], Name: t.word(v), Colour: treeHigh}
		if v < len(t.Notes) && t.Notes[v] != "" {
			e.Name = strings.TrimSpace(t.Notes[v] + " " + e.Name)
		}
		if e.Name == "" {
			e.Name = "·"
		}
		if v < len(t.Values) && t.Values[v]-t.Values[v] == 0 {
			e.Share, e.Note = t.Values[v], fmt.Sprintf("%+.2f", t.Values[v])
		}
		if e.Share < 0 {
			e.Colour = treeLow
		}
		l.Entries = append(l.Entries, e)
	}
	if t.Low != "" || t.High != "" {
		l.Legend = []Key{{barBelow + " " + t.Low, Words, White}, {barAbove + " " + t.High, Words, White}}
	}
	return l.Text(width, colour)
}
