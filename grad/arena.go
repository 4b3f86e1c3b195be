package grad

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/pages"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/spoil"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Stats says what a tape holds.
type Stats struct {
	Held  int // bytes in the arena, in use or free
	InUse int // bytes handed out since the last Reset and not given back
	Peak  int // the largest InUse since the tape was made
	Ops   int // operations recorded since the last Reset
}

// arena hands out buffers and takes them back all at once, or early.
type arena struct {
	floats pool[tensor.Float]
	ints   pool[int32]
	longs  pool[int64]
	held   int
	inUse  int
	peak   int
}

func (a *arena) reset() {
	a.floats.takeBack(0)
	a.ints.takeBack(0)
	a.longs.takeBack(0)
	a.inUse = 0
}

// mark is a moment in the life of an arena.
type mark struct{ floats, ints, longs int }

func (a *arena) mark() mark { return mark{len(a.floats.used), len(a.ints.used), len(a.longs.used)} }

// release takes back what was taken since m; what was borrowed stays.
func (a *arena) release(m mark) {
	a.inUse -= a.floats.takeBack(m.floats)*floatBytes + a.ints.takeBack(m.ints)*4 + a.longs.takeBack(m.longs)*8
}

func (a *arena) count(held, used int) {
	a.held += held
	a.inUse += used
	a.peak = max(a.peak, a.inUse)
}

// pool holds buffers of one element type by size class. A class is one of
// eight steps between two powers of two, so at most an eighth is wasted. Those
// that are not large are cut out of slabs, which are in huge pages: then a step
// meets few pages, and the first one need not ask the system for thousands.
type pool[T tensor.Float | int32 | int64] struct {
	free [][][]T // by number of the class
	used [][]T
	slab []T // what is left of the last one
	cut  int // elements of all slabs
}

// The first slabs are small, for tapes on which little is computed, and one between is of
// some size: to clear a large one takes a millisecond. Buffers of more than a slabPart of a
// large one have their own memory.
const (
	slabLeast = 1 << 14
	slabFew   = 1 << 16
	slabSome  = 1 << 18
	slabMost  = 1 << 21
	slabPart  = 4
	lineSize  = 16 // elements that a buffer is aligned to, a line of the cache or two
)

// class returns the size of the buffers for n elements and the number of their
// class. The classes 16, 18, …, 32, 36, … have the numbers 0, 1, ….
func class(n int) (size, number int) {
	if n <= 16 {
		return 16, 0
	}
	shift := max(0, bits.Len(uint(n-1))-4) // n−1 lies in [8, 16) steps
	steps := (n-1)>>shift + 1
	return steps << shift, shift*8 + steps - 16
}

// roomier is how many classes above its own a buffer may be of, if its own has none:
// up to twice as large. Steps of many sizes, such as batches of graphs, would else keep
// buffers of every class.
const roomier = 8

// get returns a buffer of n elements, and how many were newly made, which are
// zero; those of an old buffer are what they were.
func (p *pool[T]) get(n int) (buf []T, made int) {
	size, c := class(n)
	last := min(c+roomier, len(p.free)-1)
	for c <= last && len(p.free[c]) == 0 {
		c++
	}
	if c > last {
		return p.fresh(n, size), size
	}
	return p.pop(c, n), 0
}

// pop returns n elements of the last free buffer of class c.
func (p *pool[T]) pop(c, n int) []T {
	list := p.free[c]
	last := len(list) - 1
	if last < 0 || cap(list[last]) < n {
		panic(shared("an operation"))
	}
	buf := list[last][:n]
	list[last] = nil
	p.free[c] = list[:last]
	return buf
}

// fresh returns a new buffer.
func (p *pool[T]) fresh(n, size int) []T {
	if size > slabMost/slabPart {
		return pages.Make[T](n, size)
	}
	if size > len(p.slab) {
		all := slabMost
		if p.cut < slabFew && size <= slabLeast {
			all = slabLeast
		} else if p.cut < slabSome && size <= slabSome/slabPart {
			all = slabSome
		}
		p.slab = pages.Make[T](all, all)
		p.cut += all
	}
	slab := p.slab
	if size > len(slab) {
		panic(shared("an operation"))
	}
	p.slab = slab[min((size+lineSize-1)&^(lineSize-1), len(slab)):]
	return slab[:n:size]
}

// put takes a buffer back.
func (p *pool[T]) put(buf []T) {
	_, c := class(cap(buf))
	for c >= len(p.free) {
		p.free = append(p.free, nil)
	}
	p.free[c] = append(p.free[c], buf)
}

// takeBack puts the buffers used from number first on, and returns how many
// elements they had.
func (p *pool[T]) takeBack(first int) (elements int) {
	used := p.used
	if first > len(used) {
		panic(shared("Reset"))
	}
	p.used = used[:first]
	for i, buf := range used[first:] {
		if buf == nil {
			panic(shared("Reset"))
		}
		p.put(buf)
		elements += cap(buf)
		used[first+i] = nil
	}
	return elements
}

// floatBytes is the size of a Float.
const floatBytes = int(unsafe.Sizeof(tensor.Float(0)))

// take returns n zeroed elements that live until the next Reset; of a nil tape
// they come from the heap.
func (t *Tape) take(n int) []tensor.Float {
	buf := t.borrow(n)
	t.own(buf)
	return buf
}

// takeFresh is take of elements that hold anything until they are set.
func (t *Tape) takeFresh(n int) []tensor.Float {
	buf, _ := t.lend(n)
	t.own(buf)
	return buf
}

// own makes buf live until the next Reset.
func (t *Tape) own(buf []tensor.Float) {
	if t != nil {
		t.arena.floats.used = append(t.arena.floats.used, buf)
	}
}

// borrow returns n zeroed elements that give hands back.
func (t *Tape) borrow(n int) []tensor.Float {
	buf, zero := t.lend(n)
	if !zero && !t.dry { // a dry run touches no memory
		wipe(buf)
	}
	return buf
}

// lend returns n elements that give hands back, and whether they are zero: else
// they hold anything.
func (t *Tape) lend(n int) (buf []tensor.Float, zero bool) {
	if t == nil {
		return pages.Make[tensor.Float](n, n), true
	}
	now := t.ticks
	buf, made := t.arena.floats.get(n)
	t.arena.count(made*floatBytes, cap(buf)*floatBytes)
	t.tick(now)
	if spoil.On && !t.dry {
		spoil.Floats(buf)
		return buf, false
	}
	return buf, made > 0
}

// wipeGrain is how many elements one thread zeroes at a time.
const wipeGrain = 1 << 16

// wipe zeroes buf.
func wipe(buf []tensor.Float) {
	if len(buf) <= 4*wipeGrain {
		clear(buf)
		return
	}
	w := wipers.Get().(*wiper)
	w.buf = buf
	par.Run((len(buf)-1)/wipeGrain+1, w)
	w.buf = nil
	wipers.Put(w)
}

// wiper is the loop of wipe, kept so that it allocates nothing.
type wiper struct{ buf []tensor.Float }

var wipers = sync.Pool{New: func() any { return new(wiper) }}

// Chunk zeroes a part.
func (w *wiper) Chunk(i int) {
	clear(w.buf[i*wipeGrain : min((i+1)*wipeGrain, len(w.buf))])
}

func (t *Tape) recycle(buf []tensor.Float) {
	if t != nil {
		t.arena.floats.put(buf)
		t.arena.inUse -= cap(buf) * floatBytes
	}
}

// takeInts is take for indices.
func (t *Tape) takeInts(n int) []int32 {
	buf := t.takeFreshInts(n)
	if t == nil || !t.dry {
		clear(buf)
	}
	return buf
}

// takeFreshInts is takeFresh for indices.
func (t *Tape) takeFreshInts(n int) []int32 {
	if t == nil {
		return make([]int32, n)
	}
	return takeFrom(&t.arena, &t.arena.ints, n, 4)
}

// takeFreshLongs is takeFresh for offsets.
func (t *Tape) takeFreshLongs(n int) []int64 {
	if t == nil {
		return make([]int64, n)
	}
	return takeFrom(&t.arena, &t.arena.longs, n, 8)
}

// takeFrom takes n elements of so many bytes from a pool of a.
func takeFrom[T int32 | int64](a *arena, p *pool[T], n, bytes int) []T {
	buf, made := p.get(n)
	p.used = append(p.used, buf)
	a.count(made*bytes, cap(buf)*bytes)
	spoil.Ints(buf)
	return buf
}

// pile is a slab of any type.
type pile interface{ empty() }

// slab hands out values of one type and takes them back all at once.
type slab[T any] struct {
	all  []*T
	used int
}

// slabBlock is how many values a slab makes at a time.
const slabBlock = 16

func (s *slab[T]) take() *T {
	n, all := s.used, s.all
	for n >= len(all) {
		block := make([]T, slabBlock)
		for i := range block {
			all = append(all, &block[i])
		}
		s.all = all
	}
	s.used = n + 1
	return all[n]
}

// empty takes all values back, as zeros.
func (s *slab[T]) empty() { s.cut(0) }

// cut takes back all but the first n values.
func (s *slab[T]) cut(n int) {
	used := s.used
	s.used = n
	if n > used || used > len(s.all) {
		panic(shared("Reset"))
	}
	for _, p := range s.all[n:used] {
		*p = *new(T)
	}
}
