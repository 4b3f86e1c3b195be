package cells

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// note says how a cell was written. With the cell's value it gives the text back: a block of a table is
// parsed before it is known whether words follow in a later block, among which "007" is no 7.
type note uint32

// The lowest bits of a note say what the value is.
const (
	isEmpty  note = iota // nothing, or nan
	isNumber             // the bits of a float64
	isWhole              // an int64, in a column that says when
	isTime               // microseconds since 1970
	isGone               // NaT, or in a column that says when NA and its like; the text is kept
	kindBits note = 7
	isOdd    note = 8 // the text is kept, since it does not follow from the rest
)

// Of a number the bits above say how it was written.
const (
	asDecimal  note = iota << 4 // digits, with a dot before the last few
	asShortest                  // the shortest that is this float64
	asScience                   // the shortest with an exponent
	asTruth                     // true or false
	numberForm note = 3 << 4

	decimalsAt, zerosAt = 6, 11 // five bits each: digits after the dot, zeros in front; of asTruth which spelling
	fiveBits            = 31
	hasPlus             = note(1) << 16
	noUnits             = note(1) << 17 // .5
)

// truths are spellings of true and false, by number.
var truths = [...][2]string{{"false", "true"}, {"False", "True"}, {"FALSE", "TRUE"}}

// exactBits is the largest whole number up to which all are float64.
const exactBits = 1 << 53

// tens are the powers of ten that are float64: a quotient of two exact numbers is rounded once.
var tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// digits are the digits of a text with a sign and a dot perhaps: the number without both, and how many
// stand where.
type digits struct {
	m                      uint64
	units, decimals, zeros int // before and after the dot; zeros in front that say nothing
	minus                  bool
	note                   note
}

// digitsOf returns the digits of a text, not ok if it is anything else or longer than 64 bits surely hold.
func digitsOf(b []byte) (d digits, ok bool) {
	i := 0
	if b[0] == '-' || b[0] == '+' {
		d.minus = b[0] == '-'
		if !d.minus {
			d.note = hasPlus
		}
		i++
	}
	first := i
	for i < len(b) && b[i]-'0' <= 9 {
		d.m = d.m*10 + uint64(b[i]-'0')
		i++
	}
	d.units = i - first
	if i < len(b) && b[i] == '.' {
		i++
		dot := i
		for i < len(b) && b[i]-'0' <= 9 {
			d.m = d.m*10 + uint64(b[i]-'0')
			i++
		}
		if d.decimals = i - dot; d.decimals == 0 {
			return d, false
		}
	}
	for d.zeros+1 < d.units && b[first+d.zeros] == '0' {
		d.zeros++
	}
	if d.units == 0 {
		d.note |= noUnits
	}
	n := d.units + d.decimals
	return d, i == len(b) && n > 0 && n <= 19
}

// written returns the note of the digits, not ok if it cannot say how they were written.
func (d *digits) written() (n note, ok bool) {
	n = d.note | asDecimal | note(d.decimals)<<decimalsAt | note(d.zeros)<<zerosAt
	return n, d.zeros <= fiveBits && d.m < exactBits && (d.decimals == 0 || d.units+d.decimals-d.zeros <= 15)
}

// parseNumber returns the number that a text is, of which true is 1, as [strconv.ParseFloat] would.
func parseNumber(b []byte) (v float64, n note, ok bool) {
	if d, plain := digitsOf(b); plain && d.m < exactBits && d.decimals < len(tens) {
		v = float64(d.m)
		if d.decimals > 0 {
			v /= tens[d.decimals]
		}
		if d.minus {
			v = -v
		}
		if n, ok = d.written(); ok {
			return v, n | isNumber, true
		}
	} else if v, n, ok = longNumber(b); !ok || n != 0 {
		return v, n, ok
	}
	var room [32]byte
	switch {
	case string(strconv.AppendFloat(room[:0], v, 'f', -1, 64)) == string(b):
		return v, isNumber | asShortest, true
	case string(strconv.AppendFloat(room[:0], v, 'e', -1, 64)) == string(b):
		return v, isNumber | asScience, true
	}
	return v, isNumber | isOdd, true
}

// longNumber is parseNumber of what is not a few digits. The note is 0 where it is not known yet.
func longNumber(b []byte) (v float64, n note, ok bool) {
	switch c := b[0] | 0x20; {
	case c == 't' || c == 'f':
		for k, pair := range truths {
			for truth, text := range pair {
				if string(b) == text {
					return float64(truth), isNumber | asTruth | note(k)<<decimalsAt, true
				}
			}
		}
		switch {
		case strings.EqualFold(string(b), "true"):
			return 1, isNumber | isOdd, true
		case strings.EqualFold(string(b), "false"):
			return 0, isNumber | isOdd, true
		}
		return 0, 0, false
	case b[0]-'0' > 9 && c != 'i' && b[0] != '+' && b[0] != '-' && b[0] != '.' || len(b) > 1 && b[0]-'0' <= 9 && slices.Contains(noNumbers, b[len(b)-1]|0x20):
		return 0, 0, false
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if math.IsInf(v, 0) {
		return v, isNumber | isOdd, true
	}
	return v, 0, err == nil && v == v
}

// noNumbers are letters that no number ends in, of which hexadecimal ones end in a digit.
var noNumbers = []byte("ghijklmnopqrstuvwxyz%-")

// appendNumber appends the text of a number.
func appendNumber(b []byte, v float64, n note) []byte {
	form := n & numberForm
	switch form {
	case asShortest:
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	case asScience:
		return strconv.AppendFloat(b, v, 'e', -1, 64)
	case asTruth:
		return append(b, truths[n>>decimalsAt&fiveBits][int(v)]...)
	}
	// The digits are at most fifteen, or those of a whole number that is exact: the product is near enough.
	return appendDigits(b, math.Signbit(v), uint64(math.Round(math.Abs(v)*tens[n>>decimalsAt&fiveBits])), n)
}

// appendDigits appends digits as their note says.
func appendDigits(b []byte, minus bool, m uint64, n note) []byte {
	switch {
	case minus:
		b = append(b, '-')
	case n&hasPlus != 0:
		b = append(b, '+')
	}
	for range n >> zerosAt & fiveBits {
		b = append(b, '0')
	}
	var room [20]byte
	text := strconv.AppendUint(room[:0], m, 10)
	decimals := int(n >> decimalsAt & fiveBits)
	units := len(text) - decimals
	if decimals == 0 {
		return append(b, text...)
	}
	if units <= 0 && n&noUnits == 0 {
		b = append(b, '0')
	}
	b = append(append(b, text[:max(0, units)]...), '.')
	for range -units {
		b = append(b, '0')
	}
	return append(b, text[max(0, units):]...)
}

// scalars are the cells of a column in a block as long as they are numbers and times.
type scalars struct {
	bits  []int64 // nil: all are empty
	note  note    // of all cells, if notes is nil
	notes []note

	oddRows []int32 // rows whose text is kept, and where each ends
	oddEnds []uint32
	oddText []byte

	numbers, times, gone, truths int                // how many there are
	forms                        [timeFormCount]int // of a column that says when
}

// put sets the cell of a row; those of the rows before are set.
func (s *scalars) put(row, rows int, v int64, n note, text []byte) {
	if n&isOdd != 0 {
		s.oddRows = append(s.oddRows, int32(row))
		s.oddText = append(s.oddText, text...)
		s.oddEnds = append(s.oddEnds, uint32(len(s.oddText)))
	}
	if row == 0 {
		s.note = n
	}
	if s.notes == nil && n != s.note {
		s.notes = make([]note, rows)
		for i := range row {
			s.notes[i] = s.note
		}
	}
	if s.notes != nil {
		s.notes[row] = n
	}
	if s.bits == nil {
		if n == isEmpty {
			return
		}
		s.bits = make([]int64, rows)
	}
	s.bits[row] = v
}

// at returns the value of a row and its note.
func (s *scalars) at(row int) (v int64, n note) {
	n = s.note
	if s.notes != nil {
		n = s.notes[row]
	}
	if s.bits != nil {
		v = s.bits[row]
	}
	return v, n
}

// appendText appends the text of a row.
func (s *scalars) appendText(b []byte, row int) []byte {
	v, n := s.at(row)
	if n&isOdd != 0 {
		k, _ := slices.BinarySearch(s.oddRows, int32(row))
		from := uint32(0)
		if k > 0 {
			from = s.oddEnds[k-1]
		}
		return append(b, s.oddText[from:s.oddEnds[k]]...)
	}
	switch n & kindBits {
	case isNumber:
		return appendNumber(b, math.Float64frombits(uint64(v)), n)
	case isWhole:
		if v < 0 {
			return appendDigits(b, true, -uint64(v), n)
		}
		return appendDigits(b, false, uint64(v), n)
	case isTime:
		return appendTime(b, v, n)
	}
	return b
}

// isNaT reports whether a text is what NumPy writes where a time is not known.
func isNaT(b []byte) bool { return len(b) == 3 && strings.EqualFold(string(b), "nat") }

// cell sets the cell of a row, and reports false if it is a word.
func (s *scalars) cell(row, rows int, b []byte, w when) bool {
	if IsEmpty(b) {
		s.put(row, rows, 0, isEmpty, nil)
		return true
	}
	if t, n, ok := timeOf(b); ok {
		s.times++
		s.forms[written]++
		s.put(row, rows, t, n, b)
		return true
	}
	if w != never {
		if isNaT(b) || len(b) <= 4 && missingWord(b) {
			s.gone++
			s.put(row, rows, 0, isGone|isOdd, b)
			return true
		}
		if x, v, n, ok := exactCell(b); ok {
			s.numbers++
			s.forms[w.form(x)]++
			s.put(row, rows, v, n, b)
			return true
		}
	}
	v, n, ok := parseNumber(b)
	switch {
	case ok:
		s.numbers++
		s.forms[noTime]++
		if n&numberForm == asTruth && n&isOdd == 0 {
			s.truths++
		}
	case isNaT(b):
		s.gone++
		n = isGone | isOdd
	default:
		return false
	}
	s.put(row, rows, int64(math.Float64bits(v)), n, b)
	return true
}
