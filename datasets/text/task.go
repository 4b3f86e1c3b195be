package text

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Task makes sequences for tasks whose answers are known, as many as one wants and the
// same for the same seed. Its methods are the tasks:
//
//	x, y := text.Task{Count: 64, Min: 50, Seed: step}.Adding()
//
// Those of symbols number them as a [Vocabulary] does, from [First]. All of them panic with a
// [*tensor.ShapeError] if there is no sequence of such a length.
type Task struct {
	Count    int    // sequences
	Min, Max int    // lengths, each as likely; where Max is 0 all have length Min
	Symbols  int    // different symbols; 0 means 8, of Recall 4, of Retrieve 26
	Seed     uint64 // of the draws; each task draws others
}

// rng returns the draws of a task, after it has checked what is asked.
func (t *Task) rng(op string, least int) *rand.Rand {
	if t.Max == 0 {
		t.Max = t.Min
	}
	why := ""
	switch {
	case t.Count < 0:
		why = "the number of sequences is negative"
	case t.Symbols < 0:
		why = "the number of symbols is negative"
	case t.Min < least || t.Max < t.Min:
		why = fmt.Sprintf("Min is %d and Max %d, want %d or more, and Max not below Min", t.Min, t.Max, least)
	}
	if why != "" {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{t.Count, t.Max}}, Why: why})
	}
	if t.Symbols == 0 {
		t.Symbols = 8
	}
	stream := uint64(14695981039346656037) // FNV-1a of the name
	for _, c := range []byte(op) {
		stream = (stream ^ uint64(c)) * 1099511628211
	}
	return rand.New(rand.NewPCG(t.Seed, stream))
}

// length draws a length.
func (t *Task) length(rng *rand.Rand) int { return t.Min + rng.IntN(t.Max-t.Min+1) }

// symbols draws sequences of symbols.
func (t *Task) symbols(rng *rand.Rand) Ragged {
	r := Ragged{Offsets: make([]int, 1, t.Count+1)}
	for range t.Count {
		for range t.length(rng) {
			r.Tokens = append(r.Tokens, First+int32(rng.IntN(t.Symbols)))
		}
		r.add()
	}
	return r
}

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

// digits are the values of Retrieve.
const digits = 10

// Retrieve returns sequences such as c9k8j3f1??c, pairs of a letter and a digit, a mark twice
// and one of the letters again, and the digit that stood behind it, 0 to 9: here 9. Min and Max
// are numbers of pairs, and Symbols the letters, 26 where it is 0; those of a sequence differ.
// Tokens are the letters from [First] on, then the digits, and then the mark.
//
// Ba and others, "Using Fast Weights to Attend to the Recent Past", 2016.
func (t Task) Retrieve() (pairs Ragged, digit []int32) {
	if t.Symbols == 0 {
		t.Symbols = 26
	}
	const op = "text.Task.Retrieve"
	rng := t.rng(op, 1)
	if t.Max > t.Symbols {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{t.Count, t.Max}}, Why: fmt.Sprintf("there are up to %d pairs and %d letters, which must differ", t.Max, t.Symbols)})
	}
	pairs, digit = Ragged{Offsets: make([]int, 1, t.Count+1)}, make([]int32, t.Count)
	mark := First + int32(t.Symbols+digits)
	for i := range t.Count {
		letters := rng.Perm(t.Symbols)[:t.length(rng)]
		asked := rng.IntN(len(letters))
		for k, letter := range letters {
			d := int32(rng.IntN(digits))
			pairs.Tokens = append(pairs.Tokens, First+int32(letter), First+int32(t.Symbols)+d)
			if k == asked {
				digit[i] = d
			}
		}
		pairs.add(mark, mark, First+int32(letters[asked]))
	}
	return pairs, digit
}

// Antonyms returns six words and what each is answered with, in letters: man and women,
// black and white, king and queen, girl and boy, up and down, high and low. Each is filled
// up with P to five letters; P is read and written as a letter is.
func Antonyms() *Parallel {
	p := &Parallel{}
	for pair := range strings.FieldsSeq("man-women black-white king-queen girl-boy up-down high-low") {
		a, b, _ := strings.Cut(pair, "-")
		p.Source, p.Target = append(p.Source, filled(a)), append(p.Target, filled(b))
	}
	return p
}

// filled fills a word up to five letters.
func filled(word string) string { return word + strings.Repeat("P", 5-len(word)) }

// Dates returns Count days from 1950 to 2049, each as likely, as people write them and by
// ISO 8601: "3 march 2021" and "2021-03-03".
func (t Task) Dates() *Parallel {
	t.Min, t.Max = 1, 1
	rng, p := t.rng("text.Task.Dates", 1), &Parallel{}
	first := time.Date(1950, 1, 1, 0, 0, 0, 0, time.UTC)
	days := int(time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC).Sub(first).Hours()) / 24
	for range t.Count {
		d := first.AddDate(0, 0, rng.IntN(days))
		p.Source = append(p.Source, fmt.Sprintf("%d %s %d", d.Day(), strings.ToLower(d.Month().String()), d.Year()))
		p.Target = append(p.Target, d.Format(time.DateOnly))
	}
	return p
}
