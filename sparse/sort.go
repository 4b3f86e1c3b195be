package sparse

import (
	"slices"
	"sort"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// keySort is a stable counting sort of keys below n by several threads. Each
// counts the keys of a part of the list, finds from the other parts' counts
// where its own go, and puts them there. However many parts there are the order
// is the same: there is one stable order.
type keySort struct {
	keys    []int32
	n       int
	parts   int
	starts  []int32 // for each part and key: how many there are, then where the next one goes
	offsets []int64
	order   []int32

	rows []int64 // of a list that is in rows: where each starts, and the end
	row  []int32 // of each key, in order: its row; nil: not wanted
}

// sortByKey returns the stable order of the keys, all below n, and where each
// key's run starts in it.
func sortByKey(n int, keys []int32) (order []int32, offsets []int64) {
	s := keySort{keys: keys, n: n}
	s.sort()
	return s.order, s.offsets
}

// sort sets the order, the offsets and, if rows is there, the rows.
func (s *keySort) sort() {
	n, keys := s.n, s.keys
	s.parts = sortParts(n, len(keys))
	if s.parts == 1 && slices.IsSorted(keys) {
		s.keep()
		return
	}
	s.starts = make([]int32, s.parts*n)
	s.offsets = make([]int64, n+1)
	par.For(s.parts, 1, s.count)
	s.place()
	s.order = make([]int32, len(keys))
	if s.rows != nil {
		s.row = make([]int32, len(keys))
	}
	par.For(s.parts, 1, s.put)
}

// keep is sort of keys that are in order, as those of the members of a batch are: each stays
// where it is.
func (s *keySort) keep() {
	s.offsets, s.order = make([]int64, s.n+1), make([]int32, len(s.keys))
	key := 0
	for k, next := range s.keys {
		for ; key <= int(next); key++ {
			s.offsets[key] = int64(k)
		}
		s.order[k] = int32(k)
	}
	for ; key <= s.n; key++ {
		s.offsets[key] = int64(len(s.keys))
	}
	if s.rows == nil {
		return
	}
	s.row = make([]int32, len(s.keys))
	for i, lo := range s.rows[:len(s.rows)-1] {
		list := s.row[lo:s.rows[i+1]]
		for k := range list {
			list[k] = int32(i)
		}
	}
}

// sortParts is how many parts a list is cut into: one for each thread, but no
// more than keep the counts below the list's own size.
func sortParts(n, keys int) int {
	if keys < 1<<15 {
		return 1
	}
	return max(1, min(par.Threads(), keys/max(n, 1)))
}

// part returns the bounds of part p of the list.
func (s *keySort) part(p int) (lo, hi int) {
	return p * len(s.keys) / s.parts, (p + 1) * len(s.keys) / s.parts
}

// count counts the keys of parts from to to.
func (s *keySort) count(from, to int) {
	for p := from; p < to; p++ {
		lo, hi := s.part(p)
		count := s.starts[p*s.n : (p+1)*s.n]
		for _, key := range s.keys[lo:hi] {
			count[key]++
		}
	}
}

// place turns the counts into places: by key, and by part within a key. Where there are many
// keys, ranges of them learn first how many come before each.
func (s *keySort) place() {
	ranges := 1
	if s.parts > 2 { // two threads would read the counts twice and gain nothing
		ranges = max(1, min(s.n/listGrain, 4*par.Threads()))
	}
	before := make([]int64, ranges)
	if ranges > 1 {
		par.For(ranges, 1, func(from, to int) {
			for r := from; r < to; r++ {
				lo, hi := r*s.n/ranges, (r+1)*s.n/ranges
				for at := 0; at < len(s.starts); at += s.n {
					for _, count := range s.starts[at+lo : at+hi] {
						before[r] += int64(count)
					}
				}
			}
		})
	}
	sum := int64(0)
	for r, n := range before {
		before[r], sum = sum, sum+n
	}
	par.For(ranges, 1, func(from, to int) {
		for r := from; r < to; r++ {
			s.placeRange(r*s.n/ranges, (r+1)*s.n/ranges, before[r])
		}
	})
	s.offsets[s.n] = int64(len(s.keys))
}

// placeRange is place of keys from to to, before which there are so many.
func (s *keySort) placeRange(from, to int, before int64) {
	at := int32(before)
	for key := from; key < to; key++ {
		s.offsets[key] = int64(at)
		for i := key; i < len(s.starts); i += s.n {
			count := s.starts[i]
			s.starts[i] = at
			at += count
		}
	}
}

// put puts the keys of parts from to to in their places.
func (s *keySort) put(from, to int) {
	for p := from; p < to; p++ {
		lo, hi := s.part(p)
		next := s.starts[p*s.n : (p+1)*s.n]
		if s.row != nil {
			s.putRows(next, lo, hi)
			continue
		}
		for j, key := range s.keys[lo:hi] {
			at := next[key]
			next[key] = at + 1
			s.order[at] = int32(lo + j)
		}
	}
}

// putRows is put of keys lo to hi with their rows.
func (s *keySort) putRows(next []int32, lo, hi int) {
	row := sort.Search(len(s.rows)-1, func(i int) bool { return s.rows[i+1] > int64(lo) })
	for ; lo < hi; row++ {
		for end := min(int(s.rows[row+1]), hi); lo < end; lo++ {
			at := next[s.keys[lo]]
			next[s.keys[lo]] = at + 1
			s.order[at], s.row[at] = int32(lo), int32(row)
		}
	}
}

// listGrain is how many elements of a list a thread takes at a time.
const listGrain = 1 << 16

// pick sets dst[k] = src[order[k]].
func pick[T any](dst, src []T, order []int32) {
	par.For(len(dst), listGrain, func(lo, hi int) {
		for k, from := range order[lo:hi] {
			dst[lo+k] = src[from]
		}
	})
}

// firstOutside returns the first place of a list that is not from 0 to n−1, its
// length if there is none.
func firstOutside(list []int32, n int) int {
	return first(len(list), func(lo, hi int) int {
		for j, v := range list[lo:hi] {
			if uint32(v) >= uint32(n) {
				return lo + j
			}
		}
		return hi
	})
}

// first returns the least of the places below n that find, which gets a range
// and returns its end if there is none, finds.
func first(n int, find func(lo, hi int) int) int {
	var least atomic.Int64
	least.Store(int64(n))
	par.For(n, listGrain, func(lo, hi int) {
		at := int64(hi)
		if int64(lo) < least.Load() {
			at = int64(find(lo, hi))
		}
		for old := least.Load(); at < int64(hi) && at < old; old = least.Load() {
			if least.CompareAndSwap(old, at) {
				return
			}
		}
	})
	return int(least.Load())
}
