package picture

import (
	"fmt"
	"strings"
	"testing"
)

var box = Box{10, 20, 330, 270}

// Every entry of a legend is within the box, and none runs into another, in a
// font that is a sixth wider, too.
func TestLegendFits(t *testing.T) {
	name := strings.Repeat("Reinforcement Learning ", 12)
	for n := range 100 {
		for _, most := range []int{1, 7, 22, len(name)} {
			var h Heading
			for i := range n {
				h.Legend = append(h.Legend, Key{name[:1+i%most], []Mark{Curve, Dots, Bars, Upright}[i%4], Colour(i)})
			}
			entries := h.place(box)
			if got := shown(entries); got != n {
				t.Fatalf("%d entries of up to %d letters: the legend speaks of %d", n, most, got)
			}
			checkLegend(t, entries)
		}
	}
}

// shown is how many names a legend holds, with those it leaves out.
func shown(entries []placed) int {
	n := len(entries)
	if n == 0 || entries[n-1].Mark != Words {
		return n
	}
	more := 0
	if _, err := fmt.Sscanf(entries[n-1].Name, "and %d more", &more); err != nil {
		return -1
	}
	return n - 1 + more
}

func checkLegend(t *testing.T, entries []placed) {
	t.Helper()
	for i, k := range entries {
		right := k.at.X + k.Mark.indent() + 7./6*legendLetters.Width(k.Name)
		if k.at.X < box.Left || right > box.Right+1e-9 || k.at.Y < box.Top || k.at.Y+legendLine/2 > box.Top+box.Height()/3 || k.Name == "" {
			t.Fatalf("entry %d of %d, %q, goes from %v to %g", i, len(entries), k.Name, k.at, right)
		}
		if i+1 < len(entries) && entries[i+1].at.Y == k.at.Y && entries[i+1].at.X < right+5 {
			t.Fatalf("%q runs into %q", k.Name, entries[i+1].Name)
		}
	}
}

// What is left of the box is below all that was drawn.
func TestHeadingLeaves(t *testing.T) {
	for n := range 12 {
		h := Heading{Title: "a title"}
		for i := range n {
			h.Legend = append(h.Legend, Key{"Probabilistic Methods", Dots, Colour(i)})
		}
		c := New(400, 300)
		rest := h.Draw(c, box)
		if len(c.shapes) != 1+2*n {
			t.Errorf("%d shapes of %d entries", len(c.shapes), n)
		}
		for _, s := range c.shapes {
			if w, ok := s.(words); ok && (w.at.Y > rest.Top || w.at.Y < box.Top) {
				t.Errorf("%q at %v; the rest begins at %g", w.text, w.at, rest.Top)
			}
		}
		if rest.Left != box.Left || rest.Right != box.Right || rest.Bottom != box.Bottom {
			t.Errorf("left of %v: %v", box, rest)
		}
	}
}

func TestLongTitle(t *testing.T) {
	c := New(400, 300)
	Heading{Title: strings.Repeat("very ", 100) + "long"}.Draw(c, box)
	title := c.shapes[0].(words)
	if w := titleLetters.Width(title.text); w > box.Width() || w < 0.9*box.Width() {
		t.Errorf("%q is %g wide in a box of %g", title.text, w, box.Width())
	}
}

// No two of the first 24 colours are alike, nor like the ground.
func TestColours(t *testing.T) {
	far := func(i, j int) int {
		a, b := Colour(i), Colour(j)
		d := func(x, y uint8) int { return max(int(x)-int(y), int(y)-int(x)) }
		return d(a.R, b.R) + d(a.G, b.G) + d(a.B, b.B)
	}
	for i := range 24 {
		for j := range i {
			if far(i, j) < 40 {
				t.Errorf("colours %d and %d, %v and %v, are alike", j, i, Colour(j), Colour(i))
			}
		}
		if c := Colour(i); int(c.R)+int(c.G)+int(c.B) > 720 || c.A != 255 {
			t.Errorf("colour %d is %v", i, c)
		}
	}
	if Colour(24) != Colour(0) {
		t.Error("the 25th colour is not the first")
	}
}
