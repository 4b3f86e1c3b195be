package main

import "strings"

// A place of a row is a number, which is loaded, times a stride.
const (
	madd   = 0x9b000000 // MADD Xd, Xn, Xm, Xa
	smaddl = 0x9b200000 // SMADDL Xd, Wn, Wm, Xa
	fourth = ^uint32(31<<16 | 31<<10 | 31<<5 | 31)
)

// rows makes places of rows of products of 32 bits, which some processors do in a cycle and those of 64 in three: a row's
// number has no more, and strides are below 2³¹.
func (k *kernel) rows() (changed bool) {
	ends := k.ends()
	for i, in := range k.code {
		if in.word&fourth == madd && (k.numbers(i, rn(in.word), ends) || k.numbers(i, rm(in.word), ends)) {
			k.code[i].word ^= madd ^ smaddl
			k.code[i].text = strings.Replace(in.text, "MADD", "SMADDL", 1)
			changed = true
		}
	}
	return changed
}

// numbers reports whether an integer register has a number of 32 bits before instruction i, which its block
// has loaded.
func (k *kernel) numbers(i int, r uint32, ends []bool) bool {
	for i--; i >= 0 && !ends[i]; i-- {
		w := k.code[i].word
		switch {
		case rd(w) == r && (w&0xffe00c00 == 0xb8a00800 || w&0xffc00000 == 0xb9800000): // LDRSW
			return true
		case w>>25&0b0111 == 0b0111:
			if _, sets := vectors(w); rd(w) == r && sets == 0 {
				return false
			}
		case w>>25&0b0101 == 0b0100 && w>>26&1 == 1 && w>>27&0b111 == 0b111 && w>>24&1 == 1: // vectors, at a fixed distance
		case rd(w) == r || w>>10&31 == r && w>>27&0b111 == 0b101 || rn(w) == r && w>>25&0b0101 == 0b0100 && w>>24&1 == 0:
			return false
		}
	}
	return false
}
