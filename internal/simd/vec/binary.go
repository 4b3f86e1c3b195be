package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// Binary is a function of two elements, applied to slices. An operand that
// broadcasts has the step 0: its one element stands for all.
type Binary uint8

// The functions. Where Min and Max tie, the first operand has won.
const (
	Add Binary = iota
	Sub
	Mul
	Div
	Min
	Max
	numBinary
)

var binaryNames = [numBinary]string{"Add", "Sub", "Mul", "Div", "Min", "Max"}

// BinaryNames returns the names of the functions of two elements, each at its
// number.
func BinaryNames() []string { return binaryNames[:] }

// String returns the function's name.
func (b Binary) String() string { return binaryNames[b] }

// Forward sets z[i] = x[i·sx] op y[i·sy], for steps of 0 or 1.
func (b Binary) Forward(z, x, y []Float, sx, sy int) {
	if !cpu.Fast || !b.forwardFast(z, x, y, sx, sy) {
		b.forwardGo(z, x, y, sx, sy)
	}
}

// ForwardRows is Forward of rows with one row, such as a bias: z[r,j] = x[r,j] op
// y[j]. z has whole rows, and y no element of it.
func (b Binary) ForwardRows(z, x, y []Float) {
	switch w := len(y); {
	case w == 0:
	case w <= wideRows/4 && len(z) >= 4*w:
		b.forwardWide(z, x, y)
	default:
		for lo := 0; lo < len(z); lo += w {
			b.Forward(z[lo:lo+w:len(z)], x[lo:lo+w], y, 1, 1)
		}
	}
}

// wideRows is about how many elements of narrow rows are taken at a time.
const wideRows = 1 << 9

// forwardWide is ForwardRows of several rows at a time, of which a call each would
// cost more than their elements.
func (b Binary) forwardWide(z, x, y []Float) {
	var room [wideRows]Float
	n := min(wideRows/len(y)*len(y), len(z))
	for at := 0; at < n; at += len(y) {
		copy(room[at:n], y)
	}
	for lo := 0; lo < len(z); lo += n {
		hi := min(lo+n, len(z))
		b.Forward(z[lo:hi], x[lo:hi], room[:hi-lo], 1, 1)
	}
}

// Stream is Forward with steps 1, for a z so large that it will have left the
// caches before it is read: it writes past them, which saves reading z first. z
// is neither x nor y.
func (b Binary) Stream(z, x, y []Float) {
	if !cpu.Fast || !b.streamFast(z, x[:len(z)], y[:len(z)]) {
		b.Forward(z, x, y, 1, 1)
	}
}

// forwardGo is the truth of Forward.
func (b Binary) forwardGo(z, x, y []Float, sx, sy int) {
	switch b {
	case Add:
		for i := range z {
			z[i] = x[i*sx] + y[i*sy]
		}
	case Sub:
		for i := range z {
			z[i] = x[i*sx] - y[i*sy]
		}
	case Mul:
		for i := range z {
			z[i] = x[i*sx] * y[i*sy]
		}
	case Div:
		for i := range z {
			z[i] = x[i*sx] / y[i*sy]
		}
	case Min:
		for i := range z {
			z[i] = min(x[i*sx], y[i*sy])
		}
	case Max:
		for i := range z {
			z[i] = max(x[i*sx], y[i*sy])
		}
	}
}

// BackwardX adds to dx the gradient of the first operand:
//
//	dx[i·sx] += dz[i]·∂z/∂x
func (b Binary) BackwardX(dx, dz, x, y []Float, sx, sy int) {
	if !cpu.Fast || !b.backwardXFast(dx, dz, x, y, sx, sy) {
		b.backwardXGo(dx, dz, x, y, sx, sy)
	}
}

// backwardXGo is the truth of BackwardX.
func (b Binary) backwardXGo(dx, dz, x, y []Float, sx, sy int) {
	switch b {
	case Add, Sub:
		for i, g := range dz {
			dx[i*sx] += g
		}
	case Mul:
		for i, g := range dz {
			dx[i*sx] += g * y[i*sy]
		}
	case Div:
		for i, g := range dz {
			dx[i*sx] += g / y[i*sy]
		}
	case Min:
		for i, g := range dz {
			if x[i*sx] <= y[i*sy] {
				dx[i*sx] += g
			}
		}
	case Max:
		for i, g := range dz {
			if x[i*sx] >= y[i*sy] {
				dx[i*sx] += g
			}
		}
	}
}

// BackwardY adds to dy the gradient of the second operand:
//
//	dy[i·sy] += dz[i]·∂z/∂y
func (b Binary) BackwardY(dy, dz, x, y []Float, sx, sy int) {
	if !cpu.Fast || !b.backwardYFast(dy, dz, x, y, sx, sy) {
		b.backwardYGo(dy, dz, x, y, sx, sy)
	}
}

// backwardYGo is the truth of BackwardY.
func (b Binary) backwardYGo(dy, dz, x, y []Float, sx, sy int) {
	switch b {
	case Add:
		for i, g := range dz {
			dy[i*sy] += g
		}
	case Sub:
		for i, g := range dz {
			dy[i*sy] -= g
		}
	case Mul:
		for i, g := range dz {
			dy[i*sy] += g * x[i*sx]
		}
	case Div:
		for i, g := range dz {
			v := y[i*sy]
			dy[i*sy] -= g * x[i*sx] / (v * v)
		}
	case Min:
		for i, g := range dz {
			if x[i*sx] > y[i*sy] {
				dy[i*sy] += g
			}
		}
	case Max:
		for i, g := range dz {
			if x[i*sx] < y[i*sy] {
				dy[i*sy] += g
			}
		}
	}
}
