package lanes

import (
	"cmp"
	"slices"
	"time"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// Costs are what it takes to have loops done by several threads.
type Costs struct {
	See   time.Duration // until a thread that looks out for work sees it, or the caller that all is done
	Take  time.Duration // to take chunks
	Wake  time.Duration // until a thread that sleeps is there
	Ring  time.Duration // that waking one takes of who wakes it
	Awake time.Duration // how long a thread looks out before it sleeps
	// Slow is how much longer a chunk takes for each other thread at work, as a share of its time
	// alone: processors that all work share clock, caches and memory.
	Slow float64
}

// Usual returns costs of a server with one socket, whose threads look out for work as they do while
// a network is trained. Chunks take as long as they were recorded to take.
func Usual() Costs {
	return Costs{See: 250, Take: 100, Wake: 40 * time.Microsecond, Ring: 4 * time.Microsecond, Awake: par.HotSpin}
}

// Growing returns the costs for a machine on which so many threads do growth times as much as one. A
// record keeps the slowing that it was made with; what other numbers of threads add or save is taken
// to grow by the same amount a thread.
func (c Costs) Growing(threads int, growth float64) Costs {
	c.Slow = 0
	if threads > 1 && growth > 0 {
		c.Slow = max(float64(threads)/growth-1, 0) / float64(threads-1)
	}
	return c
}

// slowed is how long a chunk takes where so many threads work, as a multiple of its time alone.
func (c Costs) slowed(threads float64) float64 { return 1 + c.Slow*(threads-1) }

// measurements is how many loops of each kind Measure looks at. It takes the first quarter of what they show, since
// other programs only add to it.
const measurements = 32

// Measure returns what waking threads and handing out chunks costs on this machine, with all threads
// that loops may use: the usual costs where that is one. It takes a quarter of a second. Slow is 0.
func Measure() Costs {
	c := Usual()
	threads := par.Threads()
	if threads == 1 {
		return c
	}
	defer par.Hot()()
	Median(measurements, func() { par.Run(threads, busy(50*time.Microsecond)) })
	hot := lowest(func() Costs { return started(threads) })
	c.See = hot.See
	c.Take = lowest(func() Costs {
		r := Of(func() { par.Run(takings*threads, busy(0)) })
		return Costs{See: r.Loops[0].took() / time.Duration(taken(takings))}
	}).See
	cold := lowest(func() Costs {
		time.Sleep(2 * par.HotSpin)
		return started(threads)
	})
	c.Ring = max(cold.Ring-hot.Ring, 0)
	c.Wake = max(cold.See-c.Ring, c.See)
	return c
}

// takings is how many chunks a thread has in the loop that shows what taking them costs.
const takings = 64

// taken is how often a thread takes some of so many chunks of its range until none is left.
func taken(chunks int) (times int) {
	for ; chunks > 0; times++ {
		chunks -= par.Quarter(chunks)
	}
	return times
}

// started records a loop with a chunk for each thread, and returns when the first thread beside the
// caller was there (See) and when the caller was (Ring).
func started(threads int) Costs {
	l := Of(func() { par.Run(threads, busy(500*time.Microsecond)) }).Loops[0]
	out := Costs{See: l.took(), Ring: l.took()}
	for _, c := range l.Chunks {
		if c.Thread == 0 {
			out.Ring = min(out.Ring, c.Start-l.Start)
		} else {
			out.See = min(out.See, c.Start-l.Start)
		}
	}
	return out
}

// lowest returns the first quarter of what f finds, each cost for itself.
func lowest(f func() Costs) (out Costs) {
	all := make([]Costs, measurements)
	for i := range all {
		all[i] = f()
	}
	of := func(cost func(Costs) time.Duration) time.Duration {
		slices.SortFunc(all, func(a, b Costs) int { return cmp.Compare(cost(a), cost(b)) })
		return cost(all[len(all)/4])
	}
	return Costs{See: of(func(c Costs) time.Duration { return c.See }), Ring: of(func(c Costs) time.Duration { return c.Ring })}
}

// busy is a loop whose chunks take so long.
type busy time.Duration

// Chunk waits and does not sleep.
func (b busy) Chunk(int) {
	if b == 0 {
		return // without a look at the clock
	}
	for start := time.Now(); time.Since(start) < time.Duration(b); {
	}
}
