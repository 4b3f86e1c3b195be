package picture

import (
	"image/color"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// Anchor is which end of a text stands at its point.
type Anchor int

// The ends, and the middle between them.
const (
	Start Anchor = iota
	Middle
	End
)

// Letters is how a text is set.
type Letters struct {
	Size   float64 // in points; a capital is about seven tenths of it high
	Anchor Anchor
	Colour color.RGBA
	Rising bool // a quarter turn anticlockwise: the text runs upwards
}

// capital is the height of a capital letter of size 1.
const capital = 0.72

// Width returns how long a text is in points.
func (f Letters) Width(text string) float64 {
	units := 0.0
	for _, r := range text {
		units += regular().glyph(r).advance
	}
	return units * f.Size
}

// Fit returns the text, or its beginning with an ellipsis where the whole is
// wider than some points.
func (f Letters) Fit(text string, width float64) string {
	if f.Width(text) <= width {
		return text
	}
	end, room := 0, width-f.Width("…")
	for i, r := range text {
		if room < 0 {
			break
		}
		end, room = i, room-f.Width(string(r))
	}
	if end == 0 {
		return ""
	}
	return text[:end] + "…"
}

// start returns how far before its point a text begins.
func (f Letters) start(text string) float64 {
	switch f.Anchor {
	case Middle:
		return f.Width(text) / 2
	case End:
		return f.Width(text)
	}
	return 0
}

// typeface is the font, of which each letter is read once.
type typeface struct {
	font  *sfnt.Font
	units float64 // of the font's own, in the height of a line

	mu     sync.Mutex
	glyphs map[rune]glyph
	buffer sfnt.Buffer
}

// glyph is the outline of a letter and how far the next one is from it, for a
// size of 1.
type glyph struct {
	outline []segment
	advance float64
}

// segment is a piece of an outline: up to three points, of which the last is the
// end and the others pull a curve.
type segment struct {
	op sfnt.SegmentOp
	to [3]Point
}

// regular returns the font of every text.
var regular = sync.OnceValue(func() *typeface {
	f, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		panic(err) // the font is part of the program
	}
	return &typeface{font: f, units: float64(f.UnitsPerEm()), glyphs: map[rune]glyph{}}
})

// glyph returns a letter; one that the font lacks is its empty box.
func (f *typeface) glyph(r rune) glyph {
	f.mu.Lock()
	defer f.mu.Unlock()
	g, ok := f.glyphs[r]
	if !ok {
		g = f.load(r)
		f.glyphs[r] = g
	}
	return g
}

// load reads a letter out of the font. What the font cannot say of it stays empty.
func (f *typeface) load(r rune) (g glyph) {
	index, err := f.font.GlyphIndex(&f.buffer, r)
	if err != nil {
		return g
	}
	em := fixed.Int26_6(f.font.UnitsPerEm()) // one unit of the font is one of the result
	if advance, err := f.font.GlyphAdvance(&f.buffer, index, em, font.HintingNone); err == nil {
		g.advance = float64(advance) / f.units
	}
	outline, err := f.font.LoadGlyph(&f.buffer, index, em, nil)
	if err != nil {
		return g
	}
	for _, s := range outline {
		piece := segment{op: s.Op}
		for i, p := range s.Args {
			piece.to[i] = Point{float64(p.X) / f.units, float64(p.Y) / f.units}
		}
		g.outline = append(g.outline, piece)
	}
	return g
}
