package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// How long a line of progress stands before the next one.
const (
	redrawEvery = 100 * time.Millisecond // on a terminal, where it is redrawn
	appendEvery = 5 * time.Second        // elsewhere, where it stays
)

// progress shows where a long task is: on a terminal one line that is redrawn,
// elsewhere a line now and then.
type progress struct {
	w     io.Writer
	width func() int // of the terminal; nil where there is none
	now   func() time.Time
	last  time.Time // of the last line
	shown int       // characters on the terminal's line
}

// newProgress returns a progress on w. The first line waits as long as any
// other, so that a task that is soon done shows none.
func newProgress(w io.Writer) *progress {
	p := &progress{w: w, now: time.Now}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		p.width = func() int {
			if width, _, err := term.GetSize(int(f.Fd())); err == nil {
				return width
			}
			return 80
		}
	}
	p.last = p.now()
	return p
}

// show replaces the line, or adds one, if it is time to.
func (p *progress) show(format string, args ...any) {
	every := appendEvery
	if p.width != nil {
		every = redrawEvery
	}
	now := p.now()
	if now.Sub(p.last) < every {
		return
	}
	p.last = now
	text := fmt.Sprintf(format, args...)
	if p.width == nil {
		fmt.Fprintln(p.w, text)
		return
	}
	text = shorten(text, p.width()-1) // the last column would wrap
	n := utf8.RuneCountInString(text)
	fmt.Fprint(p.w, "\r", text, strings.Repeat(" ", max(0, p.shown-n)))
	p.shown = n
}

// clear takes the line off the terminal, for what is to be printed next.
func (p *progress) clear() {
	if p.shown > 0 {
		fmt.Fprint(p.w, "\r", strings.Repeat(" ", p.shown), "\r")
		p.shown = 0
	}
}

// shorten returns at most the first n characters of s.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:max(0, n)])
	}
	return s
}
