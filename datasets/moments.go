package datasets

import (
	"bytes"
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
	list   []moment
	budget *unpack.Budget
}

// moment is a column while it is read.
type moment struct {
	name           string
	values         chunkedSlice[tensor.Float]
	times, numbers int // cells of these
}

// newMoments returns what reads the columns whose names say when, of those that may.
func newMoments(columns []string, may func(i int) bool, budget *unpack.Budget) *moments {
	m := &moments{budget: budget}
	for i, c := range columns {
		name := plainColumn(c)
		if may(i) && (timely(c) || name == "year" || strings.HasSuffix(name, "_year")) {
			m.at, m.list = append(m.at, i), append(m.list, moment{name: c})
		}
	}
	return m
}

// row takes the fields of a row: times are days since 1970, numbers are themselves, and what is
// neither is not known.
func (m *moments) row(f [][]byte) error {
	for k, i := range m.at {
		p, text, v := &m.list[k], bytes.TrimSpace(f[i]), notKnown
		if at, ok := timeOf(text, p.name); ok {
			v, p.times = tensor.Float(at/day), p.times+1
		} else if x, ok := numberOf(text); ok && tensor.Float(x)-tensor.Float(x) == 0 {
			v, p.numbers = tensor.Float(x), p.numbers+1
		}
		p.values.add(v)
		if err := m.budget.Keep(8); err != nil {
			return err
		}
	}
	return nil
}

// columns returns those that are of times, or of numbers.
func (m *moments) columns() (out []Column) {
	if m == nil {
		return nil
	}
	for k := range m.list {
		p := &m.list[k]
		if (p.times > 0) != (p.numbers > 0) {
			x := p.values.join()
			out = append(out, Column{Name: p.name, Values: tensor.Of(x, len(x), 1), Days: p.times > 0})
		}
	}
	return out
}

// rowsOf returns columns of the given rows; none, below 0, is not known.
func rowsOf(columns []Column, rows []int32) (out []Column) {
	for _, c := range columns {
		out = append(out, Column{c.Name, carriedRows(c.Values, rows, notKnown), c.Days})
	}
	return out
}
