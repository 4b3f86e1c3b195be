package report

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/train"
)

// at returns a progress whose clock is moved by hand.
func at(w *strings.Builder, width func() int) (*Progress, func(time.Duration)) {
	clock := time.Unix(0, 0)
	p := &Progress{w: w, width: width, now: func() time.Time { return clock }, since: clock, last: clock}
	return p, func(d time.Duration) { clock = clock.Add(d) }
}

// A pipe gets nothing, however long the task is.
func TestProgressOnAPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w strings.Builder
		p := NewProgress(&w)
		stop := p.During("reading cora")
		for i := range 100 {
			time.Sleep(time.Second)
			p.Show("step %d", i+1)
			p.Count(i+1, 100, "nodes")
		}
		stop()
		p.Clear()
		if w.String() != "" {
			t.Errorf("a pipe gets %q", w.String())
		}
	})
}

// A stage shows its seconds from the second one on, and gives way to what is counted in it and to messages.
func TestProgressDuring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w strings.Builder
		said := func(want string) {
			t.Helper()
			synctest.Wait()
			onScreen.Lock() // which orders this after the writes
			defer onScreen.Unlock()
			if got := w.String(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			w.Reset()
		}
		p := NewProgress(&w)
		p.width, p.since = func() int { return 40 }, p.now()
		stop := p.During("reading cora")
		time.Sleep(1900 * time.Millisecond)
		stop()
		said("")
		stop = p.During("answering")
		time.Sleep(time.Second + time.Millisecond)
		said("\ranswering  1 s")
		time.Sleep(time.Second)
		said("\ranswering  2 s")
		p.Count(2000, 10_000, "nodes")
		time.Sleep(300 * time.Millisecond)
		p.Count(4000, 10_000, "nodes")
		said("\r4,000 of 10,000 nodes  1 s left")
		message(&w, p.width, "careful", nil)
		said("\r" + strings.Repeat(" ", 31) + "\rgatbench: careful\n")
		time.Sleep(time.Second)
		said("\ranswering  3 s")
		time.Sleep(500 * time.Millisecond)
		p.Count(12_000, 10_000, "nodes") // there are more than was thought
		time.Sleep(5 * time.Second)
		said("\r12,000 nodes  ")
		stop()
		stop()
		said("\r" + strings.Repeat(" ", 12) + "\r")
	})
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567", -100: "-100", -1000: "-1,000"} {
		if got := Grouped(n); got != want {
			t.Errorf("%d becomes %s, want %s", n, got, want)
		}
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
	p.width = func() int { return 80 }
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
