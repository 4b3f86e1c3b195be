package par

import (
	"math"
	"sync/atomic"
)

// chunks are the parts of a loop that nobody has taken: those from first on, up
// to end, in one word. They are taken at both ends, so that of two threads each
// does about the same half of every loop of a program, and finds in its cache
// what it wrote there in the loop before.
type chunks struct{ word atomic.Uint64 } // first above, end below

// chunksMost is the most parts of a loop.
const chunksMost = math.MaxInt32

// open makes parts 0 to n−1 free to take.
func (c *chunks) open(n int) { c.word.Store(uint64(n)) }

// left returns how many nobody has taken.
func (c *chunks) left() int { return count(c.word.Load()) }

func count(word uint64) int { return int(uint32(word)) - int(word>>32) }

// share is how many of so many parts one of the threads takes at once: a quarter of
// its even share, so that the last ones are taken one by one and all end at about
// the same time. Each taking moves the word from one processor to another, which
// takes as long as a short part, and much longer where the two are far apart.
func share(left int) int {
	parts := 4 * Threads()
	return (left + parts - 1) / parts
}

// first takes the first ones, lo up to hi; there are none left if these are none.
func (c *chunks) first() (lo, hi int) {
	for w := c.word.Load(); count(w) > 0; w = c.word.Load() {
		lo, hi = int(w>>32), int(w>>32)+share(count(w))
		if c.word.CompareAndSwap(w, uint64(hi)<<32|w&math.MaxUint32) {
			return lo, hi
		}
	}
	return 0, 0
}

// last takes the last ones.
func (c *chunks) last() (lo, hi int) {
	for w := c.word.Load(); count(w) > 0; w = c.word.Load() {
		hi = int(uint32(w))
		lo = hi - share(count(w))
		if c.word.CompareAndSwap(w, w>>32<<32|uint64(lo)) {
			return lo, hi
		}
	}
	return 0, 0
}

// drop takes all that are left, and returns how many they were.
func (c *chunks) drop() int { return count(c.word.Swap(0)) }
