package sample

import (
	"math/bits"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
)

// pairSet is a set of pairs of nodes: an open hash table that is at most half full.
type pairSet struct {
	slots []uint64 // a pair plus one, or 0
	shift int
	n     int
	marks pairMarks // of all pairs, where many are looked up; none: there are none
}

// newPairSet returns an empty set for so many pairs.
func newPairSet(room int) *pairSet {
	log := bits.Len(uint(2*room + 1))
	return &pairSet{slots: make([]uint64, 1<<log), shift: 64 - log}
}

// slot returns where a pair stands, or else where it would.
func (s *pairSet) slot(pair uint64) int {
	at := int(pair * golden >> s.shift)
	for s.slots[at] != 0 && s.slots[at] != pair+1 {
		at = (at + 1) & (len(s.slots) - 1)
	}
	return at
}

func (s *pairSet) has(pair uint64) bool {
	if s.marks.words != nil && !s.marks.has(pair) {
		return false
	}
	return s.slots[s.slot(pair)] != 0
}

// add adds a pair, and reports whether it is new.
func (s *pairSet) add(pair uint64) bool {
	if 2*s.n >= len(s.slots) {
		s.reserve(len(s.slots))
	}
	at := s.slot(pair)
	if s.slots[at] != 0 {
		return false
	}
	s.slots[at] = pair + 1
	s.n++
	return true
}

// reserve makes room for so many pairs in all.
func (s *pairSet) reserve(room int) {
	if 2*room < len(s.slots) {
		return
	}
	wide := newPairSet(room)
	wide.marks = s.marks
	for _, taken := range s.slots {
		if taken != 0 {
			wide.add(taken - 1)
		}
	}
	*s = *wide
}

// pairOf returns what stands for u→v, or for u and v in either order.
func pairOf(u, v int32, directed bool) uint64 {
	if !directed {
		below := (v - u) & ((v - u) >> 31) // 0 or less; a branch would be foreseen half of the time
		u, v = u+below, v-below
	}
	return uint64(u)<<32 | uint64(v)
}

// pairsKey is the key of what pairsIn keeps.
type pairsKey struct{ directed bool }

// pairsIn returns the pairs that edges of g join, without loops. The graph keeps them.
func pairsIn(g *graph.Graph, directed bool) *pairSet {
	return graph.Derive(g, pairsKey{directed}, func() *pairSet {
		s := newPairSet(g.NumEdges())
		in := g.In()
		for v := range g.NumDst() {
			for _, u := range in.Cols[in.Offsets[v]:in.Offsets[v+1]] {
				if u != int32(v) {
					s.add(pairOf(u, int32(v), directed))
				}
			}
		}
		s.mark()
		return s
	})
}

// mark makes the marks of the pairs of s, which gets no more.
func (s *pairSet) mark() {
	var marks pairMarks
	marks.reset(marksEach * s.n)
	for _, taken := range s.slots {
		if taken != 0 {
			marks.put(taken - 1)
		}
	}
	s.marks = marks
}

// pairMarks has two bits of a word for each of some pairs, which others may have too: it says
// of most pairs that are not in a set that they are not, and stays in a cache where the set
// does not.
type pairMarks struct {
	words []uint64
	shift int
}

// marksEach is how many bits there are for a pair, at least: of other pairs one in a hundred
// has both of its bits set.
const marksEach = 16

// reset makes so many bits, or more, all clear.
func (m *pairMarks) reset(room int) {
	log := max(1, bits.Len(uint(room))-6)
	m.shift = 64 - log
	m.words = slices.Grow(m.words[:0], 1<<log)[:1<<log]
	clear(m.words)
}

// at returns which word is a pair's, and its bits there.
func (m pairMarks) at(pair uint64) (word, bits uint64) {
	hash := pair * golden
	return hash >> (m.shift & 63), 1<<(hash>>34&63) | 1<<(hash>>40&63)
}

// has reports whether the bits of a pair are set.
func (m pairMarks) has(pair uint64) bool {
	word, bits := m.at(pair)
	return m.words[word]&bits == bits
}

// put sets the bits of a pair, and reports whether they were.
func (m pairMarks) put(pair uint64) bool {
	at, bits := m.at(pair)
	word := &m.words[at]
	was := *word&bits == bits
	*word |= bits
	return was
}
