//go:build !noasm && !f64

package attend

func (t *Tile) gatherFast() bool {
	switch t.Lanes {
	case 1:
		gather1(t)
	case 2:
		gather2(t)
	case 4:
		gather4(t)
	default:
		gather8(t)
	}
	return true
}

func (t *Tile) softenFast() bool {
	switch t.Lanes {
	case 1:
		soften1(t)
	case 2:
		soften2(t)
	case 4:
		soften4(t)
	default:
		soften8(t)
	}
	return true
}

func (t *Tile) maskFast() bool {
	switch t.Lanes {
	case 1:
		mask1(t)
	case 2:
		mask2(t)
	case 4:
		mask4(t)
	default:
		mask8(t)
	}
	return true
}

func (t *Tile) recallFast() bool {
	switch t.Lanes {
	case 1:
		recall1(t)
	case 2:
		recall2(t)
	case 4:
		recall4(t)
	default:
		recall8(t)
	}
	return true
}

func (t *Tile) scoreFast() bool {
	switch {
	case t.Lanes == 1 && t.Rows != nil:
		scoreApart1(t)
	case t.Lanes == 1:
		score1(t)
	case t.Lanes == 2 && t.Rows != nil:
		scoreApart2(t)
	case t.Lanes == 2:
		score2(t)
	case t.Lanes == 4 && t.Rows != nil:
		scoreApart4(t)
	case t.Lanes == 4:
		score4(t)
	case t.Rows != nil:
		scoreApart8(t)
	default:
		score8(t)
	}
	return true
}

func (t *Tile) weighFast() bool {
	if t.Lanes == 8 && t.AskAhead > 0 {
		weigh8(t)
		return true
	}
	weighSlots(t)
	return true
}
