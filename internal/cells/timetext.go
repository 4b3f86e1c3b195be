package cells

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// when says whether a column's name says that it holds times.
type when uint8

const (
	never   when = iota
	counted      // whole numbers as they stand, such as years
	timed        // numbers may count from 1970, or be dates
)

// whenOf returns what a column's name says.
func whenOf(name string) when {
	name = Plain(name)
	if name == "year" || strings.HasSuffix(name, "_year") {
		return counted
	}
	for _, end := range []string{"time", "timestamp", "date", "ts", "at"} {
		if name == end || strings.HasSuffix(name, "_"+end) {
			return timed
		}
	}
	if strings.HasSuffix(name, "timestamp") {
		return timed
	}
	return never
}

// form returns how a number says when.
func (w when) form(x instant) timeForm {
	if w == counted {
		return plainNumber
	}
	return formOfNumber(x)
}

// exactCell returns the number that a text is, with its bits and its note. Whole ones of 64 bits are exact.
func exactCell(b []byte) (x instant, bits int64, n note, ok bool) {
	if d, plain := digitsOf(b); plain && d.decimals == 0 && d.zeros <= fiveBits && d.m < 1<<63 {
		x.n = int64(d.m)
		n = isWhole | d.note | note(d.zeros)<<zerosAt
		if d.minus {
			x.n = -x.n
			if x.n == 0 {
				n |= isOdd
			}
		}
		return x, x.n, n, true
	}
	if v, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		return instant{n: v}, v, isWhole | isOdd, v != NoTime
	}
	v, n, ok := parseNumber(b)
	if !ok || b[0]|0x20 == 't' || b[0]|0x20 == 'f' || !(math.Abs(v) < 1<<63) {
		return x, 0, 0, false
	}
	return instantOf(v), int64(math.Float64bits(v)), n, true
}

// instantOf returns a number that int64 reaches.
func instantOf(v float64) instant {
	whole := math.Trunc(v)
	return instant{int64(whole), v - whole}
}

// Of a time the bits of a note above the kind say how it was written.
const (
	separatorAt, fractionAt, zoneAt, offsetAt = 4, 7, 11, 14
	hasSeconds                                = note(1) << 6
	hasComma                                  = note(1) << 10
	westward                                  = note(1) << 13
	noZone, utc, hoursZone, fullZone          = 0, 1, 2, 3
)

// twoDigits returns the number that two digits are, or 100.
func twoDigits(b []byte, at int) int {
	if at+2 > len(b) || b[at]-'0' > 9 || b[at+1]-'0' > 9 {
		return 100
	}
	return int(b[at]-'0')*10 + int(b[at+1]-'0')
}

// timeOf returns the time that a text writes out, in microseconds since 1970, and its note.
func timeOf(b []byte) (micros int64, n note, ok bool) {
	if len(b) < len(time.DateOnly) || b[4] != '-' || b[0]-'0' > 9 {
		return 0, 0, false
	}
	return parseTime(b)
}

// parseTime is timeOf of a text that has ten bytes or more.
func parseTime(b []byte) (micros int64, n note, ok bool) {
	if micros, n, ok = fixedTime(b); ok {
		return micros, n | isTime, true
	}
	if len(b) > 64 { // no time is so long
		return 0, 0, false
	}
	for _, c := range b {
		if c-'0' > 9 && c != '-' && c != ':' && c != '.' && c != ',' && c != 'T' && c != ' ' && c != 'Z' && c != '+' {
			return 0, 0, false
		}
	}
	for _, form := range timeForms {
		if t, err := time.Parse(form, string(b)); err == nil {
			return t.UnixMicro(), isTime | isOdd, true
		}
	}
	return 0, 0, false
}

// fixedTime is parseTime of the usual widths.
func fixedTime(b []byte) (micros int64, n note, ok bool) {
	year, month, d := twoDigits(b, 0)*100+twoDigits(b, 2), twoDigits(b, 5), twoDigits(b, 8)
	if b[4] != '-' || b[7] != '-' || twoDigits(b, 0) > 99 || twoDigits(b, 2) > 99 || !isDate(year, month, d) {
		return 0, 0, false
	}
	micros = daysTo(year, month, d) * day
	if len(b) == 10 {
		return micros, 0, true
	}
	if n = 1 << separatorAt; b[10] == ' ' {
		n = 2 << separatorAt
	} else if b[10] != 'T' {
		return 0, 0, false
	}
	h, m := twoDigits(b, 11), twoDigits(b, 14)
	if h > 23 || m > 59 || b[13] != ':' {
		return 0, 0, false
	}
	micros += int64(h*3600+m*60) * second
	rest := b[16:]
	if len(rest) > 0 && rest[0] == ':' {
		s := twoDigits(rest, 1)
		if s > 59 {
			return 0, 0, false
		}
		micros, n, rest = micros+int64(s)*second, n|hasSeconds, rest[3:]
		if len(rest) > 0 && (rest[0] == '.' || rest[0] == ',') {
			part, k := int64(0), 1
			for ; k < len(rest) && rest[k]-'0' <= 9; k++ {
				part = part*10 + int64(rest[k]-'0')
				if k > 6 {
					return 0, 0, false
				}
			}
			if k == 1 {
				return 0, 0, false
			}
			if rest[0] == ',' {
				n |= hasComma
			}
			n |= note(k-1) << fractionAt
			micros, rest = micros+part*int64(tens[7-k]), rest[k:]
		}
	}
	offset, zone, ok := zoneOf(rest)
	if withT := b[10] == 'T'; !ok || n&hasSeconds == 0 && !withT && zone&(3<<zoneAt) != noZone || zone&(3<<zoneAt) == hoursZone<<zoneAt && withT {
		return 0, 0, false
	}
	return micros - int64(offset)*60*second, n | zone, true
}

// zoneOf returns the minutes that a zone is ahead of UTC, and its note.
func zoneOf(b []byte) (minutes int, n note, ok bool) {
	switch {
	case len(b) == 0:
		return 0, noZone, true
	case len(b) == 1 && b[0] == 'Z':
		return 0, utc << zoneAt, true
	case b[0] != '+' && b[0] != '-':
		return 0, 0, false
	}
	h, m := twoDigits(b, 1), 0
	switch {
	case len(b) == 3:
		n = hoursZone << zoneAt
	case len(b) == 6 && b[3] == ':':
		m, n = twoDigits(b, 4), fullZone<<zoneAt
	default:
		return 0, 0, false
	}
	if h > 23 || m > 59 {
		return 0, 0, false
	}
	minutes = h*60 + m
	n |= note(minutes) << offsetAt
	if b[0] == '-' {
		return -minutes, n | westward, true
	}
	return minutes, n, true
}

// appendTime appends the text of a time.
func appendTime(b []byte, micros int64, n note) []byte {
	offset := int64(n >> offsetAt)
	sign := byte('+')
	if n&westward != 0 {
		sign = '-'
		micros -= offset * 60 * second
	} else {
		micros += offset * 60 * second
	}
	separator := n >> separatorAt & 3
	layout := [...]string{"2006-01-02", "2006-01-02T15:04", "2006-01-02 15:04"}[separator]
	if n&hasSeconds != 0 {
		layout += ":05"
	}
	t := time.UnixMicro(micros).UTC()
	b = t.AppendFormat(b, layout)
	if digits := int(n >> fractionAt & 7); digits > 0 {
		dot := byte('.')
		if n&hasComma != 0 {
			dot = ','
		}
		all := strconv.Itoa(1_000_000 + t.Nanosecond()/1000)
		b = append(append(b, dot), all[1:1+digits]...)
	}
	pair := func(v int64) { b = append(b, byte('0'+v/10), byte('0'+v%10)) }
	switch n >> zoneAt & 3 {
	case utc:
		b = append(b, 'Z')
	case hoursZone:
		b = append(b, sign)
		pair(offset / 60)
	case fullZone:
		b = append(b, sign)
		pair(offset / 60)
		b = append(b, ':')
		pair(offset % 60)
	}
	return b
}

// isDate reports whether there is such a day.
func isDate(year, month, d int) bool {
	if month < 1 || month > 12 || d < 1 {
		return false
	}
	days := [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		days++
	}
	return d <= days
}

// daysTo returns the days from 1970 to a date, whose year is not below 0.
func daysTo(year, month, d int) int64 {
	if month <= 2 { // years begin in March, so that the day of the leap year is their last
		year, month = year-1, month+12
	}
	era := (year + 400) / 400
	of := year + 400 - era*400
	return int64(era-1)*146097 + int64(of*365+of/4-of/100+(153*(month-3)+2)/5+d-1) - 719468
}
