package sequence_test

import (
	"bytes"
	"flag"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/picture"
)

var update = flag.Bool("update", false, "write the pictures of docs/models/sequences.md")

// The pictures of docs/models/sequences.md are those that are drawn here.
func TestGuidePictures(t *testing.T) {
	for name, draw := range map[string]func() *picture.Canvas{
		"chain": chainPicture, "batch": batchPicture, "tree": treePicture, "encoder-decoder": encoderDecoderPicture,
	} {
		var svg bytes.Buffer
		if err := draw().Write(&svg, "svg"); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("..", "..", "docs", "pictures", name+".svg")
		if *update {
			if err := os.WriteFile(path, svg.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, svg.Bytes()) {
			t.Errorf("%s is not what is drawn (%v); go test ./layers/sequence -run GuidePictures -update writes it", path, err)
		}
	}
}

// sketch is a canvas for nodes and arrows.
type sketch struct{ *picture.Canvas }

const nodeRadius = 13

var (
	pale   = color.RGBA{222, 235, 247, 255} // of a state
	warm   = color.RGBA{253, 230, 210, 255} // of a decoder's state
	shaded = color.RGBA{225, 225, 225, 255} // of padding
	band   = color.RGBA{246, 246, 246, 255} // behind a level
)

func (s sketch) node(at picture.Point, note string, fill color.RGBA) {
	s.Circle(at, nodeRadius, picture.Grey)
	s.Circle(at, nodeRadius-0.9, fill)
	s.word(picture.Point{X: at.X, Y: at.Y + 3.6}, note, 10, picture.Ink)
}

// word writes a word whose middle is at a point.
func (s sketch) word(at picture.Point, word string, size float64, c color.RGBA) {
	s.Text(at, word, picture.Letters{Size: size, Anchor: picture.Middle, Colour: c})
}

// arrow leads from the rim of one node to that of another.
func (s sketch) arrow(a, b picture.Point, stroke picture.Stroke) {
	dx, dy := b.X-a.X, b.Y-a.Y
	length := math.Hypot(dx, dy)
	dx, dy = dx/length, dy/length
	from := picture.Point{X: a.X + dx*(nodeRadius+1), Y: a.Y + dy*(nodeRadius+1)}
	to := picture.Point{X: b.X - dx*(nodeRadius+2), Y: b.Y - dy*(nodeRadius+2)}
	s.Line(from, to, stroke)
	barb := func(side float64) picture.Point {
		return picture.Point{X: to.X - 6*dx - side*3.2*dy, Y: to.Y - 6*dy + side*3.2*dx}
	}
	s.Polyline([]picture.Point{barb(1), to, barb(-1)}, picture.Stroke{Colour: stroke.Colour, Width: stroke.Width})
}

var (
	solid = picture.Stroke{Colour: picture.Ink, Width: 1.1}
	thin  = picture.Stroke{Colour: picture.Grey, Width: 0.8}
	dots  = picture.Stroke{Colour: picture.Colour(1), Width: 0.9, Dash: 3}
)

// chainPicture is a sentence with a state for each word.
func chainPicture() *picture.Canvas {
	s := sketch{picture.New(620, 150)}
	words := []string{"the", "old", "film", "is", "lovely"}
	at := func(i int) picture.Point { return picture.Point{X: 60 + 100*float64(i), Y: 45} }
	for i, w := range words {
		if i > 0 {
			s.arrow(at(i-1), at(i), solid)
		}
		below := picture.Point{X: at(i).X, Y: 112}
		s.arrow(below, at(i), thin)
		s.node(at(i), fmt.Sprintf("h%c", '₀'+rune(i)), pale)
		s.word(picture.Point{X: below.X, Y: below.Y + 4}, w, 11, picture.Ink)
	}
	s.word(picture.Point{X: 110, Y: 36}, "h·U", 9, picture.Grey)
	s.word(picture.Point{X: 78, Y: 82}, "x·W", 9, picture.Grey)
	out := picture.Point{X: 560, Y: 45}
	s.arrow(at(4), out, solid)
	s.Text(picture.Point{X: out.X - 8, Y: out.Y + 4}, "a class", picture.Letters{Size: 11, Colour: picture.Ink})
	s.word(picture.Point{X: 60, Y: 16}, "root", 9, picture.Grey)
	s.word(picture.Point{X: 460, Y: 16}, "sink", 9, picture.Grey)
	s.word(picture.Point{X: 260, Y: 142}, "an edge from each word to the next; the input's product is one for all words", 9, picture.Grey)
	return s.Canvas
}

// batchPicture has three sentences as a padded table, and as chains.
func batchPicture() *picture.Canvas {
	s := sketch{picture.New(620, 210)}
	lengths := []int{5, 2, 3}
	s.word(picture.Point{X: 105, Y: 22}, "padded: 15 cells", 11, picture.Ink)
	for j, n := range lengths {
		for i := range 5 {
			left, top := 30+30*float64(i), 55+42*float64(j)
			fill := pale
			if i >= n {
				fill = shaded
			}
			s.Rect(picture.Box{Left: left, Top: top, Right: left + 28, Bottom: top + 28}, fill)
			if i >= n {
				s.word(picture.Point{X: left + 14, Y: top + 17.5}, "pad", 9, picture.Grey)
			}
		}
	}
	s.word(picture.Point{X: 105, Y: 196}, "and a mask in every layer", 9, picture.Grey)
	s.word(picture.Point{X: 425, Y: 22}, "a disjoint union of chains: 10 nodes", 11, picture.Ink)
	at := func(i, j int) picture.Point {
		return picture.Point{X: 280 + 72*float64(i), Y: 69 + 42*float64(j)}
	}
	for i, rows := range []int{3, 3, 2, 1, 1} {
		x := at(i, 0).X
		s.Rect(picture.Box{Left: x - 22, Top: 46, Right: x + 22, Bottom: 180}, band)
		s.word(picture.Point{X: x, Y: 41}, fmt.Sprintf("level %d", i), 9, picture.Grey)
		s.word(picture.Point{X: x, Y: 196}, map[bool]string{true: "1 row", false: fmt.Sprintf("%d rows", rows)}[rows == 1], 9, picture.Grey)
	}
	v := 0
	for j, n := range lengths {
		for i := range n {
			if i > 0 {
				s.arrow(at(i-1, j), at(i, j), solid)
			}
			s.node(at(i, j), fmt.Sprint(v), pale)
			v++
		}
	}
	return s.Canvas
}

// treePicture is a parse with the kinds of its edges.
func treePicture() *picture.Canvas {
	s := sketch{picture.New(620, 185)}
	at := []picture.Point{{X: 260, Y: 35}, {X: 160, Y: 130}, {X: 350, Y: 82}, {X: 275, Y: 130}, {X: 425, Y: 130}}
	parents, kinds := []int{-1, 0, 0, 2, 2}, []int{0, 0, 1, 0, 1}
	words := map[int]string{1: "not", 3: "good", 4: "enough"}
	for v, p := range parents {
		if p < 0 {
			continue
		}
		s.arrow(at[v], at[p], solid)
		side := float64(1 - 2*kinds[v]) // beside the line, away from its sibling's
		s.word(picture.Point{X: (at[v].X+at[p].X)/2 - 10*side, Y: (at[v].Y+at[p].Y)/2 - 2}, fmt.Sprint(kinds[v]), 9, picture.Colour(1))
	}
	for v := range at {
		s.node(at[v], fmt.Sprint(v), pale)
		if w, leaf := words[v]; leaf {
			s.word(picture.Point{X: at[v].X, Y: at[v].Y + 28}, w, 11, picture.Ink)
		}
	}
	note := picture.Letters{Size: 9, Colour: picture.Grey}
	for i, y := range []float64{133, 85, 38} {
		s.Text(picture.Point{X: 500, Y: y}, fmt.Sprintf("level %d", i), note)
	}
	s.word(picture.Point{X: 260, Y: 12}, "the root is the sink", 9, picture.Grey)
	s.word(picture.Point{X: 305, Y: 178}, "states run from the leaves up; the kind of an edge, 0 or 1, is the place of the child", 9, picture.Grey)
	return s.Canvas
}

// encoderDecoderPicture reads live and writes evil.
func encoderDecoderPicture() *picture.Canvas {
	s := sketch{picture.New(620, 215)}
	read, fed, asked := []string{"l", "i", "v", "e"}, []string{"·", "e", "v", "i", "l"}, []string{"e", "v", "i", "l", "·"}
	encoder := func(i int) picture.Point { return picture.Point{X: 40 + 52*float64(i), Y: 115} }
	decoder := func(i int) picture.Point { return picture.Point{X: 330 + 62*float64(i), Y: 115} }
	letter := func(x, y float64, w string) { s.word(picture.Point{X: x, Y: y + 4}, w, 12, picture.Ink) }
	for i, w := range read {
		if i > 0 {
			s.arrow(encoder(i-1), encoder(i), solid)
		}
		below := picture.Point{X: encoder(i).X, Y: 170}
		s.arrow(below, encoder(i), thin)
		letter(below.X, below.Y, w)
		s.node(encoder(i), "", pale)
	}
	c := picture.Point{X: 262, Y: 115}
	s.arrow(encoder(3), c, solid)
	for i := range fed {
		before := c
		if i > 0 {
			before = decoder(i - 1)
		}
		s.arrow(before, decoder(i), solid)
		below, above := picture.Point{X: decoder(i).X, Y: 170}, picture.Point{X: decoder(i).X, Y: 60}
		s.arrow(below, decoder(i), thin)
		s.arrow(decoder(i), above, thin)
		letter(below.X, below.Y, fed[i])
		letter(above.X, above.Y, asked[i])
		x := decoder(i).X - 26 // c is read at every step
		s.Polyline([]picture.Point{{X: c.X, Y: c.Y - 14}, {X: c.X, Y: 86}, {X: x, Y: 86}}, dots)
		s.arrow(picture.Point{X: x - 9.4, Y: 75.6}, decoder(i), dots) // from (x, 86) on
	}
	s.node(c, "c", warm)
	for i := range fed {
		s.node(decoder(i), "", warm)
	}
	s.word(picture.Point{X: 118, Y: 30}, "the encoder reads", 11, picture.Ink)
	s.word(picture.Point{X: 454, Y: 30}, "the decoder writes", 11, picture.Ink)
	s.word(picture.Point{X: 118, Y: 205}, "a chain a source", 9, picture.Grey)
	s.word(picture.Point{X: 454, Y: 205}, "fed: the letter before; asked, above: the next; · begins and ends", 9, picture.Grey)
	return s.Canvas
}
