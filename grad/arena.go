package grad

import (
	"math/bits"
	"unsafe"

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
	held   int
	inUse  int
	peak   int
}

func (a *arena) reset() {
	a.floats.reset()
	a.ints.reset()
	a.inUse = 0
}

func (a *arena) count(held, used int) {
	a.held += held
	a.inUse += used
	a.peak = max(a.peak, a.inUse)
}

// pool holds buffers of one element type by size class. A class is one of
// eight steps between two powers of two, so at most an eighth is wasted.
type pool[T any] struct {
	free map[int][][]T
	used [][]T
}

func classSize(n int) int {
	if n <= 16 {
		return 16
	}
	step := 1 << max(0, bits.Len(uint(n-1))-4)
	return (n + step - 1) / step * step
}

// get returns a zeroed buffer of n elements, and how many were newly made.
func (p *pool[T]) get(n int) (buf []T, made int) {
	size := classSize(n)
	list := p.free[size]
	if len(list) == 0 {
		return make([]T, n, size), size
	}
	buf = list[len(list)-1][:n]
	list[len(list)-1] = nil
	p.free[size] = list[:len(list)-1]
	clear(buf)
	return buf, 0
}

// put takes a buffer back.
func (p *pool[T]) put(buf []T) {
	if p.free == nil {
		p.free = map[int][][]T{}
	}
	p.free[cap(buf)] = append(p.free[cap(buf)], buf)
}

// reset takes back all buffers that were marked as used until then.
func (p *pool[T]) reset() {
	for i, buf := range p.used {
		p.put(buf)
		p.used[i] = nil
	}
	p.used = p.used[:0]
}

// floatBytes is the size of a Float.
const floatBytes = int(unsafe.Sizeof(tensor.Float(0)))

// take returns n zeroed elements that live until the next Reset; of a nil tape
// they come from the heap.
func (t *Tape) take(n int) []tensor.Float {
	buf := t.borrow(n)
	if t != nil {
		t.arena.floats.used = append(t.arena.floats.used, buf)
	}
	return buf
}

// borrow returns n zeroed elements that give hands back.
func (t *Tape) borrow(n int) []tensor.Float {
	if t == nil {
		return make([]tensor.Float, n)
	}
	buf, made := t.arena.floats.get(n)
	t.arena.count(made*floatBytes, cap(buf)*floatBytes)
	return buf
}

func (t *Tape) give(buf []tensor.Float) {
	if t != nil {
		t.arena.floats.put(buf)
		t.arena.inUse -= cap(buf) * floatBytes
	}
}

// takeInts is take for indices.
func (t *Tape) takeInts(n int) []int32 {
	if t == nil {
		return make([]int32, n)
	}
	buf, made := t.arena.ints.get(n)
	t.arena.ints.used = append(t.arena.ints.used, buf)
	t.arena.count(made*4, cap(buf)*4)
	return buf
}
