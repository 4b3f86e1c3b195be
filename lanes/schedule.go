package lanes

import (
	"slices"
	"time"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// Schedule is how a record ran, or would run on some number of threads.
type Schedule struct {
	Threads int
	Took    time.Duration
	Busy    float64 // the share of the threads' time in which they do chunks, or what is between loops
	Loops   []Loop  // with the times and threads of the schedule
}

// ThreadsMost is the largest number of threads that is predicted.
const ThreadsMost = 1024

// On lays the chunks of a record out on so many threads, 1 to [ThreadsMost], as loops of edgewise do: each
// takes chunks of a range of its own, a quarter of what is left at a time, and then of others'. They are those of
// r, or of the one of its Others that was cut for the nearest number of threads. A chunk takes as long as it was recorded to take, but for what [Costs.Slow] says; what is between loops
// takes as long as it did.
func (r *Record) On(threads int, costs Costs) *Schedule {
	s := &Schedule{Threads: min(max(threads, 1), ThreadsMost), Loops: make([]Loop, 0, len(r.Loops))}
	y := layout{costs: costs, idle: make([]time.Duration, s.Threads), free: make([]time.Duration, s.Threads)}
	r = r.cutFor(s.Threads)
	var now, before time.Duration
	for i := range r.Loops {
		l := &r.Loops[i]
		now += l.Start - before
		before = l.End
		s.Loops = append(s.Loops, y.slowed(l, now))
		now = s.Loops[i].End
	}
	s.Took = now + r.Took - before
	s.setBusy()
	return s
}

// Measured is the record itself.
func (r *Record) Measured() *Schedule {
	s := &Schedule{Threads: max(r.Threads, 1), Took: r.Took, Loops: r.Loops}
	s.setBusy()
	return s
}

// setBusy finds the busy share: what is between loops is work of one thread. Of no time it is 1.
func (s *Schedule) setBusy() {
	work := s.Took
	for i := range s.Loops {
		work += s.Loops[i].work() - s.Loops[i].took()
	}
	if s.Busy = 1; s.Took > 0 {
		s.Busy = float64(work) / (float64(s.Took) * float64(s.Threads))
	}
}

// layout is where loops are laid out.
type layout struct {
	costs   Costs
	idle    []time.Duration // since when each thread has nothing to do
	stretch float64         // of the loop's chunks

	start time.Duration   // of the loop
	free  []time.Duration // when each thread comes for chunks of it
}

// slowed lays a loop out that begins now. Its chunks take longer than recorded by what other threads at work cost, as
// many of them as there are on average: one that is left alone with a long chunk is not slowed by who waits for it.
func (y *layout) slowed(l *Loop, now time.Duration) Loop {
	y.stretch = 1
	if y.costs.Slow == 0 {
		return y.run(l, now)
	}
	idle := slices.Clone(y.idle)
	quick := y.run(l, now)
	copy(y.idle, idle)
	y.stretch = y.costs.slowed(quick.working()) / y.costs.slowed(l.working())
	return y.run(l, now)
}

// run lays a loop out that begins now.
func (y *layout) run(l *Loop, now time.Duration) Loop {
	n := len(l.Chunks)
	out := Loop{Name: l.Name, Start: now, End: now, Chunks: make([]Chunk, n)}
	threads := max(min(len(y.idle), n), 1) // with the caller; each has a range
	left := make([][2]int, threads)        // of each range: the first chunk that nobody has taken, and the end
	for r := range left {
		left[r] = [2]int{r * n / threads, (r + 1) * n / threads}
	}
	y.start = now
	y.free[0] = y.wake(now, 0, threads-1)
	for done := 0; done < n; {
		who := 0
		for i := range threads {
			if y.free[i] < y.free[who] {
				who = i
			}
		}
		r := who
		for left[r][0] == left[r][1] {
			r = (r + 1) % threads
		}
		lo, some, at := left[r][0], par.Quarter(left[r][1]-left[r][0]), y.free[who]
		if threads > 1 {
			at += y.costs.Take
		}
		left[r][0] += some
		done += some
		for i := lo; i < lo+some; i++ {
			took := time.Duration(float64(l.Chunks[i].took()) * y.stretch)
			out.Chunks[i] = Chunk{at, at + took, who}
			at += took
		}
		y.free[who], y.idle[who] = at, at
		out.End = max(out.End, at)
	}
	if threads > 1 {
		out.End += y.costs.See
	}
	return out
}

// wake says when the helpers from number first on come: a thread that is there wakes two of those that sleep, and
// each of them two more. It returns when it has done so.
func (y *layout) wake(at time.Duration, first, helpers int) time.Duration {
	for j := first; j < min(first+2, helpers); j++ {
		come := y.start + y.costs.See
		if y.start-y.idle[j+1] >= y.costs.Awake {
			at += y.costs.Ring
			come = at + y.costs.Wake
		}
		y.free[j+1] = y.wake(come, 2*j+2, helpers)
	}
	return at
}
