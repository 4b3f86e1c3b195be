package jsonread

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns what a text says that is written as raw, in quotes. It is an error if bytes
// of it are not UTF-8, or if an escape stands for half a character.
func Text(raw []byte) (string, error) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", errors.New("it is not a text")
	}
	in := raw[1 : len(raw)-1]
	if !utf8.Valid(in) {
		for i, c := range string(in) {
			if c == utf8.RuneError && !bytes.HasPrefix(in[i:], []byte("\ufffd")) {
				return "", fmt.Errorf("the byte 0x%02x of a text is not UTF-8: save the file as UTF-8", in[i])
			}
		}
	}
	if bytes.IndexByte(in, '\\') < 0 {
		return string(in), nil
	}
	out := make([]byte, 0, len(in))
	for len(in) > 0 {
		n := bytes.IndexByte(in, '\\')
		if n < 0 {
			n = len(in)
		}
		out, in = append(out, in[:n]...), in[n:]
		if n = 2; len(in) == 0 {
			break
		}
		switch c := in[1]; c {
		case 'u':
			r := codeUnit(in)
			if n = 6; utf16.IsSurrogate(r) {
				first := r
				if r, n = utf16.DecodeRune(first, codeUnit(in[6:])), 12; r == utf8.RuneError {
					return "", fmt.Errorf(`\u%04x in a text is half a character, without its other half`, first)
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, meant[bytes.IndexByte(escaped, c)])
		}
		in = in[n:]
	}
	return string(out), nil
}

// What may be escaped by a letter or a sign, and what is meant.
var (
	escaped = []byte(`"\/bfnrt`)
	meant   = []byte("\"\\/\b\f\n\r\t")
)

// codeUnit returns the code unit of the \u escape that b begins with, 0 if it does not.
func codeUnit(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0
	}
	v, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(v)
}

// escapes returns an error if a text has an escape that is none.
func escapes(raw []byte) error {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if raw[i] == 'u' {
			digits := raw[i+1 : min(i+5, len(raw))]
			if n := len(bytes.TrimLeft(digits, "0123456789abcdefABCDEF")); n > 0 || len(digits) < 4 {
				return fmt.Errorf(`%q stands in a text: \u wants four hexadecimal digits`, raw[i-1:min(i+5, len(raw))])
			}
		} else if bytes.IndexByte(escaped, raw[i]) < 0 {
			return fmt.Errorf(`\%c stands in a text, and is no escape: a backslash itself is \\`, rune(raw[i]))
		}
	}
	return nil
}

// isNumber reports whether b is a number as JSON writes it.
func isNumber(b []byte) bool {
	digits := func() bool {
		n := len(b)
		b = bytes.TrimLeft(b, "0123456789")
		return len(b) < n
	}
	b = bytes.TrimPrefix(b, []byte("-"))
	if bytes.HasPrefix(b, []byte("0")) {
		b = b[1:]
	} else if !digits() {
		return false
	}
	if bytes.HasPrefix(b, []byte(".")) {
		if b = b[1:]; !digits() {
			return false
		}
	}
	if len(b) > 0 && b[0]|' ' == 'e' {
		if b = b[1:]; len(b) > 0 && (b[0] == '+' || b[0] == '-') {
			b = b[1:]
		}
		if !digits() {
			return false
		}
	}
	return len(b) == 0
}
