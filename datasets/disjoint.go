package datasets

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
)

// disjoint makes the graph of all graphs: of a list of edges those that are no loops, and
// of parallel ones the first. kept says of each edge which of the list it is.
func (d *Graphs) disjoint(src, dst []int32, offsets []int) (g *graph.Graph, kept []int32, err error) {
	n := offsets[len(offsets)-1]
	in, order, err := sparse.FromCOO(n, n, dst, src, nil)
	if err != nil {
		return nil, nil, err
	}
	place := make([]int64, n) // after the last edge out of each node that was kept
	end, next := int64(0), int64(0)
	for v := range n {
		start, stop := end, in.Offsets[v+1]
		for ; next < stop; next++ {
			u := in.Cols[next]
			switch {
			case int(u) == v:
				d.loops++
			case place[u] > start:
				d.repeated++
			default:
				in.Cols[end], order[end] = u, order[next]
				end++
				place[u] = end
			}
		}
		in.Offsets[v+1] = end
	}
	in.Cols = trimmed(in.Cols, int(end))
	if g, err = graph.FromCSR(in); err == nil {
		g, err = g.WithMembers(offsets)
	}
	return g, trimmed(order, int(end)), err
}

// classesOf returns the class that each text is, which are numbered in the order of the
// numbers, or of the words; nan is none.
func classesOf(texts []string) (labels []int32, names []string, err error) {
	none := func(s string) bool { return strings.EqualFold(s, "nan") }
	names = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(texts))), none)
	numeric := !slices.ContainsFunc(names, func(s string) bool { _, err := strconv.Atoi(s); return err != nil })
	if numeric {
		slices.SortFunc(names, func(a, b string) int {
			x, _ := strconv.Atoi(a)
			y, _ := strconv.Atoi(b)
			if x != y {
				return x - y
			}
			return strings.Compare(a, b)
		})
	}
	if err := notNames(len(names), len(texts)); err != nil {
		return nil, nil, fmt.Errorf("%d different labels of %d graphs are no classes: numbers to be learnt go into NAME_graph_attributes.txt", len(names), len(texts))
	}
	number := make(map[string]int32, len(names))
	for i, s := range names {
		number[s] = int32(i)
	}
	labels = make([]int32, len(texts))
	for i, s := range texts {
		if labels[i] = -1; !none(s) {
			labels[i] = number[s]
		}
	}
	return labels, names, nil
}
