package datasets

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/tensor"
)

// notKnown is the value of what is not known.
var notKnown = tensor.Float(math.NaN())

// moments are the columns of a table that say when, by their names, while it is read row by
// row: they divide nodes or edges by time, whether they are features too or left out of these.
type moments struct {
	at     []int // which columns
	list   []*moment
	budget *unpack.Budget
	unit   string // what rows are called that have a number; empty: line
}

// newMoments returns what reads the columns whose names say when, of those that may.
func newMoments(columns []string, may func(i int) bool, budget *unpack.Budget) *moments {
	m := &moments{budget: budget}
	for i, c := range columns {
		name := plainColumn(c)
		if may(i) && (timely(c) || name == "year" || strings.HasSuffix(name, "_year")) {
			m.at, m.list = append(m.at, i), append(m.list, newMoment(c))
		}
	}
	return m
}

// momentTakes is what a cell takes, as it is read and as it is kept, in bytes.
const momentTakes = 24

// row takes the fields of the row that is in a line.
func (m *moments) row(f [][]byte, line int) error {
	for k, i := range m.at {
		m.list[k].add(bytes.TrimSpace(f[i]), line)
		if err := m.budget.Keep(momentTakes); err != nil {
			return err
		}
	}
	return nil
}

// of returns what reads the column i of the table, nil if it does not say when.
func (m *moments) of(i int) *moment {
	for k, at := range m.at {
		if at == i {
			return m.list[k]
		}
	}
	return nil
}

// columns returns the columns of a file.
func (m *moments) columns(path string) (out []Column) {
	if m == nil {
		return nil
	}
	for _, p := range m.list {
		c, err := p.column(m.unit)
		if err != nil {
			c.wrong = fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, c)
	}
	return out
}

// moment is a column that says when, while it is read.
type moment struct {
	name  string
	times bool // numbers may count from 1970, else they are as they stand
	cells chunkedSlice[instant]
	count [timeFormCount]int // of the cells of each form
	first [timeFormCount]struct {
		line int
		text string
	}
	made *Column // once it is asked for
	err  error
}

func newMoment(name string) *moment { return &moment{name: name, times: timely(name)} }

// add takes the next cell.
func (p *moment) add(text []byte, line int) {
	x, form := instant{n: NoTime}, noForm
	number, isNumber := exactNumber(text)
	micros, isWritten := writtenTime(text)
	switch {
	case len(text) == 0 || strings.EqualFold(string(text), "nan") || strings.EqualFold(string(text), "nat") || missingWord(string(text)):
	case isWritten:
		x, form = instant{n: micros}, written
	case isNumber && p.times:
		x, form = number, formOfNumber(number)
	case isNumber:
		x, form = number, plainNumber
	default:
		form = noTime
	}
	p.cells.add(x)
	if p.count[form]++; p.count[form] == 1 {
		p.first[form].line, p.first[form].text = line, string(text)
	}
}

// form returns the one form that all cells have whose time is known, and which other one stands
// there too: noForm if none does.
func (p *moment) form() (form, other timeForm) {
	count := p.count
	// Digits that happen to be a date are no date where most numbers of their size are none.
	for _, c := range []timeForm{compact8, compact12, compact14} {
		like := sizeOf([...]int64{compact8: 1e7, compact12: 1e11, compact14: 1e13}[c])
		if count[c] > 0 && count[c] < p.count[like] {
			count[like] += count[c]
			count[c] = 0
		}
	}
	// A column of numbers since 1970 may pass near to 1970.
	for _, c := range []timeForm{inSeconds, inMillis, inMicros, inNanos} {
		if count[c] > 0 && count[compact8]+count[compact12]+count[compact14] == 0 {
			count[plainNumber] = 0
		}
	}
	for f := written; f < timeFormCount; f++ {
		switch {
		case count[f] > 0 && form == noForm:
			form = f
		case count[f] > 0 && (other == noForm || count[f] > count[other]):
			other = f
		}
	}
	if count[form] < count[other] {
		form, other = other, form
	}
	return form, other
}

// column returns the column. The error names the first cell that does not go with the others;
// there are no times then.
func (p *moment) column(unit string) (Column, error) {
	if p.made != nil {
		return *p.made, p.err
	}
	c := &Column{Name: p.name}
	p.made = c
	form, other := p.form()
	wrong := func(f timeForm, format string, args ...any) {
		p.err = fmt.Errorf("%s %d, column %.40q: %.40q is %s%s", cmp.Or(unit, "line"), p.first[f].line, p.name, p.first[f].text, timeFormNames[f], fmt.Sprintf(format, args...))
	}
	switch {
	case other != noForm:
		wrong(other, ", and %s %d has %.40q, %s: write all times of a column in one form, such as 2024-03-01T12:30:00Z", cmp.Or(unit, "line"), p.first[form].line, p.first[form].text, timeFormNames[form])
	case form == noTime:
		wrong(form, ": times are like 2024-03-01T12:30:00Z")
	}
	if p.err != nil {
		return *c, p.err
	}
	c.Dated = form != noForm && form != plainNumber
	cells, whole := p.cells.join(), true
	for _, x := range cells {
		whole = whole && x.rest == 0
	}
	if c.Dated || whole {
		c.Times = make([]int64, len(cells))
		for i, x := range cells {
			if c.Times[i] = x.n; x.n != NoTime {
				c.Times[i] = x.micros(form)
			}
		}
		return *c, nil
	}
	c.Numbers = make([]float64, len(cells))
	for i, x := range cells {
		if c.Numbers[i] = float64(x.n) + x.rest; x.n == NoTime {
			c.Numbers[i] = math.NaN()
		}
	}
	return *c, nil
}

// features returns the column as features, nil if its numbers are such as they stand: days since
// the earliest time, and numbers beyond those that float32 holds less their least, so that
// neighbouring ones stay apart.
func (c Column) features() []tensor.Float {
	out := make([]tensor.Float, c.size())
	if c.Times == nil {
		least, most := math.Inf(1), math.Inf(-1)
		for _, v := range c.Numbers {
			least, most = min(least, v), max(most, v)
		}
		if max(-least, most) <= exactMost {
			return nil
		}
		for i, v := range c.Numbers {
			out[i] = tensor.Float(v - least)
		}
		return out
	}
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for _, t := range c.Times {
		least, most = min(least, t), max(most, t)
	}
	if !c.Dated && least >= -exactMost && most <= exactMost {
		return nil
	}
	unit := 1.0
	if c.Dated {
		unit = day
	}
	for i, t := range c.Times {
		out[i] = tensor.Float(float64(uint64(t)-uint64(least)) / unit)
	}
	return out
}

// exactMost is the largest number up to which float32 holds all whole ones.
const exactMost = 1 << 24

// rowsOf returns columns of the given rows; none, below 0, is not known.
func rowsOf(columns []Column, rows []int32) (out []Column) {
	for _, c := range columns {
		c.Times, c.Numbers = carried(c.Times, rows, NoTime), carried(c.Numbers, rows, math.NaN())
		out = append(out, c)
	}
	return out
}
