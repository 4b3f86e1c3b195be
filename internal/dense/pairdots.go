package dense

import (
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// PairDots multiplies rows of D elements of X with rows of Y, as Of pairs them:
//
//	z[k] = ⟨x[i,:], y[j,:]⟩
type PairDots struct {
	X, Y []tensor.Float
	D    int
	Of   tensor.Pairing
}

// Forward sets z; of rows without elements it leaves what is there.
func (p *PairDots) Forward(z []tensor.Float) {
	d := p.D
	if d == 0 {
		return
	}
	p.Of.Rows(func(k, i, j int) {
		for range p.Of.N {
			z[k] = vec.Dot(p.X[i*d:i*d+d], p.Y[j*d:j*d+d])
			k, i, j = k+1, i+p.Of.SX, j+p.Of.SY
		}
	})
}

// Backward adds to the gradients of X and Y, where they are not nil, given that of z.
func (p *PairDots) Backward(dx, dy, dz []tensor.Float) {
	d := p.D
	if d == 0 {
		return
	}
	p.Of.Rows(func(k, i, j int) {
		for range p.Of.N {
			if dx != nil {
				vec.Axpy(dx[i*d:i*d+d], dz[k], p.Y[j*d:j*d+d])
			}
			if dy != nil {
				vec.Axpy(dy[j*d:j*d+d], dz[k], p.X[i*d:i*d+d])
			}
			k, i, j = k+1, i+p.Of.SX, j+p.Of.SY
		}
	})
}
