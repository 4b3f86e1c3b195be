package report

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/edgewise-ml/edgewise/internal/plain"
)

// How long a line of progress stands before the next one.
const (
	redrawEvery = 100 * time.Millisecond // on a terminal, where it is redrawn
	appendEvery = 5 * time.Second        // elsewhere, where it stays
)

// Progress shows where a long task is: on a terminal one line that is redrawn,
// elsewhere a line now and then.
type Progress struct {
	w     io.Writer
	width func() int // of the terminal; nil where there is none
	now   func() time.Time
	last  time.Time // of the last line
	shown int       // columns on the terminal's line
}

// NewProgress returns a progress on w. The first line waits as long as any
// other, so that a task that is soon done shows none.
func NewProgress(w io.Writer) *Progress {
	p := &Progress{w: w, now: time.Now}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		p.width = func() int {
			width, _, err := term.GetSize(int(f.Fd()))
			return columns(width, err)
		}
	}
	p.last = p.now()
	return p
}

// columns returns how wide a terminal is that says width. A serial line, or one of a
// machine that builds, does not know its width and says 0.
func columns(width int, err error) int {
	if err != nil || width <= 0 {
		return 80
	}
	return width
}

// Show replaces the line, or adds one, if it is time to. Parts of the format that two
// blanks divide are left out from the end on where the terminal is narrow, so that the
// first is to say the most.
func (p *Progress) Show(format string, args ...any) {
	every := appendEvery
	if p.width != nil {
		every = redrawEvery
	}
	now := p.now()
	if now.Sub(p.last) < every {
		return
	}
	p.last = now
	text := fmt.Sprintf(format, shown(args)...)
	if p.width == nil {
		fmt.Fprintln(p.w, text)
		return
	}
	text = shorten(text, p.width()-1) // the last column would wrap
	n := plain.Width(text)
	fmt.Fprint(p.w, "\r", text, strings.Repeat(" ", max(0, p.shown-n)))
	p.shown = n
}

// Clear takes the line off the terminal, for what is to be printed next.
func (p *Progress) Clear() {
	if p.shown > 0 {
		fmt.Fprint(p.w, "\r", strings.Repeat(" ", p.shown), "\r")
		p.shown = 0
	}
}

// shorten returns the parts of s, divided by two blanks, that n columns hold, and of the
// first its beginning if that is too long.
func shorten(s string, n int) string {
	for plain.Width(s) > n {
		end := strings.LastIndex(s, "  ")
		if end <= 0 {
			return plain.Fit(s, n)
		}
		s = s[:end]
	}
	return s
}
