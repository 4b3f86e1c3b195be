package cells

import (
	"cmp"
	"fmt"
	"strings"
)

// Table is the columns of a text.
type Table struct {
	Rows    int
	Columns []Column
	Origin  Origin
}

// Type says which of a Column's fields holds its cells.
type Type string

// The types of columns.
const (
	Empty  Type = "empty"
	Number Type = "number"
	Time   Type = "time"
	Word   Type = "word"
)

// Column is a cell for each row.
type Column struct {
	Name string
	Type Type

	Numbers []float64 // NaN: the cell is empty
	Truth   bool      // all Numbers were written as true and false
	Times   []int64   // microseconds since 1970 in UTC if Dated, or else whole numbers such as years; NoTime: the cell is empty
	Dated   bool
	Words   *Words
	Mixed   error // why the cells of a Word column do not go together
}

// NoTime stands in Times where a cell is empty.
const NoTime = -1 << 63

// Words are texts: those that are repeated once each, or, without Codes, one a row.
type Words struct {
	Texts []string
	Codes []int32 // of each row the number of its text, -1 where the cell is empty
}

// At returns the text of a row, "" where the cell is empty.
func (w *Words) At(row int) string {
	if w.Codes == nil {
		return w.Texts[row]
	}
	if c := w.Codes[row]; c >= 0 {
		return w.Texts[c]
	}
	return ""
}

// Origin says where the rows of a table come from.
type Origin struct {
	File  string
	Unit  string  // what a row is called; empty: line
	First int     // the number of the first row
	Lines []int32 // the number of each row, where they do not simply ascend from First
}

// At names a row for an error, such as "shop_nodes.csv: line 17".
func (o *Origin) At(row int) string {
	if o.File == "" {
		return o.Row(row)
	}
	return o.File + ": " + o.Row(row)
}

// Row is At without the file.
func (o *Origin) Row(row int) string {
	return fmt.Sprintf("%s %d", cmp.Or(o.Unit, "line"), o.Line(row))
}

// Line returns the number of a row.
func (o *Origin) Line(row int) int {
	if o.Lines != nil {
		return int(o.Lines[row])
	}
	return o.First + row
}

var toUnderscores = strings.NewReplacer(" ", "_", "-", "_", ".", "_")

// Plain returns a column's name as names are compared: in lower case, with underscores for blanks, dots and
// hyphens.
func Plain(name string) string { return toUnderscores.Replace(strings.ToLower(name)) }

// IsEmpty reports whether nothing stands in a cell, or nan.
func IsEmpty(text []byte) bool {
	return len(text) == 0 || len(text) == 3 && strings.EqualFold(string(text), "nan")
}

// IsGone reports whether nothing is known of a cell: it is empty, or programs write so where a number or a time is not known.
func IsGone(text []byte) bool { return IsEmpty(text) || missingWord(text) || isNaT(text) }

// NumberOf returns the number that a text is, of which true is 1.
func NumberOf(text []byte) (v float64, ok bool) {
	if len(text) > 0 {
		v, _, ok = parseNumber(text)
	}
	return v, ok
}

// SaysWhen reports whether a text is a time that is written out, or a number that may be one.
func SaysWhen(text []byte) bool {
	if _, _, ok := timeOf(text); ok || len(text) == 0 {
		return ok
	}
	_, _, _, ok := exactCell(text)
	return ok
}

// Timely reports whether a column's name says that it holds times, or years.
func Timely(name string) bool { return whenOf(name) != never }

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
