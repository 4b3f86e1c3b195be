package grad

import (
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Add returns x + y under NumPy's broadcasting: shapes are aligned at the last
// axis, and a length of 1 stretches.
func (x *Var) Add(y *Var) *Var { return x.binary(simd.Add, y) }

// Sub returns x − y, with broadcasting.
func (x *Var) Sub(y *Var) *Var { return x.binary(simd.Sub, y) }

// Mul returns the product of elements, with broadcasting.
func (x *Var) Mul(y *Var) *Var { return x.binary(simd.Mul, y) }

// Div returns the quotient of elements, with broadcasting.
func (x *Var) Div(y *Var) *Var { return x.binary(simd.Div, y) }

// Min returns the smaller of two elements, with broadcasting. Where they tie the
// gradient goes to x.
func (x *Var) Min(y *Var) *Var { return x.binary(simd.Min, y) }

// Max returns the larger of two elements, with broadcasting. Where they tie the
// gradient goes to x.
func (x *Var) Max(y *Var) *Var { return x.binary(simd.Max, y) }

func (x *Var) binary(f simd.Binary, y *Var) *Var {
	op := Begin(f.String(), x, y)
	shape, ok := tensor.Broadcast(x.Value().Shape(), y.Value().Shape())
	if !ok {
		panic(tensor.Mismatch("grad."+f.String(), x, y))
	}
	z := op.New(shape...)
	if len(z.val.Data) == 0 {
		return op.Record(z, func(*tensor.Dense) {})
	}
	p := pair(x.val.Shape(), y.val.Shape(), shape)
	p.rows(func(z0, x0, y0 int) {
		f.Forward(z.val.Data[z0:z0+p.n], x.val.Data[x0:], y.val.Data[y0:], p.sx, p.sy)
	})
	return op.Record(z, func(dz *tensor.Dense) {
		if dx := x.Grad(); dx != nil {
			p.rows(func(z0, x0, y0 int) {
				f.BackwardX(dx.Data[x0:], dz.Data[z0:z0+p.n], x.val.Data[x0:], y.val.Data[y0:], p.sx, p.sy)
			})
		}
		if dy := y.Grad(); dy != nil {
			p.rows(func(z0, x0, y0 int) {
				f.BackwardY(dy.Data[y0:], dz.Data[z0:z0+p.n], x.val.Data[x0:], y.val.Data[y0:], p.sx, p.sy)
			})
		}
	})
}

// pairing walks two arrays that broadcast to a third, run by run: in a run of n
// elements either operand advances by its step, 0 or 1.
type pairing struct {
	n, sx, sy int
	dims      [tensor.MaxAxes]int // of the outer axes
	x, y      [tensor.MaxAxes]int // strides of the operands there
	axes      int
}

func pair(x, y, z []int) pairing {
	var p pairing
	p.n = 1
	sx, sy := 1, 1 // strides of the next axis, from the last on
	for i := len(z) - 1; i >= 0; i-- {
		ax, ay := 0, 0
		if j := len(x) - len(z) + i; j >= 0 && x[j] != 1 {
			ax, sx = sx, sx*x[j]
		}
		if j := len(y) - len(z) + i; j >= 0 && y[j] != 1 {
			ay, sy = sy, sy*y[j]
		}
		p.push(z[i], ax, ay)
	}
	return p
}

// push adds the next outer axis, merging it with the one inside it if both
// operands run on.
func (p *pairing) push(n, ax, ay int) {
	if n == 1 {
		return
	}
	if p.axes == 0 && p.n == 1 {
		p.n, p.sx, p.sy = n, ax, ay
		return
	}
	if p.axes == 0 && ax == p.sx*p.n && ay == p.sy*p.n {
		p.n *= n
		return
	}
	p.dims[p.axes], p.x[p.axes], p.y[p.axes] = n, ax, ay
	p.axes++
}

func (p *pairing) rows(f func(z, x, y int)) {
	var at [tensor.MaxAxes]int
	x, y := 0, 0
	for z := 0; ; z += p.n {
		f(z, x, y)
		i := 0
		for ; i < p.axes; i++ {
			at[i]++
			x += p.x[i]
			y += p.y[i]
			if at[i] < p.dims[i] {
				break
			}
			at[i] = 0
			x -= p.x[i] * p.dims[i]
			y -= p.y[i] * p.dims[i]
		}
		if i == p.axes {
			return
		}
	}
}
