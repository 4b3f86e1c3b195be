package columns

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/datasets/form"
)

// texts are the cells of a column as words. A number among them is written in one way, so that 7, 7.0 and 007 are one word
// whatever else stands in the column.
type texts struct {
	rows int
	col  *form.Column
	own  []string // of Words with Codes the word of each code
}

func textsOf(col *form.Column) texts {
	t := texts{col: col}
	switch col.Type {
	case form.Number:
		t.rows = len(col.Numbers)
	case form.Time:
		t.rows = len(col.Times)
	case form.Word:
		if t.rows = col.Words.Len(); col.Words.Codes != nil {
			t.own = make([]string, len(col.Words.Texts))
			for i, text := range col.Words.Texts {
				t.own[i] = word(text)
			}
		}
	}
	return t
}

// text returns the word of a row, not ok if the cell is empty.
func (t texts) text(row int) (text string, ok bool) {
	switch t.col.Type {
	case form.Number:
		v := t.col.Numbers[row]
		switch {
		case v != v:
			return "", false
		case t.col.Truth:
			return strconv.FormatBool(v != 0), true
		}
		return wordOf(v), true
	case form.Time:
		at := t.col.Times[row]
		switch {
		case at == form.NoTime:
			return "", false
		case !t.col.Dated:
			return strconv.FormatInt(at, 10), true
		}
		return shownTime(at), true
	case form.Word:
		if t.own == nil {
			text = word(t.col.Words.Texts[row])
		} else if c := t.col.Words.Codes[row]; c >= 0 {
			text = t.own[c]
		}
	}
	return text, text != ""
}

// word is how a text is written as a word of a category.
func word(text string) string {
	text = strings.TrimSpace(text)
	switch {
	case strings.EqualFold(text, "nan"):
		return ""
	case strings.EqualFold(text, "true"), strings.EqualFold(text, "false"):
		return strings.ToLower(text)
	}
	if v, ok := numberOf(text); ok && v-v == 0 {
		return wordOf(v)
	}
	return text
}

// wordOf is how a number is written as a word.
func wordOf(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// shownTime is a time as people write it.
func shownTime(micros int64) string {
	t := time.UnixMicro(micros).UTC()
	if t.Equal(t.Truncate(24 * time.Hour)) {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339Nano)
}

// numberOf returns the number that a text is, of which true is 1.
func numberOf(text string) (float64, bool) {
	switch {
	case text == "" || text[0] > '9' && text[0]|0x20 != 'i' && text[0]|0x20 != 't' && text[0]|0x20 != 'f' && text[0]|0x20 != 'n':
		return 0, false
	case strings.EqualFold(text, "true"):
		return 1, true
	case strings.EqualFold(text, "false"):
		return 0, true
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil || math.IsInf(v, 0)
}

// numbers are the cells of a column as numbers. NaN is empty.
type numbers struct {
	rows int
	of   func(row int) float64
}

// numbersOf returns the numbers of a column of numbers, of times that are no dates, or of nothing.
func numbersOf(col *form.Column, rows int) numbers {
	switch col.Type {
	case form.Number:
		return numbers{rows, func(row int) float64 { return col.Numbers[row] }}
	case form.Time:
		return numbers{rows, func(row int) float64 {
			if col.Times[row] == form.NoTime {
				return math.NaN()
			}
			return float64(col.Times[row])
		}}
	}
	return numbers{rows, func(int) float64 { return math.NaN() }}
}

// each calls f with each of the given rows below n; nil stands for all.
func each(rows []int32, n int, f func(row int)) {
	if rows == nil {
		for row := range n {
			f(row)
		}
		return
	}
	for _, row := range rows {
		f(int(row))
	}
}

// median returns the median of numbers, which it sorts, 0 of none.
func median(x []float64) float64 {
	n := len(x)
	if n == 0 {
		return 0
	}
	slices.Sort(x)
	if n%2 == 1 {
		return x[n/2]
	}
	return x[n/2-1]/2 + x[n/2]/2
}
