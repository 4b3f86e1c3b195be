//go:build !noasm && !f64

package attend

import "unsafe"

// The generator knows no type of ours, so the kernels here are given the
// address of a struct and know where its fields are.

func (t *Tile) addr() *byte { return (*byte)(unsafe.Pointer(t)) }

func (t *Tile) gatherFast() {
	switch t.Lanes {
	case 1:
		gather1(t.addr())
	case 2:
		gather2(t.addr())
	case 4:
		gather4(t.addr())
	default:
		gather8(t.addr())
	}
}

func (t *Tile) softenFast() {
	switch t.Lanes {
	case 1:
		soften1(t.addr())
	case 2:
		soften2(t.addr())
	case 4:
		soften4(t.addr())
	default:
		soften8(t.addr())
	}
}

func (t *Tile) maskFast() {
	switch t.Lanes {
	case 1:
		mask1(t.addr())
	case 2:
		mask2(t.addr())
	case 4:
		mask4(t.addr())
	default:
		mask8(t.addr())
	}
}

func (t *Tile) recallFast() {
	switch t.Lanes {
	case 1:
		recall1(t.addr())
	case 2:
		recall2(t.addr())
	case 4:
		recall4(t.addr())
	default:
		recall8(t.addr())
	}
}

func (t *Tile) scoreFast() {
	switch t.Lanes {
	case 1:
		score1(t.addr())
	case 2:
		score2(t.addr())
	case 4:
		score4(t.addr())
	default:
		score8(t.addr())
	}
}

func (t *Tile) weighFast() {
	if t.Lanes == 8 && t.AskAhead > 0 {
		weigh8(t.addr())
		return
	}
	weighSlots(t.addr())
}
