package mpi

import (
	"bytes"
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
	"weak"
)

// A fakeJob is an MPI of several ranks in one process. It does what the standard says of the functions
// that are used, and finds fault where a real library would crash: a buffer that Go has freed, a count
// that is too large, a call from another thread.
type fakeJob struct {
	mu       sync.Mutex
	changed  *sync.Cond
	comms    map[uintptr][]int // the ranks of each communicator, by handle
	meetings map[meetingKey]*meeting
	messages map[messageKey][]message
	aborted  chan int32
}

type meetingKey struct {
	comm uintptr
	turn int
}

// A meeting is one collective operation.
type meeting struct {
	puts    []put // by rank in the communicator
	arrived int
	made    map[int32]uintptr // the communicators of a split, by color
}

// A put is what one rank brings to a meeting.
type put struct {
	call       string
	send       []byte
	lens, at   []int32
	root       int32
	color, key int32
}

type messageKey struct {
	comm          uintptr
	from, to, tag int32
}

type message struct {
	data []byte
	n    int
}

// A fakeRank is the library of one rank.
type fakeRank struct {
	job  *fakeJob
	me   int
	lib  *library
	late int              // polls in vain before a request is done
	fail map[string]int32 // codes that the next call of a function returns

	level     int32  // of threads that MPI_Init_thread gives
	goroutine []byte // that called MPI_Init_thread
	inside    atomic.Bool
	turns     map[uintptr]int
	posted    map[messageKey]int
	requests  map[uintptr]*fakeRequest
	freed     map[uintptr]bool
	ended     int // how often the handlers of exit have run
	faults    []string
}

type fakeRequest struct {
	polls  int
	ready  func() bool             // called with the job locked
	finish func() (n int, c int32) // what has arrived, and a code
	alive  func() bool
}

func newFakeJob(ranks int, a abi, limit int) ([]*fakeRank, *fakeJob) {
	job := &fakeJob{comms: map[uintptr][]int{}, meetings: map[meetingKey]*meeting{}, messages: map[messageKey][]message{}, aborted: make(chan int32, 8)}
	job.changed = sync.NewCond(&job.mu)
	out := make([]*fakeRank, ranks)
	for i := range out {
		job.comms[a.world] = append(job.comms[a.world], i)
		f := &fakeRank{job: job, me: i, turns: map[uintptr]int{}, posted: map[messageKey]int{}, requests: map[uintptr]*fakeRequest{}, freed: map[uintptr]bool{}, fail: map[string]int32{}, level: a.serialized}
		f.lib = f.library(a, limit)
		out[i] = f
	}
	return out, job
}

// enter checks who calls, and returns a code that a test has asked for.
func (f *fakeRank) enter(call string) int32 {
	if f.level < f.lib.abi.serialized || call == "Init" || call == "Finalize" {
		stack := make([]byte, 64)
		stack = stack[:runtime.Stack(stack, false)]
		stack, _, _ = bytes.Cut(stack, []byte(" ["))
		if f.goroutine == nil {
			f.goroutine = slices.Clone(stack)
		}
		if !bytes.Equal(f.goroutine, stack) {
			f.fault("%s was called by %s, and MPI_Init_thread by %s", call, stack, f.goroutine)
		}
	}
	if !f.inside.CompareAndSwap(false, true) {
		f.fault("%s was called during another call", call)
	}
	defer f.inside.Store(false)
	code := f.fail[call]
	delete(f.fail, call)
	return code
}

func (f *fakeRank) fault(format string, args ...any) {
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
}

// sizeOf returns the bytes of a value of a datatype, or of an unknown one 0.
func (f *fakeRank) sizeOf(t uintptr) int {
	i := slices.Index(f.lib.abi.types[:], t)
	if i < 0 {
		f.fault("datatype %#x is unknown", t)
		return 0
	}
	return [kinds]int{1, 1, 4, 4, 8, 8, 4, 8}[i]
}

// memory is what C sees of a buffer.
func (f *fakeRank) memory(at unsafe.Pointer, n int32, t uintptr) []byte {
	if at == nil || n < 0 || int(n) > f.lib.limit {
		f.fault("a buffer of %d values at %p", n, at)
		return nil
	}
	return unsafe.Slice((*byte)(at), int(n)*f.sizeOf(t))
}

// loose is memory that the fake does not keep from being freed, as C does not.
type loose struct {
	at weak.Pointer[byte]
	n  int
}

func loosely(m []byte) loose {
	if len(m) == 0 {
		return loose{}
	}
	return loose{weak.Make(&m[0]), len(m)}
}

// bytes returns the memory, or nil if Go has freed it.
func (l loose) bytes() []byte {
	if at := l.at.Value(); at != nil {
		return unsafe.Slice(at, l.n)
	}
	return nil
}

// held reports whether Go has kept memory that MPI still uses.
func held(memory ...[]byte) func() bool {
	var all []loose
	for _, m := range memory {
		all = append(all, loosely(m))
	}
	return func() bool {
		return !slices.ContainsFunc(all, func(l loose) bool { return l.n > 0 && l.bytes() == nil })
	}
}

// join brings a put to the next meeting of a communicator.
func (f *fakeRank) join(comm uintptr, p put) (*meeting, int, int32) {
	j := f.job
	ranks, own := j.comms[comm], slices.Index(j.comms[comm], f.me)
	if own < 0 || f.freed[comm] {
		return nil, 0, 5
	}
	key := meetingKey{comm, f.turns[comm]}
	f.turns[comm]++
	m := j.meetings[key]
	if m == nil {
		m = &meeting{puts: make([]put, len(ranks)), made: map[int32]uintptr{}}
		j.meetings[key] = m
	}
	m.puts[own] = p
	m.arrived++
	j.changed.Broadcast()
	return m, own, 0
}

// meet is a collective operation: of a request if r is not nil. Finish gets all puts, and the number of
// this rank.
func (f *fakeRank) meet(comm uintptr, r *uintptr, p put, finish func(all []put, own int) int32, buffers ...[]byte) int32 {
	if code := f.enter(p.call); code != 0 {
		return code
	}
	f.job.mu.Lock()
	defer f.job.mu.Unlock()
	m, own, code := f.join(comm, p)
	if code != 0 {
		return code
	}
	end := func() int32 {
		for _, q := range m.puts {
			if q.call != p.call {
				return 14 // ranks that do not call the same
			}
		}
		return finish(m.puts, own)
	}
	if r != nil {
		f.request(r, &fakeRequest{ready: func() bool { return m.arrived == len(m.puts) }, finish: func() (int, int32) { return 0, end() }, alive: held(buffers...)})
		return 0
	}
	f.inside.Store(true)
	defer f.inside.Store(false)
	for m.arrived < len(m.puts) {
		f.job.changed.Wait()
	}
	return end()
}

var handles struct {
	sync.Mutex
	last uintptr
}

func newHandle() uintptr {
	handles.Lock()
	defer handles.Unlock()
	handles.last++
	return 0x10000 + handles.last
}

func (f *fakeRank) request(r *uintptr, q *fakeRequest) {
	*r = newHandle()
	f.requests[*r] = q
}

// library makes the functions.
func (f *fakeRank) library(a abi, limit int) *library {
	l := &library{file: "libfake.so", version: "Fake 1", abi: a, limit: limit}
	l.pause = func(time.Duration) { runtime.Gosched() } // the other ranks share the processors
	l.atExit = func() { f.ended++ }
	l.close, l.share = func() error { return nil }, func() error { return nil }
	l.InitThread = func(_, _ uintptr, required int32, provided *int32) int32 {
		*provided = min(required, f.level)
		return f.enter("Init")
	}
	l.Finalize = func() int32 {
		if len(f.requests) > 0 {
			f.fault("Finalize with %d requests", len(f.requests))
		}
		return f.enter("Finalize")
	}
	l.Abort = func(_ uintptr, code int32) int32 {
		f.job.aborted <- code
		return 0
	}
	text := func(s string, to *byte, n *int32) { *n = int32(copy(unsafe.Slice(to, 200), s+"\x00")) }
	l.GetVersion = func(to *byte, n *int32) int32 { text("Fake", to, n); return 0 }
	l.ErrorText = func(code int32, to *byte, n *int32) int32 {
		text(fmt.Sprintf("fake error %d\n", code), to, n)
		return 0
	}
	f.comms(l)
	f.collectives(l)
	f.background(l)
	f.transfers(l)
	return l
}

func (f *fakeRank) comms(l *library) {
	number := func(call string, comm uintptr, to *int32, value func(ranks []int) int) int32 {
		f.job.mu.Lock()
		defer f.job.mu.Unlock()
		*to = int32(value(f.job.comms[comm]))
		return f.enter(call)
	}
	l.Rank = func(comm uintptr, to *int32) int32 {
		return number("Comm_rank", comm, to, func(ranks []int) int { return slices.Index(ranks, f.me) })
	}
	l.Size = func(comm uintptr, to *int32) int32 {
		return number("Comm_size", comm, to, func(ranks []int) int { return len(ranks) })
	}
	l.SetHandler = func(_, handler uintptr) int32 {
		if handler != l.abi.errorsReturn {
			f.fault("error handler %#x", handler)
		}
		return f.enter("Comm_set_errhandler")
	}
	l.Split = func(comm uintptr, color, key int32, to *uintptr) int32 {
		return f.meet(comm, nil, put{call: "Split", color: color, key: key}, func(all []put, own int) int32 {
			color := all[own].color
			if color == l.abi.undefined {
				return 0
			}
			var order []int
			for i, p := range all {
				if p.color == color {
					order = append(order, i)
				}
			}
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[a].key, all[b].key) })
			for i, r := range order {
				order[i] = f.job.comms[comm][r]
			}
			m := f.job.meetings[meetingKey{comm, f.turns[comm] - 1}]
			if m.made[color] == 0 {
				m.made[color] = newHandle()
				f.job.comms[m.made[color]] = order
			}
			*to = m.made[color]
			return 0
		})
	}
	l.Dup = func(comm uintptr, to *uintptr) int32 { return l.Split(comm, 1, 0, to) }
	l.Free = func(comm *uintptr) int32 {
		f.freed[*comm] = true
		*comm = 0
		return f.enter("Comm_free")
	}
}

func (f *fakeRank) transfers(l *library) {
	l.Isend = func(buf unsafe.Pointer, n int32, t uintptr, to, tag int32, comm uintptr, r *uintptr) int32 {
		if code := f.enter("Isend"); code != 0 {
			return code
		}
		m := f.memory(buf, n, t)
		f.job.mu.Lock()
		defer f.job.mu.Unlock()
		key := messageKey{comm, int32(slices.Index(f.job.comms[comm], f.me)), to, tag}
		f.job.messages[key] = append(f.job.messages[key], message{slices.Clone(m), int(n)})
		f.request(r, &fakeRequest{ready: func() bool { return true }, finish: func() (int, int32) { return 0, 0 }, alive: held(m)})
		return 0
	}
	l.Irecv = func(buf unsafe.Pointer, n int32, t uintptr, from, tag int32, comm uintptr, r *uintptr) int32 {
		if code := f.enter("Irecv"); code != 0 {
			return code
		}
		m := f.memory(buf, n, t)
		into := loosely(m)
		f.job.mu.Lock()
		defer f.job.mu.Unlock()
		key := messageKey{comm, from, int32(slices.Index(f.job.comms[comm], f.me)), tag}
		at := f.posted[key]
		f.posted[key]++
		f.request(r, &fakeRequest{
			ready: func() bool { return len(f.job.messages[key]) > at },
			finish: func() (int, int32) {
				got := f.job.messages[key][at]
				if got.n > int(n) {
					return 0, 15
				}
				copy(into.bytes(), got.data)
				return got.n, 0
			},
			alive: held(m),
		})
		return 0
	}
	l.Test = func(r *uintptr, flag *int32, status *uint64) int32 {
		if code := f.enter("Test"); code != 0 {
			delete(f.requests, *r)
			return code
		}
		q := f.requests[*r]
		if q == nil {
			f.fault("Test of request %#x, which is none", *r)
			return 7
		}
		q.polls++
		f.job.mu.Lock()
		defer f.job.mu.Unlock()
		if q.polls <= f.late || !q.ready() {
			return 0
		}
		if !q.alive() {
			f.fault("Go has freed a buffer of a request")
			return 1
		}
		n, code := q.finish()
		delete(f.requests, *r)
		*r, *flag, *status = 0, 1, uint64(n)
		return code
	}
	l.GetCount = func(status *uint64, _ uintptr, n *int32) int32 {
		*n = int32(*status)
		return f.enter("Get_count")
	}
}

// start runs a function on each rank of a fake job, and ends the ranks.
func start(t *testing.T, ranks []*fakeRank, body func(c *Comm, f *fakeRank) error) {
	t.Helper()
	errs := make(chan error, len(ranks))
	for _, f := range ranks {
		go func() {
			e := newEngine(f.lib)
			c, err := e.init(launcher{})
			if err == nil {
				err = body(c, f)
			}
			if err == nil {
				err = e.finalize()
			}
			if err != nil {
				err = fmt.Errorf("rank %d: %w", f.me, err)
			}
			errs <- err
		}()
	}
	for range ranks {
		select {
		case err := <-errs:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(time.Minute):
			all := make([]byte, 1<<16)
			t.Fatalf("the ranks hang:\n%s", all[:runtime.Stack(all, true)])
		}
	}
	for _, f := range ranks {
		if f.ended != 1 {
			t.Errorf("rank %d: the handlers of exit ran %d times, want once", f.me, f.ended)
		}
		for _, fault := range f.faults {
			t.Errorf("rank %d: %s", f.me, fault)
		}
	}
}

// openMPILike returns the ABI of a library whose handles are addresses.
func openMPILike(t *testing.T) abi {
	next := uintptr(0x7f001000)
	a, err := openMPI(func(string) (uintptr, error) {
		next += 0x200
		return next, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}
