package cells

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/table"
)

// scratch is what a goroutine parses blocks with.
type scratch struct {
	of           *delimited
	starts, ends []uint32 // of rows, and of fields
	at           []int32  // the lines of rows
	dict         Dict
	text, room   []byte
}

// parse parses a block.
func (s *scratch) parse(j job) {
	b := j.into
	s.cut(b, j.text)
	if b.err != nil {
		s.of.failed.Store(true)
		return
	}
	b.rows = len(s.starts)
	for row, line := range s.at {
		if int(line) != row {
			b.at = slices.Clone(s.at)
			break
		}
	}
	b.columns = make([]piece, len(s.of.names))
	kept := 4 * len(b.at)
	for c := range b.columns {
		b.columns[c] = s.column(c, j.text)
		kept += b.columns[c].size()
	}
	s.of.kept.Add(int64(kept))
}

// cut cuts a block into rows and fields, or sets its error.
func (s *scratch) cut(b *block, text []byte) {
	s.starts, s.ends, s.at = s.starts[:0], s.ends[:0], s.at[:0]
	wrong := table.WrongText(text)
	fail := func(err error) {
		if from := bytes.LastIndexByte(text[:max(0, wrong)], '\n') + 1; wrong >= 0 && bytes.Count(text[:from], []byte("\n")) <= b.lines {
			line, _, _ := bytes.Cut(text[from:], []byte("\n"))
			err, b.lines = table.CheckText(line), bytes.Count(text[:from], []byte("\n"))
		}
		b.err, b.errLine = err, b.lines
	}
	for at := 0; at < len(text); {
		if c := text[at]; c <= ' ' || c >= 0x80 {
			if line, _, _ := bytes.Cut(text[at:], []byte("\n")); len(bytes.TrimSpace(line)) == 0 {
				at += len(line) + 1
				b.lines++
				continue
			}
		}
		before := len(s.ends)
		ends, next, _, err := s.of.row(text, at, s.ends)
		if n := len(ends) - before; err == nil && n != len(s.of.names) {
			err = table.Miscounted(n, len(s.of.names), s.of.split)
		}
		if err != nil {
			fail(err)
			return
		}
		s.starts, s.ends, s.at = append(s.starts, uint32(at)), ends, append(s.at, int32(b.lines))
		b.lines += max(1, bytes.Count(text[at:next], []byte("\n")))
		at = next
	}
	if wrong >= 0 {
		fail(nil)
	}
}

// field returns the cell of a row and a column, which stays as it is until the next.
func (s *scratch) field(text []byte, row, c int) []byte {
	i := row*len(s.of.names) + c
	from := s.starts[row]
	if c > 0 {
		from = s.ends[i-1] + 1
	}
	return s.cell(text[from:s.ends[i]])
}

// cell returns what a field says: without quotes and the blanks around it.
func (s *scratch) cell(b []byte) []byte {
	n := len(b)
	if n == 0 || b[0] > ' ' && b[0] < 0x80 && b[0] != '"' && b[n-1] > ' ' && b[n-1] < 0x80 {
		return b
	}
	blanks := " "
	if s.of.split == ' ' {
		blanks = " \t\r"
	}
	if inside, ok := bytes.CutPrefix(bytes.TrimLeft(b, blanks), []byte(`"`)); ok {
		return bytes.TrimSpace(s.unquoted(inside))
	}
	return bytes.TrimSpace(b)
}

// unquoted returns the text up to the quote that ends it. Two quotes are one.
func (s *scratch) unquoted(b []byte) []byte {
	s.room = s.room[:0]
	for {
		q := bytes.IndexByte(b, '"')
		if q < 0 { // row has found the end
			return append(s.room, b...)
		}
		if q+1 == len(b) || b[q+1] != '"' {
			if len(s.room) == 0 {
				return b[:q]
			}
			s.room = append(s.room, b[:q]...)
			return s.room
		}
		s.room = append(s.room, b[:q+1]...)
		b = b[q+2:]
	}
}

// column parses the cells of a column.
func (s *scratch) column(c int, text []byte) piece {
	as, hint, rows := s.of.plan.As[c], &s.of.hint[c], len(s.starts)
	if as == AsTyped && hint.Load()&hasWords == 0 {
		p, row := new(scalars), 0
		for row < rows && p.cell(row, rows, s.field(text, row, c), s.of.when[c]) {
			row++
		}
		if row == rows {
			return piece{rows, p, nil}
		}
		hint.Or(hasWords)
	}
	if as == AsIDs || hint.Load()&hasDistinct != 0 {
		return piece{rows, nil, s.distinct(c, text)}
	}
	s.dict.reset()
	p := &textCells{codes: make([]int32, rows)}
	for row := range rows {
		b := s.wordOf(text, row, c, as)
		if p.codes[row] = -1; len(b) > 0 {
			p.codes[row] = s.dict.Code(b)
		}
		if row&(row-1) == 0 && row >= 256 && 4*s.dict.len() > 3*row || row == rows-1 && row >= 64 && 2*s.dict.len() > row {
			if as == AsTyped || as == AsWords {
				hint.Or(hasDistinct)
			}
			return piece{rows, nil, s.distinct(c, text)}
		}
	}
	p.ends = make([]uint32, s.dict.len())
	for i, end := range s.dict.ends {
		p.ends[i] = uint32(end)
	}
	p.arena = string(s.dict.text)
	return piece{rows, nil, p}
}

// wordOf returns the cell of a row of a column of texts.
func (s *scratch) wordOf(text []byte, row, c int, as As) []byte {
	b := s.field(text, row, c)
	switch {
	case as == AsIDs || as == AsEnds:
		return ID(b)
	case as == AsTyped && IsEmpty(b):
		return nil
	}
	return b
}

// distinct is the texts of a column, one a row.
func (s *scratch) distinct(c int, text []byte) *textCells {
	rows := len(s.starts)
	p := &textCells{ends: make([]uint32, rows)}
	s.text = s.text[:0]
	for row := range rows {
		s.text = append(s.text, s.wordOf(text, row, c, s.of.plan.As[c])...)
		p.ends[row] = uint32(len(s.text))
	}
	p.arena = string(s.text)
	return p
}

// size returns about how many bytes a piece takes.
func (p *piece) size() int {
	if s := p.scalars; s != nil {
		return 8*len(s.bits) + 4*len(s.notes) + len(s.oddText) + 8*len(s.oddRows)
	}
	return 4*(len(p.texts.codes)+len(p.texts.ends)) + len(p.texts.arena)
}

// table returns the table of all blocks, which it uses up.
func (t *delimited) table() (*Table, error) {
	out := &Table{Columns: make([]Column, len(t.names)), Origin: Origin{File: t.path, First: t.first}}
	line, regular := t.first, true
	for k, b := range t.blocks {
		if b.rows > 0 && out.Rows == 0 {
			out.Origin.First = line
			if b.at != nil {
				out.Origin.First += int(b.at[0])
			}
		}
		regular = regular && (b.at == nil && b.rows == b.lines || k == len(t.blocks)-1 && b.at == nil)
		out.Rows += b.rows
		line += b.lines
	}
	if out.Rows > 1<<31-2 {
		return nil, fmt.Errorf("%s: there are more than 2³¹ rows", t.path)
	}
	if !regular {
		out.Origin.Lines = make([]int32, 0, out.Rows)
		line = t.first
		for _, b := range t.blocks {
			for row := range b.rows {
				n := line + row
				if b.at != nil {
					n = line + int(b.at[row])
				}
				out.Origin.Lines = append(out.Origin.Lines, int32(n))
			}
			line += b.lines
		}
	}
	par.For(len(t.names), 1, func(lo, hi int) {
		for c := lo; c < hi; c++ {
			pieces := make([]piece, len(t.blocks))
			for k, b := range t.blocks {
				pieces[k], b.columns[c] = b.columns[c], piece{}
			}
			out.Columns[c] = settled(t.names[c], t.plan.As[c], pieces, out.Rows, &out.Origin)
		}
	})
	return out, nil
}

// settled returns a column of so many rows, whose pieces it uses up.
func settled(name string, as As, pieces []piece, rows int, o *Origin) Column {
	out := Column{Name: name, Type: Word}
	if as != AsTyped {
		if as == AsIDs {
			out.Words = plainTexts(pieces, rows)
		} else {
			out.Words = merged(pieces, rows, as == AsEnds || as == AsNames)
		}
		return out
	}
	var sum scalars // counts alone
	words := false
	for _, p := range pieces {
		if words = words || p.scalars == nil; words {
			break
		}
		sum.numbers, sum.times, sum.gone, sum.truths = sum.numbers+p.scalars.numbers, sum.times+p.scalars.times, sum.gone+p.scalars.gone, sum.truths+p.scalars.truths
		for f, n := range p.scalars.forms {
			sum.forms[f] += n
		}
	}
	form, other := oneForm(sum.forms)
	switch w := whenOf(name); {
	case words:
	case sum.numbers+sum.times == 0:
		out.Type = Empty
		return out
	case sum.numbers == 0 && w == never && sum.times > 0, w != never && sum.forms[noTime] == 0 && other == noForm:
		out.ofTimes(pieces, form, rows)
		return out
	case sum.times == 0 && sum.gone == 0 && (w == never || sum.forms[noTime] > 0):
		out.Type, out.Numbers = Number, numbers(pieces, rows)
		out.Truth = sum.truths == sum.numbers
		return out
	}
	out.Words = merged(pieces, rows, false)
	out.Mixed = mixed(&out, o, whenOf(name))
	return out
}

// numbers returns the cells of a column of numbers.
func numbers(pieces []piece, rows int) []float64 {
	out := make([]float64, 0, rows)
	for k, p := range pieces {
		for row := range p.rows {
			v, n := p.scalars.at(row)
			switch n & kindBits {
			case isNumber:
				out = append(out, math.Float64frombits(uint64(v)))
			case isWhole:
				out = append(out, float64(v))
			default:
				out = append(out, math.NaN())
			}
		}
		pieces[k] = piece{}
	}
	return out
}

// ofTimes makes times of a column whose cells all have a form, or numbers if that is how they are to be taken and
// some are not whole.
func (out *Column) ofTimes(pieces []piece, form timeForm, rows int) {
	out.Type, out.Dated = Time, form != plainNumber
	out.Times = make([]int64, 0, rows)
	whole := true
	for _, p := range pieces {
		for row := range p.rows {
			x, ok := p.scalars.instant(row)
			switch {
			case !ok:
				x.n = NoTime
			case form != written:
				whole = whole && x.rest == 0
				x.n = x.micros(form)
			}
			out.Times = append(out.Times, x.n)
		}
	}
	if !out.Dated && !whole {
		out.Type, out.Times, out.Numbers = Number, nil, numbers(pieces, rows)
	}
	clear(pieces)
}

// instant returns the cell of a row that says when, not ok if it is empty.
func (s *scalars) instant(row int) (x instant, ok bool) {
	v, n := s.at(row)
	switch n & kindBits {
	case isNumber:
		return instantOf(math.Float64frombits(uint64(v))), true
	case isWhole, isTime:
		return instant{n: v}, true
	}
	return x, false
}

// sighting is what stands in a column of words: how many cells there are of a kind, and in which row the first.
type sighting struct{ count, first int }

func (s *sighting) add(row, n int) {
	if s.count == 0 {
		s.first = row
	}
	s.count += n
}

// mixed says why the cells of a column of words do not go together, nil if they are simply words.
func mixed(c *Column, o *Origin, w when) error {
	var numbers, times, words, missing, people, others sighting
	var forms [timeFormCount]sighting
	one := func(text []byte, row, n int) {
		_, _, isWritten := timeOf(text)
		isMissing := isNaT(text) || len(text) <= 4 && missingWord(text)
		form := noTime
		if isWritten {
			form = written
		} else if isMissing {
			form = noForm
		} else if w != never {
			if x, _, _, ok := exactCell(text); ok {
				form = w.form(x)
			}
		}
		if form != noForm {
			forms[form].add(row, n)
		}
		if isWritten {
			times.add(row, n)
			return
		}
		others.add(row, n)
		if isMissing {
			missing.add(row, n)
		} else if words.count > 0 {
			return // nothing else is asked for
		} else if _, _, ok := parseNumber(text); ok {
			numbers.add(row, n)
		} else if isDressed(text) {
			people.add(row, n)
		} else {
			words.add(row, n)
		}
	}
	eachText(c.Words, func(text []byte, row, n int) bool {
		one(text, row, n)
		return w != never || times.count == 0 || others.count == 0
	})
	says := func(row int, format string, args ...any) error {
		return fmt.Errorf("%s, column %.40q: %.40q %s", o.At(row), c.Name, c.Words.At(row), fmt.Sprintf(format, args...))
	}
	leave := fmt.Sprintf("or leave the column out (--column %.40s=none)", c.Name)
	if w != never {
		var count [timeFormCount]int
		for f, s := range forms {
			count[f] = s.count
		}
		form, other := oneForm(count)
		dated := func(f timeForm) bool { return f != noForm && f != plainNumber && f != noTime }
		if other != noForm && (dated(form) || dated(other)) {
			first := forms[form].first
			return says(forms[other].first, "is %s, and %s has %.40q, %s: write all times of a column in one form, such as 2024-03-01T12:30:00Z, %s",
				timeFormNames[other], o.Row(first), c.Words.At(first), timeFormNames[form], leave)
		}
	}
	switch {
	case times.count > 0 && others.count > 0:
		return says(others.first, "is no time, and %s has one: times are like 2024-03-01T12:30:00Z: write them all so, %s", o.Row(times.first), leave)
	case numbers.count > 0 && missing.count > 0 && words.count+people.count == 0:
		return says(missing.first, "stands among numbers: leave the cell empty, fill it, with 0 perhaps, %s", leave)
	case people.count > 0 && words.count == 0 && dressedDate.MatchString(c.Words.At(people.first)):
		return says(people.first, "is a date written for people: write it as 2024-05-19, %s", leave)
	case people.count > 0 && words.count == 0:
		return says(people.first, "is a number written for people: write digits and a dot alone, as 1041.5, %s", leave)
	}
	return nil
}

// eachText calls f with the texts of words, with the first row of each and how many there are, until it says false.
func eachText(w *Words, f func(text []byte, row, n int) bool) {
	var room []byte
	if w.Codes == nil {
		for row, text := range w.Texts {
			if room = append(room[:0], text...); len(room) > 0 && !f(room, row, 1) {
				return
			}
		}
		return
	}
	first, count := w.firsts()
	for k, text := range w.Texts {
		if room = append(room[:0], text...); !f(room, int(first[k]), int(count[k])) {
			return
		}
	}
}
