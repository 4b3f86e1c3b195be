package lanes

import (
	"cmp"
	"slices"
	"time"
)

// Loss is why threads have no work.
type Loss int

// The reasons.
const (
	Serial   Loss = iota // no loop runs
	Starting             // they come late: they look for work, are woken, or take chunks one after the other
	Few                  // there are too few chunks, so that some threads get none, or one less than others
	Uneven               // the others wait for a long chunk
)

// String returns the reason in words.
func (l Loss) String() string {
	return [...]string{Serial: "serial", Starting: "starting", Few: "few chunks", Uneven: "uneven"}[min(max(l, 0), Uneven)]
}

// Part is what loops of one name, or what is before them, take of a schedule.
type Part struct {
	Name   string
	Serial bool          // what is before the loops, on the caller
	Times  int           // how often
	Chunks int           // of the loop with most of them
	Work   time.Duration // of one thread
	Took   time.Duration // on the schedule's threads
	Lost   time.Duration // of all threads together, while the part ran
	Why    Loss          // most of it was lost
	lost   [Uneven + 1]time.Duration
}

// atEnd is what stands in the place of a loop behind the last.
const atEnd = "the end"

// Parts returns what a schedule consists of, first what costs most of the threads' time without work.
func (s *Schedule) Parts() []Part {
	type key struct {
		name   string
		serial bool
	}
	at := map[key]*Part{}
	add := func(name string, serial bool) *Part {
		p := at[key{name, serial}]
		if p == nil {
			p = &Part{Name: name, Serial: serial}
			at[key{name, serial}] = p
		}
		p.Times++
		return p
	}
	threads := max(s.Threads, 1)
	var before time.Duration
	for i := range s.Loops {
		l := &s.Loops[i]
		add(l.Name, true).between(l.Start-before, threads)
		add(l.Name, false).loop(l, threads)
		before = l.End
	}
	add(atEnd, true).between(s.Took-before, threads)
	out := make([]Part, 0, len(at))
	for _, p := range at {
		for why, lost := range p.lost {
			if lost > p.lost[p.Why] {
				p.Why = Loss(why)
			}
		}
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Lost, a.Lost), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// between adds a time in which the caller works alone.
func (p *Part) between(took time.Duration, threads int) {
	p.Work += took
	p.Took += took
	p.lose(Serial, took*time.Duration(threads-1))
}

func (p *Part) lose(why Loss, time time.Duration) {
	p.lost[why] += time
	p.Lost += time
}

// loop adds a loop. What its threads lose they do before they have a chunk, between two of them, or
// after their last one, until the last thread is done.
func (p *Part) loop(l *Loop, threads int) {
	p.Chunks = max(p.Chunks, len(l.Chunks))
	work := l.work()
	p.Work += work
	p.Took += l.took()
	last, worked := make([]time.Duration, threads), make([]bool, threads)
	var end, longest time.Duration
	for _, c := range l.Chunks {
		who := min(max(c.Thread, 0), threads-1)
		last[who], worked[who] = max(last[who], c.End), true
		end, longest = max(end, c.End), max(longest, c.took())
	}
	lost := l.took()*time.Duration(threads) - work
	tail, came := time.Duration(0), 0
	for who := range threads {
		if worked[who] {
			tail += end - last[who]
			came++
		}
	}
	absent := min(threads-came, max(threads-len(l.Chunks), 0)) // they could have no chunk
	few := time.Duration(absent) * l.took()
	why := Uneven
	if n := len(l.Chunks); n < 4*threads && longest*time.Duration(n)*4 <= work*5 {
		why = Few
	}
	p.lose(Few, few)
	p.lose(why, tail)
	p.lose(Starting, lost-few-tail)
}
