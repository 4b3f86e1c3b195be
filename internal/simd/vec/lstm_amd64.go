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
		if p.Inner {
			done = lstmForwardInnerAVX2(&gates[from], &cell[from], &next[from], n, p.M)
		} else {
			done = lstmForwardAVX2(&gates[from], &cell[from], &next[from], &th[from], &h[from], n, p.M)
		}
		if from += done; done < n {
			break
		}
	}
	return from
}

// backwardFast is Backward of a row in assembly.
func (p *LSTMRows) backwardFast(r int) {
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
}
