package par

import (
	"math"
	"sync/atomic"
)

// chunks are the parts of a loop, cut into ranges of about equal length, one for each thread
// that is asked to help. A thread takes parts of its own range first, so that of the loops of
// a program it mostly does the same part and finds in its cache what it wrote there in the
// loop before. Then it takes what others have left.
//
// Loops are numbered. Nobody has to be told that a new one is there but by its number: what a
// range says of an older loop is what it says when nothing of it is taken.
type chunks struct {
	head   atomic.Uint64   // number of the loop above, of its parts below
	ranges [2]atomic.Int32 // how many, of loops with an even number and with an odd one
	taken  *[maxThreads]taken
}

func newChunks() chunks { return chunks{taken: new([maxThreads]taken)} }

// taken is how many parts of a range somebody took.
type taken struct {
	word atomic.Uint64 // number of the loop above
	_    [120]byte     // each is another thread's, mostly, and lines come in pairs
}

// chunksMost is the most parts of a loop.
const chunksMost = math.MaxInt32

// loop is one of the loops that chunks had.
type loop struct {
	number uint32
	ranges int32
	n      int
}

// renewed is after how many loops no range speaks of an older one: what is older than half of all
// numbers would look newer.
const renewed = 1 << 20

// open makes parts 0 to n−1 free to take, in so many ranges, of which none is empty. Those of the
// loop before have all been taken.
func (c *chunks) open(n, ranges int) {
	number := uint32(c.head.Load()>>32) + 1
	for r := 0; number%renewed == 0 && r < len(c.taken); r++ {
		if word := &c.taken[r].word; uint32(word.Load()>>32) != number-1 {
			word.Store(uint64(number-1) << 32)
		}
	}
	c.ranges[number&1].Store(int32(ranges))
	c.head.Store(uint64(number)<<32 | uint64(n))
}

// number is that of the loop that is or was the last.
func (c *chunks) number() uint32 { return uint32(c.head.Load() >> 32) }

// current returns the last loop, which may be over.
func (c *chunks) current() loop {
	for {
		head := c.head.Load()
		l := loop{number: uint32(head >> 32), n: int(uint32(head))}
		l.ranges = c.ranges[l.number&1].Load()
		if c.head.Load() == head { // else they may be those of the next but one
			return l
		}
	}
}

// part is range r.
func (l loop) part(r int) (lo, hi int) {
	at := func(r int) int { return int(int64(r) * int64(l.n) / int64(l.ranges)) }
	return at(r), at(r + 1)
}

// Quarter is how many of the parts that are left of a range are taken at once: so the last ones
// are taken one by one, and all threads end at about the same time.
func Quarter(left int) int { return (left + 3) / 4 }

// take takes a [Quarter] of what is left of range r of a loop. There is none left if these are none.
func (c *chunks) take(l loop, r int) (lo, hi int) {
	from, to := l.part(r)
	for {
		word := c.taken[r].word.Load()
		done := from
		switch age := int32(l.number - uint32(word>>32)); {
		case age < 0:
			return 0, 0 // the loop is over, and another one under way
		case age == 0:
			done += int(uint32(word))
		}
		left := to - done
		if left == 0 {
			return 0, 0
		}
		upTo := done + Quarter(left)
		if c.taken[r].word.CompareAndSwap(word, uint64(l.number)<<32|uint64(upTo-from)) {
			return done, upTo
		}
	}
}

// drop takes all that are left of a loop, and returns how many they were.
func (c *chunks) drop(l loop) int {
	dropped := 0
	for r := range int(l.ranges) {
		for lo, hi := c.take(l, r); lo < hi; lo, hi = c.take(l, r) {
			dropped += hi - lo
		}
	}
	return dropped
}
