package text

import (
	"cmp"
	"container/heap"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// BytePairs is a tokeniser of parts of words. Each byte is a token, and so is each pair
// of tokens that training has joined, so there is no text that it does not know: Decode
// gives back exactly what Encode read, be it UTF-8 or not. Tokens never lead from one
// word into the next; a blank belongs to the word that follows it.
//
// Sennrich, Haddow and Birch, "Neural machine translation of rare words with subword
// units", 2016; on bytes as in Radford and others, 2019.
type BytePairs struct {
	merges [][2]int32         // what each token after the bytes joins
	ranks  map[[2]int32]int32 // and back
	text   []string           // of each token
}

const (
	firstMerge = First + 256 // the token of the first pair; before it are the bytes
	pieceMost  = 64          // bytes of a piece, and so of a token
)

// newBytePairs is a tokeniser that knows bytes only.
func newBytePairs() *BytePairs {
	b := &BytePairs{ranks: map[[2]int32]int32{}, text: make([]string, firstMerge)}
	for i := range 256 {
		b.text[First+int32(i)] = string([]byte{byte(i)})
	}
	return b
}

// join adds the token that joins two, which must be there.
func (b *BytePairs) join(pair [2]int32) (int32, error) {
	n := int32(len(b.text))
	for _, id := range pair {
		if id < First || id >= n {
			return 0, fmt.Errorf("pair %d joins token %d, want one of %d to %d: train again", len(b.merges), id, First, n-1)
		}
	}
	if before, ok := b.ranks[pair]; ok {
		return 0, fmt.Errorf("pair %d joins %d and %d, as token %d does: train again", len(b.merges), pair[0], pair[1], before)
	}
	joined := b.text[pair[0]] + b.text[pair[1]]
	if len(joined) > pieceMost {
		return 0, fmt.Errorf("pair %d is of %d bytes, want at most %d: train again", len(b.merges), len(joined), pieceMost)
	}
	b.merges, b.ranks[pair], b.text = append(b.merges, pair), n, append(b.text, joined)
	return n, nil
}

// Len returns the number of tokens: the first three, 256 bytes and the pairs.
func (b *BytePairs) Len() int { return len(b.text) }

// Encode returns the tokens of a line.
func (b *BytePairs) Encode(line string) []int32 {
	ids := make([]int32, 0, len(line)/2)
	var room [pieceMost]int32
	for len(line) > 0 {
		n := pieceOf(line)
		ids = append(ids, b.piece(room[:0], line[:n])...)
		line = line[n:]
	}
	return ids
}

// piece returns the tokens of a piece: of all pairs that it has, the one that was joined
// first in training is joined first.
func (b *BytePairs) piece(ids []int32, piece string) []int32 {
	for i := range len(piece) {
		ids = append(ids, First+int32(piece[i]))
	}
	for len(ids) > 1 {
		best, pair := int32(-1), [2]int32{}
		for i := range len(ids) - 1 {
			p := [2]int32{ids[i], ids[i+1]}
			if id, ok := b.ranks[p]; ok && (best < 0 || id < best) {
				best, pair = id, p
			}
		}
		if best < 0 {
			break
		}
		ids = joinAll(ids, pair, best)
	}
	return ids
}

// joinAll puts id in the place of each pair, from the left, in the memory of ids.
func joinAll(ids []int32, pair [2]int32, id int32) []int32 {
	out := ids[:0]
	for i := 0; i < len(ids); i++ {
		if i+1 < len(ids) && ids[i] == pair[0] && ids[i+1] == pair[1] {
			out = append(out, id)
			i++
		} else {
			out = append(out, ids[i])
		}
	}
	return out
}

// Decode returns the bytes of tokens. Tokens that Encode did not make may be the bytes
// of no UTF-8; [Unknown] is U+FFFD.
func (b *BytePairs) Decode(tokens []int32) string {
	var s strings.Builder
	for _, id := range tokens {
		switch {
		case id == Begin || id == End:
		case id < First || int(id) >= len(b.text):
			s.WriteString("\ufffd")
		default:
			s.WriteString(b.text[id])
		}
	}
	return s.String()
}

// kindOf is the class of a character that pieces do not mix.
func kindOf(r rune) int {
	switch {
	case unicode.IsSpace(r):
		return 0
	case unicode.IsNumber(r):
		return 1
	case inWord(r):
		return 2
	}
	return 3
}

// pieceOf returns how many bytes of a line, which is not empty, are its first piece: a
// run of letters, of digits, of other signs, each perhaps with one blank before it, or of
// white space; no more than pieceMost.
func pieceOf(line string) int {
	kind := -1
	for i, r := range line {
		n := i + width(line[i:], r)
		k := kindOf(r)
		switch {
		case kind < 0 || i == 1 && line[0] == ' ' && k != 0:
			kind = k
		case k != kind || n > pieceMost:
			return lastBlank(line[:i], line[i:])
		}
	}
	return len(line)
}

// lastBlank returns the length of a piece that is followed by rest: white space leaves
// its last blank to the word that follows.
func lastBlank(piece, rest string) int {
	n := len(piece)
	if r, _ := utf8.DecodeRuneInString(rest); n > 1 && piece[n-1] == ' ' && !unicode.IsSpace(r) {
		return n - 1
	}
	return n
}

// TrainBytePairs returns a tokeniser of at most size tokens: the pair of neighbours that
// is most frequent in lines becomes a token, again and again, as long as one occurs
// twice. Of pairs that are equally frequent the one with the lower first token is joined,
// then that with the lower second one, so the same lines always give the same tokens. It
// is an error if there is no room for the bytes.
func TrainBytePairs(lines []string, size int) (*BytePairs, error) {
	if size < int(firstMerge) {
		return nil, fmt.Errorf("text: byte pairs in %d tokens: the bytes alone take %d: ask for more", size, firstMerge)
	}
	t := newMerger(lines)
	b := newBytePairs()
	for b.Len() < size {
		pair, ok := t.most()
		if !ok {
			break
		}
		id, err := b.join(pair)
		if err != nil {
			return nil, err
		}
		t.join(pair, id)
	}
	return b, nil
}

// merger counts the pairs of neighbours in distinct pieces.
type merger struct {
	pieces [][]int32
	times  []int // how often each piece occurs
	counts map[[2]int32]int
	where  map[[2]int32][]int32 // pieces that have the pair, or had it
	queue  pairQueue
}

func newMerger(lines []string) *merger {
	times := map[string]int{}
	for _, line := range lines {
		for len(line) > 0 {
			n := pieceOf(line)
			times[line[:n]]++
			line = line[n:]
		}
	}
	t := &merger{counts: map[[2]int32]int{}, where: map[[2]int32][]int32{}}
	for _, piece := range slices.Sorted(maps.Keys(times)) {
		ids := make([]int32, len(piece))
		for i := range ids {
			ids[i] = First + int32(piece[i])
		}
		t.pieces, t.times = append(t.pieces, ids), append(t.times, times[piece])
		t.count(int32(len(t.pieces)-1), 1, nil)
	}
	for pair, n := range t.counts {
		t.queue = append(t.queue, counted{pair, n})
	}
	heap.Init(&t.queue)
	return t
}

// count adds the pairs of a piece, sign times, to the counts, and notes which changed.
func (t *merger) count(piece int32, sign int, changed map[[2]int32]bool) {
	ids := t.pieces[piece]
	for i := range max(0, len(ids)-1) {
		pair := [2]int32{ids[i], ids[i+1]}
		t.counts[pair] += sign * t.times[piece]
		if at := t.where[pair]; sign > 0 && (len(at) == 0 || at[len(at)-1] != piece) {
			t.where[pair] = append(at, piece)
		}
		if changed != nil {
			changed[pair] = true
		}
	}
}

// most returns the most frequent pair, false if none occurs twice.
func (t *merger) most() ([2]int32, bool) {
	for len(t.queue) > 0 {
		top := heap.Pop(&t.queue).(counted)
		if top.n != t.counts[top.pair] {
			continue // it was put in again with another count
		}
		return top.pair, top.n > 1
	}
	return [2]int32{}, false
}

// join puts id in the place of a pair in all pieces.
func (t *merger) join(pair [2]int32, id int32) {
	changed := map[[2]int32]bool{}
	at := t.where[pair]
	slices.Sort(at)
	for _, piece := range slices.Compact(at) {
		t.count(piece, -1, changed)
		t.pieces[piece] = joinAll(t.pieces[piece], pair, id)
		t.count(piece, 1, changed)
	}
	delete(t.where, pair)
	for pair := range changed {
		if n := t.counts[pair]; n > 0 {
			heap.Push(&t.queue, counted{pair, n})
		} else {
			delete(t.counts, pair)
		}
	}
}

// counted is a pair and how often it occurs.
type counted struct {
	pair [2]int32
	n    int
}

// pairQueue has the most frequent pair first, and of equal ones the lowest.
type pairQueue []counted

func (q pairQueue) Len() int      { return len(q) }
func (q pairQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *pairQueue) Push(x any)   { *q = append(*q, x.(counted)) }

func (q pairQueue) Less(i, j int) bool {
	a, b := q[i], q[j]
	return cmp.Or(b.n-a.n, cmp.Compare(a.pair[0], b.pair[0]), cmp.Compare(a.pair[1], b.pair[1])) < 0
}

func (q *pairQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}
