package report

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/train"
)

// How often a line of progress is drawn, and when the first one of a stage comes.
const (
	redrawEvery = 100 * time.Millisecond
	tickEvery   = time.Second     // of a stage that counts nothing but seconds
	patience    = 2 * time.Second // what takes less says nothing
)

// Progress shows on a terminal where a long task is: one line, which is redrawn. Elsewhere it shows nothing.
type Progress struct {
	w     io.Writer
	width func() int // of the terminal; nil where there is none
	now   func() time.Time
	since time.Time // when the program began
	last  time.Time // of the last line
	begun time.Time // when the first part of what takes time was done; zero: none is
	from  int       // how many were done then
	runs  [2]int    // which of how many trainings is at work, from 0; 0 of them: it is the only one
}

// started is about when the program was. Two seconds of it count, however many stages they have.
var started = time.Now()

// onScreen is the line of progress that stands on a terminal. There is one, whichever Progress drew it, so that a message can take it away.
var onScreen struct {
	sync.Mutex
	w       io.Writer
	columns int  // 0: none stands there
	held    bool // it says more than the stage that is at work
}

// NewProgress returns a progress on w. The first line waits as long as any
// other, so that a task that is soon done shows none.
func NewProgress(w io.Writer) *Progress {
	p := &Progress{w: w, now: time.Now}
	if os.Getenv("TERM") != "dumb" {
		p.width = terminal(w)
	}
	p.since, p.last = started, p.now()
	return p
}

// Part returns the progress of a part of the task, which counts what is left of that alone; nil of nil.
func (p *Progress) Part() *Progress {
	if p == nil {
		return nil
	}
	return &Progress{w: p.w, width: p.width, now: p.now, since: p.since, last: p.last}
}

// Show replaces the line if it is time to. Parts of the format that two
// blanks divide are left out from the end on where the terminal is narrow, so that the
// first is to say the most.
func (p *Progress) Show(format string, args ...any) { p.show(false, format, args...) }

// show is Show, or the line of a stage.
func (p *Progress) show(stage bool, format string, args ...any) {
	if p.width == nil {
		return
	}
	onScreen.Lock()
	defer onScreen.Unlock()
	now := p.now()
	if now.Sub(p.last) < redrawEvery || stage && onScreen.held {
		return
	}
	p.last = now
	text := shorten(fmt.Sprintf(format, shown(args)...), p.width()-1) // the last column would wrap
	n, before := plain.Width(text), 0
	if onScreen.w == p.w {
		before = onScreen.columns
	}
	fmt.Fprint(p.w, "\r", text, strings.Repeat(" ", max(0, before-n)))
	onScreen.w, onScreen.columns, onScreen.held = p.w, n, !stage
}

// During shows a stage and the seconds that it has taken, each second once the program has run for two, until stop is called, which takes the line away. What
// Show or Count show meanwhile stays instead.
func (p *Progress) During(stage string) (stop func()) {
	if p.width == nil {
		return func() {}
	}
	onScreen.Lock()
	onScreen.held = false
	onScreen.Unlock()
	began, ended := p.now(), make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(tickEvery)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
			}
			if now := p.now(); now.Sub(p.since) >= patience {
				p.show(true, "%s  %d s", stage, int(now.Sub(began).Round(time.Second).Seconds()))
			}
		}
	})
	var once sync.Once
	return func() {
		once.Do(func() {
			close(ended)
			watch.Wait()
			p.Clear()
		})
	}
}

// Count shows, once the program has run for two seconds, how many are done of a total, which is 0 if nobody knows it, and how long the others take.
// A nil Progress shows nothing.
func (p *Progress) Count(done, total int, noun string) {
	if p == nil {
		return
	}
	left := ""
	if done <= total {
		left = p.Left(done, total)
	}
	switch {
	case p.now().Sub(p.since) < patience:
	case done <= total:
		p.Show("%s of %s %s%s", Grouped(done), Grouped(total), noun, left)
	default:
		p.Show("%s %s", Grouped(done), noun)
	}
}

// Grouped is a number with a comma before each three of its digits, such as 60,000.
func Grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
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
func (p *Progress) Clear() { clearLine(p.w) }

// clearLine takes the line of progress away that stands on w, if one does.
func clearLine(w io.Writer) {
	onScreen.Lock()
	defer onScreen.Unlock()
	if onScreen.columns > 0 && onScreen.w == w {
		fmt.Fprint(w, "\r", strings.Repeat(" ", onScreen.columns), "\r")
		onScreen.columns, onScreen.held = 0, false
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
