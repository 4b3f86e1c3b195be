package text

import (
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Copy returns sequences of symbols, each to be written as it is.
func (t Task) Copy() Pairs {
	s := t.symbols(t.rng("text.Task.Copy", 1))
	return Pairs{s, s}
}

// Reverse returns sequences of symbols, each to be written from its end.
func (t Task) Reverse() Pairs {
	s := t.symbols(t.rng("text.Task.Reverse", 1))
	r := Ragged{slices.Clone(s.Tokens), s.Offsets}
	for i := range r.Len() {
		slices.Reverse(r.Sequence(i))
	}
	return Pairs{s, r}
}

// Stretch returns sequences of symbols, each symbol to be written twice: a b becomes a a b b.
func (t Task) Stretch() Pairs {
	s := t.symbols(t.rng("text.Task.Stretch", 1))
	r := Ragged{Tokens: make([]int32, 0, 2*len(s.Tokens)), Offsets: make([]int, len(s.Offsets))}
	for _, w := range s.Tokens {
		r.Tokens = append(r.Tokens, w, w)
	}
	for i, at := range s.Offsets {
		r.Offsets[i] = 2 * at
	}
	return Pairs{s, r}
}

// Parity returns sequences of bits, 0 and 1 with equal chance, and beneath each bit
// whether an odd number of ones has been read up to it.
func (t Task) Parity() (bits, odd Ragged) {
	rng := t.rng("text.Task.Parity", 1)
	t.Symbols = 2
	bits = t.symbols(rng)
	odd = Ragged{make([]int32, len(bits.Tokens)), bits.Offsets}
	for i := range bits.Len() {
		ones := int32(0)
		for k := bits.Offsets[i]; k < bits.Offsets[i+1]; k++ {
			bits.Tokens[k] -= First
			ones ^= bits.Tokens[k]
			odd.Tokens[k] = ones
		}
	}
	return bits, odd
}

// Dyck returns words of one kind of brackets, 0 to open and 1 to close, and beneath each
// bracket how many are open after it. Every word is balanced: the depth is never negative,
// and 0 at the end. A word's length is even, each even length from Min to Max as likely as
// the others, and so is each balanced word of a length.
func (t Task) Dyck() (brackets, depth Ragged) {
	rng := t.rng("text.Task.Dyck", 1)
	lo, hi := (t.Min+1)/2, t.Max/2
	if hi < lo {
		panic(&tensor.ShapeError{Op: "text.Task.Dyck", Shapes: [][]int{{t.Count, t.Max}}, Why: "there is no even length from Min to Max"})
	}
	brackets, depth = Ragged{Offsets: []int{0}}, Ragged{Offsets: []int{0}}
	for range t.Count {
		word := dyck(rng, lo+rng.IntN(hi-lo+1))
		open := make([]int32, len(word))
		for i, d := 0, int32(0); i < len(word); i++ {
			d += 1 - 2*word[i]
			open[i] = d
		}
		brackets.add(word...)
		depth.add(open...)
	}
	return brackets, depth
}

// dyck draws a balanced word of n brackets of each kind. Of the 2n+1 rotations of a word
// with one bracket more that closes, exactly one is a balanced word with that bracket
// behind it (the cycle lemma): the one that begins after the first deepest place.
func dyck(rng *rand.Rand, n int) []int32 {
	word := make([]int32, 2*n+1)
	for i := n; i < len(word); i++ {
		word[i] = 1
	}
	rng.Shuffle(len(word), func(i, j int) { word[i], word[j] = word[j], word[i] })
	start, depth, deepest := 0, 0, 0
	for i, c := range word {
		if depth += 1 - 2*int(c); depth < deepest {
			start, deepest = i+1, depth
		}
	}
	return append(slices.Clone(word[start:]), word[:start]...)[:2*n]
}
