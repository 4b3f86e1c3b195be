package main

import (
	"fmt"
	"maps"
	"strings"
)

// isOneLoaded reports whether a word loads one element.
func isOneLoaded(w uint32) bool { return w>>22 == 0b1011110101 || w>>22 == 0b1011110001 }

// loaded leaves an element that is loaded only to be broadcast in the register of the broadcast, where all products with
// that, in whatever block, take it from.
func (k *kernel) loaded() bool {
	ends, live := k.ends(), k.live()
	for i, in := range k.code {
		lane, ok := isDup(in.word)
		n, d := rn(in.word), rd(in.word)
		from := k.setBy(i, n, ends)
		if !ok || lane != 0 || n == d || from < 0 || !isOneLoaded(k.code[from].word) {
			continue
		}
		if at, all := k.uses(from, n, ends, live); !all || len(at) != 1 || k.changedBetween(from, i, d) || k.readBetween(from, i, d) {
			continue
		}
		reached := k.reached(i, d)
		for u := range reached {
			w := k.code[u].word
			_, has := byLane[w&threeRegisters]
			ok = ok && has && (rn(w) == d) != (rm(w) == d) && (rd(w) != d || w&threeRegisters == fmul)
		}
		for j, other := range k.code {
			if _, writes := touched(other.word); ok && j != i && writes&registers(d) != 0 {
				for u := range k.reached(j, d) {
					ok = ok && !reached[u]
				}
			}
		}
		if !ok || len(reached) == 0 {
			continue
		}
		for u := range reached {
			k.byElement(u, k.code[u].word, d, d, 0)
		}
		load := &k.code[from]
		load.word, load.text = load.word&oneRegister|d, strings.TrimSuffix(load.text, fmt.Sprintf("F%d", n))+fmt.Sprintf("F%d", d)
		return k.keep(func(j int) bool { return j != i })
	}
	return false
}

// readBetween reports whether an instruction after from and before to reads a register.
func (k *kernel) readBetween(from, to int, r uint32) bool {
	for i := from + 1; i < to; i++ {
		if reads, _ := vectors(k.code[i].word); reads&registers(r) != 0 {
			return true
		}
	}
	return false
}

// reached returns the instructions that may read register r as instruction i has set it.
func (k *kernel) reached(i int, r uint32) map[int]bool {
	at, seen, todo := map[int]bool{}, map[int]bool{}, k.next(i)
	for len(todo) > 0 {
		j := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[j] {
			continue
		}
		seen[j] = true
		reads, _ := vectors(k.code[j].word)
		_, writes := touched(k.code[j].word)
		at[j] = reads&registers(r) != 0
		if writes&registers(r) == 0 {
			todo = append(todo, k.next(j)...)
		}
	}
	maps.DeleteFunc(at, func(_ int, reads bool) bool { return !reads })
	return at
}
