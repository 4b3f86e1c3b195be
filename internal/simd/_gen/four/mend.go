package main

import "fmt"

// mend takes out what the compiler does badly with vectors:
//
//   - a broadcast of an element in three instructions, which is one;
//   - a broadcast, and products with it, which take the element where it lies, or where it is loaded to;
//   - a shift by a constant that is broadcast first;
//   - a product of 64 bits for the place of a row;
//   - instructions that do nothing, and those whose result is not used.
func (k *kernel) mend() {
	k.keep(func(i int) bool { return k.code[i].word != hint })
	for again := true; again; {
		again = k.broadcast()
		again = k.shortcut() || again
		again = k.products() || again
		again = k.loaded() || again
		again = k.shifts() || again
		again = k.rows() || again
		again = k.unused() || again
	}
	for i, in := range k.code {
		if in.target >= 0 {
			k.code[i].word = going(in.word, in.target-i)
		}
	}
}

// keep leaves out instructions. A branch to one goes to the next that is kept.
func (k *kernel) keep(kept func(i int) bool) (changed bool) {
	places, code := make([]int, len(k.code)+1), []instruction{}
	for i, in := range k.code {
		places[i] = len(code)
		if kept(i) {
			code = append(code, in)
		}
	}
	for i, in := range code {
		if in.target >= 0 {
			code[i].target = places[in.target]
		}
	}
	changed = len(code) < len(k.code)
	k.code = code
	return changed
}

// ends returns for each instruction whether a block ends with it.
func (k *kernel) ends() []bool {
	ends := make([]bool, len(k.code))
	for i, in := range k.code {
		if in.word == ret {
			ends[i] = true
		} else if in.target >= 0 {
			ends[i] = true
			if in.target > 0 {
				ends[in.target-1] = true
			}
		}
	}
	return ends
}

// live returns the vector registers that are read after each instruction. Copies whose own result is not read do not count.
func (k *kernel) live() []set {
	before, after := make([]set, len(k.code)+1), make([]set, len(k.code))
	for again := true; again; {
		again = false
		for i := len(k.code) - 1; i >= 0; i-- {
			in := k.code[i]
			var s set
			if in.target >= 0 {
				s |= before[in.target]
			}
			if in.word>>26 != 0b000101 && in.word != ret {
				s |= before[i+1]
			}
			if in.word == ret && k.result == "float32" {
				s = registers(0)
			}
			after[i] = s
			reads, sets := vectors(in.word)
			if idle(in.word) && s&registers(rd(in.word)) == 0 {
				reads = 0
			}
			if s = s&^sets | reads; s != before[i] {
				before[i], again = s, true
			}
		}
	}
	return after
}

// uses returns the instructions after i of its block that may read register r as i has set
// it, and whether those are all there are.
func (k *kernel) uses(i int, r uint32, ends []bool, live []set) (at []int, all bool) {
	bit := registers(r)
	for ; !ends[i]; i++ {
		w := k.code[i+1].word
		reads, sets := vectors(w)
		if reads&bit != 0 {
			at = append(at, i+1)
		}
		if sets&bit != 0 {
			return at, true
		}
		if _, writes := touched(w); writes&bit != 0 { // changes a part
			return at, false
		}
	}
	return at, live[i]&bit == 0
}

// touched is vectors with all registers that may change.
func touched(w uint32) (reads, writes set) {
	reads, sets := vectors(w)
	if group := w >> 25 & 15; group&7 == 7 && sets == 0 && w&0x5f203c00 != 0x1e202000 {
		sets = registers(rd(w))
	}
	return reads, sets
}

// broadcast makes a broadcast of an insertion into a register of which only the first
// element is used, for a broadcast.
func (k *kernel) broadcast() (changed bool) {
	ends, live := k.ends(), k.live()
	for i, in := range k.code {
		word, of := in.word&twoRegisters, "V%d.S[0]"
		switch word {
		case insLane:
			word = dupLane
		case insWord:
			word, of = dupWord, "R%d"
		default:
			continue
		}
		at, all := k.uses(i, rd(in.word), ends, live)
		for _, u := range at {
			lane, ok := isDup(k.code[u].word)
			all = all && ok && lane == 0
		}
		if all && len(at) > 0 {
			k.code[i].word = word | rn(in.word)<<5 | rd(in.word)
			k.code[i].text = fmt.Sprintf("VDUP "+of+", V%d.S4", rn(in.word), rd(in.word))
			changed = true
		}
	}
	return changed
}

// shortcut takes a broadcast of what is one, or is an element of another register, from
// there.
func (k *kernel) shortcut() (changed bool) {
	ends := k.ends()
	for i, in := range k.code {
		lane, ok := isDup(in.word)
		if !ok {
			continue
		}
		n, d := rn(in.word), rd(in.word)
		from := k.setBy(i, n, ends)
		if from < 0 {
			continue
		}
		w := k.code[from].word
		l, isBroadcast := isDup(w)
		one, isElement := isOne(w)
		switch source := rn(w); {
		case isElement && lane == 0 && source != n && k.setBy(i, source, ends) < from && !k.changedBetween(from, i, source):
			k.code[i].word, l = dupLane|one<<19|source<<5|d, one
		case isBroadcast && source != n && !k.changedBetween(from, i, source):
			k.code[i].word = dupLane | l<<19 | source<<5 | d
		case isBroadcast || w&twoRegisters == dupWord:
			k.code[i].word = copyAll | n<<16 | n<<5 | d
			k.code[i].text = fmt.Sprintf("VMOV V%d.B16, V%d.B16", n, d)
			changed = true
			continue
		default:
			continue
		}
		k.code[i].text = fmt.Sprintf("VDUP V%d.S[%d], V%d.S4", rn(k.code[i].word), l, d)
		changed = true
	}
	return k.keep(func(i int) bool { return !isCopy(k.code[i].word) || rn(k.code[i].word) != rd(k.code[i].word) }) || changed
}

// setBy returns the last instruction before i of its block that may change a register; −1: none.
func (k *kernel) setBy(i int, r uint32, ends []bool) int {
	for i--; i >= 0 && !ends[i]; i-- {
		if _, writes := touched(k.code[i].word); writes&registers(r) != 0 {
			return i
		}
	}
	return -1
}

// changedBetween reports whether an instruction after from and before to may change a
// register.
func (k *kernel) changedBetween(from, to int, r uint32) bool {
	for i := from + 1; i < to; i++ {
		if _, writes := touched(k.code[i].word); writes&registers(r) != 0 {
			return true
		}
	}
	return false
}

// products takes the elements of products from where a broadcast would take them, where
// nothing else wants the broadcast.
func (k *kernel) products() (changed bool) {
	for i := 0; i < len(k.code); i++ {
		lane, ok := isDup(k.code[i].word)
		isElement := false
		if !ok {
			if lane, isElement = isOne(k.code[i].word); !isElement {
				continue
			}
		}
		n, d := rn(k.code[i].word), rd(k.code[i].word)
		at, all := k.uses(i, d, k.ends(), k.live())
		for _, u := range at {
			w := plain(k.code[u].word, isElement)
			_, has := byLane[w&threeRegisters]
			all = all && has && (rn(w) == d) != (rm(w) == d) && (rd(w) != d || w&threeRegisters == fmul)
		}
		if !all || len(at) == 0 || n != d && k.changedBetween(i, at[len(at)-1], n) {
			continue
		}
		for _, u := range at {
			k.byElement(u, plain(k.code[u].word, isElement), d, n, lane)
		}
		k.keep(func(j int) bool { return j != i })
		changed, i = true, i-1
	}
	return changed
}

// byElement makes a product by d, word w, one by lane l of n.
func (k *kernel) byElement(u int, w, d, n, l uint32) {
	other := rn(w)
	if other == d {
		other = rm(w)
	}
	k.code[u].word = withLane(w, other, n, l)
	k.code[u].text = fmt.Sprintf("%s V%d.S[%d], V%d.S4, V%d.S4", laneName[w&threeRegisters], n, l, other, rd(w))
}

// plain is a product by whole registers or, for an element, one by the first lane of a register as if
// that were all of it; 0: it is none.
func plain(w uint32, element bool) uint32 {
	if !element {
		return w
	}
	for whole, lane := range byLane {
		if w&threeRegisters == lane {
			return w ^ lane ^ whole
		}
	}
	return 0
}

// unused leaves out copies and broadcasts that nothing reads.
func (k *kernel) unused() bool {
	live := k.live()
	return k.keep(func(i int) bool { return !idle(k.code[i].word) || live[i]&registers(rd(k.code[i].word)) != 0 })
}

// idle reports whether a word copies or broadcasts, and does nothing else.
func idle(w uint32) bool {
	_, isBroadcast := isDup(w)
	_, isElement := isOne(w)
	return isBroadcast || isElement || isCopy(w) || w&twoRegisters == dupWord || w&twoRegisters == insLane || w&twoRegisters == insWord
}
