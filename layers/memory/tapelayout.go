package memory

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// tapeLayout says how large the memory of a neural Turing machine is, and where its
// controller's words stand: for each head, the writing ones first,
//
//	key (width) · strength · gate · sharpening · shifts (2·shifts+1)
//
// and after them an erase (width) for each writing head, and then an add (width).
type tapeLayout struct {
	slots, width  int
	reads, writes int
	shifts        int // how far a head moves at most
}

func (l *tapeLayout) heads() int { return l.reads + l.writes }

// taps is how many shifts there are.
func (l *tapeLayout) taps() int { return 2*l.shifts + 1 }

// head is how many columns a head has, but for its erase and add.
func (l *tapeLayout) head() int { return l.width + 3 + l.taps() }

// columns is how many there are in all.
func (l *tapeLayout) columns() int { return l.heads()*l.head() + 2*l.writes*l.width }

// perRow is how many numbers are kept of a row for the way back: five stages of each head
// and the reciprocal norms of the slots before and after writing.
func (l *tapeLayout) perRow() int { return (5*l.heads() + 2) * l.slots }

// spoken is what the controller says to one head, or its gradient.
type spoken struct {
	key, shift              []tensor.Float
	strength, gate, sharpen *tensor.Float
}

// of returns what row x says to head h.
func (l *tapeLayout) said(x []tensor.Float, h int) spoken {
	x = x[h*l.head() : (h+1)*l.head()]
	d := l.width
	return spoken{key: x[:d], strength: &x[d], gate: &x[d+1], sharpen: &x[d+2], shift: x[d+3:]}
}

// erase and add return what row x says to writing head h.
func (l *tapeLayout) erase(x []tensor.Float, h int) []tensor.Float {
	at := l.heads()*l.head() + h*l.width
	return x[at : at+l.width]
}

func (l *tapeLayout) add(x []tensor.Float, h int) []tensor.Float { return l.erase(x, l.writes+h) }

// activate makes of a row of the controller's numbers what the heads are told:
//
//	key = tanh, strength = softplus, gate = σ, sharpening = 1 + softplus,
//	shift = softmax, erase = σ, add = tanh
func (l *tapeLayout) activate(y, x []tensor.Float) {
	for h := range l.heads() {
		said, raw := l.said(y, h), l.said(x, h)
		vec.Tanh.Forward(said.key, raw.key, 0)
		*said.strength = softplus(*raw.strength)
		*said.gate = sigmoid(*raw.gate)
		*said.sharpen = 1 + softplus(*raw.sharpen)
		vec.Softmax(said.shift, raw.shift)
	}
	at := l.heads() * l.head()
	mid := at + l.writes*l.width
	vec.Sigmoid.Forward(y[at:mid], x[at:mid], 0)
	vec.Tanh.Forward(y[mid:], x[mid:], 0)
}

// activateBack adds to dx, the gradient of a row of the controller's numbers, what comes of
// dy, that of what the heads were told; y is what activate made.
func (l *tapeLayout) activateBack(dx, dy, y []tensor.Float) {
	for h := range l.heads() {
		said, d, to := l.said(y, h), l.said(dy, h), l.said(dx, h)
		vec.Tanh.Backward(to.key, d.key, said.key, said.key, 0)
		*to.strength += *d.strength * slopeOfSoftplus(*said.strength)
		*to.gate += *d.gate * *said.gate * (1 - *said.gate)
		*to.sharpen += *d.sharpen * slopeOfSoftplus(*said.sharpen-1)
		vec.SoftmaxBackward(to.shift, d.shift, said.shift)
	}
	at := l.heads() * l.head()
	mid := at + l.writes*l.width
	vec.Sigmoid.Backward(dx[at:mid], dy[at:mid], y[at:mid], y[at:mid], 0)
	vec.Tanh.Backward(dx[mid:], dy[mid:], y[mid:], y[mid:], 0)
}

// softplus is log(1 + eˣ).
func softplus(x tensor.Float) tensor.Float {
	v := float64(x)
	return tensor.Float(max(v, 0) + math.Log1p(math.Exp(-math.Abs(v))))
}

// slopeOfSoftplus is the slope of softplus where its value is y: σ(x) = 1 − e^−y.
func slopeOfSoftplus(y tensor.Float) tensor.Float { return tensor.Float(-math.Expm1(-float64(y))) }

func sigmoid(x tensor.Float) tensor.Float { return tensor.Float(1 / (1 + math.Exp(-float64(x)))) }
