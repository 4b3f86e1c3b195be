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

// first takes the first one; ok is false if there is none.
func (c *chunks) first() (i int, ok bool) {
	for w := c.word.Load(); count(w) > 0; w = c.word.Load() {
		if c.word.CompareAndSwap(w, w+1<<32) {
			return int(w >> 32), true
		}
	}
	return 0, false
}

// last takes the last one.
func (c *chunks) last() (i int, ok bool) {
	for w := c.word.Load(); count(w) > 0; w = c.word.Load() {
		if c.word.CompareAndSwap(w, w-1) {
			return int(uint32(w)) - 1, true
		}
	}
	return 0, false
}

// drop takes all that are left, and returns how many they were.
func (c *chunks) drop() int { return count(c.word.Swap(0)) }
