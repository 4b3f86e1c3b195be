package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// printer prints text and remembers the first error; that nobody reads it is none.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(p.w, format, args...); err != nil && p.err == nil && !unread(err) {
		p.err = err
	}
}

// wrap breaks text at its spaces into lines of at most 80 columns, as many as the
// narrowest usual terminal has.
func wrap(text string) string {
	const columns = 80
	var b strings.Builder
	at := 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case at == 0:
		case at+1+n > columns:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}
