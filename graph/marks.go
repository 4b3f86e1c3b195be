package graph

import (
	"slices"
	"sync"
)

// marks numbers some of many nodes: at[v] is 0, or one more than v's number.
// While it is nobody's, everything is 0, so that the work on a few nodes of a
// large graph does not pay for all of them.
type marks struct{ at []int32 }

var spareMarks = sync.Pool{New: func() any { return new(marks) }}

// borrowMarks returns marks for n nodes, to be given back.
func borrowMarks(n int) *marks {
	m := spareMarks.Get().(*marks)
	if len(m.at) < n {
		m.at = make([]int32, n)
	}
	return m
}

// giveBack gives m back, of which only the given nodes have marks.
func (m *marks) giveBack(nodes []int32) {
	for _, v := range nodes {
		m.at[v] = 0
	}
	spareMarks.Put(m)
}

// others appends to known, all marked, the nodes of list that have no mark, each
// once and ascending, and marks them.
func (m *marks) others(known, list []int32) []int32 {
	n, top := len(known), int32(0)
	for _, u := range list {
		if m.at[u] == 0 {
			m.at[u] = -1
			known = append(known, u)
			top = max(top, u)
		}
	}
	if len(known) == n {
		return known
	}
	if few := 16 * (len(known) - n); few < int(top) {
		slices.Sort(known[n:])
		return known
	}
	known = known[:n] // reading all marks in order is faster than a sort
	for u, mark := range m.at[:top+1] {
		if mark < 0 {
			known = append(known, int32(u))
		}
	}
	return known
}
