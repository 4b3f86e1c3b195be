package text

import (
	"slices"
	"strings"
)

// Labelled is texts, each with the number of its class. Classes are the names of these
// numbers, in the order of their bytes.
type Labelled struct {
	Texts   []string
	Labels  []int32 // nil if the file has none
	Classes []string
}

// Len returns the number of texts.
func (l *Labelled) Len() int { return len(l.Texts) }

// Map returns the same labels with f of each text, such as [Fold].
func (l *Labelled) Map(f func(string) string) *Labelled {
	m := *l
	m.Texts = make([]string, len(l.Texts))
	for i, s := range l.Texts {
		m.Texts[i] = f(s)
	}
	return &m
}

// Rows returns some of the texts, in the order of rows. It panics with a
// [*tensor.ShapeError] if there is no such text.
func (l *Labelled) Rows(rows []int32) *Labelled {
	checkRows("text.Labelled.Rows", rows, l.Len())
	some := &Labelled{Texts: make([]string, len(rows)), Classes: l.Classes}
	for k, i := range rows {
		some.Texts[k] = l.Texts[i]
		if l.Labels != nil {
			some.Labels = append(some.Labels, l.Labels[i])
		}
	}
	return some
}

// Unique returns each text of each class once, where it stands first: what stands twice
// would be in the training and in the test of a random split.
func (l *Labelled) Unique() *Labelled {
	type key struct {
		text  string
		label int32
	}
	seen, rows := map[key]bool{}, make([]int32, 0, l.Len())
	for i, s := range l.Texts {
		k := key{text: s}
		if l.Labels != nil {
			k.label = l.Labels[i]
		}
		if !seen[k] {
			seen[k] = true
			rows = append(rows, int32(i))
		}
	}
	return l.Rows(rows)
}

// Coarse returns the same texts with classes that end before their colon: DESC of
// DESC:manner.
func (l *Labelled) Coarse() *Labelled {
	names := make([]string, len(l.Classes))
	for i, c := range l.Classes {
		names[i], _, _ = strings.Cut(c, ":")
	}
	c := &Labelled{Texts: l.Texts, Classes: sortedNames(names)}
	for _, y := range l.Labels {
		at, _ := slices.BinarySearch(c.Classes, names[y])
		c.Labels = append(c.Labels, int32(at))
	}
	return c
}

// sortedNames returns each name once, in the order of their bytes.
func sortedNames(names ...[]string) []string {
	all := slices.Concat(names...)
	slices.Sort(all)
	return slices.Clip(slices.Compact(all))
}

// numbersOf returns the place of each name among classes, which are sorted.
func numbersOf(names, classes []string) []int32 {
	ids := make(map[string]int32, len(classes))
	for i, c := range classes {
		ids[c] = int32(i)
	}
	out := make([]int32, len(names))
	for i, n := range names {
		out[i] = ids[n]
	}
	return out
}
