package lanes

import (
	"cmp"
	"math"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// Record is what ran in parallel while a function ran, and what did not.
type Record struct {
	Name    string        // of what was recorded; for tables and pictures
	Threads int           // that a loop could use
	Took    time.Duration // of the function
	Loops   []Loop        // one after the other; what is between two of them ran on one thread

	Cut    int       // the number of threads that loops were cut for; 0: Threads
	Others []*Record // of the same function, cut for other numbers
}

// cut is the number of threads that loops were cut for.
func (r *Record) cut() int { return cmp.Or(r.Cut, r.Threads) }

// cutFor is r or the one of its others whose loops were cut for so many threads, or for the nearest number.
func (r *Record) cutFor(threads int) *Record {
	best, least := r, math.Inf(1)
	for _, o := range append([]*Record{r}, r.Others...) {
		if far := math.Abs(math.Log(float64(max(o.cut(), 1)) / float64(threads))); far < least {
			best, least = o, far
		}
	}
	return best
}

// Loop is a parallel loop. Times count from the start of the record.
type Loop struct {
	Name       string // the function that ran it, with the line, and the one it was run for
	Start, End time.Duration
	Chunks     []Chunk
}

// Chunk is a part of a loop that a thread did as a whole. Thread 0 is the one that called.
type Chunk struct {
	Start, End time.Duration
	Thread     int
}

// took is how long the chunk took.
func (c Chunk) took() time.Duration { return c.End - c.Start }

// took is how long the loop took.
func (l *Loop) took() time.Duration { return l.End - l.Start }

// work is the time of all chunks together.
func (l *Loop) work() time.Duration {
	var sum time.Duration
	for _, c := range l.Chunks {
		sum += c.took()
	}
	return sum
}

// working is how many threads do chunks of the loop, on average; at least 1.
func (l *Loop) working() float64 { return max(ratio(l.work(), l.took()), 1) }

// Start begins a record of the loops of this goroutine. There is one record at a time: what stop
// returns is empty if another was being made. A loop inside another one's chunk belongs to the chunk,
// and one that panics is left out. A record of four million chunks ends there.
func Start() (stop func() *Record) {
	end := par.StartRecord()
	return func() *Record {
		made := end()
		r := &Record{Threads: made.Threads, Took: made.Took}
		for _, l := range made.Loops {
			loop := Loop{Name: named(l.Callers), Start: l.Start, End: l.End}
			for _, c := range l.Chunks {
				loop.Chunks = append(loop.Chunks, Chunk(c))
				r.Threads = max(r.Threads, c.Thread+1)
			}
			r.Loops = append(r.Loops, loop)
		}
		return r
	}
}

// Of runs f and returns what its loops did. Call f a few times before, so that its memory is there
// and the workers are awake.
func Of(f func()) *Record {
	stop := Start()
	f()
	return stop()
}

// CutFor has loops cut as for so many threads until undo is called, while they run on those that there
// are: what is recorded meanwhile is what so many threads would do.
func CutFor(threads int) (undo func()) { return par.CutFor(min(max(threads, 1), ThreadsMost)) }

// Median records f n times, at least once, and returns the record of median time. Its others are of as many runs
// each with loops cut for other numbers of threads, for which there are better predictions then. Before each record f
// runs once more, so that threads are awake.
func Median(n int, f func(), cuts ...int) *Record {
	median := func() *Record {
		var all []*Record
		for range max(n, 1) {
			f()
			all = append(all, Of(f))
		}
		return Middle(all)
	}
	out := median()
	for _, threads := range cuts {
		undo := CutFor(threads)
		out.Add(median(), threads)
		undo()
	}
	return out
}

// Add adds a record of the same function, made with loops cut for so many threads.
func (r *Record) Add(o *Record, cut int) {
	o.Name, o.Cut = r.Name, cut
	r.Others = append(r.Others, o)
}

// Middle returns the record of median time, nil if there is none.
func Middle(all []*Record) *Record {
	if len(all) == 0 {
		return nil
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b *Record) int { return int(a.Took - b.Took) })
	return all[len(all)/2]
}

// module is what the names of this module's functions begin with.
const module = "github.com/edgewise-ml/edgewise/"

// named returns a name for a loop by its callers: the function that runs it, and the nearest one of
// another package, whose work it is.
func named(callers []uintptr) string {
	frames := runtime.CallersFrames(callers)
	inner, from := "", ""
	for {
		f, more := frames.Next()
		switch name := f.Function; {
		case name == "" || strings.HasPrefix(name, module+"internal/par."):
		case inner == "":
			inner, from = short(name)+":"+strconv.Itoa(f.Line), pack(name)
		case pack(name) != from && !strings.HasPrefix(name, "runtime."):
			return inner + " from " + short(name)
		}
		if !more {
			return inner
		}
	}
}

// pack is the package of a function.
func pack(function string) string {
	slash := strings.LastIndexByte(function, '/') + 1
	dot := strings.IndexByte(function[slash:], '.')
	return function[:slash+max(dot, 0)]
}

// short is a function's name by the last part of its package's path, without what stands for type
// arguments, for pointers and for the functions inside it.
func short(function string) string {
	out := strings.NewReplacer("[...]", "", "(*", "", ")", "").Replace(path.Base(function))
	for {
		dot := strings.LastIndexByte(out, '.')
		if dot < 0 || strings.Trim(strings.TrimPrefix(out[dot+1:], "func"), "0123456789") != "" {
			return out
		}
		out = out[:dot]
	}
}
