package report

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/train"
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
	begun time.Time // when the first part of what takes time was done; zero: none is
	from  int       // how many were done then
	runs  [2]int    // which of how many trainings is at work, from 0; 0 of them: it is the only one
	shown int       // columns on the terminal's line
}

// NewProgress returns a progress on w. The first line waits as long as any
// other, so that a task that is soon done shows none.
func NewProgress(w io.Writer) *Progress {
	p := &Progress{w: w, now: time.Now}
	if os.Getenv("TERM") != "dumb" {
		p.width = terminal(w)
	}
	p.last = p.now()
	return p
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

// Run says which of how many trainings of the same length comes next, from 0.
func (p *Progress) Run(i, of int) { p.runs = [2]int{i, of} }

// Left says how long a task takes on, of which done of total parts are over that take the same, or "" if it is
// called for the first time: those that were done before, perhaps in a run that was resumed, tell nothing.
func (p *Progress) Left(done, total int) string {
	if n := p.runs[1]; n > 0 {
		done, total = p.runs[0]*total+done, n*total
	}
	now := p.now()
	if p.begun.IsZero() {
		p.begun, p.from = now, done
	}
	if done <= p.from {
		return ""
	}
	left := time.Duration(float64(now.Sub(p.begun)) / float64(done-p.from) * float64(total-done))
	switch {
	case left < 100*time.Second:
		return fmt.Sprintf("  %d s left", int(math.Ceil(left.Seconds())))
	case left < 100*time.Minute:
		return fmt.Sprintf("  %d min left", int(math.Ceil(left.Minutes())))
	}
	return fmt.Sprintf("  %d h left", int(math.Ceil(left.Hours())))
}

// Length is how long a training may be.
type Length struct{ Epochs, Steps, Patience int } // Steps of an epoch; Patience 0: it ends with the last epoch

// Epoch says where a training is after an epoch, and how long it takes on; of one that ends when its patience
// does, how much of that is left.
func (p *Progress) Epoch(e train.Epoch, l Length) string {
	if l.Patience > 0 {
		return fmt.Sprintf("epoch %d  patience left %d of %d", e.N, max(0, l.Patience-e.Waited), l.Patience)
	}
	steps := max(1, l.Steps)
	return fmt.Sprintf("epoch %d/%d%s", e.N, l.Epochs, p.Left(e.N*steps, l.Epochs*steps))
}

// Step says where a training is before a step, which counts from 1 over all epochs.
func (p *Progress) Step(step uint64, l Length) string {
	done, steps := int(step)-1, max(1, l.Steps)
	at := fmt.Sprintf("batch %d/%d", done%steps+1, steps)
	if l.Patience > 0 {
		return fmt.Sprintf("epoch %d  %s", done/steps+1, at)
	}
	return fmt.Sprintf("epoch %d/%d%s  %s", done/steps+1, l.Epochs, p.Left(done, l.Epochs*steps), at)
}

// Fold says where the trainings of several folds are side by side: an epoch of a fold, from 0, is over, and so
// many in all.
func (p *Progress) Fold(fold, folds int, e train.Epoch, epochs, done int) string {
	return fmt.Sprintf("fold %d of %d  epoch %d/%d%s", fold+1, folds, e.N, epochs, p.Left(done, folds*epochs))
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
