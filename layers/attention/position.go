package attention

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Position says how a Transformer knows where a token stands. Without it the tokens of a
// sentence are a set.
type Position string

// The positions. The first three are added to the embeddings; the next two are in the scores of
// self-attention, where only the distance of two tokens counts.
const (
	Sinusoidal  Position = ""         // see [Sinusoids]
	Halves      Position = "halves"   // see [SinusoidHalves]
	Learned     Position = "learned"  // a row of Params for each place, up to the longest
	Rotary      Position = "rotary"   // see [Rotate]
	Relative    Position = "relative" // a bias for each offset and head, see [MultiHead]
	NoPositions Position = "none"
)

// check panics with a [*grad.TapeError] unless p is one of the positions.
func (p Position) check() {
	switch p {
	case Sinusoidal, Halves, Learned, Rotary, Relative, NoPositions:
		return
	}
	panic(&grad.TapeError{Op: "attention.Position", Why: fmt.Sprintf("no position is called %q; there are halves, learned, rotary, relative and none, and the empty one, of sinusoids", string(p))})
}

// Sinusoids returns a row for each place:
//
//	y_p,2i = sin(p/10000^(2i/width)),   y_p,2i+1 = cos(p/10000^(2i/width))
//
// of Vaswani and others, "Attention Is All You Need", NeurIPS 2017. Place 0 is 0, 1, 0, 1, …
func Sinusoids(places []int32, width int) *tensor.Dense {
	y := tensor.New(len(places), width)
	rate := frequencies(width)
	for i, p := range places {
		row := y.Row(i)
		for j := range row {
			sin, cos := math.Sincos(float64(p) * rate[j/2])
			if row[j] = tensor.Float(sin); j%2 == 1 {
				row[j] = tensor.Float(cos)
			}
		}
	}
	return y
}

// SinusoidHalves returns [Sinusoids] with all cosines before all sines:
//
//	y_p = [cos(p·θ_0), cos(p·θ_1), … ‖ sin(p·θ_0), sin(p·θ_1), …],   θ_i = 10000^(−2i/width)
//
// as some tutorials have it. The one is a permutation of the columns of the other, the same for all
// places: a network can learn from either what it can from the other, but weights that were
// learnt with the one are wrong with the other.
func SinusoidHalves(places []int32, width int) *tensor.Dense {
	x, y := Sinusoids(places, width), tensor.New(len(places), width)
	cosines := width / 2
	for i := range places {
		for j, v := range x.Row(i) {
			if at := j / 2; j%2 == 1 {
				y.Row(i)[at] = v
			} else {
				y.Row(i)[cosines+at] = v
			}
		}
	}
	return y
}

// frequencies are those of pairs of columns, 10000^(−2i/width).
func frequencies(width int) []float64 {
	rate := make([]float64, (width+1)/2)
	for i := range rate {
		rate[i] = math.Pow(10000, -2*float64(i)/float64(width))
	}
	return rate
}

// sinusoids is what of says of places that repeat: each place is computed once.
func sinusoids(of func(places []int32, width int) *tensor.Dense, places []int32, width int) *grad.Var {
	most := int32(-1)
	for _, p := range places {
		most = max(most, p)
	}
	if int(most) >= len(places) {
		return grad.Const(of(places, width))
	}
	all := make([]int32, most+1)
	for i := range all {
		all[i] = int32(i)
	}
	return grad.Const(of(all, width)).Rows(places)
}

// Rotate turns each pair of columns of x, N×Heads×Width, by an angle that grows with the
// place of the row, so that the product of two rows depends on how far they are apart:
//
//	y_i = x_i·cos(p·θ_i) − x_i+W/2·sin(p·θ_i),   y_i+W/2 = x_i·sin(p·θ_i) + x_i+W/2·cos(p·θ_i)
//
// with θ_i = 10000^(−2i/W), of Su and others, "RoFormer: Enhanced Transformer with Rotary
// Position Embedding", 2021. A pair is a column and the one half a row further, as in most
// code; the paper's pairs are neighbours. Width is even.
func Rotate(x *grad.Var, places []int32) *grad.Var {
	n, width := x.Dim(0), x.Dim(-1)
	if width%2 != 0 || len(places) != n {
		panic(&tensor.ShapeError{Op: "attention.Rotate", Shapes: [][]int{{n, x.Dim(1), width}, {len(places)}}, Why: "it turns pairs of columns of a head, so a head is of even width, and there is a place for each row"})
	}
	half := width / 2
	rate, sin, cos := frequencies(width), tensor.New(n, 1, half), tensor.New(n, 1, half)
	for i, p := range places {
		for j := range half {
			s, c := math.Sincos(float64(p) * rate[j])
			sin.Data[i*half+j], cos.Data[i*half+j] = tensor.Float(s), tensor.Float(c)
		}
	}
	a, b, s, c := x.Slice(2, 0, half), x.Slice(2, half, width), grad.Const(sin), grad.Const(cos)
	return grad.ConcatAxis(2, a.Mul(c).Sub(b.Mul(s)), a.Mul(s).Add(b.Mul(c)))
}

// placed is a table of tokens, and what their places add.
type placed struct {
	words, places *grad.Param // places: of Learned
	position      Position
}

// newPlaces makes the Params of learned positions, normal, of the deviation of the words.
func newPlaces(rng *rand.Rand, p Position, longest, width int) *grad.Param {
	if p.check(); p != Learned {
		return nil
	}
	if longest < 1 {
		panic(&tensor.ShapeError{Op: "attention.Learned", Shapes: [][]int{{longest, width}}, Why: "learned positions want Longest, the number of places"})
	}
	return newWords(rng, longest, width)
}

// newWords makes a table whose rows have a length of about one.
func newWords(rng *rand.Rand, n, width int) *grad.Param {
	p := grad.NewParam(n, width)
	p.Value.Normal(rng, 0, 1/math.Sqrt(float64(width)))
	return p
}

// of returns √width·e(token), and its place's row added.
func (e placed) of(t *grad.Tape, tokens, places []int32) *grad.Var {
	words := t.Use(e.words)
	x := words.Rows(tokens).Scale(math.Sqrt(float64(words.Dim(1))))
	switch e.position {
	case Sinusoidal:
		return x.Add(sinusoids(Sinusoids, places, words.Dim(1)))
	case Halves:
		return x.Add(sinusoids(SinusoidHalves, places, words.Dim(1)))
	case Learned:
		longest := e.places.Value.Dim(0)
		for _, p := range places {
			if int(p) >= longest {
				panic(&tensor.ShapeError{Op: "attention.Learned", Shapes: [][]int{{longest, words.Dim(1)}},
					Why: fmt.Sprintf("a token stands at place %d, and %d places are learned: cut the sequence, make Longest larger, or take sinusoids, which have no end", p, longest)})
			}
		}
		return x.Add(t.Use(e.places).Rows(places))
	}
	e.position.check()
	return x
}

// standing is where sources and destinations stand in their sequence.
type standing struct{ src, dst []int32 }

// placesOf returns where the nodes of g stand, counted in each member of a batch.
func placesOf(g *graph.Graph) standing {
	src, dst := g.Places()
	s := standing{make([]int32, g.NumSrc()), slices.Clone(dst)}
	for u := range s.src {
		if s.src[u] = int32(u); src != nil {
			s.src[u] = src[u]
		}
	}
	from, to := g.SrcOffsets(), g.DstOffsets()
	for m := 1; m+1 < len(from); m++ { // the first is counted from 0
		if from[m] == from[m+1] {
			continue
		}
		first := s.src[from[m]]
		for u := from[m]; u < from[m+1]; u++ {
			s.src[u] -= first
		}
		for v := to[m]; v < to[m+1]; v++ {
			s.dst[v] -= first
		}
	}
	return s
}
