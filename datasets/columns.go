package datasets

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// columns are those of a table that become features, while they are read row by row. One
// of numbers is a feature. One of words becomes a feature for each word, in their order,
// which is 1 where that word stands. Times become days since the earliest of the column, and
// numbers that say when are as [Column.features] has them.
type columns struct {
	list   []tableColumn
	cols   chunkedSlice[int32] // of a number its column; of a word the column's complement
	values chunkedSlice[tensor.Float]
	ends   []int64 // of the rows
	first  []int32 // the feature that each column begins with, once some are of words
	budget *unpack.Budget
	unit   string // what rows are called that have a number; empty: line
}

// tableColumn is a column while it is read.
type tableColumn struct {
	name  string
	when  *moment          // what its times are read by; nil: it has none
	named bool             // its name says when: its rows are when's, too
	exact []tensor.Float   // what it is of when, instead of its values; nil: these
	at    [kinds]int       // the line of the first cell of each kind, 0: there is none
	from  int              // the row of the first that is a word or empty: before it zeros are not stored, from there on they are
	nan   bool             // the first that is empty is a nan
	plain bool             // numbers and times are words, too
	words map[string]int32 // the number of each
	texts []string         // of these numbers
}

// The kinds of cells.
const (
	aNumber = iota
	aTime
	aWord
	anEmpty
	kinds
)

// wordsMost is how many different words a column may have.
const wordsMost = 100

// columnTakes is what a column takes while a table is read, in bytes.
const columnTakes = 200

func newColumns(names []string, budget *unpack.Budget) (*columns, error) {
	if err := budget.Keep(columnTakes * len(names)); err != nil {
		return nil, err
	}
	c := &columns{ends: []int64{0}, budget: budget, list: make([]tableColumn, len(names))}
	for i, name := range names {
		c.list[i].name = name
	}
	return c, nil
}

func (c *columns) rows() int { return len(c.ends) - 1 }

// cell takes the cell of column i of a row, in the order of the columns.
func (c *columns) cell(i int, text []byte, line int) error {
	p := &c.list[i]
	add := func(kind int, col int32, v tensor.Float) error {
		if kind >= aWord && p.at[aWord]+p.at[anEmpty] == 0 {
			p.from = c.rows()
		}
		if p.at[kind] == 0 {
			p.at[kind] = line
		}
		if kind == anEmpty || kind != aWord && v == 0 && p.at[aWord]+p.at[anEmpty] == 0 {
			return nil
		}
		c.cols.add(col)
		c.values.add(v)
		return c.budget.Keep(wordTakes)
	}
	text = bytes.TrimSpace(text)
	if nan := len(text) == 3 && strings.EqualFold(string(text), "nan"); nan || len(text) == 0 {
		p.nan = nan && p.at[anEmpty] == 0 || p.nan
		return add(anEmpty, 0, 0)
	}
	if p.plain {
		return p.word(c, text, add, i)
	}
	if _, ok := writtenTime(text); ok {
		if p.when == nil {
			p.when = newMoment(p.name)
		}
		if !p.named { // a cell before it that is no time is an error, so that rows agree
			p.when.add(text, line)
		}
		return cmp.Or(c.budget.Keep(momentTakes), add(aTime, int32(i), 0))
	}
	if v, ok := numberOf(text); ok {
		if f := tensor.Float(v); f-f != 0 {
			return fmt.Errorf("%.40q is no finite number, as features are", text)
		}
		return add(aNumber, int32(i), tensor.Float(v))
	}
	return p.word(c, text, add, i)
}

// word takes the cell of column i that is a word.
func (p *tableColumn) word(c *columns, text []byte, add func(kind int, col int32, v tensor.Float) error, i int) error {
	k, known := p.words[string(text)]
	if !known {
		if k = int32(len(p.texts)); k == wordsMost {
			return p.tooMany(string(text))
		}
		if err := c.budget.Keep(nameTakes + len(text)); err != nil {
			return err
		}
		if p.words == nil {
			p.words = map[string]int32{}
		}
		p.words[string(text)], p.texts = k, append(p.texts, string(text))
	}
	return add(aWord, ^int32(i), tensor.Float(k))
}

func (p *tableColumn) tooMany(last string) error {
	if isDressed(last) {
		return fmt.Errorf(dressedAs(last), last, p.name)
	}
	return fmt.Errorf("%.40q is one more word than the %d that may have a feature each: group them, leave the column out with #-%s after the file's name, or call it name", last, wordsMost, p.name)
}

// endRow ends a row.
func (c *columns) endRow() { c.ends = append(c.ends, int64(c.cols.n)) }

// numberOf returns the number that a text is, of which true is 1.
func numberOf(text []byte) (float64, bool) {
	switch len(text) {
	case 4:
		if strings.EqualFold(string(text), "true") {
			return 1, true
		}
	case 5:
		if strings.EqualFold(string(text), "false") {
			return 0, true
		}
	}
	v, err := strconv.ParseFloat(string(text), 64)
	return v, err == nil || math.IsInf(v, 0)
}

// matrix returns the features, nil if there are none. The columns are used up.
func (c *columns) matrix() (*sparse.CSR, error) {
	plain := true
	for i := range c.list {
		p := &c.list[i]
		if err := cmp.Or(p.dated(c.unit), p.check(cmp.Or(c.unit, "line"))); err != nil {
			return nil, err
		}
		plain = plain && p.at[aNumber] > 0 && p.at[aWord]+p.at[aTime] == 0 && p.exact == nil
	}
	if len(c.list) == 0 {
		return nil, nil
	}
	if plain {
		return sparse.New(c.rows(), len(c.list), c.ends, c.cols.join(), c.values.join())
	}
	return c.spread()
}

// check returns an error if the cells of a column do not go together.
func (p *tableColumn) check(unit string) error {
	wrong := func(line int, format string, args ...any) error {
		return fmt.Errorf("%s %d, column %.40q: %w", unit, line, p.name, fmt.Errorf(format, args...))
	}
	times, others := p.at[aTime], max(p.at[aNumber], p.at[aWord])
	switch {
	case p.at[aNumber] > 0 && len(p.texts) > 0 && !p.plain && !slices.ContainsFunc(p.texts, func(text string) bool { return !missingWord(text) }):
		return wrong(p.at[aWord], "%q stands among numbers, and features are finite numbers: fill it, with 0 perhaps, or leave the column out with #-%s after the file's name", p.texts[0], p.name)
	case len(p.texts) > 0 && !p.plain && !slices.ContainsFunc(p.texts, func(text string) bool { return !isDressed(text) && !missingWord(text) }):
		return wrong(p.at[aWord], dressedAs(p.texts[0]), p.texts[0], p.name)
	case times > 0 && others > 0:
		return wrong(others, "it is no time, and %s %d has one: times are like 2024-03-01T12:30:00Z", unit, times)
	case p.at[anEmpty] > 0 && p.at[aWord] == 0 && times+others > 0:
		what := "empty"
		if p.nan {
			what = "no number"
		}
		remedy, also := "fill it, with 0 perhaps, or leave the column out", ""
		if p.named {
			remedy, also = "fill it, or leave the column out of the features", ", which keeps it for splits by time"
		}
		return wrong(p.at[anEmpty], "it is %s, and features are finite numbers: %s with #-%s after the file's name%s", what, remedy, p.name, also)
	}
	return nil
}

// says makes a column one that says when, unless m is nil.
func (p *tableColumn) says(m *moment) { p.when, p.named = m, m != nil }

// dated makes features of what a column says when. Where words stand, these are features.
func (p *tableColumn) dated(unit string) error {
	if p.when == nil || p.plain || p.at[aWord]+p.at[anEmpty] > 0 || p.at[aNumber]+p.at[aTime] == 0 || p.when.count[noTime] > 0 {
		return nil
	}
	c, err := p.when.column(unit)
	if err != nil {
		return err
	}
	p.exact = c.features()
	return nil
}

// dressed are numbers as people write them: 50%, 1,041, 3,5 or $20. As words they would be a
// feature each.
var dressed = regexp.MustCompile(`^[+-]?[$€£]? ?(\d{1,3}([ ,'’]\d{3})+(\.\d+)?|\d+([.,]\d+)?) ?[%‰$€£]?$`)

func isDressed(text string) bool {
	_, bare := numberOf([]byte(text))
	return !bare && (dressed.MatchString(text) || dressedDate.MatchString(text))
}

// dressedDate are dates as people write them: 05/19/2024 or 19.5.2024 12:30.
var dressedDate = regexp.MustCompile(`^\d{1,2}([./-])\d{1,2}([./-])[12]\d{3}([ T,]+\d{1,2}:\d{2}.*)?$`)

// dressedAs returns what is wrong with the texts of a column that are all numbers, or all dates, as
// people write them, of which the first is given.
func dressedAs(first string) string {
	if dressedDate.MatchString(first) {
		return "%.40q is a date written for people: write it as 2024-05-19, or leave the column out with #-%s after the file's name"
	}
	return dressedSays
}

const dressedSays = "%.40q is a number written for people: write digits and a dot alone, as 1041.5, or leave the column out with #-%s after the file's name"

// called returns the names of the features that matrix made of the columns: a column's own, and of
// words column=word.
func (c *columns) called(width int) ([]string, error) {
	if err := c.budget.Keep(nameTakes * width); err != nil {
		return nil, err
	}
	names := make([]string, 0, width)
	for i := range c.list {
		p := &c.list[i]
		if p.at[aWord] == 0 {
			if c.first == nil || p.at[aNumber]+p.at[aTime] > 0 {
				names = append(names, p.name)
			}
			continue
		}
		texts := slices.Clone(p.texts)
		for j, place := range placesOf(p.texts) {
			texts[place] = p.name + "=" + p.texts[j]
		}
		names = append(names, texts...)
	}
	return names, nil
}

// missingWord reports whether a text is what programs write where a number is not known.
func missingWord(text string) bool {
	switch strings.ToLower(text) {
	case "na", "n/a", "<na>", "null", "none", "nil":
		return true
	}
	return false
}

// spread is matrix where some columns are of words or of what says when.
func (c *columns) spread() (*sparse.CSR, error) {
	cols, values := c.cols.join(), c.values.join()
	if err := c.budget.Keep(8 * (len(cols) + c.rows()*c.special())); err != nil {
		return nil, err
	}
	if err := c.numbersAmongWords(cols, values); err != nil {
		return nil, err
	}
	first, places, width := make([]int32, len(c.list)), make([][]int32, len(c.list)), int32(0)
	for i := range c.list {
		p := &c.list[i]
		first[i] = width
		switch {
		case p.at[aWord] > 0:
			places[i] = placesOf(p.texts)
			width += int32(len(p.texts))
		case p.at[aNumber]+p.at[aTime] > 0:
			width++
		}
	}
	c.first = first
	if width == 0 {
		return nil, nil
	}
	outCols, outValues := make([]int32, 0, len(cols)), make([]tensor.Float, 0, len(cols))
	ends, next := make([]int64, 1, len(c.ends)), 0
	for row, end := range c.ends[1:] {
		for i := range c.list {
			p := &c.list[i]
			v, word, there := tensor.Float(0), false, row < p.from || p.at[aWord] == 0
			if next < int(end) && (cols[next] == int32(i) || cols[next] == ^int32(i)) {
				v, word, there = values[next], cols[next] < 0, true
				next++
			}
			col := first[i]
			switch {
			case !there:
			case word:
				col, v = col+places[i][int(v)], 1
			case p.at[aWord] > 0:
				col, v = col+places[i][p.words[textOf(v)]], 1
			case p.exact != nil:
				v = p.exact[row]
			}
			if v != 0 {
				outCols, outValues = append(outCols, col), append(outValues, v)
			}
		}
		ends = append(ends, int64(len(outCols)))
	}
	return sparse.New(c.rows(), int(width), ends, outCols, outValues)
}

// special returns how many columns are not of numbers alone.
func (c *columns) special() (n int) {
	for i := range c.list {
		n += btoi(c.list[i].at[aWord]+c.list[i].at[aTime] > 0 || c.list[i].exact != nil)
	}
	return n
}

// numbersAmongWords makes words of the numbers in columns of words.
func (c *columns) numbersAmongWords(cols []int32, values []tensor.Float) error {
	add := func(p *tableColumn, v tensor.Float) error {
		text := textOf(v)
		if _, known := p.words[text]; known {
			return nil
		}
		if len(p.texts) == wordsMost {
			return fmt.Errorf("%s %d, column %.40q: %w", cmp.Or(c.unit, "line"), p.at[aWord], p.name, p.tooMany(text))
		}
		p.words[text], p.texts = int32(len(p.texts)), append(p.texts, text)
		return nil
	}
	before := make([]int, len(c.list)) // cells that are stored of the rows before p.from
	row := 0
	for k, i := range cols {
		for k >= int(c.ends[row+1]) {
			row++
		}
		p := &c.list[max(i, ^i)]
		before[max(i, ^i)] += btoi(row < p.from)
		if i >= 0 && p.at[aWord] > 0 {
			if err := add(p, values[k]); err != nil {
				return err
			}
		}
	}
	for i, n := range before {
		if p := &c.list[i]; n < p.from && p.at[aWord] > 0 { // others are zero
			if err := add(p, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

func textOf(v tensor.Float) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) }

// placesOf returns the place of each text in their order.
func placesOf(texts []string) []int32 {
	order := span(0, len(texts))
	slices.SortFunc(order, func(a, b int32) int { return strings.Compare(texts[a], texts[b]) })
	place := make([]int32, len(texts))
	for i, k := range order {
		place[k] = int32(i)
	}
	return place
}
