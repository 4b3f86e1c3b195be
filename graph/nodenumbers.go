package graph

import (
	"math/bits"
	"slices"
	"sync"
)

// nodeNumbers numbers some of many nodes: at[v] is 0, or one more than v's number.
// While it is nobody's, everything is 0, so that the work on a few nodes of a
// large graph does not pay for all of them.
type nodeNumbers struct {
	at          []int32
	bits, words []uint64 // of others: the nodes that are new, and the words of bits that are not 0
}

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

// others appends to known, all numbered, the nodes of list that have no number, each
// once and ascending, and gives them −1. It needs no sort: a bit for each node that is
// new, and one for each word of these that is not 0, are read in order.
func (m *nodeNumbers) others(known, list []int32) []int32 {
	if most := (len(m.at) + wordBits - 1) / wordBits; len(m.bits) < most {
		m.bits = make([]uint64, most)
		m.words = make([]uint64, (len(m.bits)+wordBits-1)/wordBits)
	}
	n := 0
	for _, u := range list {
		if m.at[u] == 0 {
			m.at[u] = -1
			w := u / wordBits
			m.bits[w] |= 1 << (u % wordBits)
			m.words[w/wordBits] |= 1 << (w % wordBits)
			n++
		}
	}
	known = slices.Grow(known, n)
	for i, words := range m.words {
		for ; words != 0; words &= words - 1 {
			w := i*wordBits + bits.TrailingZeros64(words)
			for b := m.bits[w]; b != 0; b &= b - 1 {
				known = append(known, int32(w*wordBits+bits.TrailingZeros64(b)))
			}
			m.bits[w] = 0
		}
		m.words[i] = 0
	}
	return known
}

// wordBits is how many nodes a word of bits stands for.
const wordBits = 64
