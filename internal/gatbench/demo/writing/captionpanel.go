package writing

import (
	"image/color"
	"math"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/tensor"
)

// captionPanel is a picture, and beside it the same picture for each word, bright where the word looked. In a
// terminal it is a table: the words, and how much each looked at the nine places.
type captionPanel struct {
	*picture.Heat
	scene *scene
	words []string
	look  *tensor.Dense // a row for each word
}

func newCaptionPanel(title string, s *scene, caption string, look *tensor.Dense) *captionPanel {
	p := &captionPanel{scene: s, words: append(strings.Fields(caption), "(end)"), look: look}
	p.Heat = &picture.Heat{
		Title: title + ": " + caption, Across: "places", Down: "written", Columns: strings.Fields("↖ ↑ ↗ ← · → ↙ ↓ ↘"),
		Rows: p.words, Top: 1, Format: "%.2f",
	}
	for i := range p.words {
		p.Heat.Values = append(p.Heat.Values, byPlace(look.Row(i)))
	}
	return p
}

// byPlace is the weight of each place, of the weights of the cells.
func byPlace(w []tensor.Float) []float64 {
	out := make([]float64, scenePlaces*scenePlaces)
	for i, v := range w {
		r, c := i/cellSide*cellPixels/placeSide, i%cellSide*cellPixels/placeSide
		out[r*scenePlaces+c] += float64(v)
	}
	return out
}

// frameLetters are those of the words under the frames.
var frameLetters = picture.Letters{Size: 8, Colour: picture.Ink, Anchor: picture.Middle}

// Draw draws the picture as it is, and then as each word saw it.
func (p *captionPanel) Draw(c *picture.Canvas, box picture.Box) {
	box = picture.Heading{Title: p.Title}.Draw(c, box)
	const room, line = 5, 11
	frames, columns, side := len(p.words)+1, 1, 0.0
	for n := 1; n <= frames; n++ { // as many beside each other as make them largest
		lines := float64((frames + n - 1) / n)
		if s := math.Min(box.Width()/float64(n)-room, box.Height()/lines-room-line); s > side {
			columns, side = n, s
		}
	}
	for i := range frames {
		at := picture.Point{X: box.Left + float64(i%columns)*(side+room), Y: box.Top + float64(i/columns)*(side+room+line)}
		word, look := "picture", []tensor.Float(nil)
		if i > 0 {
			word, look = p.words[i-1], p.look.Row(i-1)
		}
		p.frame(c, at, side, look)
		c.Text(picture.Point{X: at.X + side/2, Y: at.Y + side + line - 2}, word, frameLetters)
	}
}

// frame draws the picture once: all of it bright if there are no weights, and else a cell the brighter the
// larger its weight.
func (p *captionPanel) frame(c *picture.Canvas, at picture.Point, side float64, look []tensor.Float) {
	top, pixel := 0.0, side/sceneSide
	for _, v := range look {
		top = max(top, float64(v))
	}
	box := func(row, col, rows, cols int) picture.Box {
		x, y := at.X+float64(col)*pixel, at.Y+float64(row)*pixel
		return picture.Box{Left: x, Top: y, Right: x + float64(cols)*pixel, Bottom: y + float64(rows)*pixel}
	}
	for i := range cellSide * cellSide {
		bright := 1.0
		if look != nil {
			bright = 0.2 + 0.8*float64(look[i])/max(top, 1e-9)
		}
		row, col := i/cellSide*cellPixels, i%cellSide*cellPixels
		c.Rect(box(row, col, cellPixels, cellPixels), lit([3]float64{0.93, 0.93, 0.93}, bright))
		for k, t := range p.scene.things {
			var pixels []picture.Box
			for r := row; r < row+cellPixels; r++ {
				for x := col; x < col+cellPixels; x++ {
					if p.scene.shows[r*sceneSide+x] == k {
						pixels = append(pixels, box(r, x, 1, 1))
					}
				}
			}
			c.Rects(pixels, lit(hues[t.hue].rgb, bright))
		}
	}
}

// lit is a colour in some light.
func lit(rgb [3]float64, bright float64) color.RGBA {
	of := func(v float64) uint8 { return uint8(math.Round(255 * min(1, v*bright))) }
	return color.RGBA{R: of(rgb[0]), G: of(rgb[1]), B: of(rgb[2]), A: 255}
}
