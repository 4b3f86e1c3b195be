package lanes

import (
	"math"
	"testing"
	"time"
)

const ms = time.Millisecond

// recorded is a record of one thread whose loops have chunks of so many milliseconds, with so much time before each
// and at the end.
func recorded(between time.Duration, loops ...[]int) *Record {
	r := &Record{Name: "made", Threads: 1}
	now := time.Duration(0)
	for i, chunks := range loops {
		now += between
		l := Loop{Name: string(rune('a' + i)), Start: now}
		for _, c := range chunks {
			l.Chunks = append(l.Chunks, Chunk{now, now + time.Duration(c)*ms, 0})
			now += time.Duration(c) * ms
		}
		l.End = now
		r.Loops = append(r.Loops, l)
	}
	r.Took = now + between
	return r
}

// free is a machine on which nothing costs anything.
var free = Costs{Awake: time.Hour}

// What comes of a schedule is known by hand.
func TestOn(t *testing.T) {
	costly := Costs{See: 10, Take: 1, Wake: 1000, Ring: 100, Awake: time.Hour}
	sleepy := costly
	sleepy.Awake = 1
	for _, tt := range []struct {
		name    string
		r       *Record
		threads int
		costs   Costs
		took    time.Duration
		busy    float64
	}{
		{"one thread", recorded(ms, []int{1, 1, 1, 1}), 1, costly, 6 * ms, 1},
		{"four on two", recorded(0, []int{1, 1, 1, 1}), 2, free, 2 * ms, 1},
		{"four on four, and between", recorded(ms, []int{1, 1, 1, 1}), 4, free, 3 * ms, 6. / 12},
		{"four on three", recorded(0, []int{1, 1, 1, 1}), 3, free, 2 * ms, 4. / 6},
		{"four on eight", recorded(0, []int{1, 1, 1, 1}), 8, free, ms, 4. / 8},
		{"one chunk", recorded(0, []int{3}), 8, costly, 3 * ms, 1. / 8},
		{"a long one behind", recorded(0, []int{1, 1, 1, 9}), 4, free, 9 * ms, 12. / 36},
		{"a long one that comes last", recorded(0, []int{1, 9, 1}), 2, free, 9 * ms, 11. / 18}, // a, and c for who has b
		{"two loops", recorded(2*ms, []int{2, 2}, []int{1, 1, 1}), 2, free, 10 * ms, 13. / 20},
		// Both take the word, one after the other: the caller at once, the other when it has seen.
		{"costs", recorded(0, []int{1, 1}), 2, costly, ms + 10 + 1 + 10, 0},
		// The caller rings, takes, and has both chunks done before the other is there, or not.
		{"asleep", recorded(10*ms, []int{1, 1}), 2, sleepy, 20*ms + ms + 100 + 1000 + 1 + 10, 0},
		{"nothing", &Record{Threads: 1}, 4, free, 0, 1},
		{"a loop of nothing", &Record{Threads: 1, Took: ms, Loops: []Loop{{}}}, 4, free, ms, 1. / 4},
		{"no thread", recorded(0, []int{1}), 0, free, ms, 1},
	} {
		s := tt.r.On(tt.threads, tt.costs)
		if s.Took != tt.took || tt.busy > 0 && math.Abs(s.Busy-tt.busy) > 1e-12 {
			t.Errorf("%s: took %v, busy %g, want %v and %g\n%+v", tt.name, s.Took, s.Busy, tt.took, tt.busy, s.Loops)
		}
		if s.Threads != max(tt.threads, 1) || len(s.Loops) != len(tt.r.Loops) {
			t.Errorf("%s: %d threads, %d loops", tt.name, s.Threads, len(s.Loops))
		}
	}
}

// Of 16 chunks each of two threads takes two of its own eight at first, and in the end what the other has left.
func TestOnTakesSeveral(t *testing.T) {
	sixteen := make([]int, 16)
	for i := range sixteen {
		sixteen[i] = 1
	}
	sixteen[8], sixteen[9] = 10, 10
	chunks := recorded(0, sixteen).On(2, Costs{Take: 1000, Awake: time.Hour}).Loops[0].Chunks
	for _, pair := range [][3]int{{0, 1, 0}, {8, 9, 1}} {
		first, next := chunks[pair[0]], chunks[pair[1]]
		if first.Thread != pair[2] || next.Thread != pair[2] || first.Start != 1000 || next.Start != first.End {
			t.Errorf("chunks %d and %d are %+v and %+v", pair[0], pair[1], first, next)
		}
	}
	if c := chunks[15]; c.Thread != 0 {
		t.Errorf("the last chunk is left to a thread that has long ones: %+v", c)
	}
}

// What is predicted for some threads is what was cut for them, or for the nearest number.
func TestOnOfOtherCuts(t *testing.T) {
	r := recorded(0, []int{8, 8})
	r.Add(recorded(0, []int{2, 2, 2, 2, 2, 2, 2, 2}), 8)
	for threads, want := range map[int]time.Duration{1: 16 * ms, 2: 8 * ms, 4: 4 * ms, 8: 2 * ms, 16: 2 * ms} {
		if s := r.On(threads, free); s.Took != want {
			t.Errorf("%d threads: %v, want %v", threads, s.Took, want)
		}
	}
}

// Threads that sleep are woken as a tree: by the caller two, by each of these two more before it begins itself.
func TestOnWakesATree(t *testing.T) {
	r := recorded(10*ms, []int{9, 9, 9, 9, 9, 9, 9})
	s := r.On(7, Costs{Wake: 1000, Ring: 10, Awake: 1})
	starts := map[time.Duration]int{}
	for _, c := range s.Loops[0].Chunks {
		starts[c.Start-s.Loops[0].Start]++
	}
	want := map[time.Duration]int{20: 1, 1010 + 20: 1, 1020 + 20: 1, 2020: 1, 2030: 2, 2040: 1}
	for at, n := range want {
		if starts[at] != n {
			t.Errorf("%d threads come after %v, want %d: %v", starts[at], at, n, starts)
		}
	}
}

// A chunk is slower beside others, and a record of many threads has that already.
func TestOnGrowing(t *testing.T) {
	costs := free.Growing(4, 2) // so each of four takes twice as long
	r := recorded(ms, []int{1, 1, 1, 1})
	if s := r.On(4, costs); s.Took != 4*ms || s.Loops[0].took() != 2*ms {
		t.Errorf("of one thread on four: %v, want 4 ms", s.Took)
	}
	if s := r.On(2, costs); math.Abs(float64(s.Loops[0].took())-2*4./3*1e6) > 2 {
		t.Errorf("of one thread on two: %v, want 2.667 ms", s.Loops[0].took())
	}
	four := r.On(4, costs)
	back := &Record{Threads: 4, Took: four.Took, Loops: four.Loops}
	if s := back.On(1, costs); s.Took != r.Took {
		t.Errorf("back on one: %v, want %v", s.Took, r.Took)
	}
	if s := back.On(4, costs); s.Took != four.Took {
		t.Errorf("a record of four on four: %v, want %v", s.Took, four.Took)
	}
	if s := r.On(4, free.Growing(1, 7)); s.Took != 3*ms {
		t.Errorf("the growth of one thread slows: %v", s.Took)
	}
}

// Each part loses what its threads wait, for the reason why they do.
func TestParts(t *testing.T) {
	chunk := func(thread, from, to int) Chunk { return Chunk{time.Duration(from), time.Duration(to), thread} }
	s := &Schedule{Threads: 4, Took: 2000, Loops: []Loop{
		{"few", 100, 200, []Chunk{chunk(0, 100, 200), chunk(1, 100, 200)}},
		{"uneven", 200, 500, []Chunk{chunk(0, 200, 500), chunk(1, 200, 250), chunk(2, 200, 250), chunk(3, 200, 250), chunk(3, 250, 300)}},
		{"starting", 500, 700, []Chunk{chunk(0, 500, 700), chunk(1, 650, 700), chunk(2, 650, 700), chunk(3, 650, 700)}},
		{"few", 700, 800, []Chunk{chunk(2, 700, 800)}},
	}}
	want := map[string]Part{
		"few":             {Times: 2, Chunks: 2, Work: 300, Took: 200, Lost: 500, Why: Few},
		"uneven":          {Times: 1, Chunks: 5, Work: 500, Took: 300, Lost: 700, Why: Uneven},
		"starting":        {Times: 1, Chunks: 4, Work: 350, Took: 200, Lost: 450, Why: Starting},
		"few before":      {Serial: true, Times: 2, Work: 100, Took: 100, Lost: 300},
		atEnd + " before": {Serial: true, Times: 1, Work: 1200, Took: 1200, Lost: 3600},
	}
	var lost time.Duration
	last := time.Duration(math.MaxInt64)
	for _, p := range s.Parts() {
		lost += p.Lost
		if p.Lost > last {
			t.Errorf("%s loses %v, and stands behind one that loses %v", p.Name, p.Lost, last)
		}
		last = p.Lost
		name := p.Name
		if p.Serial {
			name += " before"
		}
		w, ok := want[name]
		if !ok && p.Lost == 0 {
			continue
		}
		if w.Name = p.Name; p.Serial != w.Serial || p.Times != w.Times || p.Chunks != w.Chunks || p.Work != w.Work || p.Took != w.Took || p.Lost != w.Lost || p.Why != w.Why {
			t.Errorf("got  %+v\nwant %+v", p, w)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("these are missing: %v", want)
	}
	if all := 4*s.Took - 300 - 500 - 350 - 1300; lost != all {
		t.Errorf("the parts lose %v, and all that is lost is %v", lost, all)
	}
}

// A schedule made by hand may be anything.
func TestPartsOfNonsense(t *testing.T) {
	s := &Schedule{Loops: []Loop{{Chunks: []Chunk{{5, 3, 7}, {0, 0, -1}}}, {}}}
	if got := len(s.Parts()); got != 3 {
		t.Errorf("%d parts", got)
	}
	if Loss(-1).String() != "serial" || Loss(9).String() != "uneven" {
		t.Error("a reason that is none panics, or has another name")
	}
}
