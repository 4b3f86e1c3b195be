package columns

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/internal/plain"
)

// Says returns lines for people: of each column its name, what was seen in it, what it becomes, and how another choice is asked for. They are
// aligned, and tables of several kinds have a line of their own before them. There are none if all features are matrices. A Schema that comes
// from a file has not seen anything.
func (s *Schema) Says() []string {
	if !slices.ContainsFunc(slices.Concat(s.Nodes, s.Edges), func(t Table) bool { return t.chosen() }) {
		return nil
	}
	var lines [][4]string
	title := func(of string, t *Table, several bool) {
		switch {
		case several && t.Type != "":
			of += " " + t.Type
		case len(s.Edges) == 0 || !slices.ContainsFunc(s.Edges, func(t Table) bool { return len(t.names()) > 0 }):
			return
		}
		lines = append(lines, [4]string{of + ":"})
	}
	add := func(t *Table, of form.Of) {
		for _, name := range t.names() {
			becomes, others := t.becomes(name, s.Label, of)
			flag := ""
			if others != "" {
				flag = "--column " + quoted(name) + "=" + others
			}
			lines = append(lines, [4]string{name, t.seen[name].says, becomes, flag})
		}
	}
	for i := range s.Nodes {
		if t := &s.Nodes[i]; len(t.names()) > 0 {
			title("nodes", t, len(s.Nodes) > 1)
			add(t, form.OfNodes)
		}
	}
	for i := range s.Edges {
		if t := &s.Edges[i]; len(t.names()) > 0 {
			title("edges", t, len(s.Edges) > 1)
			add(t, form.OfEdges)
		}
	}
	return aligned(lines)
}

// widest is how wide names, what was seen, and what becomes of it may be before what follows is moved.
var widest = [3]int{24, 44, 48}

// aligned puts cells under one another. A line of one cell is a title.
func aligned(lines [][4]string) (out []string) {
	var width [3]int
	for i := range lines {
		for k := range width {
			lines[i][k] = plain.Text(lines[i][k])
			if w := plain.Width(lines[i][k]); w <= widest[k] && lines[i][1]+lines[i][2] != "" {
				width[k] = max(width[k], w)
			}
		}
	}
	for _, l := range lines {
		line := l[0]
		if l[1]+l[2] != "" {
			line = ""
			for k, w := range width {
				if w > 0 {
					line += plain.Pad(l[k], w) + "  "
				}
			}
			line += plain.Text(l[3])
		}
		out = append(out, strings.TrimRight(line, " "))
	}
	return out
}

// quoted is a name as a shell reads it.
func quoted(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return strings.ContainsRune(" \t'\"\\$`&|;<>()*?[]{}#~!", r) }) {
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}

// chosen reports whether something was decided of a column's cells.
func (t *Table) chosen() bool {
	for _, s := range t.seen {
		if s.words || s.why != "" && s.why != whyEmpty {
			return true
		}
	}
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.As != AsMatrix && !c.Given })
}

// names returns the columns of a table in its order, as far as it is known.
func (t *Table) names() []string {
	names := slices.Clone(t.order)
	for i := range t.Columns {
		names = append(names, t.Columns[i].Name)
	}
	seen := map[string]bool{"": true}
	return slices.DeleteFunc(append(names, t.Title, t.Weight, t.Part), func(name string) bool {
		twice := seen[name]
		seen[name] = true
		return twice
	})
}

// becomes says what a column becomes, and what else may be asked for.
func (t *Table) becomes(name string, label *Label, of form.Of) (says, others string) {
	if i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name }); i >= 0 {
		says, others = t.Columns[i].becomes()
		switch seen := t.seen[name]; {
		case !t.Columns[i].As.number():
		case seen.few:
			others = "category|code|" + others
		case seen.truth:
			others = strings.TrimPrefix(others, "log|")
		}
		return says, others
	}
	switch {
	case label != nil && label.Of == of && slices.Contains(label.Columns, name):
		switch why, others := label.because(); {
		case label.Kind == OneClass:
			return fmt.Sprintf("what is learnt: %d classes%s", label.Count, why), others
		case label.Kind == Numbers && len(label.Columns) == 1 && label.Count == 1:
			return "what is learnt: a number" + why, others
		case label.Kind != "":
			return "what is learnt: " + string(label.Kind), ""
		}
		return "what is learnt", ""
	case name == t.Weight:
		return "the weights of edges", ""
	case name == t.Part, slices.Contains(t.Masks, name):
		return "the part of the split", ""
	case name == t.Title:
		return "what rows are called", "text"
	}
	why := t.seen[name].why
	switch {
	case why == "":
		return "left out", ""
	case t.seen[name].words:
		return "left out: " + why, "category|text"
	}
	return "left out: " + why, ""
}

// because says why one column is learnt as it is, and in what other way it may be.
func (l *Label) because() (why, others string) {
	if l.why != "" {
		why = " (" + l.why + ")"
	}
	switch {
	case l.Kind == OneClass && l.none:
		return strings.TrimSuffix(why, ")") + "; -1: not known)", string(AsNumber) + "|" + string(AsCategory)
	case l.other && l.Kind == OneClass:
		others = string(AsNumber)
	case l.other:
		others = string(AsCategory)
	}
	return why, others
}

// becomes says what the column becomes, and what else may be asked for.
func (c *Column) becomes() (says, others string) {
	empty := ""
	if c.Gaps {
		empty = ", and whether it is empty"
	}
	features := func(n int, of string) string {
		if n == 1 {
			return "1 feature" + of
		}
		return fmt.Sprintf("%d features%s", n, of)
	}
	switch c.As {
	case AsNumber:
		if says, others = "standardised"+empty, "log|plain|none"; c.Type == form.Time {
			others = "time|none"
		}
		return says, others
	case AsPlain:
		return "as it stands" + empty, "number|log|none"
	case AsLog:
		return "logarithm, standardised" + empty, "number|plain|none"
	case AsCategory:
		return features(len(c.Words), ", one a word"), "code|none"
	case AsCode:
		if c.many() {
			return fmt.Sprintf("a learnt row for each of %d whole numbers", c.wordsOf()), "none"
		}
		return fmt.Sprintf("a learnt row for each of %d words", len(c.Words)), "category|none" // of those that stand there twice
	case AsText:
		return features(len(c.Hashes), ", by its words"), "none"
	case AsMatrix:
		return features(c.Width, ", as they stand"), ""
	}
	says = "standardised"
	if c.Dated {
		says = "days, standardised"
	}
	for i, cycle := range c.Cycles {
		says += map[bool]string{true: "; cycles of ", false: ", "}[i == 0] + string(cycle)
	}
	return says + empty, map[bool]string{true: "none", false: "number|none"}[c.Dated]
}

// tellsLeast and ofEachLeast are how many rows have to train, and of each class, before a column may be said to give their classes away;
// perWord is how many have each word on average.
const tellsLeast, ofEachLeast, perWord = 20, 5, 5

// telltales returns a sentence about each column that alone says the class of all rows that train.
func (s *Schema) telltales(raw *form.Raw, nodes, edges []int, train Rows) (doubts []string) {
	l := s.Label
	if l == nil || l.Kind != OneClass || len(l.Columns) != 1 || l.Of == form.OfGraphs {
		return nil
	}
	names := make(map[string]int32, len(l.Classes))
	for i, name := range l.Classes {
		names[name] = int32(i)
	}
	own, at, rows := s.Nodes, nodes, train.Nodes
	if l.Of == form.OfEdges {
		own, at, rows = s.Edges, edges, train.Edges
	}
	owners, _ := l.owners(raw)
	for i, o := range owners {
		col := o.t.Column(l.Columns[0])
		if col == nil || col.Type == form.Many {
			continue
		}
		k, x := &known{of: map[int32]int{}}, textsOf(col)
		each(within(rows, o.at, o.t.Rows), o.t.Rows, func(row int) {
			if class, _, _ := l.class(names, x, row); class >= 0 {
				k.rows, k.classes = append(k.rows, row), append(k.classes, class)
				k.of[class]++
			}
		})
		for _, c := range own[at[i]].Columns {
			if col := o.t.Column(c.Name); col != nil && k.toldBy(&c, o.t, col) {
				doubts = append(doubts, fmt.Sprintf("column %.40q (%s) alone tells the classes apart in all %d rows looked at: if the column is known only after the answer, it gives the answer away: leave it out with --column %s=none",
					c.Name, fileOf(o.t, c.Name), len(k.rows), quoted(c.Name)))
			}
		}
	}
	return doubts
}

// known is the rows that train whose class is known, and how many have each class.
type known struct {
	rows    []int
	classes []int32
	of      map[int32]int
}

// toldBy reports whether a column tells the classes apart: each word is of one class, or each class is of numbers next to one another. Empty
// cells are a word of their own.
func (k *known) toldBy(c *Column, t *form.Table, col *form.Column) bool {
	if len(k.rows) < tellsLeast || len(k.of) < 2 {
		return false
	}
	for _, n := range k.of {
		if n < ofEachLeast {
			return false
		}
	}
	switch {
	case c.As.number() || c.As == AsTime:
		return k.told(valuesOf(col, t.Rows))
	case c.As == AsCategory || c.As == AsCode:
		x, words := textsOf(col), map[string]int32{}
		for i, row := range k.rows {
			text := ""
			if row < x.rows {
				text, _ = x.text(row)
			}
			if class, there := words[text]; there && class != k.classes[i] {
				return false
			}
			words[text] = k.classes[i]
		}
		return len(words)*perWord <= len(k.rows)
	}
	return false
}

// valuesOf returns the numbers or times of a column, negative infinity where a cell is empty.
func valuesOf(col *form.Column, rows int) func(row int) float64 {
	of := numbersOf(col, rows).of
	if col.Type == form.Time && col.Dated {
		of = func(row int) float64 {
			if col.Times[row] == form.NoTime {
				return math.NaN()
			}
			return float64(col.Times[row])
		}
	}
	return func(row int) float64 {
		if v := of(row); v == v {
			return v
		}
		return math.Inf(-1)
	}
}

// told reports whether the rows of each class stand together when they are in the order of values, and empty ones are of one class.
func (k *known) told(value func(row int) float64) bool {
	order := make([]int, len(k.rows))
	for i := range order {
		order[i] = i
	}
	of := func(i int) float64 { return value(k.rows[i]) }
	slices.SortFunc(order, func(a, b int) int {
		switch x, y := of(a), of(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	runs, classes := 0, map[int32]bool{} // of the cells that are not empty
	for i, at := range order {
		class, v := k.classes[at], of(at)
		again := i > 0 && k.classes[order[i-1]] == class
		if i > 0 && !again && of(order[i-1]) == v {
			return false
		}
		if math.IsInf(v, -1) {
			continue
		}
		if first := len(classes) == 0; first || !again {
			runs++
		}
		classes[class] = true
	}
	return runs <= len(classes)
}
