package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/plain"
)

// printer prints for people, or JSON for machines, and remembers the first error; that
// nobody reads it is none. Strings and errors that it is given may come from data: they
// are shown as package plain does.
type printer struct {
	w   io.Writer
	err error
}

// printf prints as fmt.Printf does. What is to be printed as it stands, such as several
// lines, belongs to the format.
func (p *printer) printf(format string, args ...any) {
	p.write([]byte(fmt.Sprintf(format, shown(args)...)))
}

// lines prints each string in a line of its own.
func (p *printer) lines(texts []string) {
	for _, text := range texts {
		p.printf("%s\n", text)
	}
}

// paragraph prints text in lines of 80 columns.
func (p *printer) paragraph(format string, args ...any) {
	p.write([]byte(wrap(fmt.Sprintf(format, shown(args)...)) + "\n"))
}

// encode prints a JSON object in a line.
func (p *printer) encode(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		p.fail(err)
		return
	}
	p.write(append(plain.JSON(b), '\n'))
}

func (p *printer) write(b []byte) {
	_, err := p.w.Write(b)
	p.fail(err)
}

func (p *printer) fail(err error) {
	if p.err == nil && !unread(err) {
		p.err = err
	}
}

// shown returns what is printed with its strings and errors made harmless.
func shown(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case string:
			out[i] = plain.Text(a)
		case error:
			out[i] = plain.Lines(a.Error())
		default:
			out[i] = a
		}
	}
	return out
}

// wrap breaks text at its spaces into lines of at most 80 columns, as many as the
// narrowest usual terminal has.
func wrap(text string) string {
	const columns = 80
	var b strings.Builder
	at := 0
	for _, word := range strings.Fields(text) {
		n := plain.Width(word)
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
