package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"sync/atomic"
	"unicode/utf8"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/internal/npy"
	"github.com/edgewise-ml/edgewise/tensor"
)

// What the bytes of a column mean: the fields of Thrift's union LogicalType.
const (
	logicalString = iota + 1
	logicalMap
	logicalList
	logicalEnum
	logicalDecimal
	logicalDate
	logicalTime
	logicalTimestamp
	_
	logicalInteger
	logicalUnknown
	logicalJSON
	logicalBSON
	logicalUUID
	logicalFloat16
)

// What they mean in files that were written before there was LogicalType.
const (
	convertedUTF8 = iota
	convertedMap
	convertedMapKeyValue
	convertedList
	convertedEnum
	convertedDecimal
	convertedDate
	convertedTimeMillis
	convertedTimeMicros
	convertedTimestampMillis
	convertedTimestampMicros
	convertedUint8
	convertedUint64 = convertedUint8 + 3
	convertedInt8   = convertedUint64 + 1
	convertedInt64  = convertedInt8 + 3
	convertedJSON   = convertedInt64 + 1
)

// modern says in terms of LogicalType what an older file says.
func (e *element) modern() {
	if e.logical != 0 || e.converted < 0 {
		return
	}
	switch c := e.converted; {
	case c == convertedTimestampMillis || c == convertedTimestampMicros:
		e.logical, e.unit = logicalTimestamp, c-convertedTimestampMillis+1
	case c == convertedTimeMillis || c == convertedTimeMicros:
		e.logical = logicalTime
	case c >= convertedUint8 && c <= convertedUint64:
		e.logical, e.unsigned = logicalInteger, true
	case c > convertedUint64 && c <= convertedInt64:
		e.logical = logicalInteger
	case c == convertedDecimal:
		e.logical = logicalDecimal
	case c == convertedDate:
		e.logical = logicalDate
	case c == convertedUTF8:
		e.logical = logicalString
	case c == convertedEnum:
		e.logical = logicalEnum
	case c >= convertedJSON:
		e.logical = logicalJSON + c - convertedJSON
		if c > convertedJSON+1 { // INTERVAL
			e.logical = logicalTime
		}
	}
}

// says names a column's type for an error.
func (l *leaf) says() string {
	name := physNames[l.physical]
	if l.physical == physFixed {
		name = fmt.Sprintf("%s(%d)", name, l.length)
	}
	if l.logical >= 0 && l.logical < len(logicalNames) && logicalNames[l.logical] != "" {
		name = logicalNames[l.logical] + " in " + name
	} else if l.logical > 0 {
		name = fmt.Sprintf("logical type %d in %s", l.logical, name)
	}
	if l.maxRep > 0 {
		return "a list of " + name
	}
	return name
}

var logicalNames = []string{logicalString: "text", logicalDecimal: "DECIMAL", logicalDate: "DATE", logicalTime: "time of day or interval", logicalTimestamp: "TIMESTAMP", logicalJSON: "JSON", logicalBSON: "BSON", logicalUUID: "UUID", logicalFloat16: "FLOAT16"}

// typeOf says what becomes of a column. exact keeps whole numbers that are ids as they are.
func (l *leaf) typeOf(exact bool) (form.Type, error) {
	l.modern()
	typ := form.Type("")
	switch texts := l.physical == physBytes || l.physical == physFixed; {
	case l.logical == logicalUnknown:
		typ = form.Empty
	case l.logical == logicalTimestamp && l.physical == physInt64 && l.unit >= 1 && l.unit <= 3, l.logical == logicalDate && l.physical == physInt32, l.physical == physInt96:
		typ = form.Time
	case l.logical == logicalDecimal && (texts || l.physical == physInt32 || l.physical == physInt64) && l.scale >= 0 && l.scale <= 400:
		typ = form.Number
	case l.logical == logicalFloat16 && l.physical == physFixed && l.length == 2:
		typ = form.Number
	case texts && slices.Contains([]int{0, logicalString, logicalEnum, logicalJSON}, l.logical), l.logical == logicalUUID && l.physical == physFixed && l.length == 16:
		typ = form.Word
	case !texts && (l.logical == 0 || l.logical == logicalInteger):
		typ = form.Number
		if exact && l.physical == physInt64 {
			typ = form.Time
		}
	}
	if l.maxRep > 0 && typ == form.Number {
		return form.Many, nil
	}
	if typ == "" || l.maxRep > 0 {
		return "", fmt.Errorf("column %.40q is %s, which is neither numbers, times nor texts: write it as one of these, or leave it out", l.name, l.says())
	}
	return typ, nil
}

// numbers converts values that are not null.
func (l *leaf) numbers(v *values, out []float64) ([]float64, error) {
	out = sized(out, v.n)
	switch {
	case l.logical == logicalDecimal && l.physical < physInt96:
		scale := math.Pow10(l.scale)
		for i, x := range v.ints[:v.n] {
			if l.scale <= 22 && x < 1<<53 && x > -1<<53 {
				out[i] = float64(x) / scale
			} else {
				out[i] = decimal(big.NewInt(x), l.scale)
			}
		}
	case l.logical == logicalDecimal:
		for i := range out {
			b := v.text(i)
			if len(b) > 64 {
				return nil, fmt.Errorf("a decimal has %d bytes: at most 64 are read", len(b))
			}
			x := new(big.Int).SetBytes(b)
			if len(b) > 0 && b[0] >= 0x80 {
				x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
			}
			out[i] = decimal(x, l.scale)
		}
	case l.logical == logicalFloat16:
		for i := range out {
			out[i] = npy.Half(binary.LittleEndian.Uint16(v.text(i)))
		}
	case l.physical == physFloat || l.physical == physDouble:
		copy(out, v.floats[:v.n])
	case l.unsigned && l.physical == physInt32:
		for i, x := range v.ints[:v.n] {
			out[i] = float64(uint32(x))
		}
	case l.unsigned:
		for i, x := range v.ints[:v.n] {
			out[i] = float64(uint64(x))
		}
	default:
		for i, x := range v.ints[:v.n] {
			out[i] = float64(x)
		}
	}
	return out, nil
}

// decimal returns the number nearest to x · 10^−scale.
func decimal(x *big.Int, scale int) float64 {
	f, _ := new(big.Rat).SetFrac(x, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).Float64()
	return f
}

// times converts values that are not null to microseconds since 1970, or ids.
func (l *leaf) times(v *values, out []int64) ([]int64, error) {
	out = sized(out, v.n)
	per := int64(1) // microseconds
	switch {
	case l.physical == physInt96: // nanoseconds of a day, and the Julian day
		for i := range out {
			b := v.text(i)
			out[i] = (int64(int32(binary.LittleEndian.Uint32(b[8:])))-2440588)*86400e6 + int64(binary.LittleEndian.Uint64(b))/1000
		}
		return out, nil
	case l.logical == logicalDate:
		per = 86400e6
	case l.logical == logicalTimestamp && l.unit == 1:
		per = 1000
	case l.logical == logicalTimestamp && l.unit == 3:
		for i, x := range v.ints[:v.n] {
			out[i] = x / 1000
			if x%1000 < 0 {
				out[i]--
			}
		}
		return out, nil
	}
	for i, x := range v.ints[:v.n] {
		switch {
		case x > math.MaxInt64/per || x < math.MinInt64/per || x*per == form.NoTime:
			return nil, fmt.Errorf("the time %d is beyond the year 290,000: leave it empty", x)
		case l.unsigned && x < 0:
			return nil, fmt.Errorf("the id %d is beyond 2⁶³: write it as text", uint64(x))
		}
		out[i] = x * per
	}
	return out, nil
}

// table is a table while its columns are read.
type table struct {
	r    io.ReaderAt
	size int64
	f    *footer
	left atomic.Int64 // bytes of memory that the file is believed
	most int64        // bytes that a page may have
}

// keep takes memory.
func (t *table) keep(n int) error {
	if t.left.Add(-int64(n)) < 0 {
		return errHuge
	}
	return nil
}

func (t *table) pages(l *leaf, g int) *pages {
	c := &t.f.groups[g].chunks[l.index]
	p := &pages{t: t, leaf: l, c: c, at: c.data, end: t.size - 8, left: c.values}
	if l.maxRep == 0 {
		p.left = t.f.groups[g].rows
	}
	return p
}

// fixed reads one row group of a column of numbers or times to out. convert makes them of values.
func fixed[T any](t *table, l *leaf, g int, out []T, none T, convert func(*values, []T) ([]T, error)) error {
	p := t.pages(l, g)
	if p.c.physical != l.physical {
		return errThrift
	}
	var dict, vals []T
	row := 0
	for {
		more, err := p.next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if p.n > len(out)-row {
			return errRows
		}
		if p.coded {
			if dict == nil {
				if dict, err = convert(p.dict, nil); err != nil {
					return err
				}
			}
			vals = looked(vals, dict, p.codes)
		} else if vals, err = convert(&p.vals, vals); err != nil {
			return err
		}
		into := out[row : row+p.n]
		row += p.n
		if p.def == nil {
			copy(into, vals)
			continue
		}
		k := 0
		for i, d := range p.def {
			if into[i] = none; int(d) == l.maxDef {
				into[i] = vals[k]
				k++
			}
		}
	}
	if row != len(out) {
		return errRows
	}
	return nil
}

var errRows = errors.New("a column has not as many values as the file has rows: it is damaged; get it again")

// texts reads a column of texts, whose repetitions are kept once unless most are different.
type texts struct {
	w     form.Words
	known map[string]int32
	rows  int
}

// few is how many rows are read before a column may turn out to be of texts that are not repeated.
const few = 1 << 12

// add adds a row.
func (x *texts) add(s []byte) (grown int) {
	if x.known == nil {
		text := string(s)
		x.w.Texts = append(x.w.Texts, text)
		return len(text) + 16
	}
	code, ok := int32(-1), len(s) == 0
	if !ok {
		code, ok = x.known[string(s)]
	}
	if !ok {
		text := string(s)
		code = int32(len(x.w.Texts))
		x.known[text], x.w.Texts = code, append(x.w.Texts, text)
		grown = len(text) + 64
	}
	x.code(code)
	return grown + 4
}

// code adds a row of a text that is known.
func (x *texts) code(code int32) {
	x.w.Codes = append(x.w.Codes, code)
	if n := len(x.w.Codes); n >= few && n&(n-1) == 0 && len(x.w.Texts) > n/2 {
		rows := make([]string, n, cap(x.w.Codes))
		for i := range rows {
			rows[i] = x.w.At(i)
		}
		x.w, x.known = form.Words{Texts: rows}, nil
	}
}

// words reads a column of texts.
func (t *table) words(l *leaf) (*form.Words, error) {
	rows := int(t.f.rows)
	if err := t.keep(4 * rows); err != nil {
		return nil, err
	}
	x := &texts{known: map[string]int32{}}
	x.w.Codes = make([]int32, 0, rows)
	for g := range t.f.groups {
		p := t.pages(l, g)
		if p.c.physical != l.physical {
			return nil, errThrift
		}
		first := x.rows
		var local []int32 // of each text of the dictionary its code
		for {
			more, err := p.next()
			if err != nil {
				return nil, err
			}
			if !more {
				break
			}
			if x.rows += p.n; x.rows > rows {
				return nil, errRows
			}
			from := &p.vals
			if p.coded {
				from = p.dict
			}
			if !p.coded || local == nil {
				if i := notText(from, l); i >= 0 {
					return nil, fmt.Errorf("%.40q is not text in UTF-8: write text or numbers, or leave the column out", from.text(i))
				}
			}
			if p.coded && local == nil {
				local = make([]int32, p.dict.n)
				for i := range local {
					local[i] = -1
				}
			}
			if err := t.rowsOf(x, l, p, local); err != nil {
				return nil, err
			}
		}
		if int64(x.rows-first) != t.f.groups[g].rows {
			return nil, errRows
		}
	}
	return &x.w, nil
}

// rowsOf adds the rows of a page.
func (t *table) rowsOf(x *texts, l *leaf, p *pages, local []int32) error {
	grown, k := 0, 0
	for i := range p.n {
		if p.def != nil && int(p.def[i]) != l.maxDef {
			if grown += 16; x.known != nil {
				x.code(-1)
			} else {
				x.w.Texts = append(x.w.Texts, "")
			}
			continue
		}
		switch {
		case !p.coded:
			grown += x.add(l.text(&p.vals, k))
		case x.known == nil:
			grown += x.add(l.text(p.dict, int(p.codes[k])))
		default:
			c := p.codes[k]
			if local[c] < 0 {
				grown += x.add(l.text(p.dict, int(c)))
				if x.known != nil {
					local[c] = x.w.Codes[len(x.w.Codes)-1]
				}
			} else {
				x.code(local[c])
			}
		}
		k++
	}
	return t.keep(grown)
}

// text returns a text, of a UUID as it is written.
func (l *leaf) text(v *values, i int) []byte {
	b := v.text(i)
	if l.logical == logicalUUID {
		return fmt.Appendf(nil, "%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	}
	return b
}

// notText returns the first text that is not UTF-8, −1 if all are.
func notText(v *values, l *leaf) int {
	if l.logical == logicalUUID {
		return -1
	}
	whole := utf8.Valid(v.bytes)
	for i := range v.n {
		if b := v.text(i); whole && len(b) > 0 && !utf8.RuneStart(b[0]) || !whole && !utf8.Valid(b) {
			return i
		}
	}
	return -1
}

// lists is a matrix while its rows are read: row after row, of which each is a list.
type lists struct {
	m     *form.Matrix
	row   int // the row that is being read, −1 before the first
	in    int // how many elements it has, −1: it is null
	empty int // rows before the first list
	keep  func(n int) error
}

// nulls adds n elements that are not there.
func (x *lists) nulls(n int) {
	for range n {
		x.m.Values = append(x.m.Values, tensor.Float(math.NaN()))
	}
}

// end ends a row.
func (x *lists) end() error {
	m := x.m
	switch {
	case x.row < 0:
	case x.in < 0 && m.Cols < 0:
		x.empty++
	case x.in < 0:
		x.nulls(m.Cols)
	case m.Cols < 0:
		if err := x.keep(m.Rows * x.in * 4); err != nil {
			return err
		}
		first := m.Values
		m.Cols, m.Values = x.in, make([]tensor.Float, 0, m.Rows*x.in)
		x.nulls(x.empty * x.in)
		m.Values = append(m.Values, first...)
	case x.in != m.Cols:
		return x.unlike(fmt.Sprint(x.in))
	}
	return nil
}

// unlike is the error of a row with another number of elements than those before.
func (x *lists) unlike(n string) error {
	return fmt.Errorf("row %d: the list has %s numbers, and those before have %d: write lists of one length, or leave the column out", x.row+1, n, x.m.Cols)
}

// add adds the elements of a page, whose values that are not null are vals.
func (x *lists) add(p *pages, vals []float64) error {
	if x.m.Cols < 0 {
		if err := x.keep(4 * p.n); err != nil {
			return err
		}
	}
	k := 0
	for i := range p.n {
		if p.rep[i] == 0 {
			if err := x.end(); err != nil {
				return err
			}
			if x.row++; x.row >= x.m.Rows {
				return errRows
			}
			x.in = 0
		} else if x.row < 0 || x.in < 0 {
			return errRows
		}
		switch d := int(p.def[i]); {
		case d >= p.leaf.listed && x.in == x.m.Cols:
			return x.unlike(fmt.Sprint("more than ", x.in))
		case d == p.leaf.maxDef:
			x.m.Values = append(x.m.Values, tensor.Float(vals[k]))
			k++
			x.in++
		case d >= p.leaf.listed:
			x.nulls(1)
			x.in++
		default:
			x.in = -1
		}
	}
	return nil
}

// matrix reads a column of lists of numbers, which have all one length.
func (t *table) matrix(l *leaf) (*form.Matrix, error) {
	x := &lists{m: &form.Matrix{Rows: int(t.f.rows), Cols: -1}, row: -1, keep: t.keep}
	var dict, vals []float64
	for g := range t.f.groups {
		p, first := t.pages(l, g), x.row
		dict = nil
		if p.c.physical != l.physical {
			return nil, errThrift
		}
		for {
			more, err := p.next()
			if err != nil {
				return nil, err
			}
			if !more {
				break
			}
			if p.coded && dict == nil {
				if dict, err = l.numbers(p.dict, nil); err != nil {
					return nil, err
				}
			}
			if p.coded {
				vals = looked(vals, dict, p.codes)
			} else if vals, err = l.numbers(&p.vals, vals); err != nil {
				return nil, err
			}
			if err := x.add(p, vals); err != nil {
				return nil, err
			}
		}
		if int64(x.row-first) != t.f.groups[g].rows {
			return nil, errRows
		}
	}
	if err := x.end(); err != nil {
		return nil, err
	}
	x.m.Cols = max(0, x.m.Cols)
	return x.m, nil
}
