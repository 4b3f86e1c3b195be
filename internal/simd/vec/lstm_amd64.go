//go:build !noasm && !f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// forwardFast is Forward of a row in assembly. It returns at which element it stopped: one
// whose exponential is no normal number, or the end.
func (p *LSTMRows) forwardFast(r int) (from int) {
	gates, cell, next, th, h := p.Gates[r*4*p.M:(r+1)*4*p.M], p.part(p.Cell, r, 0), p.part(p.Next, r, 0), p.part(p.Tanh, r, 0), p.part(p.H, r, 0)
	for from < p.M {
		n := min(cpu.AtOnce, p.M-from)
		done := 0
		switch {
		case p.Peep != nil && p.Inner:
			done = lstmForwardPeepInnerAVX2(&gates[from], &cell[from], &next[from], &p.Peep[from], n, p.M)
		case p.Peep != nil:
			done = lstmForwardPeepAVX2(&gates[from], &cell[from], &next[from], &p.Peep[from], &th[from], &h[from], n, p.M)
		case p.Inner:
			done = lstmForwardInnerAVX2(&gates[from], &cell[from], &next[from], n, p.M)
		default:
			done = lstmForwardAVX2(&gates[from], &cell[from], &next[from], &th[from], &h[from], n, p.M)
		}
		if from += done; done < n {
			break
		}
	}
	return from
}

// backwardFast is Backward of a row in assembly.
func (p *LSTMRows) backwardFast(r int) bool {
	dgates, dc, dh, dnext := p.DGates[r*4*p.M:(r+1)*4*p.M], p.part(p.DCell, r, 0), p.part(p.DH, r, 0), p.part(p.DNext, r, 0)
	gates, cell, th := p.Gates[r*4*p.M:(r+1)*4*p.M], p.part(p.Cell, r, 0), p.part(p.Tanh, r, 0)
	kernel := lstmBackwardAVX2
	switch {
	case p.Inner && p.SetCell:
		kernel = lstmBackwardInnerSetAVX2
	case p.Inner:
		kernel = lstmBackwardInnerAVX2
	case p.SetCell:
		kernel = lstmBackwardSetAVX2
	}
	for at := 0; at < p.M; at += cpu.AtOnce {
		kernel(&dgates[at], &dc[at], &dh[at], &dnext[at], &gates[at], &cell[at], &th[at], min(cpu.AtOnce, p.M-at), p.M)
	}
	return true
}

// peepingFast is Backward with peepholes of the whole eights of a row, in assembly. It returns how
// many elements these have.
func (p *LSTMRows) peepingFast(r int, sums []Float) (done int) {
	n := p.M &^ 7
	dgates, dc, dh, dnext := p.DGates[r*4*p.M:(r+1)*4*p.M], p.part(p.DCell, r, 0), p.part(p.DH, r, 0), p.part(p.DNext, r, 0)
	gates, cell, next, th := p.Gates[r*4*p.M:(r+1)*4*p.M], p.part(p.Cell, r, 0), p.part(p.Next, r, 0), p.part(p.Tanh, r, 0)
	kernel := lstmPeepBackwardAVX2
	switch {
	case p.Inner && p.SetCell:
		kernel = lstmPeepBackwardInnerSetAVX2
	case p.Inner:
		kernel = lstmPeepBackwardInnerAVX2
	case p.SetCell:
		kernel = lstmPeepBackwardSetAVX2
	}
	for at := 0; at < n; at += cpu.AtOnce {
		kernel(&dgates[at], &dc[at], &dh[at], &dnext[at], &gates[at], &cell[at], &next[at], &th[at], &p.Peep[at], &sums[at], min(cpu.AtOnce, n-at), p.M)
	}
	return n
}

func gatedTanhGradFast(d, dy, gate, tanh []Float) bool {
	d, gate, tanh = d[:len(dy)], gate[:len(dy)], tanh[:len(dy)]
	for at := 0; at < len(dy); at += cpu.AtOnce {
		gatedTanhGradAVX2(&d[at], &dy[at], &gate[at], &tanh[at], min(cpu.AtOnce, len(dy)-at))
	}
	return true
}
