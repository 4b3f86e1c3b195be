package graph

import (
	"math/bits"
	"slices"
	"sync"
)

// nodeNumbers numbers some of many nodes: at[v] is 0, or one more than v's number.
// While it is nobody's, everything is 0, so that the work on a few nodes of a
// large graph does not pay for all of them.
type nodeNumbers struct{ at []int32 }

var spareNumbers = sync.Pool{New: func() any { return new(nodeNumbers) }}

// borrowNumbers returns numbers for n nodes, to be given back.
func borrowNumbers(n int) *nodeNumbers {
	m := spareNumbers.Get().(*nodeNumbers)
	if len(m.at) < n {
		m.at = make([]int32, n)
	}
	return m
}

// giveBack gives m back, of which only the given nodes have numbers.
func (m *nodeNumbers) giveBack(nodes []int32) {
	for _, v := range nodes {
		m.at[v] = 0
	}
	spareNumbers.Put(m)
}

// nodeSet is a set of nodes that says how many of it are below one of them. It is a
// bit for each node, so that the work on a few nodes of a large graph finds it in a
// near cache, where a number for each would not be. While it is nobody's it is empty.
type nodeSet struct {
	bits   []uint64
	filled []uint64 // a bit for each word of bits that is not 0
	before []int32  // of each of these, how many nodes come before it; set by count
}

// wordBits is how many nodes a word of bits stands for.
const wordBits = 64

var spareSets = sync.Pool{New: func() any { return new(nodeSet) }}

// borrowSet returns an empty set of nodes below n, to be given back.
func borrowSet(n int) *nodeSet {
	s := spareSets.Get().(*nodeSet)
	if words := (n + wordBits - 1) / wordBits; len(s.bits) < words {
		s.bits, s.before = make([]uint64, words), make([]int32, words)
		s.filled = make([]uint64, (words+wordBits-1)/wordBits)
	}
	return s
}

// add adds v and reports whether it was not there.
func (s *nodeSet) add(v int32) bool {
	w, bit := uint32(v)/wordBits, uint64(1)<<(uint32(v)%wordBits)
	old := s.bits[w]
	if old&bit != 0 {
		return false
	}
	s.bits[w] = old | bit
	s.filled[w/wordBits] |= 1 << (w % wordBits)
	return true
}

// has reports whether v is there.
func (s *nodeSet) has(v int32) bool {
	return s.bits[uint32(v)/wordBits]>>(uint32(v)%wordBits)&1 != 0
}

// rank returns how many nodes below v are there, after count, if v is there.
func (s *nodeSet) rank(v int32) int32 {
	w := uint32(v) / wordBits
	return s.before[w] + int32(bits.OnesCount64(s.bits[w]&(1<<(uint32(v)%wordBits)-1)))
}

// count prepares rank and returns how many nodes are there.
func (s *nodeSet) count() int {
	n := 0
	for i, words := range s.filled {
		for ; words != 0; words &= words - 1 {
			w := i*wordBits + bits.TrailingZeros64(words)
			s.before[w] = int32(n)
			n += bits.OnesCount64(s.bits[w])
		}
	}
	return n
}

// appendTo appends the nodes to list, ascending.
func (s *nodeSet) appendTo(list []int32, n int) []int32 {
	list = slices.Grow(list, n)
	for i, words := range s.filled {
		for ; words != 0; words &= words - 1 {
			w := i*wordBits + bits.TrailingZeros64(words)
			for b := s.bits[w]; b != 0; b &= b - 1 {
				list = append(list, int32(w*wordBits+bits.TrailingZeros64(b)))
			}
		}
	}
	return list
}

// giveBack empties s and gives it back.
func (s *nodeSet) giveBack() {
	for i, words := range s.filled {
		for ; words != 0; words &= words - 1 {
			s.bits[i*wordBits+bits.TrailingZeros64(words)] = 0
		}
		s.filled[i] = 0
	}
	spareSets.Put(s)
}
