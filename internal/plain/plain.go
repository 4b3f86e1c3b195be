package plain

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns s as it is if it is harmless, or else in quotes, with the escapes of a Go
// string in the place of what is harmful.
func Text(s string) string {
	if harmless(s) {
		return s
	}
	return strconv.QuoteToGraphic(s)
}

func harmless(s string) bool {
	for i, r := range s {
		if harmful(r) || r == utf8.RuneError && !encoded(s[i:]) {
			return false
		}
	}
	return true
}

// encoded reports whether s begins with a character, be it U+FFFD, and not with a byte
// that is no part of one.
func encoded(s string) bool {
	_, size := utf8.DecodeRuneInString(s)
	return size > 1
}

// harmful reports whether a character does more than to stand where it is written. The
// joiners U+200C and U+200D are part of words in several scripts.
func harmful(r rune) bool {
	return !unicode.IsGraphic(r) && r != '\u200c' && r != '\u200d'
}

// Lines returns a text whose lines are wanted, such as an error that joins several,
// with escapes in the place of what else is harmful. Every line but the first is
// indented, so that a name with a line break in it cannot pass for a line of ours.
func Lines(s string) string {
	s = strings.TrimSuffix(s, "\n")
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n':
			b.WriteString("\n  ")
		case r == '\t':
			b.WriteByte(' ')
		case harmful(r):
			escaped := strconv.QuoteRuneToASCII(r)
			b.WriteString(escaped[1 : len(escaped)-1])
		case r == utf8.RuneError && !encoded(s[i:]):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// JSON returns marshalled JSON, whose strings leave some of what is harmful as it is,
// with a \u escape for each such character: the same values.
func JSON(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for _, r := range string(b) {
		switch {
		case r == '\n' || !harmful(r):
			out = utf8.AppendRune(out, r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}
