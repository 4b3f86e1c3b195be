package npy

import (
	"fmt"
	"math"
)

// What the arrays of an archive may take together, in bytes: a fixed amount, and so
// much for each byte of the file. Features that mostly are zeros, as dense arrays of
// float32, shrink to a two-hundredth.
const (
	roomLeast = 48 << 20
	roomPer   = 256
)

// What an element takes when it is read, in bytes, beside its own.
const (
	numberTakes = 4  // it becomes a float or an integer
	stringTakes = 24 // and its text
	pickleTakes = 16 // for each byte of a pickle
)

// room is what is left for arrays. A nil room has no end.
type room struct{ packed, of, left int64 }

// newRoom returns the room of an archive of that many bytes.
func newRoom(packed int64) *room {
	n := roomLeast + roomPer*min(packed, 1<<48)
	return &room{packed, n, n}
}

// take takes n times each bytes.
func (r *room) take(n, each int) error {
	if r == nil {
		return nil
	}
	if n > math.MaxInt/max(each, 1) || int64(n*each) > r.left {
		return r.full()
	}
	r.left -= int64(n * each)
	return nil
}

// Keep takes bytes for what is made of the arrays, beside the arrays themselves.
func (a *Archive) Keep(n, each int) error {
	if err := a.room.take(n, each); err != nil {
		return fmt.Errorf("npy: %s: %w", a.path, err)
	}
	return nil
}

// full is the error for arrays that take too much.
func (r *room) full() error {
	return fmt.Errorf("its arrays take more than the %d bytes that those of a file of %d may: save them without compression (numpy.savez), or what is mostly zeros as a sparse matrix", r.of, r.packed)
}

// takes returns what an element of that many bytes takes.
func (a *Array) takes(size int) int {
	if kind := a.Type[1]; kind == 'S' || kind == 'U' {
		return size + stringTakes
	}
	return size + numberTakes
}
