package ranks

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"
)

// Float is what can be added up over the ranks.
type Float interface{ float32 | float64 }

// Sum is a sum over all ranks that is under way.
//
// Each rank adds up one part of it: it receives that part from every rank, adds in the order of the ranks, and sends the
// sum to all. So the bits depend on the number of ranks and on nothing else: not on the
// library that carries the bytes, nor on the hosts.
type Sum[F Float] struct {
	team    *Team
	x       []F
	sizes   []int // of the parts
	parts   []F   // this rank's part, as each rank has it
	request Request
	failed  error
	turned  bool
}

// StartSum begins to add up x, of the same length at every rank. After Wait x is the sum.
func StartSum[F Float](t *Team, x []F) *Sum[F] {
	s := &Sum[F]{team: t, x: x}
	n := t.Size()
	if n == 1 {
		return s
	}
	if s.failed = t.lost; s.failed != nil {
		return s
	}
	for i := range n {
		s.sizes = append(s.sizes, (i+1)*len(x)/n-i*len(x)/n)
	}
	own := s.sizes[t.Rank()]
	s.parts = make([]F, own*n)
	from := make([]int, n)
	for i := range from {
		from[i] = own
	}
	s.request, s.failed = t.comm.Alltoall(bytesOf(x), inBytes[F](s.sizes), bytesOf(s.parts), inBytes[F](from))
	return s
}

// Turn waits until the parts are here, adds them up and begins to send the sum. Wait does so if nobody has called it. It
// has its place in the order of calls that all ranks share.
func (s *Sum[F]) Turn() {
	if s.turned || s.failed != nil || s.sizes == nil {
		return
	}
	s.turned = true
	t, own := s.team, s.sizes[s.team.Rank()]
	if s.failed = t.wait(s.request, nil, int(unsafe.Sizeof(F(0)))*(len(s.x)-own)); s.failed != nil {
		return
	}
	all := s.parts[:own]
	for i := 1; i < t.Size(); i++ {
		for j, v := range s.parts[i*own:][:own] {
			all[j] += v
		}
	}
	s.request, s.failed = t.comm.Allgather(bytesOf(all), bytesOf(s.x), inBytes[F](s.sizes))
}

// Wait returns when x is the sum.
func (s *Sum[F]) Wait() error {
	s.Turn()
	if s.failed != nil {
		return s.team.failed(s.failed)
	}
	if s.sizes == nil {
		return nil
	}
	own := s.sizes[s.team.Rank()]
	return s.team.wait(s.request, nil, int(unsafe.Sizeof(F(0)))*own*(s.team.Size()-1))
}

// Share gives every rank all of what each has a part of. The parts lie one after another in all, in the order of the ranks, and sizes are their
// lengths. own, this rank's part, is no part of the memory of all.
func Share[F Float](t *Team, own, all []F, sizes []int) error {
	if t.Size() == 1 {
		copy(all, own)
		return nil
	}
	return t.gatherInto(bytesOf(own), bytesOf(all), inBytes[F](sizes))
}

// bytesOf returns the memory of x.
func bytesOf[F Float](x []F) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(F(0))))
}

// inBytes returns the sizes of parts in bytes.
func inBytes[F Float](sizes []int) []int {
	out := make([]int, len(sizes))
	for i, n := range sizes {
		out[i] = n * int(unsafe.Sizeof(F(0)))
	}
	return out
}

// list names ranks: "rank 1", or "ranks 1, 2 and 5".
func list(ranks []int) string {
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d", ranks[0])
	}
	var words []string
	for _, i := range ranks {
		words = append(words, fmt.Sprint(i))
	}
	last := len(words) - 1
	return "ranks " + strings.Join(words[:last], ", ") + " and " + words[last]
}

func (e *MissingError) sort() { slices.Sort(e.Ranks) }

// cut returns the parts of b, which have those sizes.
func cut(b []byte, sizes []int) [][]byte {
	parts := make([][]byte, len(sizes))
	for i, n := range sizes {
		parts[i], b = b[:n:n], b[n:]
	}
	return parts
}

func sum(sizes []int) int {
	n := 0
	for _, size := range sizes {
		n += size
	}
	return n
}
