package cells

import (
	"math"
	"time"
)

// day and second are their microseconds.
const second, day = 1_000_000, 24 * 60 * 60 * second

// timeForms are how times are written out, in UTC unless they say another zone. What is finer
// than seconds may follow these.
var timeForms = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly,
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z07", "2006-01-02T15:04Z07:00", "2006-01-02T15:04",
}

// timeForm is how a cell says when.
type timeForm uint8

const (
	noForm      timeForm = iota // nothing is known
	written                     // 2024-05-19T12:30:00Z
	compact8                    // 20240519
	compact12                   // 202405191230
	compact14                   // 20240519123000
	plainNumber                 // another number nearer to 0 than leastSeconds, or in a column of numbers as they stand any
	inSeconds                   // since 1970, as the next three
	inMillis
	inMicros
	inNanos
	noTime // a word
	timeFormCount
)

// A number in a column that holds times counts, by its size, seconds since 1970 or what is finer.
// Each range is from 1973-03-03 to 5138-11-16 and as far before 1970, but for nanoseconds, of
// which an int64 ends in 2262.
const (
	leastSeconds = 100_000_000
	leastMillis  = 1000 * leastSeconds
	leastMicros  = 1000 * leastMillis
	leastNanos   = 1000 * leastMicros
)

// timeFormNames are for errors.
var timeFormNames = [timeFormCount]string{
	written: "a time that is written out", compact8: "a date", compact12: "a date with a time", compact14: "a date with a time",
	plainNumber: "a number", inSeconds: "a number of seconds since 1970", inMillis: "a number of milliseconds since 1970",
	inMicros: "a number of microseconds since 1970", inNanos: "a number of nanoseconds since 1970", noTime: "no time",
}

// formOfNumber returns how a number says when, if it is one of a column of times.
func formOfNumber(x instant) timeForm {
	if x.rest == 0 {
		switch _, form := compactTime(x.n); form {
		case compact8, compact12, compact14:
			return form
		}
	}
	return sizeOf(x.n)
}

// sizeOf is formOfNumber of one that is not a date.
func sizeOf(n int64) timeForm {
	if n < 0 {
		n = -n
	}
	switch {
	case n < leastSeconds:
		return plainNumber
	case n < leastMillis:
		return inSeconds
	case n < leastMicros:
		return inMillis
	case n < leastNanos:
		return inMicros
	}
	return inNanos
}

// compactTime returns the time that the digits of a number write: of the years 1000 to 2999.
func compactTime(n int64) (micros int64, form timeForm) {
	const date, minute, whole = 100_000_000, 1_000_000_000_000, 100_000_000_000_000
	seconds := n
	switch {
	case n >= date/10 && n < date:
		form, seconds = compact8, n*1_000_000
	case n >= minute/10 && n < minute:
		form, seconds = compact12, n*100
	case n >= whole/10 && n < whole:
		form = compact14
	default:
		return 0, noForm
	}
	two := func() int {
		v := seconds % 100
		seconds /= 100
		return int(v)
	}
	s, m, h, d, month := two(), two(), two(), two(), two()
	t := time.Date(int(seconds), time.Month(month), d, h, m, s, 0, time.UTC)
	if seconds >= 3000 || t.Month() != time.Month(month) || t.Day() != d || t.Hour() != h || t.Minute() != m || t.Second() != s {
		return 0, noForm
	}
	return t.UnixMicro(), form
}

// instant is a cell that says when, as it stands: the number n + rest, or the microsecond n of a
// time that is written out.
type instant struct {
	n    int64
	rest float64 // nearer to 0 than 1, of n's sign
}

// floor is the largest whole number that is not above.
func (x instant) floor() int64 { return x.n - int64(btoi(x.rest < 0)) }

// micros is the number of microseconds since 1970 of a cell of a form. Parts of seconds are the
// nearest, since a float64 of seconds is not exact; what is finer is cut off otherwise.
func (x instant) micros(form timeForm) int64 {
	part := func(of float64) int64 { return int64(math.Round(x.rest * of)) }
	switch form {
	case compact8, compact12, compact14:
		t, _ := compactTime(x.n)
		return t
	case inSeconds:
		return x.n*second + part(second)
	case inMillis:
		return x.n*1000 + part(1000)
	case inNanos:
		return x.n/1000 - int64(btoi(x.n%1000 < 0))
	}
	return x.floor()
}

// oneForm returns the one form that all cells have whose time is known, of which there are so many of each, and which other
// one stands there too: noForm if none does.
func oneForm(seen [timeFormCount]int) (form, other timeForm) {
	count := seen
	// Digits that happen to be a date are no date where most numbers of their size are none.
	for _, c := range []timeForm{compact8, compact12, compact14} {
		like := sizeOf([...]int64{compact8: 1e7, compact12: 1e11, compact14: 1e13}[c])
		if count[c] > 0 && count[c] < seen[like] {
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

// TimeOf returns the moment that a text means as a cell of a column of times: one that is written out, the digits of a date,
// or a number of seconds since 1970 or what is finer.
func TimeOf(text string) (micros int64, ok bool) {
	b := []byte(text)
	if micros, _, ok = timeOf(b); ok || len(b) == 0 {
		return micros, ok
	}
	x, _, _, ok := exactCell(b)
	form := formOfNumber(x)
	return x.micros(form), ok && form != plainNumber
}

// WholeOf returns the largest whole number that is not above the number that a text is. Those of 64 bits are exact.
func WholeOf(text string) (n int64, ok bool) {
	if text == "" {
		return 0, false
	}
	x, _, _, ok := exactCell([]byte(text))
	return x.floor(), ok
}
