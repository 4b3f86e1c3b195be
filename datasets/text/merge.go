package text

import (
	"cmp"
	"container/heap"
	"fmt"
	"maps"
	"slices"
)

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
