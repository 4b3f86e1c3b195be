package memory

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Story is a question about what a memory holds, in the numbers of words.
type Story struct {
	Sentences [][]int32 // a slot each, the oldest first; one without words is a slot with its time alone
	Values    [][]int32 // what a [KeyValue] memory finds under each sentence; a [MemN2N] has none
	Question  []int32
	Answer    int32 // [grad.NoLabel]: a word that was never learnt, or one that is not known
}

// Encoding is how the words of a sentence become a row.
type Encoding uint8

const (
	// BagOfWords adds the words' rows up.
	BagOfWords Encoding = iota
	// Position weighs word j of J, in column k of d, with 1 + 4·(k/d − ½)·(j/J − ½), so that the
	// order of words counts. It is twice the formula of the paper, as its authors' own program
	// has it: a network learns faster with it.
	Position
)

// String returns the encoding's name.
func (e Encoding) String() string {
	if names := []string{"bag of words", "position"}; int(e) < len(names) {
		return names[e]
	}
	return fmt.Sprintf("Encoding(%d)", uint8(e))
}

// Stories is a batch of stories as two graphs, without padding: a word leads to the slots it is
// in, and a slot to its question.
type Stories struct {
	Words   *graph.Graph // from words, and then times, to slots, then values, then questions
	Slots   *graph.Graph // from slots to questions, those of a story in its order
	Answers []int32      // of each question

	places  *tensor.Dense // of the edges of Words, 4·(j/J − ½) of a word and 0 of a time; nil: of a bag
	centred bool          // places and columns are counted from the middle
	values  int           // slots that have a value
}

// Loss returns the sum over the questions of −log softmax(logits) at the answer. A question
// whose answer is [grad.NoLabel] adds nothing.
func (s *Stories) Loss(logits *grad.Var) *grad.Var {
	return grad.CrossEntropy{Reduction: grad.SumLoss}.Of(logits, s.Answers)
}

// Right returns the share of the questions whose answer has the largest logit. One whose answer
// is [grad.NoLabel] is wrong.
func (s *Stories) Right(logits *tensor.Dense) float64 {
	n := 0
	for i, want := range s.Answers {
		best, row := 0, logits.Row(i)
		for j, v := range row {
			if v > row[best] {
				best = j
			}
		}
		if want == int32(best) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(s.Answers)))
}

// read returns a row for each slot, then each value, then each question, encoded by some
// tables side by side. A table has a row for each word and, behind them, for each time.
func (s *Stories) read(tables []*grad.Var) *grad.Var {
	all := grad.Concat(tables...) // one traversal for all tables
	x := message.UpdateAll(s.Words, message.CopyU(all), message.Sum)
	if s.places == nil {
		return x
	}
	// 1 + place·(k/d − ½) is a sum of two weights, of which each is a number an edge.
	across := all.Mul(grad.Const(columns(len(tables), tables[0].Dim(1), s.centred)))
	return x.Add(message.UpdateAll(s.Words, message.UMulE(across, grad.Const(s.places)), message.Sum))
}

// questions returns the questions of what read returned, from a column on.
func (s *Stories) questions(x *grad.Var, column, width int) *grad.Var {
	at := s.Slots.NumSrc() + s.values
	return x.RowRange(at, at+s.Slots.NumDst()).Columns(column, column+width)
}

// columns are k/d − ½ of column k, 1 to d, or (k − (d+1)/2)/d, once for each table.
func columns(tables, d int, centred bool) *tensor.Dense {
	y := tensor.New(tables * d)
	for i := range y.Data {
		y.Data[i] = tensor.Float(place(i%d+1, d, centred))
	}
	return y
}

// place is where number k of n stands, from about −½ to ½.
func place(k, n int, centred bool) float64 {
	if centred {
		return (float64(k) - float64(n+1)/2) / float64(n)
	}
	return float64(k)/float64(n) - 0.5
}

// librarian makes stories graphs.
type librarian struct {
	op       string
	vocab    int
	answers  int
	encoding Encoding
	longest  int  // J of Position; 0: each sentence has its own
	memory   int  // slots of a story at most; 0: all
	times    bool // a slot's recency is one more word, behind the vocabulary
	noise    float64
	values   bool // slots have values

	src    []int32
	ends   []int64 // of rows in src, behind a 0
	places []tensor.Float
	ruled  [][]tensor.Float // the places of as many words
	recent []int32          // what recency returned last
}

// batch returns stories as graphs.
func (l *librarian) batch(stories []Story, rng *rand.Rand) (*Stories, error) {
	if l.encoding > Position {
		panic(&grad.TapeError{Op: l.op, Why: fmt.Sprintf("there is no %v; choose BagOfWords or Position", l.encoding)})
	}
	out := &Stories{Answers: make([]int32, len(stories)), centred: l.longest > 0}
	words, rows := l.room(stories)
	l.src, l.ends = make([]int32, 0, words), make([]int64, 1, rows+1)
	if l.encoding == Position {
		l.places = make([]tensor.Float, 0, words)
	}
	first := make([]int64, 1, len(stories)+1) // slot of each story, and the end
	for i := range stories {
		s := &stories[i]
		if err := l.check(i, s); err != nil {
			return nil, err
		}
		out.Answers[i] = s.Answer
		held := l.held(s.Sentences)
		times := l.recency(len(held), rng)
		for k, words := range held {
			l.add(words)
			if l.times {
				l.addTime(times[k])
			}
			l.end()
		}
		first = append(first, int64(len(l.ends)-1))
	}
	if l.values {
		out.values = len(l.ends) - 1
		for i := range stories {
			for _, words := range l.held(stories[i].Values) {
				l.add(words)
				l.end()
			}
		}
	}
	for i := range stories {
		l.add(stories[i].Question)
		l.end()
	}
	l.bind(out, first)
	return out, nil
}

// bind makes the graphs, of stories whose slots begin and end so.
func (l *librarian) bind(out *Stories, slots []int64) {
	from := l.vocab
	if l.times {
		from += l.memory
	}
	order := make([]int32, slots[len(slots)-1])
	for i := range order {
		order[i] = int32(i)
	}
	out.Words = graph.Must(graph.Bags(from, l.ends, l.src))
	out.Slots = graph.Must(graph.Bags(len(order), slots, order))
	if l.encoding == Position {
		out.places = tensor.Of(l.places, len(l.src), 1)
	}
}

// room is how many words, with times, and rows there are at most.
func (l *librarian) room(stories []Story) (words, rows int) {
	for i := range stories {
		s := &stories[i]
		words += len(s.Question)
		rows += 1 + len(s.Sentences) + len(s.Values)
		for _, lists := range [2][][]int32{l.held(s.Sentences), s.Values} {
			for _, sentence := range lists {
				words += len(sentence) + 1
			}
		}
	}
	return words, rows
}

// held is the last sentences, which there is room for.
func (l *librarian) held(sentences [][]int32) [][]int32 {
	if l.memory > 0 && len(sentences) > l.memory {
		return sentences[len(sentences)-l.memory:]
	}
	return sentences
}

// check returns an error about a story that is corrupt.
func (l *librarian) check(i int, s *Story) error {
	if l.values && len(s.Values) != len(s.Sentences) {
		return fmt.Errorf("%s: story %d has %d sentences and %d values; each sentence wants one", l.op, i, len(s.Sentences), len(s.Values))
	}
	if len(s.Question) == 0 {
		return fmt.Errorf("%s: the question of story %d has no words; leave the story out, or ask something", l.op, i)
	}
	if s.Answer != grad.NoLabel && (s.Answer < 0 || int(s.Answer) >= l.answers) {
		return fmt.Errorf("%s: the answer of story %d is %d, and there are %d; one that was never learnt is grad.NoLabel", l.op, i, s.Answer, l.answers)
	}
	for _, part := range []struct {
		name  string
		lists [][]int32
	}{{"sentence", s.Sentences}, {"value", s.Values}, {"question", [][]int32{s.Question}}} {
		for k, words := range part.lists {
			for j, w := range words {
				if w < 0 || int(w) >= l.vocab {
					return fmt.Errorf("%s: word %d of %s %d of story %d is %d, and Vocab is %d", l.op, j, part.name, k, i, w, l.vocab)
				}
			}
		}
	}
	return nil
}

// recency returns the time of each of n sentences, 0 for the latest, until it is called again.
// With noise empty memories stand between them.
func (l *librarian) recency(n int, rng *rand.Rand) []int32 {
	times := slices.Grow(l.recent[:0], n)[:n]
	l.recent = times
	blanks := 0
	if rng != nil && l.noise > 0 && n > 0 {
		blanks = rng.IntN(int(math.Ceil(float64(n)*l.noise)) + 1)
	}
	left, places := n, n+blanks // sentences and places that are left, from the latest on
	for at := 0; left > 0; at++ {
		if places == left || rng.IntN(places) < left {
			left--
			times[left] = int32(min(at, l.memory-1))
		}
		places--
	}
	return times
}

// add lets the words of a sentence lead to the row that is begun.
func (l *librarian) add(words []int32) {
	l.src = append(l.src, words...)
	if l.encoding == Position {
		l.places = append(l.places, l.rule(len(words))...)
	}
}

// addTime lets a time lead to the row that is begun.
func (l *librarian) addTime(at int32) {
	l.src = append(l.src, int32(l.vocab)+at)
	if l.encoding == Position {
		p := 0.0
		if l.longest > 0 {
			p = 4 * place(l.all(0), l.all(0), true)
		}
		l.places = append(l.places, tensor.Float(p))
	}
}

// end ends the row that is begun.
func (l *librarian) end() { l.ends = append(l.ends, int64(len(l.src))) }

// all is the J of a sentence of n words.
func (l *librarian) all(n int) int {
	switch {
	case l.longest == 0:
		return n
	case l.times:
		return l.longest + 1
	}
	return l.longest
}

// rule returns the places of n words, 4·(j/n − ½) of word j, from 1 on.
func (l *librarian) rule(n int) []tensor.Float {
	for len(l.ruled) <= n {
		l.ruled = append(l.ruled, nil)
	}
	if l.ruled[n] == nil {
		l.ruled[n] = make([]tensor.Float, n)
		for j := range l.ruled[n] {
			l.ruled[n][j] = tensor.Float(4 * place(j+1, l.all(n), l.longest > 0))
		}
	}
	return l.ruled[n]
}
