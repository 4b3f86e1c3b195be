package datasets

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/tensor"
)

// kindName is the kind of an edge: a whole number or a word.
type kindName string

// UnmarshalJSON reads either.
func (k *kindName) UnmarshalJSON(b []byte) error {
	text := string(b)
	if text[0] == '"' {
		return jsonread.Unmarshal(b, (*string)(k))
	}
	if _, err := whole(b); err != nil {
		return fmt.Errorf("%.40s stands there, want a whole number from 0, or a word", text)
	}
	*k = kindName(text)
	return nil
}

// kindsOf takes the kinds of the edges of a line.
func (l *graphLines) kindsOf(g *graphLine, edges int, both bool) error {
	if edges > 0 && len(l.src) > 0 && (g.EdgeType == nil) != (l.kinds == nil) {
		return errors.New("only some of the graphs have an edge_type")
	}
	if g.EdgeType != nil && len(g.EdgeType) != edges {
		return fmt.Errorf("edge_type is of %d edges, and there are %d", len(g.EdgeType), edges)
	}
	for _, k := range g.EdgeType {
		for range 1 + btoi(both) {
			l.kinds = append(l.kinds, string(k))
		}
	}
	return nil
}

// edgeFeatures makes the features of the edges that were kept of those that were listed:
// numbers, and then a column for each kind.
func (l *graphLines) edgeFeatures(kept []int32) error {
	var parts []*tensor.Dense
	if x := l.attr.dense(); x != nil {
		parts, l.d.EdgeNumbers = append(parts, x), x.Dim(1)
	}
	if len(l.kinds) > 0 {
		of, n := numberedKinds(l.kinds)
		if err := notOneHot(n, len(of), l.budget.Packed()); err != nil {
			return fmt.Errorf("edge_type: %w; numbers that are no kinds go into edge_attr", err)
		}
		x := tensor.New(len(of), n)
		for e, k := range of {
			x.Row(e)[k] = 1
		}
		parts = append(parts, x)
	}
	if len(parts) == 0 {
		return nil
	}
	x := parts[0]
	if len(parts) == 2 {
		x = tensor.New(parts[0].Dim(0), parts[0].Dim(1)+parts[1].Dim(1))
		tensor.Concat(x, 1, parts...)
	}
	l.d.EdgeFeatures = GatherRows(x, kept).(*tensor.Dense)
	return nil
}

// numberedKinds returns the number of each kind and how many there are: whole numbers are
// their own, words are numbered in their order.
func numberedKinds(kinds []string) (of []int32, n int) {
	of = make([]int32, len(kinds))
	names := slices.Compact(slices.Sorted(slices.Values(kinds)))
	words := slices.ContainsFunc(names, func(s string) bool { _, err := whole([]byte(s)); return err != nil })
	for e, s := range kinds {
		if words {
			k, _ := slices.BinarySearch(names, s)
			of[e] = int32(k)
		} else {
			of[e], _ = whole([]byte(s))
		}
		n = max(n, int(of[e])+1)
	}
	return of, n
}

// notOneHot returns an error if n lines of a file of that many bytes are too many to have
// so many columns.
func notOneHot(width, n int, bytes int64) error {
	if most := scoresLeast + scoresPer*min(bytes, 1<<48); int64(width)*int64(n) > most {
		return fmt.Errorf("%d different labels in %d lines are too many to have a column each, in files of %d bytes", width, n, bytes)
	}
	return nil
}

// EdgeKinds returns the kind of each edge in the graph's order, and how many kinds there are:
// the place of the one among the columns of EdgeFeatures after its numbers. It returns nil
// unless each edge has exactly one there.
func (d *Graphs) EdgeKinds() (kinds []int32, n int) {
	if d.EdgeFeatures == nil || d.EdgeNumbers == d.EdgeFeatures.Dim(1) {
		return nil, 0
	}
	n = d.EdgeFeatures.Dim(1) - d.EdgeNumbers
	kinds = make([]int32, d.EdgeFeatures.Dim(0))
	for e := range kinds {
		row := d.EdgeFeatures.Row(e)[d.EdgeNumbers:]
		k := slices.Index(row, 1)
		if k < 0 || slices.ContainsFunc(row[:k], notZero) || slices.ContainsFunc(row[k+1:], notZero) {
			return nil, 0
		}
		kinds[e] = int32(k)
	}
	return kinds, n
}

func notZero(x tensor.Float) bool { return x != 0 }

// readBy are the members of a line that are read.
var readBy = []string{"nodes", "num_nodes", "edges", "edge_index", "directed", "x", "node_feat", "features", "edge_attr", "edge_feat", "edge_weight",
	"edge_type", "label", "y", "targets", "node_label", "node_y", "split", "name"}

// note remembers the members of a line that nothing reads.
func (l *graphLines) note(text []byte) {
	for _, key := range membersOf(text) {
		known := slices.ContainsFunc(readBy, func(s string) bool { return strings.EqualFold(s, key) })
		if !known && len(l.d.unread) < namesMost && !slices.Contains(l.d.unread, key) {
			l.d.unread = append(l.d.unread, key)
		}
	}
}

// membersOf returns the keys of an object, as they are written, of a text that is one.
func membersOf(text []byte) (keys []string) {
	depth, begun, key := 0, -1, ""
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case begun >= 0 && c == '\\':
			i++
		case c == '"' && begun < 0:
			begun = i + 1
		case c == '"':
			key, begun = string(text[begun:i]), -1
		case begun >= 0:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ':' && depth == 1:
			keys = append(keys, key)
		}
	}
	return keys
}
