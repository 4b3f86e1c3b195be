//go:build !noasm && !f64

package attend

// code is the shape of a block's kernel.
func (b lattice) code() int {
	if b.cut {
		return b.nh<<5 | b.nv<<1 | 1
	}
	return b.nh<<5 | b.nv<<1
}

func (k *Heads) sumFast() bool {
	for b := k.next(lattice{}, true); b.nv > 0; b = k.next(b, true) {
		c := k.block(b)
		p := &c
		switch b.code() {
		case 1<<5 | 1<<1:
			sumRows1x1(p)
		case 1<<5 | 1<<1 | 1:
			sumRows1x1cut(p)
		case 2<<5 | 1<<1:
			sumRows2x1(p)
		case 2<<5 | 1<<1 | 1:
			sumRows2x1cut(p)
		case 4<<5 | 1<<1:
			sumRows4x1(p)
		case 4<<5 | 1<<1 | 1:
			sumRows4x1cut(p)
		case 8<<5 | 1<<1:
			sumRows8x1(p)
		case 8<<5 | 1<<1 | 1:
			sumRows8x1cut(p)
		case 1<<5 | 2<<1:
			sumRows1x2(p)
		case 1<<5 | 2<<1 | 1:
			sumRows1x2cut(p)
		case 4<<5 | 2<<1:
			sumRows4x2(p)
		case 4<<5 | 2<<1 | 1:
			sumRows4x2cut(p)
		case 1<<5 | 4<<1:
			sumRows1x4(p)
		case 1<<5 | 4<<1 | 1:
			sumRows1x4cut(p)
		case 1<<5 | 8<<1:
			sumRows1x8(p)
		case 1<<5 | 8<<1 | 1:
			sumRows1x8cut(p)
		}
	}
	return true
}

func (k *Heads) dotsFast() bool {
	for b := k.next(lattice{}, true); b.nv > 0; b = k.next(b, true) {
		c := k.block(b)
		p := &c
		switch b.code() {
		case 1<<5 | 1<<1:
			dotRows1x1(p)
		case 1<<5 | 1<<1 | 1:
			dotRows1x1cut(p)
		case 2<<5 | 1<<1:
			dotRows2x1(p)
		case 2<<5 | 1<<1 | 1:
			dotRows2x1cut(p)
		case 4<<5 | 1<<1:
			dotRows4x1(p)
		case 4<<5 | 1<<1 | 1:
			dotRows4x1cut(p)
		case 8<<5 | 1<<1:
			dotRows8x1(p)
		case 8<<5 | 1<<1 | 1:
			dotRows8x1cut(p)
		case 1<<5 | 2<<1:
			dotRows1x2(p)
		case 1<<5 | 2<<1 | 1:
			dotRows1x2cut(p)
		case 4<<5 | 2<<1:
			dotRows4x2(p)
		case 4<<5 | 2<<1 | 1:
			dotRows4x2cut(p)
		case 1<<5 | 4<<1:
			dotRows1x4(p)
		case 1<<5 | 4<<1 | 1:
			dotRows1x4cut(p)
		case 1<<5 | 8<<1:
			dotRows1x8(p)
		case 1<<5 | 8<<1 | 1:
			dotRows1x8cut(p)
		}
	}
	return true
}

func (k *Heads) bothFast() bool {
	for b := k.next(lattice{}, true); b.nv > 0; b = k.next(b, true) {
		c := k.block(b)
		p := &c
		switch b.code() {
		case 1<<5 | 1<<1:
			bothRows1x1(p)
		case 1<<5 | 1<<1 | 1:
			bothRows1x1cut(p)
		case 2<<5 | 1<<1:
			bothRows2x1(p)
		case 2<<5 | 1<<1 | 1:
			bothRows2x1cut(p)
		case 4<<5 | 1<<1:
			bothRows4x1(p)
		case 4<<5 | 1<<1 | 1:
			bothRows4x1cut(p)
		case 8<<5 | 1<<1:
			bothRows8x1(p)
		case 8<<5 | 1<<1 | 1:
			bothRows8x1cut(p)
		case 1<<5 | 2<<1:
			bothRows1x2(p)
		case 1<<5 | 2<<1 | 1:
			bothRows1x2cut(p)
		case 4<<5 | 2<<1:
			bothRows4x2(p)
		case 4<<5 | 2<<1 | 1:
			bothRows4x2cut(p)
		case 1<<5 | 4<<1:
			bothRows1x4(p)
		case 1<<5 | 4<<1 | 1:
			bothRows1x4cut(p)
		case 1<<5 | 8<<1:
			bothRows1x8(p)
		case 1<<5 | 8<<1 | 1:
			bothRows1x8cut(p)
		}
	}
	return true
}

func (k *Heads) pairsFast() bool {
	for b := k.next(lattice{}, false); b.nv > 0; b = k.next(b, false) {
		c := k.block(b)
		p := &c
		switch b.code() {
		case 1<<5 | 1<<1:
			pairRows1x1(p)
		case 1<<5 | 1<<1 | 1:
			pairRows1x1cut(p)
		case 8<<5 | 1<<1:
			pairRows8x1(p)
		case 8<<5 | 1<<1 | 1:
			pairRows8x1cut(p)
		case 1<<5 | 2<<1:
			pairRows1x2(p)
		case 1<<5 | 2<<1 | 1:
			pairRows1x2cut(p)
		case 1<<5 | 4<<1:
			pairRows1x4(p)
		case 1<<5 | 4<<1 | 1:
			pairRows1x4cut(p)
		case 1<<5 | 8<<1:
			pairRows1x8(p)
		case 1<<5 | 8<<1 | 1:
			pairRows1x8cut(p)
		}
	}
	return true
}

func (k *Heads) foldFast() bool {
	for b := k.next(lattice{}, false); b.nv > 0; b = k.next(b, false) {
		c := k.block(b)
		p := &c
		switch b.code() {
		case 1<<5 | 1<<1:
			foldRows1x1(p)
		case 1<<5 | 1<<1 | 1:
			foldRows1x1cut(p)
		case 8<<5 | 1<<1:
			foldRows8x1(p)
		case 8<<5 | 1<<1 | 1:
			foldRows8x1cut(p)
		case 1<<5 | 2<<1:
			foldRows1x2(p)
		case 1<<5 | 2<<1 | 1:
			foldRows1x2cut(p)
		case 1<<5 | 4<<1:
			foldRows1x4(p)
		case 1<<5 | 4<<1 | 1:
			foldRows1x4cut(p)
		case 1<<5 | 8<<1:
			foldRows1x8(p)
		case 1<<5 | 8<<1 | 1:
			foldRows1x8cut(p)
		}
	}
	return true
}

func (k *Heads) spreadFast() bool {
	for b := k.next(lattice{}, false); b.nv > 0; b = k.next(b, false) {
		c := k.block(b)
		p := &c
		switch b.code() {
		case 1<<5 | 1<<1:
			spreadRows1x1(p)
		case 1<<5 | 1<<1 | 1:
			spreadRows1x1cut(p)
		case 8<<5 | 1<<1:
			spreadRows8x1(p)
		case 8<<5 | 1<<1 | 1:
			spreadRows8x1cut(p)
		case 1<<5 | 2<<1:
			spreadRows1x2(p)
		case 1<<5 | 2<<1 | 1:
			spreadRows1x2cut(p)
		case 1<<5 | 4<<1:
			spreadRows1x4(p)
		case 1<<5 | 4<<1 | 1:
			spreadRows1x4cut(p)
		case 1<<5 | 8<<1:
			spreadRows1x8(p)
		case 1<<5 | 8<<1 | 1:
			spreadRows1x8cut(p)
		}
	}
	return true
}
