package columns

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Answers are what is to be learnt, a row each of what Of says. One of Labels, Several and Targets is set.
type Answers struct {
	Of      form.Of
	Labels  []int32       // a class a row; -1: not known
	Several *sparse.CSR   // the classes of each row; NaN: not known
	Targets *tensor.Dense // numbers of each row; NaN: not known
	Classes int           // of Labels and Several
	Names   []string      // of the classes, or of the columns of Targets; nil: they have none
}

// owner is a table of rows that are learnt from, and where its rows begin among those of all such tables.
type owner struct {
	t  *form.Table
	at int
}

// owners returns the tables whose rows are learnt from, and how many rows they have.
func (l *Label) owners(raw *form.Raw) (all []owner, n int) {
	tables(raw, func(t *form.Table, of form.Of) {
		if of == l.Of {
			all = append(all, owner{t, n})
			n += t.Rows
		}
	})
	return all, n
}

// Unlabelled returns the rows of what is learnt from that say nothing of what is to be learnt, and so can neither validate nor
// test: they are only seen beside others. The Schema need not be fitted.
func (s *Schema) Unlabelled(raw *form.Raw) (rows []int32) {
	if s.Label == nil {
		return nil
	}
	owners, _ := s.Label.owners(raw)
	for _, o := range owners {
		said := make([]bool, o.t.Rows)
		for _, name := range s.Label.Columns {
			col := o.t.Column(name)
			switch {
			case col == nil:
			case col.Type == form.Many:
				for row := range said {
					said[row] = true
				}
			default:
				x := textsOf(col)
				for row := range min(x.rows, len(said)) {
					_, ok := x.text(row)
					said[row] = said[row] || ok
				}
			}
		}
		for row, ok := range said {
			if !ok {
				rows = append(rows, int32(o.at+row))
			}
		}
	}
	return rows
}

// one returns the column that is learnt of a table, if it is a single one; nil if it is not there.
func (l *Label) one(t *form.Table) *form.Column {
	if len(l.Columns) != 1 {
		return nil
	}
	return t.Column(l.Columns[0])
}

// fitLabel finds out what is to be learnt: classes or numbers.
func (s *Schema) fitLabel(raw *form.Raw) error {
	l := s.Label
	own := Label{Of: l.Of, Columns: l.Columns, As: l.As}
	tables, n := own.owners(raw)
	var err error
	switch {
	case len(own.Columns) > 1:
		err = own.fitSeveral(tables)
	default:
		err = own.fitOne(tables, n)
	}
	if err != nil {
		file := "the data"
		if len(tables) > 0 {
			file = where(tables[0].t)
		}
		return fmt.Errorf("%s: %w", file, err)
	}
	*l = own
	return nil
}

// fitOne is fitLabel of a single column.
func (l *Label) fitOne(tables []owner, n int) error {
	cells := labelCells{}
	for _, o := range tables {
		col := l.one(o.t)
		if col == nil {
			continue
		}
		if col.Type == form.Many {
			return l.fitMatrix(col)
		}
		if w := col.Words; col.Type == form.Word && w.Ordered && l.As != AsNumber {
			l.Kind, l.Classes, l.Count = OneClass, slices.Clone(w.Texts), len(w.Texts)
			return nil
		}
		cells.add(col, o.t.Rows)
		if col.Role == form.AsTarget && l.As != AsCategory {
			l.Kind, l.Count = Numbers, 1
			if cells.words {
				return fmt.Errorf("column %.40q: %.40q is no number to be learnt", col.Name, cells.word)
			}
			return nil
		}
		cells.classes = max(cells.classes, col.Classes)
	}
	if err := cells.decide(l, n); err != nil {
		return fmt.Errorf("column %.40q: %w", l.Columns[0], err)
	}
	return nil
}

// fitMatrix is fitLabel of several numbers a row: labels that are there or not if all are 0 and 1.
func (l *Label) fitMatrix(col *form.Column) error {
	m := col.Matrix
	if l.As == AsCategory {
		return fmt.Errorf("column %.40q: it has %d numbers a row, which are no class: leave %s=%s out", col.Name, m.Cols, col.Name, l.As)
	}
	l.Kind, l.Count, l.Classes = Numbers, m.Cols, slices.Clone(m.Names)
	if col.Role == form.AsTarget {
		return nil
	}
	known := m.Offsets != nil && m.Cols > 0 && m.Rows > 0
	for i, v := range m.Values {
		if v == v {
			known = true
			if v != 0 && v != 1 && col.Role == form.AsLabel {
				return fmt.Errorf("column %.40q: element %d is %v, want 0 or 1, or NaN for what is not known", col.Name, i, v)
			}
		}
	}
	if !known {
		return errors.New("nothing is known of what is to be learnt: all numbers are missing")
	}
	l.Kind = Labels
	return nil
}

// fitSeveral is fitLabel of several columns of numbers.
func (l *Label) fitSeveral(tables []owner) error {
	known, binary := 0, l.As != AsNumber
	if l.As == AsCategory {
		return fmt.Errorf("the columns %s are learnt together, as numbers or as labels that are 0 or 1: leave =%s out, or learn one column alone", listed(l.Columns), l.As)
	}
	for _, o := range tables {
		for _, name := range l.Columns {
			col := o.t.Column(name)
			if col == nil {
				continue
			}
			x, err := answersOf(o.t, col)
			if err != nil {
				return err
			}
			each(nil, o.t.Rows, func(row int) {
				if v := x.of(row); v == v {
					known++
					binary = binary && (v == 0 || v == 1)
				}
			})
		}
	}
	if known == 0 {
		return fmt.Errorf("nothing stands in the columns %s, which are to be learnt", listed(l.Columns))
	}
	l.Kind, l.Count, l.Classes = Numbers, len(l.Columns), slices.Clone(l.Columns)
	if binary {
		l.Kind = Labels
	}
	return nil
}

// answersOf returns the numbers of one of several columns that are to be learnt.
func answersOf(t *form.Table, col *form.Column) (numbers, error) {
	if col.Type == form.Word || col.Type == form.Many || col.Type == form.Time && col.Dated {
		row, text := firstNot(col, AsNumber)
		return numbers{}, fmt.Errorf("%s, column %.40q: %.40q is not a number: if several columns are to be learnt, all of their cells must be numbers or empty", lineOf(t, col.Name, row), col.Name, text)
	}
	x := numbersOf(col, t.Rows)
	for row := range t.Rows {
		if v := x.of(row); math.IsInf(float64(tensor.Float(v)), 0) {
			return x, fmt.Errorf("%s, column %.40q: %v is not a finite number", lineOf(t, col.Name, row), col.Name, v)
		}
	}
	return x, nil
}

// labelCells are the cells of the one column that is learnt, while it is found out what they are.
type labelCells struct {
	seen     map[float64]int // how many cells have each number
	texts    map[string]bool
	labelled int
	cells    int    // that are not empty
	words    bool   // some cells are words
	word     string // the first of them
	classes  int    // how many the form says there are, whose numbers are the cells; 0: it does not say so
	gone     int    // cells such as NA
	name     string // of the column, plain
}

// labelText returns the text of a cell of a column of words, as it stands but for true and false.
func labelText(col *form.Column, row int) string {
	text := strings.TrimSpace(col.Words.At(row))
	if strings.EqualFold(text, "true") || strings.EqualFold(text, "false") {
		return strings.ToLower(text)
	}
	return text
}

// add takes the cells of a column.
func (c *labelCells) add(col *form.Column, n int) {
	if c.seen == nil {
		c.seen, c.texts, c.name = map[float64]int{}, map[string]bool{}, form.Plain(col.Name)
	}
	number := func(v float64) {
		if v == v {
			c.seen[v]++
			c.labelled++
		}
	}
	x := textsOf(col)
	each(nil, n, func(row int) {
		switch {
		case col.Type == form.Word:
			text := labelText(col, row)
			v, err := strconv.ParseFloat(text, 64)
			switch {
			case text == "":
				return
			case missingWord(text):
				c.gone++
			case err == nil:
				number(v)
			default:
				if c.words = true; c.word == "" {
					c.word = text
				}
			}
			c.cells++
			c.texts[text] = true
		case col.Type == form.Number && col.Truth, col.Type == form.Time && col.Dated:
			if text, ok := x.text(row); ok {
				c.words, c.word = true, text
				c.cells++
				c.texts[text] = true
			}
		case col.Type == form.Number:
			number(col.Numbers[row])
		case col.Type == form.Time && col.Times[row] != form.NoTime:
			number(float64(col.Times[row]))
		}
	})
}

// decide says what is learnt of n cells. Words are classes in their order. Whole numbers may be classes, whose own numbers they are if they
// leave no gaps from 0, and which are called by them otherwise; other numbers are to be predicted as such.
func (c *labelCells) decide(l *Label, n int) error {
	if c.words || c.gone > 0 && c.labelled == 0 {
		if l.As == AsNumber {
			return fmt.Errorf("%.40q is no number to be learnt: words are learnt as classes, so leave %s=%s out", c.word, l.Columns[0], l.As)
		}
		for text := range c.texts {
			l.Classes = append(l.Classes, text)
		}
		slices.Sort(l.Classes)
		l.Kind, l.Count, l.why = OneClass, len(l.Classes), "words"
		return notNames(l.Count, c.cells)
	}
	c.unlabelled(l)
	sorted := make([]float64, 0, len(c.seen))
	for v := range c.seen {
		sorted = append(sorted, v)
	}
	slices.Sort(sorted)
	if c.classes > 0 && l.As != AsNumber {
		return c.decideNumbered(l, sorted, n)
	}
	classes := c.areClasses(l, sorted)
	if !classes {
		l.Kind, l.Count = Numbers, 1
		return nil
	}
	gaps := false
	for i, v := range sorted {
		gaps = gaps || v != float64(i)
	}
	l.Kind, l.Count = OneClass, len(sorted)
	if gaps {
		for _, v := range sorted {
			l.Classes = append(l.Classes, strconv.FormatFloat(v, 'f', -1, 64))
		}
	}
	return nil
}

// unlabelled takes −1 for a row of which nothing is known, as files of classes have it; but where the only numbers are −1 and 1, or others are below
// it, or classes are asked for, it is one of them. Of what is learnt as a number it always is.
func (c *labelCells) unlabelled(l *Label) {
	_, one := c.seen[1]
	if l.As != "" || len(c.seen) == 2 && one {
		return
	}
	for v := range c.seen {
		if v < -1 || v != math.Trunc(v) {
			return
		}
	}
	if n := c.seen[-1]; n > 0 {
		c.labelled, l.none = c.labelled-n, true
		delete(c.seen, -1)
	}
}

// The limits by which whole numbers are classes.
const (
	fewNumbers   = 10 // so many different ones are classes: grades, ratings, yes and no
	codesMost    = 64 // so many may be numbers of classes, whatever the column is called
	codesRarest  = 10 // on so many rows each of these stands, at least
	classesClose = 5  // and of this many numbers from 0 or 1 on one at most is missing
)

// codeNames are words in the names of columns whose numbers are names.
var codeNames = []string{"class", "category", "type", "kind", "group", "code", "zip", "zipcode", "postcode", "postal", "plz", "zone", "region", "district", "sector", "cluster", "topic", "species", "id"}

// areClasses decides whether numbers, ascending, are classes, and notes why. Ratings from 1 to 5 are, since they are few. Of more, codes
// are numbered from 0 or 1 on, with hardly a gap, and each has some rows. Ages and years do not begin there. Prices have gaps. Counts
// begin there, but the largest have few rows each. Zip codes look like prices: the column's name tells them apart.
func (c *labelCells) areClasses(l *Label, sorted []float64) bool {
	say := func(why string, classes bool) bool {
		l.why, l.other = why, true
		return classes
	}
	k, rarest := len(sorted), math.MaxInt
	for _, v := range sorted {
		if v != math.Trunc(v) && l.As != AsCategory {
			l.why = "fractions"
			return false
		}
		rarest = min(rarest, c.seen[v])
	}
	if l.As != "" {
		return say("asked for", l.As == AsCategory)
	}
	if notNames(k, c.labelled) != nil {
		l.why = "numbers that mostly differ"
		return false
	}
	numbered := k > 0 && (sorted[0] == 0 || sorted[0] == 1) && (classesClose-1)*(sorted[k-1]-sorted[0]+1) <= float64(classesClose*k)
	switch code := slices.ContainsFunc(strings.FieldsFunc(c.name, notLetter), func(word string) bool { return slices.Contains(codeNames, word) }); {
	case k <= fewNumbers:
		return say("few numbers", true)
	case code:
		return say("named like codes", true)
	case numbered && (slices.Contains(form.LabelNames, c.name) || k <= codesMost && rarest >= codesRarest):
		return say("numbered like classes", true)
	}
	return say("many numbers", false)
}

// notLetter reports whether a rune parts the words of a name.
func notLetter(r rune) bool { return !unicode.IsLetter(r) }

// decideNumbered is decide where the form says that each class has the number that stands there.
func (c *labelCells) decideNumbered(l *Label, sorted []float64, n int) error {
	for _, v := range sorted {
		if v < 0 || v != math.Trunc(v) || v >= float64(c.classes) {
			return fmt.Errorf("there is a label %v; classes are 0 to %d, and -1 is none", v, c.classes-1)
		}
	}
	// As many classes as rows are more than any data has, and class counts are allocated by their number.
	if c.classes > n {
		return fmt.Errorf("the largest label is %d, of %d %ss; classes are numbered from 0 without gaps", c.classes-1, n, l.Of)
	}
	l.Kind, l.Count, l.why = OneClass, c.classes, "numbered"
	return nil
}

// notNames returns an error if so many classes are names rather.
func notNames(classes, labelled int) error {
	const many = 100
	if classes > many && 2*classes > labelled {
		return fmt.Errorf("%d different labels of %d nodes are no classes: leave the column out, or call it name", classes, labelled)
	}
	return nil
}

// missingWord reports whether a text is what programs write where a number is not known.
func missingWord(text string) bool {
	switch strings.ToLower(text) {
	case "na", "n/a", "<na>", "null", "none", "nil":
		return true
	}
	return false
}

// answers reads what is to be learnt, as far as it is there.
func (a *applier) answers() error {
	l := a.s.Label
	if l == nil {
		return nil
	}
	tables, n := l.owners(a.raw)
	out := &Answers{Of: l.Of, Classes: l.Count, Names: l.Classes}
	if l.Kind == Numbers {
		out.Classes = 0
	}
	there := false
	for _, o := range tables { // before room is made for what the Schema says
		for _, name := range l.Columns {
			if col := o.t.Column(name); col != nil && l.Kind != OneClass && col.Type != form.Many && l.Count != len(l.Columns) {
				return fmt.Errorf("%s: the column %.40q has one value a row, and the model learnt %d of each", where(o.t), col.Name, l.Count)
			} else if col != nil {
				there = true
				if err := l.width(o.t, col); err != nil {
					return err
				}
			}
		}
	}
	if !there {
		return nil
	}
	x := (*tensor.Dense)(nil)
	if l.Kind == OneClass {
		out.Labels = make([]int32, n)
		for i := range out.Labels {
			out.Labels[i] = -1
		}
	} else {
		x = tensor.New(n, l.Count)
		x.Fill(notKnown)
	}
	for _, o := range tables {
		for j, name := range l.Columns {
			col := o.t.Column(name)
			if col == nil {
				continue
			}
			var err error
			switch {
			case l.Kind == OneClass:
				err = a.classes(out.Labels[o.at:o.at+o.t.Rows], o.t, col)
			case col.Type == form.Many:
				l.several(x, o, col)
			default:
				err = l.numbers(x, j, o, col)
			}
			if err != nil {
				return err
			}
		}
	}
	switch l.Kind {
	case Labels:
		out.Several = sparse.FromDense(x)
	case Numbers:
		out.Targets = x
	}
	a.out.Answers = out
	return nil
}

// several copies the rows of a matrix to those of its table.
func (l *Label) several(x *tensor.Dense, o owner, col *form.Column) {
	m := col.Matrix.Array()
	if s, ok := m.(*sparse.CSR); ok {
		m = s.Dense()
	}
	copy(x.Data[o.at*l.Count:], m.(*tensor.Dense).Data)
}

// width returns an error if a column has not as many numbers a row as are learnt.
func (l *Label) width(t *form.Table, col *form.Column) error {
	if col.Type != form.Many || l.Kind != OneClass && col.Matrix.Cols == l.Count && len(l.Columns) == 1 {
		return nil
	}
	return fmt.Errorf("%s: the column %.40q has %d numbers a row, and the model learnt %s of each", where(t), col.Name, col.Matrix.Cols, map[bool]string{true: "one class", false: fmt.Sprint(l.Count)}[l.Kind == OneClass])
}

// numbers copies a column of numbers to column j of what is learnt.
func (l *Label) numbers(x *tensor.Dense, j int, o owner, col *form.Column) error {
	if col.Type == form.Word && col.Mixed == nil && len(l.Columns) > 1 {
		_, err := answersOf(o.t, col)
		return err
	}
	of := numbersOf(col, o.t.Rows).of
	if col.Type == form.Word { // NA among numbers is not known
		of = func(row int) float64 {
			v, err := strconv.ParseFloat(labelText(col, row), 64)
			if err != nil {
				return math.NaN()
			}
			return v
		}
	}
	for row := range o.t.Rows {
		v := tensor.Float(of(row))
		if math.IsInf(float64(v), 0) {
			return fmt.Errorf("%s, column %.40q: %v is no number to be learnt; an empty cell is one that is not known", o.t.At(col, row), col.Name, of(row))
		}
		if l.Kind == Labels && v == v && v != 0 && v != 1 {
			return fmt.Errorf("%s, column %.40q: %v is neither 0 nor 1, and the model learnt whether a row has the label %.40q", o.t.At(col, row), col.Name, v, col.Name)
		}
		x.Data[(o.at+row)*l.Count+j] = v
	}
	return nil
}

// classes reads the class of each row.
func (a *applier) classes(labels []int32, t *form.Table, col *form.Column) error {
	l := a.s.Label
	of := make(map[string]int32, len(l.Classes))
	for i, name := range l.Classes {
		of[name] = int32(i)
	}
	unknown, first, text := 0, 0, ""
	x := textsOf(col)
	if w := col.Words; col.Type == form.Word && w.Ordered && w.Codes != nil && slices.Equal(w.Texts, l.Classes) {
		copy(labels, w.Codes)
		return nil
	}
	for row := range labels {
		class, says, none := l.class(of, x, row)
		if labels[row] = class; class < 0 && !none {
			if unknown++; unknown == 1 {
				first, text = row, says
			}
		}
	}
	if unknown > 0 {
		a.warn("%s of column %.40q (%s) %s no class of the model's %d, such as %.40q in %s: %s as not known", counted(unknown, "cell"), col.Name, fileOf(t, col.Name), isOrAre(unknown), l.Count, text, lineOf(t, col.Name, first), map[bool]string{true: "it counts", false: "they count"}[unknown == 1])
	}
	return nil
}

// class returns the class of a row, and what stands there. None says that it has none.
func (l *Label) class(of map[string]int32, x texts, row int) (class int32, says string, none bool) {
	if row >= x.rows {
		return -1, "", true
	}
	if x.col.Type == form.Word && x.col.Words.Ordered && x.col.Words.Codes != nil {
		if x.col.Words.Codes[row] < 0 {
			return -1, "", true
		}
	}
	if x.col.Type == form.Word {
		says = labelText(x.col, row)
	} else if text, ok := x.text(row); ok {
		says = text
	}
	if says == "" {
		return -1, "", true
	}
	if k, ok := of[says]; ok {
		return k, says, false
	}
	v, err := strconv.ParseFloat(says, 64)
	if err != nil {
		return -1, says, missingWord(says)
	}
	if k, ok := of[strconv.FormatFloat(v, 'f', -1, 64)]; ok {
		return k, says, false
	}
	if len(l.Classes) == 0 && v == math.Trunc(v) && v >= 0 && v < float64(l.Count) {
		return int32(v), says, false
	}
	return -1, says, v != v || v == -1
}
