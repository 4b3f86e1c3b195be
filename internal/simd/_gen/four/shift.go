package main

import "fmt"

// Shifts of four words: by a register's, and by a constant to the right and to the left.
const (
	ushl = 0x6ea04400 // USHL Vd.4S, Vn.4S, Vm.4S
	ushr = 0x6f000400
	shl  = 0x4f005400
)

// shifts makes shifts by a constant that is broadcast for each ones that have it in them.
func (k *kernel) shifts() (changed bool) {
	ends := k.ends()
	for i, in := range k.code {
		if in.word&threeRegisters != ushl || rm(in.word) == rn(in.word) {
			continue
		}
		from := k.setBy(i, rm(in.word), ends)
		if from < 0 || k.code[from].word&twoRegisters != dupWord {
			continue
		}
		by, ok := k.constant(from, rn(k.code[from].word), ends)
		switch n, d := rn(in.word), rd(in.word); {
		case ok && by < 0 && by > -32:
			k.code[i].word = ushr | uint32(64+by)<<16 | n<<5 | d
			k.code[i].text = fmt.Sprintf("VUSHR $%d, V%d.S4, V%d.S4", -by, n, d)
			changed = true
		case ok && by >= 0 && by < 32:
			k.code[i].word = shl | uint32(32+by)<<16 | n<<5 | d
			k.code[i].text = fmt.Sprintf("VSHL $%d, V%d.S4, V%d.S4", by, n, d)
			changed = true
		}
	}
	return changed
}

// constant is what an integer register has before instruction i, where its block sets it to that.
func (k *kernel) constant(i int, r uint32, ends []bool) (value int, ok bool) {
	for i--; i >= 0 && !ends[i]; i-- {
		w := k.code[i].word
		switch {
		case rd(w) == r && w>>21 == 0x92800000>>21: // MOVN
			return ^int(w >> 5 & 0xffff), true
		case rd(w) == r && w>>21 == 0xd2800000>>21: // MOVZ
			return int(w >> 5 & 0xffff), true
		case w>>25&0b0111 == 0b0111: // vectors and floats: only those that go to an integer matter
			if _, sets := vectors(w); rd(w) == r && sets == 0 {
				return 0, false
			}
		case rd(w) == r || rn(w) == r || w>>10&31 == r: // it may change the register
			return 0, false
		}
	}
	return 0, false
}
