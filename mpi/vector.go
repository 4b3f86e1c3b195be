package mpi

import (
	"fmt"
	"unsafe"
)

// A vector is a slice of Numbers as C sees it.
type vector struct {
	at   unsafe.Pointer
	n    int
	kind kind
	size int // of a value, in bytes
}

// nothing is what an empty vector points to: some MPIs take no null pointer.
var nothing [2]uint64

// vectorOf describes a slice.
func vectorOf[T Number](s []T) vector {
	v := vector{unsafe.Pointer(unsafe.SliceData(s)), len(s), kindOf[T](), int(unsafe.Sizeof(*new(T)))}
	if len(s) == 0 {
		v.at = unsafe.Pointer(&nothing[0])
	}
	return v
}

// slice returns the part of n values from i.
func (v vector) slice(i, n int) vector {
	if n > 0 {
		v.at = unsafe.Add(v.at, i*v.size)
	}
	v.n = n
	return v
}

// bytes returns the memory of the values.
func (v vector) bytes() []byte { return unsafe.Slice((*byte)(v.at), v.n*v.size) }

// pieces calls f with parts of at most limit values, in order, until one fails. An empty vector is one
// part, because a rank that sends nothing takes part in a collective operation like any other.
func (v vector) pieces(limit int, f func(vector) error) error {
	for i := 0; i == 0 || i < v.n; i += limit {
		if err := f(v.slice(i, min(limit, v.n-i))); err != nil {
			return err
		}
	}
	return nil
}

// layout returns where parts of given lengths begin that lie one after another, and where the last ends.
func layout(counts []int) (at []int, total int) {
	at = make([]int, len(counts))
	for i, n := range counts {
		at[i] = total
		total += n
	}
	return at, total
}

// parts checks that a buffer of n values consists of a part for each rank. Name is the call, and what
// the argument with the lengths.
func (c *Comm) parts(name, what string, counts []int, n int) error {
	if len(counts) != c.size {
		return fmt.Errorf("mpi: %s: %s has %d lengths, and there are %d ranks", name, what, len(counts), c.size)
	}
	total := 0
	for rank, k := range counts {
		if k < 0 || total+k < total {
			return fmt.Errorf("mpi: %s: %s[%d] is %d", name, what, rank, k)
		}
		total += k
	}
	if total != n {
		return fmt.Errorf("mpi: %s: the lengths in %s are %d values together, and the buffer has %d", name, what, total, n)
	}
	return nil
}

// peer checks a rank that an argument names.
func (c *Comm) peer(name, what string, rank int) error {
	if err := c.valid(); err != nil {
		return err
	}
	if rank < 0 || rank >= c.size {
		return fmt.Errorf("mpi: %s: %s %d is no rank: they are 0 to %d", name, what, rank, c.size-1)
	}
	return nil
}

// ints returns values that fit into a C int as such.
func ints(values []int) []int32 {
	out := make([]int32, len(values))
	for i, v := range values {
		out[i] = int32(v)
	}
	return out
}
