package report

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/train"
)

// at returns a progress whose clock is moved by hand.
func at(w *strings.Builder, width func() int) (*Progress, func(time.Duration)) {
	clock := time.Unix(0, 0)
	p := &Progress{w: w, width: width, now: func() time.Time { return clock }, last: clock}
	return p, func(d time.Duration) { clock = clock.Add(d) }
}

func TestProgressOnAPipe(t *testing.T) {
	var w strings.Builder
	p, wait := at(&w, nil)
	for i := range 100 {
		wait(time.Second)
		p.Show("step %d", i+1)
	}
	p.Clear()
	lines := strings.Split(strings.TrimSuffix(w.String(), "\n"), "\n")
	if len(lines) != 20 || lines[0] != "step 5" || lines[19] != "step 100" {
		t.Errorf("got %d lines: %q", len(lines), lines)
	}
	if strings.ContainsAny(w.String(), "\r\x1b") {
		t.Errorf("a pipe gets what only a terminal understands: %q", w.String())
	}
}

func TestProgressOnATerminal(t *testing.T) {
	var w strings.Builder
	p, wait := at(&w, func() int { return 10 })
	p.Show("too early")
	wait(time.Second)
	p.Show("12345678901234")
	p.Show("too early")
	wait(time.Second)
	p.Show("äö")
	p.Clear()
	p.Clear()
	if want := "\r12345678…" + "\räö       " + "\r  \r"; w.String() != want {
		t.Errorf("got %q, want %q", w.String(), want)
	}
}

// A terminal that does not know its width has the usual one, and a narrow one shows what
// comes first, whole.
func TestProgressFitsTerminal(t *testing.T) {
	for said, want := range map[int]int{0: 80, -1: 80, 20: 20, 200: 200} {
		if got := columns(said, nil); got != want {
			t.Errorf("a terminal that says %d has %d columns, want %d", said, got, want)
		}
	}
	if got := columns(7, errors.ErrUnsupported); got != 80 {
		t.Errorf("one that says nothing has %d", got)
	}
	for width, want := range map[int]string{
		80: "\repoch 112/200  validation 81.4 %  loss 0.5123  seed 3  神经.npz",
		57: "\repoch 112/200  validation 81.4 %  loss 0.5123  seed 3",
		40: "\repoch 112/200  validation 81.4 %",
		20: "\repoch 112/200",
		8:  "\repoch …",
		1:  "\r",
	} {
		var w strings.Builder
		p, wait := at(&w, func() int { return width })
		wait(time.Second)
		line := NewEpochLine("神经.npz", 3, train.Epoch{N: 112, Loss: 0.5123, Scores: train.Scores{Val: train.Score{Accuracy: 0.814}}})
		line.Progress(p, 200)
		if w.String() != want || plain.Width(want[1:]) >= width && width > 1 {
			t.Errorf("%d columns show %q, want %q", width, w.String(), want)
		}
	}
}

func TestProgressOfAShortTask(t *testing.T) {
	var w strings.Builder
	p := NewProgress(&w)
	p.Show("step")
	p.Clear()
	if w.String() != "" {
		t.Errorf("got %q", w.String())
	}
}

// What is shown stays on its line, whatever it is named.
func TestProgressOfHostileName(t *testing.T) {
	var w strings.Builder
	p, wait := at(&w, func() int { return 200 })
	wait(time.Second)
	p.Show("1 of 2 seeds  gat on %s", "x\x1b[2J\x1b]0;mine\x07\nnext: curl\r\u009b1A\u202egnp.\xff")
	text := strings.TrimPrefix(w.String(), "\r")
	if plain.Text(text) != text || !strings.Contains(text, "next: curl") {
		t.Errorf("it shows %q", text)
	}
}
