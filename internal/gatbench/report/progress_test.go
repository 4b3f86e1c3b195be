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
		p.Show("%s%s", p.Epoch(train.Epoch{N: 112}, Length{Epochs: 200}), line.Scores())
		if w.String() != want || plain.Width(want[1:]) >= width && width > 1 {
			t.Errorf("%d columns show %q, want %q", width, w.String(), want)
		}
	}
}

// The time that is left is that of the parts which were watched, over all trainings; a training that may stop
// early says how long it waits.
func TestProgressLeft(t *testing.T) {
	p, wait := at(new(strings.Builder), nil)
	epoch := func(n, waited int, l Length) string { return p.Epoch(train.Epoch{N: n, Waited: waited}, l) }
	same := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	same(epoch(101, 0, Length{Epochs: 200}), "epoch 101/200") // it was resumed, and nobody knows what an epoch takes
	wait(2 * time.Second)
	same(epoch(102, 0, Length{Epochs: 200}), "epoch 102/200  4 min left")
	wait(time.Second)
	same(epoch(103, 0, Length{Epochs: 200}), "epoch 103/200  3 min left")
	wait(94 * time.Second)
	same(epoch(198, 0, Length{Epochs: 200}), "epoch 198/200  2 s left")
	same(epoch(20, 7, Length{Epochs: 100_000, Patience: 100}), "epoch 20  patience left 93 of 100")
	same(p.Step(25, Length{Epochs: 9, Steps: 10, Patience: 5}), "epoch 3  batch 5/10")

	p, wait = at(new(strings.Builder), nil)
	p.Run(0, 3)
	same(p.Step(1, Length{Epochs: 4, Steps: 10}), "epoch 1/4  batch 1/10")
	wait(10 * time.Second)
	same(p.Step(11, Length{Epochs: 4, Steps: 10}), "epoch 2/4  2 min left  batch 1/10") // 110 steps of a second
	wait(30 * time.Second)
	p.Run(1, 3)
	same(p.Step(1, Length{Epochs: 4, Steps: 10}), "epoch 1/4  80 s left  batch 1/10")
	wait(10 * time.Second)
	same(p.Epoch(train.Epoch{N: 1}, Length{Epochs: 4, Steps: 10}), "epoch 1/4  70 s left")

	p, wait = at(new(strings.Builder), nil)
	same(p.Fold(1, 10, train.Epoch{N: 1}, 50, 1), "fold 2 of 10  epoch 1/50")
	wait(time.Minute)
	same(p.Fold(0, 10, train.Epoch{N: 2}, 50, 4), "fold 1 of 10  epoch 2/50  3 h left")
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
