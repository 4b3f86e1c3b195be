package grad

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
