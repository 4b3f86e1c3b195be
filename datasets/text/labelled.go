package text

import (
	"math"
	"math/rand/v2"
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
	var names classNames
	coarse := make([]int32, len(l.Classes))
	for i, class := range l.Classes {
		class, _, _ = strings.Cut(class, ":")
		coarse[i] = names.id(class)
	}
	c := &Labelled{Texts: l.Texts, Classes: names.sorted(coarse)}
	for _, y := range l.Labels {
		c.Labels = append(c.Labels, coarse[y])
	}
	return c
}

// Split divides the texts at random, the same way for the same seed: share of them, a
// number from 0 to 1, are for testing and the others for training.
func (l *Labelled) Split(share float64, seed uint64) (train, test *Labelled) {
	rows := make([]int32, l.Len())
	for i, k := range rand.New(rand.NewPCG(seed, 0)).Perm(len(rows)) {
		rows[i] = int32(k)
	}
	n := int(math.Round(min(1, max(0, share)) * float64(len(rows))))
	return l.Rows(rows[n:]), l.Rows(rows[:n])
}
