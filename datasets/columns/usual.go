package columns

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/internal/plain"
)

// The limits by which a column of words becomes what it does unless somebody says otherwise. So few words have a feature each: in a small
// table they may all differ and still mean something. More are the names of rows if most of them differ, prose if they are
// several words a cell, and codes else if they are too many for a feature each.
const (
	fewWords   = 20
	manyWords  = 50
	proseWords = 4.0
	kindsMost  = 100 // of a column that is called so that it says the kinds of rows
)

// A column of words is one of numbers with a mistake in it if at least so many cells and all but a tenth are numbers.
const numbersLeast = 10

// lookedAt is how many cells of texts are looked at, evenly spread, and distinctMost how many different numbers are counted.
const lookedAt, distinctMost = 1 << 17, 1000

// seen is what stands in a column, over all rows.
type seen struct {
	says  string // for people
	why   string // it is left out unless somebody asks for it
	words bool   // of a column that is left out: it may be a category or a text
	few   bool   // they are few whole numbers, which may be categories
	truth bool   // they are true and false
}

// Why a column is left out that nobody can make anything of.
const (
	whyEmpty = "nothing stands in it"
	whySame  = "the same in all rows"
)

// look is what stands in the cells of a column.
type look struct {
	rows, looked int // looked: those that were looked at
	empty        int
	different    int            // numbers, times or words, at most distinctMost
	counts       map[string]int // of each word how many cells have it
	numbers      int            // cells of words that are numbers
	odd          int            // the first row of words that is no number; -1: none is
	fields       int            // words in cells, between blanks
	least, most  float64
	from, till   int64
	truths       int  // numbers that are 1
	broken       bool // some numbers are not whole
}

// lookAt looks at the cells of a column of n rows.
func lookAt(col *form.Column, n int) *look {
	l := &look{rows: n, looked: n, odd: -1, least: math.Inf(1), most: math.Inf(-1), from: math.MaxInt64, till: math.MinInt64}
	switch col.Type {
	case form.Number:
		different := map[float64]bool{}
		for _, v := range col.Numbers {
			if v != v {
				l.empty++
				continue
			}
			l.least, l.most, l.broken = min(l.least, v), max(l.most, v), l.broken || v != math.Trunc(v)
			if l.truths += btoi(v == 1); len(different) < distinctMost {
				different[v] = true
			}
		}
		l.different = len(different)
	case form.Time:
		different := map[int64]bool{}
		for _, at := range col.Times {
			if at == form.NoTime {
				l.empty++
				continue
			}
			if l.from, l.till = min(l.from, at), max(l.till, at); len(different) < distinctMost {
				different[at] = true
			}
		}
		l.different = len(different)
	case form.Word:
		l.words(col)
	default:
		l.empty = n
	}
	return l
}

// words looks at the cells of a column of words, at each different text once if the column has numbers of them.
func (l *look) words(col *form.Column) {
	l.counts = map[string]int{}
	x, w := textsOf(col), col.Words
	add := func(text string, row, n int) {
		l.counts[text] += n
		if _, number := numberOf(text); number {
			l.numbers += n
		} else if l.odd < 0 || row < l.odd {
			l.odd = row
		}
		for field := range strings.FieldsSeq(text) {
			if strings.ContainsFunc(field, unicode.IsLetter) {
				l.fields += n
			}
		}
	}
	if w.Codes == nil {
		step := max(1, (l.rows+lookedAt-1)/lookedAt)
		l.looked = 0
		for row := 0; row < x.rows; row += step {
			l.looked++
			if text, ok := x.text(row); ok {
				add(text, row, 1)
			} else {
				l.empty++
			}
		}
		l.different = len(l.counts)
		return
	}
	first, counts := make([]int, len(w.Texts)), make([]int, len(w.Texts))
	for row, c := range w.Codes {
		if c < 0 || x.own[c] == "" {
			l.empty++
		} else if counts[c]++; counts[c] == 1 {
			first[c] = row
		}
	}
	for c, n := range counts {
		if n > 0 {
			add(x.own[c], first[c], n)
		}
	}
	l.different = len(l.counts)
}

// cells is how many cells that were looked at are not empty.
func (l *look) cells() int { return l.looked - l.empty }

// constant reports whether the same stands in all rows.
func (l *look) constant() bool { return l.rows > 1 && l.empty == 0 && l.different == 1 }

// mostlyDiffer reports whether a word seldom stands in two rows.
func (l *look) mostlyDiffer() bool { return 2*l.different > l.cells() }

// prose reports whether cells are sentences.
func (l *look) prose() bool {
	return l.mostlyDiffer() && float64(l.fields) >= proseWords*float64(l.cells())
}

// usual decides what a column becomes of which nobody says it, and why it is left out if it is. kind says that the column tells kinds of rows.
func (l *look) usual(t *form.Table, col *form.Column, of form.Of, kind bool) (as Encoding, why string, err error) {
	switch {
	case col.Type == form.Many:
		return AsMatrix, "", nil
	case col.Type == form.Word && (col.Words.Ordered || kind && l.different <= kindsMost):
		return AsCategory, "", nil
	case l.constant() && !kind:
		return Left, whySame, nil
	case col.Type == form.Number && heavy(col.Numbers):
		return AsLog, "", nil
	case col.Type == form.Number:
		return AsNumber, "", nil
	case col.Type == form.Time:
		return AsTime, "", nil
	}
	words, cells := l.different, l.cells()
	switch {
	case l.numbers >= numbersLeast && l.numbers < cells && 10*(cells-l.numbers) <= cells:
		text, _ := textsOf(col).text(l.odd)
		return "", "", fmt.Errorf("%s, column %.40q: %.40q stands among %d numbers: write a number, leave the cell empty, or say what the column is: --column %s=category, or --column %s=none to leave it out",
			t.At(col, l.odd), col.Name, text, l.numbers, col.Name, col.Name)
	case words <= fewWords && !l.prose(), words <= manyWords && !l.mostlyDiffer():
		return AsCategory, "", nil
	case !l.mostlyDiffer():
		return AsCode, "", nil
	case !l.prose():
		return Left, "an id, since its words mostly differ", nil
	case of == form.OfEdges && l.rows > edgeTextsMost:
		return Left, "prose of many edges", nil
	case words <= fewWords:
		return AsCategory, "", nil
	}
	return AsText, "", nil
}

// heavyTail is how many times as far from the median as the quartiles are from each other a number has to be for the tail to be heavy. Of numbers
// that are normally or exponentially distributed none of a million is, and of log-normal ones (σ = 1) three of ten thousand.
const heavyTail = 20

// heavy reports whether numbers have a heavy tail: standardised, all but a few would be the same.
func heavy(x []float64) bool {
	step := max(1, (len(x)+lookedAt-1)/lookedAt)
	var some []float64
	for i := 0; i < len(x); i += step {
		if v := x[i]; v == v && !math.IsInf(v, 0) {
			some = append(some, v)
		}
	}
	if len(some) < numbersLeast {
		return false
	}
	slices.Sort(some)
	n := len(some)
	middle, between := some[n/2], some[3*n/4]-some[n/4]
	return between > 0 && max(some[n-1]-middle, middle-some[0]) > heavyTail*between
}

// edgeTextsMost is how many edges have texts that are read unless somebody asks for those of more: features of edges are not sparse.
const edgeTextsMost = 1 << 16

// says is what was seen, for people.
func (l *look) says(col *form.Column) string {
	different := func(noun string) string {
		if l.different == 1 {
			return "1 " + noun
		} else if col.Type != form.Word && l.different == distinctMost {
			return fmt.Sprintf("%d %ss or more", l.different, noun)
		}
		return fmt.Sprintf("%d %ss", l.different, noun)
	}
	says := ""
	switch {
	case col.Type == form.Many:
		return fmt.Sprintf("%d numbers a row", col.Matrix.Cols)
	case l.looked == l.empty:
		return "nothing"
	case col.Type == form.Number && col.Truth:
		says = fmt.Sprintf("true in %.3g %%", 100*float64(l.truths)/float64(l.cells()))
	case col.Type == form.Number:
		says = different("number") + fmt.Sprintf(", %.4g to %.4g", l.least, l.most)
	case col.Type == form.Time && col.Dated:
		says = different("time") + fmt.Sprintf(", %.10s to %.10s", shownTime(l.from), shownTime(l.till))
	case col.Type == form.Time:
		says = different("number") + fmt.Sprintf(", %d to %d", l.from, l.till)
	default:
		says = different("word") + l.examples()
	}
	if share := 100 * float64(l.empty) / float64(max(1, l.looked)); l.empty > 0 {
		says += fmt.Sprintf("; %.2g %% empty", max(share, 0.01))
	}
	return says
}

// examplesWidth and exampleWidth are how wide the words that are shown are together, and how much of each is shown.
const examplesWidth, exampleWidth = 26, 16

// examples lists the commonest words.
func (l *look) examples() string {
	all := make([]string, 0, len(l.counts))
	for text := range l.counts {
		all = append(all, text)
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(l.counts[b]-l.counts[a], strings.Compare(a, b)) })
	says, width := "", 0
	for i, text := range all {
		if r := []rune(text); len(r) > exampleWidth {
			text = string(r[:exampleWidth-1]) + "…"
		}
		if width += plain.Width(text) + 2; i > 0 && width > examplesWidth {
			return says + ", …"
		}
		says += map[bool]string{true: ": ", false: ", "}[i == 0] + text
	}
	return says
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
