package graph

import (
	"fmt"
	"math"
	"slices"
)

// ID is what may name a node in data from elsewhere.
type ID interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~string
}

// NewCompact returns the graph of an edge list whose ids leave gaps, or are
// names: its nodes are the ids that occur, in ascending order, and ids[v] is
// that of node v. Otherwise it is [New], with an edge from src[i] to dst[i] for
// each i. A node that no edge has must be given by other means: see [Compact].
func NewCompact[T ID](src, dst []T) (g *Graph, ids []T, err error) {
	if len(src) != len(dst) {
		return nil, nil, fmt.Errorf("graph: %d sources for %d destinations, want one of each an edge", len(src), len(dst))
	}
	ids, numbers, err := Compact(src, dst)
	if err != nil {
		return nil, nil, err
	}
	g, err = New(len(ids), numbers[0], numbers[1])
	return g, ids, err
}

// Compact numbers the ids that occur in the lists from 0 up, in ascending order
// and without gaps: numbers[k][i] is the number of lists[k][i], and ids[n] the
// id of number n. Labels or features that stand in the order of a list of ids
// of their own find their nodes when that list is one of those given.
//
// The error says that there are more than 2³¹−1 ids.
func Compact[T ID](lists ...[]T) (ids []T, numbers [][]int32, err error) {
	for _, list := range lists {
		part := slices.Clone(list)
		slices.Sort(part)
		ids = append(ids, slices.Compact(part)...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) > math.MaxInt32 {
		return nil, nil, fmt.Errorf("graph: %d different ids, at most %d", len(ids), math.MaxInt32)
	}
	numbers = make([][]int32, len(lists))
	for k, list := range lists {
		numbers[k] = make([]int32, len(list))
		for i, id := range list {
			n, _ := slices.BinarySearch(ids, id)
			numbers[k][i] = int32(n)
		}
	}
	return ids, numbers, nil
}
