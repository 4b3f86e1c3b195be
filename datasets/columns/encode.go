package columns

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// width is how many features a column becomes.
func (c *Column) width() int {
	n := 1
	switch c.As {
	case AsCategory:
		return len(c.Words)
	case AsCode:
		if c.Type == form.Many {
			return c.Width
		}
		return 1
	case AsText:
		return len(c.Hashes)
	case AsMatrix:
		return c.Width
	}
	if c.Gaps {
		n++
	}
	return n + 2*len(c.Cycles)
}

// encode says how the cells of a column become features.
func (a *applier) encode(e *encoder, c *Column, t *form.Table, col *form.Column) error {
	switch c.As {
	case AsNumber, AsPlain, AsLog:
		return a.encodeNumbers(e, c, t, col)
	case AsTime:
		return a.encodeTimes(e, c, t, col)
	case AsCategory, AsCode:
		if c.many() {
			return a.encodeCodes(e, c, t, col)
		}
		return a.encodeWords(e, c, t, col)
	case AsText:
		a.encodeText(e, c, t, col)
		return nil
	}
	e.matrix = col.Matrix.Array()
	var values []tensor.Float
	if x, ok := e.matrix.(*sparse.CSR); ok {
		values = x.Values
	} else {
		values = e.matrix.(*tensor.Dense).Data
	}
	for k, v := range values {
		if v-v != 0 {
			row, j := k/max(1, c.Width), k%max(1, c.Width)
			if x, ok := e.matrix.(*sparse.CSR); ok {
				row, _ = slices.BinarySearch(x.Offsets, int64(k)+1)
				row, j = row-1, int(x.Cols[k])
			}
			return fmt.Errorf("feature %d of %s is %v", j, t.Origin.At(row), v)
		}
	}
	return nil
}

func (a *applier) encodeNumbers(e *encoder, c *Column, t *form.Table, col *form.Column) error {
	x, fill := numbersOf(col, t.Rows), 0.0
	if c.Fill != nil {
		fill = *c.Fill
	}
	of := func(v float64) float64 { return c.Scale.of(c.mapped(v)) }
	empty, first := 0, 0
	for row := range t.Rows {
		if v := x.of(row); v != v {
			if empty++; empty == 1 {
				first = row
			}
		} else if !finite(of(v)) {
			return c.at(t, row, "%v is no finite number, as features are", v)
		}
	}
	if !finite(of(fill)) {
		return c.at(t, first, "an empty cell is %v, which is no finite number", fill)
	}
	a.filled(c, t, empty, first, strconv.FormatFloat(fill, 'g', 12, 64)) // a median between two decimals has a tail
	at := e.at
	e.each = func(row int, f func(column int, v tensor.Float)) {
		v := x.of(row)
		empty := v != v
		if empty {
			v = fill
		}
		if y := tensor.Float(of(v)); y != 0 {
			f(at, y)
		}
		if empty && c.Gaps {
			f(at+1, 1)
		}
	}
	return nil
}

// filled warns of empty cells where the rows that train had none, or where nothing stands in the column.
func (a *applier) filled(c *Column, t *form.Table, empty, first int, as string) {
	switch {
	case empty == 0:
	case !c.Gaps:
		a.warn("%s of column %.40q (%s) %s empty, the first in %s: %s as %s, the median of the rows that train", counted(empty, "cell"), c.Name, fileOf(t, c.Name), isOrAre(empty), lineOf(t, c.Name, first), map[bool]string{true: "it counts", false: "they count"}[empty == 1], as)
	case empty == t.Rows && empty >= unseenLeast:
		a.allEmpty(c, t, as+", the median of the rows that train")
	}
}

// allEmpty warns of a column in which nothing stands.
func (a *applier) allEmpty(c *Column, t *form.Table, as string) {
	a.warn("nothing stands in column %.40q (%s), and in the rows that train something does: its %s as %s", c.Name, fileOf(t, c.Name), map[bool]string{true: "1 cell counts", false: fmt.Sprintf("%d cells count", t.Rows)}[t.Rows == 1], as)
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// counted is a number of things, with an s unless it is 1.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// lineOf names the row of a cell without its file.
func lineOf(t *form.Table, name string, row int) string {
	o := *originOf(t, name)
	o.File = ""
	return o.At(row)
}

// finite reports whether a number is one as a feature.
func finite(v float64) bool { f := tensor.Float(v); return f-f == 0 }

const day = 24 * 60 * 60 * 1_000_000 // microseconds

func (a *applier) encodeTimes(e *encoder, c *Column, t *form.Table, col *form.Column) error {
	x, err := timesOf(col, t.Rows)
	if err != nil {
		return c.at(t, 0, "%w", err)
	}
	if col.Type == form.Number { // such as 2017.5 where years were fitted
		own := *c
		own.Less = float64(c.From)
		return a.encodeNumbers(e, &own, t, col)
	}
	fill := int64(0)
	if c.Fill != nil {
		fill = int64(*c.Fill)
	}
	empty, first := 0, 0
	for row := range t.Rows {
		when := x(row)
		if when == form.NoTime {
			if empty++; empty == 1 {
				first = row
			}
			when = fill
		}
		if !finite(c.Scale.of(c.age(when))) {
			return c.at(t, row, "%s is beyond what the model can read", shownTime(when))
		}
	}
	shown := wordOf(float64(fill))
	if c.Dated {
		shown = shownTime(fill)
	}
	a.filled(c, t, empty, first, shown)
	a.late(c, t, x)
	at, cycles := e.at, e.at+1
	if c.Gaps {
		cycles++
	}
	e.each = func(row int, f func(column int, v tensor.Float)) {
		when := x(row)
		empty := when == form.NoTime
		if empty {
			when = fill
		}
		if y := tensor.Float(c.Scale.of(c.age(when))); y != 0 {
			f(at, y)
		}
		if empty {
			if c.Gaps {
				f(at+1, 1)
			}
			return // in no part of a cycle
		}
		for i, cycle := range c.Cycles {
			sin, cos := math.Sincos(2 * math.Pi * cycle.phase(when))
			for k, v := range []tensor.Float{tensor.Float(sin), tensor.Float(cos)} {
				if v != 0 {
					f(cycles+2*i+k, v)
				}
			}
		}
	}
	return nil
}

// now is the time by which a date is in the future.
var now = time.Now

// late warns of dates in the future, and of those that are farther after the rows that train than these are apart.
func (a *applier) late(c *Column, t *form.Table, x func(row int) int64) {
	if !c.Dated {
		return
	}
	today := now().UnixMicro() + day // there are zones
	far, limit := c.Till, uint64(c.Till)-uint64(c.From)
	future, later, first, firstLater := 0, 0, 0, 0
	for row := range t.Rows {
		switch at := x(row); {
		case at == form.NoTime:
		case at > today:
			if future++; future == 1 {
				first = row
			}
		case c.Till != 0 && at > far && uint64(at)-uint64(far) > max(limit, 30*day):
			if later++; later == 1 {
				firstLater = row
			}
		}
	}
	if future > 0 {
		a.warn("%s of column %.40q (%s) %s in the future, such as %s in %s: is that meant? --column %s=none leaves the column out", counted(future, "cell"), c.Name, fileOf(t, c.Name), isOrAre(future), shownTime(x(first)), lineOf(t, c.Name, first), c.Name)
	}
	if later > 0 {
		a.warn("%s of column %.40q (%s) %s much later than the rows that train, which end on %s, such as %s in %s: nothing was learnt of such times", counted(later, "cell"), c.Name, fileOf(t, c.Name), isOrAre(later), shownTime(c.Till), shownTime(x(firstLater)), lineOf(t, c.Name, firstLater))
	}
}

// timesOf returns the times of a column, NoTime where there is none.
func timesOf(col *form.Column, rows int) (func(row int) int64, error) {
	switch col.Type {
	case form.Time:
		return func(row int) int64 { return col.Times[row] }, nil
	case form.Number, form.Empty:
		return func(int) int64 { return form.NoTime }, nil
	}
	return nil, errors.New("it holds no times, which are like 2024-03-01T12:30:00Z")
}

// unseenLeast is how many cells of a category have to be words, and all of them new, for an error: so many are another column
// rather than news.
const unseenLeast = 10

func (a *applier) encodeWords(e *encoder, c *Column, t *form.Table, col *form.Column) error {
	x := textsOf(col)
	codes := make([]int32, t.Rows)
	of := make(map[string]int32, len(c.Words))
	for i, w := range c.Words {
		of[w] = int32(i)
	}
	unseen, first, cells := 0, 0, 0
	for row := range codes {
		codes[row] = -1
		if row >= x.rows {
			continue
		}
		text, ok := x.text(row)
		if !ok {
			continue
		}
		cells++
		if k, known := of[text]; known {
			codes[row] = k
		} else if unseen++; unseen == 1 {
			first = row
		}
	}
	text := ""
	if unseen > 0 {
		text, _ = x.text(first)
	}
	switch {
	case cells == 0 && len(c.Words) > 0 && t.Rows > 0 && (!c.Gaps || t.Rows >= unseenLeast):
		a.allEmpty(c, t, fmt.Sprintf("none of its %d words", len(c.Words)))
	case c.As == AsCode && (2*unseen <= cells || len(c.Words) == 0): // the rows that train have rare words, too
	case unseen == cells && cells >= unseenLeast && len(c.Words) > 0:
		return c.at(t, first, "%.40q and all other %d words of the column are new to the model, which knows %s: is it another column?", text, cells-1, listed(c.Words))
	case unseen > 0:
		has := "have words"
		if unseen == 1 {
			has = "has a word"
		}
		counts := "they count"
		if unseen == 1 {
			counts = "it counts"
		}
		what := "the model has not seen"
		if c.As == AsCode {
			what = "the rows that train do not have twice"
		}
		a.warn("%s of column %.40q (%s) %s that %s, such as %.40q in %s: %s as none of its %d words", counted(unseen, "cell"), c.Name, fileOf(t, c.Name), has, what, text, lineOf(t, c.Name, first), counts, len(c.Words))
	}
	at, code := e.at, c.As == AsCode
	e.each = func(row int, f func(column int, v tensor.Float)) {
		switch k := codes[row]; {
		case k < 0:
		case code:
			f(at, tensor.Float(k+1))
		default:
			f(at+int(k), 1)
		}
	}
	return nil
}

// hashesOfText is how many hashes the words of a text have.
const hashesOfText = 256

// eachToken calls f with the words of a text: its letters and digits, in lower case.
func eachToken(text string, f func(token string)) {
	for token := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }) {
		f(token)
	}
}

// hashOf returns which of n hashes a word has, by FNV-1a.
func hashOf(token string, n int) int32 {
	h := fnv.New64a()
	h.Write([]byte(token))
	return int32(h.Sum64() % uint64(n))
}

// fitText finds which hashes the words of the rows that train have, and how few rows have each. A hash is called by its commonest word.
func (c *Column) fitText(t *form.Table, col *form.Column, train []int32) error {
	x := textsOf(col)
	counts := map[string]int{}
	rows, last, n := make([]int, hashesOfText), make([]int, hashesOfText), 0
	each(train, x.rows, func(row int) {
		text, ok := x.text(row)
		if !ok {
			c.Gaps = true
			return
		}
		n++
		eachToken(text, func(token string) {
			if _, known := counts[token]; known || len(counts) < wordsAsked {
				counts[token]++
			}
			if h := hashOf(token, hashesOfText); last[h] < n {
				last[h] = n
				rows[h]++
			}
		})
	})
	c.Width, c.Gaps = hashesOfText, c.Gaps && n > 0
	names := make([]string, hashesOfText)
	for token, n := range counts {
		h := hashOf(token, hashesOfText)
		if best := counts[names[h]]; n > best || n == best && token < names[h] {
			names[h] = token
		}
	}
	for h, with := range rows {
		if with > 0 {
			c.Hashes, c.Names = append(c.Hashes, int32(h)), append(c.Names, names[h])
			c.Weights = append(c.Weights, math.Log(float64(1+n)/float64(1+with))+1)
		}
	}
	return nil
}

// encodeText makes a row of weights, of length 1, of each text: how often a word stands there, and more if few rows have it.
func (a *applier) encodeText(e *encoder, c *Column, t *form.Table, col *form.Column) {
	x, place := textsOf(col), make([]int, c.Width)
	for i, h := range c.Hashes {
		place[h] = i + 1
	}
	out := &sparse.CSR{NumRows: t.Rows, NumCols: len(c.Hashes), Offsets: make([]int64, 1, t.Rows+1), Cols: []int32{}, Values: []tensor.Float{}}
	row, filled := make([]float64, len(c.Hashes)), 0
	for r := range t.Rows {
		text, ok := "", false
		if r < x.rows {
			text, ok = x.text(r)
		}
		if ok {
			filled++
			eachToken(text, func(token string) {
				if i := place[hashOf(token, c.Width)]; i > 0 {
					row[i-1] += c.Weights[i-1]
				}
			})
		}
		squares := 0.0
		for _, v := range row {
			squares += v * v
		}
		for i, v := range row {
			if v > 0 {
				out.Cols, out.Values = append(out.Cols, int32(i)), append(out.Values, tensor.Float(v/math.Sqrt(squares)))
				row[i] = 0
			}
		}
		out.Offsets = append(out.Offsets, int64(len(out.Cols)))
	}
	if filled == 0 && len(c.Hashes) > 0 && t.Rows > 0 && (!c.Gaps || t.Rows >= unseenLeast) {
		a.allEmpty(c, t, "texts without words")
	}
	e.matrix = out
}

// namesOf appends the names of the features of a column; ok is false if they have none.
func (c *Column) namesOf(names []string, prefix string) (out []string, ok bool) {
	switch {
	case c.As == AsCategory:
		for _, w := range c.Words {
			names = append(names, prefix+c.Name+"="+w)
		}
		return names, true
	case c.As == AsText:
		for _, w := range c.Names {
			names = append(names, prefix+c.Name+"="+w)
		}
		return names, len(c.Names) == len(c.Hashes)
	case c.many():
		for _, n := range c.Names {
			names = append(names, prefix+n)
		}
		return names, len(c.Names) == c.Width && c.Width > 0
	}
	if names = append(names, prefix+c.Name); c.Gaps && c.As != AsCode {
		names = append(names, prefix+c.Name+"=empty")
	}
	for _, cycle := range c.Cycles {
		for _, of := range []string{"sin", "cos"} {
			names = append(names, prefix+c.Name+"="+string(cycle)+"."+of)
		}
	}
	return names, true
}
