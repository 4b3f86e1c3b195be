package main

import (
	"errors"
	"fmt"
)

// Fields of an instruction: its registers.
func rd(w uint32) uint32 { return w & 31 }
func rn(w uint32) uint32 { return w >> 5 & 31 }
func rm(w uint32) uint32 { return w >> 16 & 31 }

// Instructions by what is set in them, without registers.
const (
	hint     = 0xd503201f
	ret      = 0xd65f03c0
	copyAll  = 0x4ea01c00 // MOV Vd.16B, Vn.16B, which has Vn twice
	insLane  = 0x6e040400 // INS Vd.S[0], Vn.S[0]
	insWord  = 0x4e041c00 // INS Vd.S[0], Wn
	dupLane  = 0x4e040400 // DUP Vd.4S, Vn.S[0]; the lane is at bit 19
	dupWord  = 0x4e040c00 // DUP Vd.4S, Wn
	dupOne   = 0x5e040400 // DUP Sd, Vn.S[0]; the lane is at bit 19
	lanes    = 3 << 19
	fmla     = 0x4e20cc00 // FMLA Vd.4S, Vn.4S, Vm.4S
	fmls     = 0x4ea0cc00
	fmul     = 0x6e20dc00
	fmlaLane = 0x4f801000 // FMLA Vd.4S, Vn.4S, Vm.S[0]; the lane is at bits 11 and 21
	fmlsLane = 0x4f805000
	fmulLane = 0x4f809000
)

const (
	oneRegister    = ^uint32(31)
	twoRegisters   = ^uint32(31<<5 | 31)
	threeRegisters = ^uint32(31<<16 | 31<<5 | 31)
)

// byLane are the instructions of three registers that have a form by a lane of the third.
var byLane = map[uint32]uint32{fmla: fmlaLane, fmls: fmlsLane, fmul: fmulLane}

// laneName is how Go writes them.
var laneName = map[uint32]string{fmla: "VFMLA", fmls: "VFMLS", fmul: "VFMUL"}

// withLane is the form of an instruction by lane l of register m.
func withLane(word, n, m, l uint32) uint32 {
	return byLane[word&threeRegisters] | l&1<<21 | l>>1<<11 | m<<16 | n<<5 | rd(word)
}

// isCopy reports whether a word copies a register.
func isCopy(w uint32) bool { return w&threeRegisters == copyAll && rn(w) == rm(w) }

// isDup reports whether a word broadcasts a lane, and which.
func isDup(w uint32) (lane uint32, ok bool) { return w >> 19 & 3, w&(twoRegisters&^lanes) == dupLane }

// isOne reports whether a word takes a lane to the first of another register.
func isOne(w uint32) (lane uint32, ok bool) { return w >> 19 & 3, w&(twoRegisters&^lanes) == dupOne }

// distance is how many instructions a branch goes on.
func distance(w uint32) (n int, ok bool) {
	signed := func(shift, bits uint) int { return int(int32(w<<(32-bits-shift)) >> (32 - bits)) }
	switch {
	case w>>26 == 0b000101: // B
		return signed(0, 26), true
	case w>>24 == 0b01010100, w>>25&0b111111 == 0b011010: // B.cond, CBZ and CBNZ
		return signed(5, 19), true
	case w>>25&0b111111 == 0b011011: // TBZ and TBNZ
		return signed(5, 14), true
	}
	return 0, false
}

// going returns a branch that goes so many instructions on.
func going(w uint32, n int) uint32 {
	put := func(shift, bits uint) uint32 {
		field := uint32(1)<<bits - 1
		return w&^(field<<shift) | uint32(n)&field<<shift
	}
	switch {
	case w>>26 == 0b000101:
		return put(0, 26)
	case w>>25&0b111111 == 0b011011:
		return put(5, 14)
	}
	return put(5, 19)
}

// check refuses what is no leaf's, or uses the stack.
func (k *kernel) check() error {
	for _, p := range k.params {
		if p.name == "g" {
			return errors.New("a parameter is called g, which is a register in assembly")
		}
	}
	for _, in := range k.code {
		w := in.word
		switch {
		case w>>26 == 0b100101, w&0xfe000000 == 0xd6000000 && w != ret: // BL; BR, BLR and other returns
			return fmt.Errorf("it calls: %s", in.text)
		case w>>24&0b11111 == 0b10000:
			return fmt.Errorf("it needs its own place: %s", in.text) // ADR and ADRP
		case w>>25&0b0101 == 0b0100 && rn(w) == 31 && w>>27&0b111 != 0b011:
			return fmt.Errorf("it uses the stack: %s", in.text)
		case w>>24&0b111011 == 0b011000:
			return fmt.Errorf("it loads what the linker places: %s", in.text)
		}
	}
	return nil
}

// isLoad reports whether a word loads from memory.
func isLoad(w uint32) bool {
	return w>>25&0b0101 == 0b0100 && w>>22&1 == 1 || w>>25&0b0101 == 0b0100 && w>>23&1 == 1 && w>>26&1 == 0
}

// set has a bit for each vector register.
type set uint32

func registers(r ...uint32) (s set) {
	for _, r := range r {
		s |= 1 << r
	}
	return s
}

// vectors returns the vector registers that an instruction reads, at most, and those it sets
// whatever was in them, at least.
func vectors(w uint32) (reads, sets set) {
	switch group := w >> 25 & 15; {
	case group&0b0101 == 0b0100: // loads and stores
		if w>>26&1 == 0 {
			return 0, 0
		}
		r := registers(rd(w))
		if w>>27&0b111 == 0b101 { // a pair
			r |= registers(w >> 10 & 31)
		} else if w>>27&0b111 != 0b111 {
			return ^set(0), 0
		}
		if w>>22&1 == 1 {
			return 0, r
		}
		return r, 0
	case group&0b0111 != 0b0111:
		return 0, 0
	}
	return arithmetic(w)
}

// arithmetic is vectors of instructions on vectors and floats.
func arithmetic(w uint32) (reads, sets set) {
	d, n, m := registers(rd(w)), registers(rn(w)), registers(rm(w))
	switch {
	case w&0x5f20fc00 == 0x1e200000: // between registers
		if w>>16&0b110 == 0b010 || w>>16&7 == 7 {
			return 0, d
		}
		return n, 0
	case w&0x5f203c00 == 0x1e202000: // a comparison to flags
		return n | m, 0
	case w&0x5f201fe0 == 0x1e201000: // a constant
		return 0, d
	case w&0x5f207c00 == 0x1e204000: // of one float
		return n, d
	case w>>24&0x5f == 0x1f: // of three floats
		return n | m | registers(w>>10&31), d
	case w>>24&0x5f == 0x1e: // of two floats
		return n | m, d
	case w&(twoRegisters&^lanes) == insWord:
		return d, 0
	case w&0xbfe0fc00 == 0x0e003c00, w&0xbfe0fc00 == 0x0e002c00: // a lane to an integer
		return n, 0
	case w&twoRegisters == dupWord:
		return 0, d
	case w&0xffe08400 == 0x6e000400: // INS of a lane
		return d | n, 0
	case w&0x9fe08400 == 0x0e000400, w&0xdfe08400 == 0x5e000400: // DUP of a lane
		return n, d
	case w&0x9f3e0c00 == 0x0e200800, w&0x9f3e0c00 == 0x0e300800: // of one vector
		return n, d
	case w&0x9ff80400 == 0x0f000400: // a constant
		return 0, d
	case w&0x9f800400 == 0x0f000400: // a shift by a constant
		return n, d
	case w&threeRegisters&^(3<<22) == 0x4e20cc00&^(3<<22): // FMLA and FMLS
		return d | n | m, 0
	case w&0xbf20fc00 == 0x2e201c00, w&0x9f20fc00 == 0x0e209400, w&0x9f000400 == 0x0f000000: // BSL and its like, MLA, and those by a lane
		if w&^(1<<21|1<<11|31<<16|31<<5|31) == fmulLane {
			return n | m, d
		}
		return d | n | m, 0
	}
	return n | m, d
}
