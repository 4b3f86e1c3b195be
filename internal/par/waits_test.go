package par

import (
	"slices"
	"testing"
	"time"
)

// spent is what waits cost a worker that spins as a rule says.
type spent struct {
	spun  time.Duration
	woken int
}

// under returns what waits cost with the bound that rule returns before each.
func under(gaps []time.Duration, rule func(time.Duration) time.Duration) spent {
	var s spent
	last := time.Duration(0)
	for _, g := range gaps {
		if b := rule(last); g > b {
			s.spun += b
			s.woken++
		} else {
			s.spun += g
		}
		last = g
	}
	return s
}

// adaptive is the rule of waits.
func adaptive() func(time.Duration) time.Duration {
	var w waits
	first := true
	return func(last time.Duration) time.Duration {
		if !first {
			w.add(last)
		}
		first = false
		return w.bound()
	}
}

// always is a rule that never learns.
func always(d time.Duration) func(time.Duration) time.Duration {
	return func(time.Duration) time.Duration { return d }
}

// micros are waits in microseconds.
func micros(us ...int) []time.Duration {
	out := make([]time.Duration, len(us))
	for i, n := range us {
		out[i] = time.Duration(n) * time.Microsecond
	}
	return out
}

// The waits of an epoch, as they were seen on the whole of Cora; and some like those of a
// training that waits for each of its batches.
var (
	wholeEpoch = micros(1, 3, 2, 6, 12, 1, 30, 2, 55, 4, 9, 70, 1, 18, 3, 2, 40, 6, 110, 2, 14, 1, 7, 25, 3)
	batchEpoch = micros(2, 5000, 30, 2600, 14, 8000, 3, 16000, 200, 3300, 400, 2900)
)

// A worker whose loops follow each other closely is as good as never asleep, and one that
// waits for batches burns a small part of what the longest bound would.
func TestWaitsAdapt(t *testing.T) {
	whole, batch := slices.Repeat(wholeEpoch, 100), slices.Repeat(batchEpoch, 100)
	if s := under(whole, adaptive()); s.woken > len(whole)/50 {
		t.Errorf("of %d short waits %d ended in sleep", len(whole), s.woken)
	}
	was, is := under(batch, always(HotSpin)), under(batch, adaptive())
	if 3*is.spun > was.spun {
		t.Errorf("between batches it spins %v, under the longest bound %v", is.spun, was.spun)
	}
	if is.woken > 3*len(batch)/4 { // half of them are longer than a wake is worth
		t.Errorf("between batches %d of %d waits end in sleep", is.woken, len(batch))
	}
	// What comes after the other is learnt anew, soon.
	for _, both := range [][2][]time.Duration{{whole, batch}, {batch, whole}} {
		alone := under(both[1], adaptive())
		after, first := under(slices.Concat(both[0], both[1]), adaptive()), under(both[0], adaptive())
		if extra := after.spun - first.spun - alone.spun; extra > memory*HotSpin {
			t.Errorf("it takes %v to learn the other kind", extra)
		}
		if extra := after.woken - first.woken - alone.woken; extra > 2*memory {
			t.Errorf("it takes %d sleeps to learn the other kind", extra)
		}
	}
}

// The bound is the best of those there are for waits of one length.
func TestWaitsBound(t *testing.T) {
	for us, want := range map[int]time.Duration{
		0: coldSpin, 15: coldSpin, 30: 2 * coldSpin, 70: 4 * coldSpin, 110: 8 * coldSpin,
		1000: HotSpin, 1500: coldSpin, 10000: coldSpin, // a wake is cheaper
	} {
		var w waits
		for range 10 * memory {
			w.add(time.Duration(us) * time.Microsecond)
		}
		if got := w.bound(); got != want {
			t.Errorf("waits of %d µs: spin %v, want %v", us, got, want)
		}
	}
	if (&waits{}).bound() != coldSpin {
		t.Error("who knows nothing does not begin with the shortest")
	}
	if HotSpin <= wakeCost+coldSpin {
		t.Errorf("%v is too short to learn what a wake is worth", HotSpin)
	}
}

// A worker spins no longer than the pool allows, whatever it has learnt.
func TestWorkerPatience(t *testing.T) {
	defer SetThreads(0)()
	w := &worker{pool: shared}
	for range memory {
		w.waits.add(70 * time.Microsecond)
	}
	want := func(name string, d time.Duration) {
		t.Helper()
		if got := w.patience(); got != d {
			t.Errorf("%s: it spins for %v, want %v", name, got, d)
		}
	}
	want("cold", coldSpin)
	undo := Hot()
	defer undo()
	want("hot", 4*coldSpin)
	SetThreads(available() + 1)
	want("more threads than the machine gives", 0)
}
