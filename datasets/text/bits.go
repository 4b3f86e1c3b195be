package text

import (
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Bits are sequences of rows of bits that end with questions: tasks for networks with a memory.
// A row of X is the bits, 0 or 1, and two flags behind them; in the steps where an answer is due
// it is zeros. The rest of an output is not asked for.
type Bits struct {
	Series
	Answer *tensor.Dense // a row for each step that wants an answer, in order
	At     []int32       // the rows of X that these are
}

// Sequence returns which rows of Answer are those of sequence i.
func (b Bits) Sequence(i int) (lo, hi int) {
	lo, _ = slices.BinarySearch(b.At, int32(b.Offsets[i]))
	hi, _ = slices.BinarySearch(b.At, int32(b.Offsets[i+1]))
	return lo, hi
}

// bitTape is Bits in the making.
type bitTape struct {
	bits, width  int // of a row, without and with the flags
	x, answer    []tensor.Float
	answerColumn int
	at           []int32
	offsets      []int
}

// newBitTape begins sequences whose answers have extra columns behind the bits.
func (t Task) newBitTape(extra int) *bitTape {
	return &bitTape{bits: t.Symbols, width: t.Symbols + 2, answerColumn: t.Symbols + extra, offsets: []int{0}}
}

// say adds a step.
func (b *bitTape) say(bits []tensor.Float, first, second tensor.Float) {
	b.x = append(b.x, bits...)
	b.x = append(b.x, make([]tensor.Float, b.bits-len(bits))...)
	b.x = append(b.x, first, second)
}

// ask adds a step of nothing, whose answer is due.
func (b *bitTape) ask(answer []tensor.Float) {
	b.at = append(b.at, int32(len(b.x)/b.width))
	b.say(nil, 0, 0)
	b.answer = append(b.answer, answer...)
	b.answer = append(b.answer, make([]tensor.Float, b.answerColumn-len(answer))...)
}

// end ends a sequence.
func (b *bitTape) end() { b.offsets = append(b.offsets, len(b.x)/b.width) }

func (b *bitTape) made() Bits {
	return Bits{
		Series{tensor.Of(b.x, len(b.x)/b.width, b.width), b.offsets},
		tensor.Of(b.answer, len(b.at), b.answerColumn), b.at,
	}
}

// rows draws n rows of bits.
func (b *bitTape) rows(rng *rand.Rand, n int) [][]tensor.Float {
	out := make([][]tensor.Float, n)
	for i := range out {
		for range b.bits {
			out[i] = append(out[i], tensor.Float(rng.IntN(2)))
		}
	}
	return out
}

// CopyBits returns sequences of rows of Symbols bits, between the first flag and the second,
// each to be said again as it is.
func (t Task) CopyBits() Bits {
	return t.heardBits("text.Task.CopyBits", func([][]tensor.Float) {})
}

// ReverseBits is [Task.CopyBits] with each sequence to be said from its end.
func (t Task) ReverseBits() Bits {
	return t.heardBits("text.Task.ReverseBits", slices.Reverse)
}

// heardBits has each sequence said again after a change.
func (t Task) heardBits(op string, change func([][]tensor.Float)) Bits {
	rng := t.rng(op, 1)
	b := t.newBitTape(0)
	for range t.Count {
		rows := b.rows(rng, t.length(rng))
		b.say(nil, 1, 0)
		for _, row := range rows {
			b.say(row, 0, 0)
		}
		b.say(nil, 0, 1)
		change(rows)
		for _, row := range rows {
			b.ask(row)
		}
		b.end()
	}
	return b.made()
}

// RepeatBits is [Task.CopyBits] with each sequence to be said from lo to hi times, each number
// as likely, one after the other. The second flag is how often, divided by ten. After the last
// answer one more is due: it has a one behind the bits, where all others have a zero.
func (t Task) RepeatBits(lo, hi int) Bits {
	const op = "text.Task.RepeatBits"
	rng := t.rng(op, 1)
	if lo < 1 || hi < lo {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{lo, hi}}, Why: "want 1 or more, and hi not below lo"})
	}
	b := t.newBitTape(1)
	for range t.Count {
		rows, times := b.rows(rng, t.length(rng)), lo+rng.IntN(hi-lo+1)
		b.say(nil, 1, 0)
		for _, row := range rows {
			b.say(row, 0, 0)
		}
		b.say(nil, 0, tensor.Float(times)/10)
		for range times {
			for _, row := range rows {
				b.ask(row)
			}
		}
		b.ask(append(make([]tensor.Float, b.bits), 1))
		b.end()
	}
	return b.made()
}

// itemRows is how many rows an item has that is associated with the next.
const itemRows = 3

// AssociateBits returns lists of from Min to Max items, two or more, of three rows of Symbols
// bits each, with the first flag before each item. Then one of them but the last stands between
// two steps with the second flag: the item after it is to be said.
func (t Task) AssociateBits() Bits {
	rng := t.rng("text.Task.AssociateBits", 2)
	b := t.newBitTape(0)
	for range t.Count {
		rows := b.rows(rng, itemRows*t.length(rng))
		for i, row := range rows {
			if i%itemRows == 0 {
				b.say(nil, 1, 0)
			}
			b.say(row, 0, 0)
		}
		asked := itemRows * rng.IntN(len(rows)/itemRows-1)
		b.say(nil, 0, 1)
		for _, row := range rows[asked : asked+itemRows] {
			b.say(row, 0, 0)
		}
		b.say(nil, 0, 1)
		for _, row := range rows[asked+itemRows : asked+2*itemRows] {
			b.ask(row)
		}
		b.end()
	}
	return b.made()
}
