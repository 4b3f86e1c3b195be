package plain

import (
	"strings"
	"unicode"
)

// Width returns how many columns of a terminal a harmless text takes: two for the wide
// letters of East Asia and for most emoji, none for marks that combine with what is
// before them.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += columns(r)
	}
	return n
}

// wide are the characters of two columns, in ranges, ascending.
var wide = [][2]rune{
	{0x1100, 0x115F}, {0x2E80, 0x303E}, {0x3041, 0xA4CF}, {0xA960, 0xA97F}, {0xAC00, 0xD7A3}, {0xF900, 0xFAFF},
	{0xFE30, 0xFE6F}, {0xFF01, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF},
	{0x20000, 0x3FFFD},
}

func columns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	for _, span := range wide {
		if r >= span[0] && r <= span[1] {
			return 2
		}
	}
	return 1
}

// Pad returns s with blanks after it, so that it takes at least so many columns.
func Pad(s string, columns int) string {
	return s + strings.Repeat(" ", max(0, columns-Width(s)))
}

// Fit returns s, or its beginning with an ellipsis where it takes more columns than that.
func Fit(s string, most int) string {
	if Width(s) <= most {
		return s
	}
	at := 0
	for i, r := range s {
		if at+columns(r) > most-1 {
			return s[:i] + strings.Repeat("…", min(1, most))
		}
		at += columns(r)
	}
	return s
}
