package asm

import (
	"iter"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// interleaved is a block of steps whose instructions alternate. They take the same
// instructions, so the first that needs a constant loads it for all: with one
// load each they would wait for the two load ports.
type interleaved struct {
	u      int            // whose turn it is
	pass   []func()       // ends the turn of each
	uses   []int          // how many constants each has used
	shared map[int]loaded // the constants, by the number of their use
}

// loaded is the memory of a constant and the register that has it.
type loaded struct {
	at Mem
	v  Vec
}

// interleaving is the block that is being written, if any.
var interleaving *interleaved

// turn lets the other steps go on.
func turn() {
	if interleaving != nil {
		interleaving.pass[interleaving.u]()
	}
}

// Operand is m or, of a constant in a block, the register that all share.
func Operand(m Op) Op {
	at, ok := m.(Mem)
	if interleaving == nil || !ok || at.Symbol.Name == "" {
		return m
	}
	w := interleaving
	use := w.uses[w.u]
	w.uses[w.u]++
	c, ok := w.shared[use]
	if !ok {
		c = loaded{at, YMM()}
		VMOVUPS(at, c.v)
		w.shared[use] = c
	}
	if c.at != at {
		panic("steps of a block differ in their constants")
	}
	return c.v
}

// Interleave runs body once for each step; begin is told whose turn it is.
func Interleave(steps int, begin func(u int), body func()) {
	if steps == 1 {
		begin(0)
		body()
		return
	}
	w := &interleaved{pass: make([]func(), steps), uses: make([]int, steps), shared: map[int]loaded{}}
	interleaving = w
	defer func() { interleaving = nil }()
	turns := make([]func() (struct{}, bool), steps)
	for u := range turns {
		turns[u], _ = iter.Pull(func(yield func(struct{}) bool) {
			w.pass[u] = func() { yield(struct{}{}) }
			body()
		})
	}
	for going := true; going; {
		going = false
		for u, next := range turns {
			w.u = u
			begin(u)
			_, more := next()
			going = going || more
		}
	}
}
