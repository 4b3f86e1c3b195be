//go:build !noasm && !f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// forwardFast is Forward of a row in assembly. It returns at which element it stopped: one
// whose exponential is no normal number, or the end.
func (p *GRURows) forwardFast(row int) (from int) {
	gates, q := p.Gates[row*3*p.M:(row+1)*3*p.M], p.Q[row*3*p.M:(row+1)*3*p.M]
	old, next := p.part(p.Old, row, 0), p.part(p.Next, row, 0)
	for from < p.M {
		n := min(cpu.AtOnce, p.M-from)
		done := 0
		switch {
		case p.Bias != nil && p.Admits:
			done = gruForwardBiasAdmitsAVX2(&gates[from], &q[from], &old[from], &next[from], &p.Bias[:p.M][from], n, p.M)
		case p.Bias != nil:
			done = gruForwardBiasAVX2(&gates[from], &q[from], &old[from], &next[from], &p.Bias[:p.M][from], n, p.M)
		case p.Admits:
			done = gruForwardAdmitsAVX2(&gates[from], &q[from], &old[from], &next[from], n, p.M)
		default:
			done = gruForwardAVX2(&gates[from], &q[from], &old[from], &next[from], n, p.M)
		}
		if from += done; done < n {
			break
		}
	}
	return from
}

// backwardFast is Backward of a row in assembly.
func (p *GRURows) backwardFast(row int) bool {
	gates, q := p.Gates[row*3*p.M:(row+1)*3*p.M], p.Q[row*3*p.M:(row+1)*3*p.M]
	dgates, dq := p.DGates[row*3*p.M:(row+1)*3*p.M], p.DQ[row*3*p.M:(row+1)*3*p.M]
	old, dold, dnext := p.part(p.Old, row, 0), p.part(p.DOld, row, 0), p.part(p.DNext, row, 0)
	kernel := gruBackwardAVX2
	if p.Admits {
		kernel = gruBackwardAdmitsAVX2
	}
	for at := 0; at < p.M; at += cpu.AtOnce {
		kernel(&dgates[at], &dq[at], &dold[at], &dnext[at], &gates[at], &q[at], &old[at], min(cpu.AtOnce, p.M-at), p.M)
	}
	return true
}
