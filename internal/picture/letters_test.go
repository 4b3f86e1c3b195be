package picture

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// Widths are those that the font itself gives for these letters, in 2048ths.
func TestWidth(t *testing.T) {
	for text, want := range map[string]float64{"": 0, "i": 505, "m": 1706, "mi": 1706 + 505} {
		if got := (Letters{Size: 2048}).Width(text); got != want {
			t.Errorf("%q is %g wide, want %g", text, got, want)
		}
	}
	if a, b := (Letters{Size: 10}).Width("Wide"), (Letters{Size: 20}).Width("Wide"); a <= 0 || b != 2*a {
		t.Errorf("widths %g and %g of sizes 10 and 20", a, b)
	}
}

// What the command writes is in the font: each letter has an outline of its own, and
// not the box of those that are missing.
func TestLetters(t *testing.T) {
	box := regular().glyph('\U0010FFFD').outline
	if len(box) == 0 {
		t.Error("a letter that the font lacks is not even a box")
	}
	for _, r := range "AZaz09.,:%()–…-éö" {
		if g := regular().glyph(r); len(g.outline) == 0 || slices.Equal(g.outline, box) || g.advance <= 0 || g.advance > 1.2 {
			t.Errorf("%c: %d pieces, advance %g", r, len(g.outline), g.advance)
		}
	}
}

func TestFit(t *testing.T) {
	f := Letters{Size: 10}
	const long = "Überlange Überschrift einer Klasse"
	if got := f.Fit(long, 1000); got != long {
		t.Errorf("shortened to %q", got)
	}
	got := f.Fit(long, 60)
	if w := f.Width(got); w > 60 || w < 40 || !utf8.ValidString(got) || !strings.HasPrefix(got, "Über") || !strings.HasSuffix(got, "…") {
		t.Errorf("%q is %g wide", got, w)
	}
	if got := f.Fit(long, 3); got != "" {
		t.Errorf("%q in 3 points", got)
	}
	if got := f.Fit(strings.Repeat("i", 1<<20), 60); f.Width(got) > 60 { // in time that grows with the text
		t.Errorf("%q is %g wide", got, f.Width(got))
	}
}

// Two pictures may be drawn at a time.
func TestLettersTogether(t *testing.T) {
	var all sync.WaitGroup
	widths := make([]float64, 4)
	for i := range widths {
		all.Go(func() { widths[i] = Letters{Size: 9}.Width("ABCDEFGHIJKLMNOPQRSTUVWXYZ äöüß") })
	}
	all.Wait()
	for _, w := range widths {
		if w != widths[0] || w == 0 {
			t.Errorf("widths %v", widths)
		}
	}
}
