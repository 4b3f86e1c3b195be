package report

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/edgewise-ml/edgewise/internal/plain"
)

// Printer prints for people, or JSON for machines, and remembers the first error; that
// nobody reads it is none. Strings and errors that it is given may come from data: they
// are shown as package plain does.
type Printer struct {
	w        io.Writer
	coloured bool
	columns  func() int // of a line of prose
	terminal bool
	err      error
}

// NewPrinter returns a printer on w.
func NewPrinter(w io.Writer) *Printer {
	p := &Printer{w: w, coloured: coloured(w), columns: func() int { return usualColumns }}
	if _, ok := w.(*os.File); ok {
		wide := terminal(w)
		p.columns, p.terminal = func() int { return prose(wide, os.Getenv) }, wide != nil
	}
	return p
}

// Err returns the first error.
func (p *Printer) Err() error { return p.err }

// What makes the letters after it bold, and what ends that.
const (
	bold   = "\x1b[1m"
	normal = "\x1b[0m"
)

// Strong returns s, in bold letters where w is a terminal that shows them.
func (p *Printer) Strong(s string) string {
	if p.coloured {
		return bold + s + normal
	}
	return s
}

// Coloured reports whether w is a terminal that shows colours, and its user wants them:
// NO_COLOR is not set.
func (p *Printer) Coloured() bool { return p.coloured }

// Drawn prints a text as it stands, escape sequences included: what a picture makes, in
// which strings that come from data are harmless already.
func (p *Printer) Drawn(text string) { p.write([]byte(text)) }

// coloured reports whether w shows escape sequences and its user wants them.
func coloured(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && wantsColour(term.IsTerminal(int(f.Fd())), os.Getenv)
}

// wantsColour reports whether colours are shown, given whether there is a terminal and what the
// environment says: of NO_COLOR anything but nothing means none.
func wantsColour(terminal bool, environment func(string) string) bool {
	return terminal && environment("NO_COLOR") == "" && environment("TERM") != "dumb"
}

// Printf prints as fmt.Printf does. What is to be printed as it stands, such as several
// lines, belongs to the format.
func (p *Printer) Printf(format string, args ...any) {
	p.write([]byte(fmt.Sprintf(format, shown(args)...)))
}

// Lines prints each string in a line of its own.
func (p *Printer) Lines(texts []string) {
	for _, text := range texts {
		p.Printf("%s\n", text)
	}
}

// Paragraph prints text in lines that are as wide as the terminal, or of 80 columns where there is none.
func (p *Printer) Paragraph(format string, args ...any) {
	p.write([]byte(wrap(fmt.Sprintf(format, shown(args)...), p.columns()) + "\n"))
}

// Columns is how many columns lines may have.
func (p *Printer) Columns() int { return p.columns() }

// Next prints the command to try next.
func (p *Printer) Next(command string) { p.Printf("next: "+p.Strong("%s")+"\n", command) }

// Line prints a line, which a terminal that is narrower gets as a paragraph.
func (p *Printer) Line(format string, args ...any) {
	text := fmt.Sprintf(format, shown(args)...)
	if p.terminal {
		text = wrap(text, p.columns())
	}
	p.write([]byte(text + "\n"))
}

// Encode prints a JSON object in a line.
func (p *Printer) Encode(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		p.fail(err)
		return
	}
	p.write(append(plain.JSON(b), '\n'))
}

func (p *Printer) write(b []byte) {
	_, err := p.w.Write(b)
	p.fail(err)
}

func (p *Printer) fail(err error) {
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
