package writing

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The measures of a picture: places for things, and pixels of each.
const (
	scenePlaces = 3 // across and down
	placeSide   = 8
	sceneSide   = scenePlaces * placeSide
)

// hues are the colours that things have: red, green and blue, from 0 to 1.
var hues = []struct {
	name string
	rgb  [3]float64
}{
	{"red", [3]float64{0.85, 0.15, 0.15}}, {"green", [3]float64{0.1, 0.6, 0.2}}, {"blue", [3]float64{0.15, 0.3, 0.85}},
	{"yellow", [3]float64{0.95, 0.85, 0.1}}, {"purple", [3]float64{0.6, 0.2, 0.7}},
}

// forms are the shapes of things, around nought and of radius 1.
var forms = []struct {
	name string
	has  func(x, y float64) bool
}{
	{"circle", func(x, y float64) bool { return x*x+y*y <= 1 }},
	{"square", func(x, y float64) bool { return max(math.Abs(x), math.Abs(y)) <= 0.85 }},
	{"triangle", func(x, y float64) bool { return math.Abs(y) <= 1 && 2*math.Abs(x) <= y+1 }},
	{"cross", func(x, y float64) bool {
		return max(math.Abs(x), math.Abs(y)) <= 1 && min(math.Abs(x), math.Abs(y)) <= 0.3
	}},
}

// thing is one of a picture.
type thing struct{ hue, form, place int }

// novelty says which combinations no picture has that is learnt from: pairs of things of which one is named after the
// other, or, with parts, a colour and a form.
type novelty struct{ parts bool }

// String says what they are.
func (u novelty) String() string {
	if u.parts {
		return "A fourth of the combinations of a colour and a form are"
	}
	return "A tenth of the pairs of things that are named one after the other are"
}

// in reports whether the k-th thing makes such a combination: with the one before, or of its own colour and form.
func (u novelty) in(things []thing, k int) bool {
	number := func(t thing) int { return t.hue*len(forms) + t.form }
	if u.parts {
		return things[k].hue%len(forms) == things[k].form
	}
	return k > 0 && (number(things[k-1])+number(things[k]))%10 == 0
}

// scene is a picture: of each pixel the red, green and blue, and which of the things it shows.
type scene struct {
	things []thing // as one reads: by rows, and in a row from the left
	x      *tensor.Dense
	shows  []int // −1: the ground
}

// drawScenes draws pictures of two or three things. Either none of them has an unseen combination, or each has one, at least.
func drawScenes(rng *rand.Rand, n int, u novelty, some bool) []*scene {
	out := make([]*scene, n)
	for i := range out {
		s := &scene{things: make([]thing, 2+rng.IntN(2))}
		places := rng.Perm(scenePlaces * scenePlaces)[:len(s.things)]
		slices.Sort(places)
		for found := !some; found != some; {
			found = false
			for k := range s.things {
				s.things[k] = thing{rng.IntN(len(hues)), rng.IntN(len(forms)), places[k]}
				found = found || u.in(s.things, k)
			}
		}
		s.draw(rng)
		out[i] = s
	}
	return out
}

// draw draws the things, each a little off the middle of its place and of a size of its own, on a pale
// ground, with noise.
func (s *scene) draw(rng *rand.Rand) {
	s.x, s.shows = tensor.New(sceneSide*sceneSide, 3), slices.Repeat([]int{-1}, sceneSide*sceneSide)
	ground := 0.8 + 0.2*rng.Float64()
	for k, t := range s.things {
		x := float64(t.place%scenePlaces*placeSide) + placeSide/2 + 2*rng.Float64() - 1
		y := float64(t.place/scenePlaces*placeSide) + placeSide/2 + 2*rng.Float64() - 1
		r := 2.8 + 0.8*rng.Float64()
		for i := range s.shows {
			if forms[t.form].has((float64(i%sceneSide)+0.5-x)/r, (float64(i/sceneSide)+0.5-y)/r) {
				s.shows[i] = k
			}
		}
	}
	for i, k := range s.shows {
		for c := range 3 {
			v := ground
			if k >= 0 {
				v = hues[s.things[k].hue].rgb[c]
			}
			s.x.Row(i)[c] = tensor.Float(v + 0.04*rng.NormFloat64())
		}
	}
}

// caption says what is there: things from the top left on, each left of the next one of its row, or above it.
func (s *scene) caption() string {
	var b strings.Builder
	for k, t := range s.things {
		if k > 0 {
			if s.things[k-1].place/scenePlaces == t.place/scenePlaces {
				b.WriteString(" left of ")
			} else {
				b.WriteString(" above ")
			}
		}
		b.WriteString("a " + hues[t.hue].name + " " + forms[t.form].name)
	}
	return b.String()
}

// captionWords are all words of captions, in a line.
func captionWords() string {
	words := []string{"a", "above", "left", "of"}
	for _, h := range hues {
		words = append(words, h.name)
	}
	for _, f := range forms {
		words = append(words, f.name)
	}
	return strings.Join(words, " ")
}

// scenes draws the pictures of a part of the demo.
func (u novelty) scenes(s *stage.Stage, part string, step uint64, n int, some bool) []*scene {
	return drawScenes(rand.New(rand.NewPCG(s.Stream(part, step), 0)), n, u, some)
}
