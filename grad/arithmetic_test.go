package grad_test

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// element is what the arithmetic of an operation works on: arrays of one element,
// and the same as matrices.
type element struct {
	x, y, z, dx, dy, dz *tensor.Dense
	place               []int32
	drop                vec.Dropout
	sum                 float64
}

// unary is a function of an element and its gradient.
func (e *element) unary(u vec.Unary, c tensor.Float) {
	u.Forward(e.y.Data, e.x.Data, c)
	u.Backward(e.dx.Data, e.dy.Data, e.x.Data, e.y.Data, c)
}

// normalise is a norm of one element, of so many numbers that are learnt.
func (e *element) normalise(learnt int) {
	x := float64(e.x.Data[0])
	mean := x
	o := x - mean
	scale := 1 / math.Sqrt(o*o+e.sum)
	e.y.Data[0] = tensor.Float(o*scale) * e.z.Data[0]
	dy := float64(e.dy.Data[0])
	g := dy * float64(e.z.Data[0])
	e.dx.Data[0] += tensor.Float(scale * (g - g - o*scale*g*o*scale))
	for range learnt {
		e.dz.Data[0] += tensor.Float(dy * o * scale)
	}
}

// multiply is a product of matrices of one element and its gradients.
func (e *element) multiply() {
	tensor.MatMulThen(e.y, e.x, e.z, 0, tensor.Epilogue{})
	tensor.MatMul(e.dx, e.dy, e.z, tensor.TransB)
	tensor.MatMul(e.dz, e.x, e.dy, tensor.TransA)
}

// pair is a scalar product and its gradients.
func (e *element) pair() {
	e.y.Data[0] = vec.Dot(e.x.Data, e.z.Data)
	vec.Axpy(e.dx.Data, e.dy.Data[0], e.z.Data)
	vec.Axpy(e.dz.Data, e.dy.Data[0], e.x.Data)
}

// arithmetic is what kernels, called without a tape, take for the operations of
// the same names: those where that is much.
var arithmetic = []struct {
	name string
	f    func(e *element)
}{
	{"Softmax", func(e *element) { tensor.SoftmaxRows(e.y, e.x); tensor.SoftmaxGrad(e.dx, e.dy, e.y) }},
	{"LogSoftmax", func(e *element) { tensor.LogSoftmaxRows(e.y, e.x); tensor.LogSoftmaxGrad(e.dx, e.dy, e.y) }},
	{"LayerNorm", func(e *element) { e.normalise(2) }},
	{"LayerNorm, plain", func(e *element) { e.normalise(0) }},
	{"BatchNorm", func(e *element) { e.normalise(2) }},
	{"GraphNorm", func(e *element) { e.normalise(3) }},
	{"CrossEntropy", func(e *element) {
		vec.LogSoftmaxRows(e.y.Data, e.x.Data, 1)
		vec.Exp.Forward(e.z.Data, e.y.Data, 0)
		e.dx.Data[0] += e.z.Data[0]*e.dy.Data[0] - e.dy.Data[0]
	}},
	{"BCE", func(e *element) {
		for range 2 {
			e.sum += math.Log1p(math.Exp(-math.Abs(float64(e.x.Data[0]))))
		}
	}},
	{"Mish", func(e *element) {
		e.unary(vec.Softplus, 0)
		e.unary(vec.Tanh, 0)
	}},
	{"Tanh", func(e *element) { e.unary(vec.Tanh, 0) }},
	{"ReLU", func(e *element) { e.unary(vec.ReLU, 0) }},
	{"MatMul", (*element).multiply},
	{"Linear", func(e *element) { e.multiply(); e.unary(vec.Tanh, 0) }},
	{"Dot, twice", func(e *element) { e.pair(); e.pair() }},
	{"Outer", (*element).multiply},
	{"Rows", func(e *element) {
		tensor.GatherRows(e.y, e.x, e.place)
		tensor.ScatterAddRows(e.dx, e.dy, e.place)
	}},
	{"AddBias, Dropout", func(e *element) {
		e.drop.ELU(e.y.Data, e.x.Data, e.z.Data, 0)
		e.drop.ELUGrad(e.dx.Data, e.dy.Data, e.y.Data)
	}},
	{"MinAxis", func(e *element) {
		tensor.Apply(e.y, e.x, tensor.Unary(vec.Neg), 0)
		tensor.ArgMax(e.place, e.y, 0)
	}},
	{"Checkpoint", func(e *element) { e.unary(vec.Scale, 0.5); vec.Scale.Forward(e.y.Data, e.x.Data, 0.5) }},
}

// BenchmarkArithmetic is what the arithmetic alone of some of the operations of
// [BenchmarkOperation] costs, forwards and backwards, on one element. What an
// operation costs beyond it is the tape.
func BenchmarkArithmetic(b *testing.B) {
	for _, a := range arithmetic {
		b.Run(a.name, func(b *testing.B) {
			one := func(v tensor.Float) *tensor.Dense { return tensor.Of([]tensor.Float{v}, 1, 1) }
			e := &element{
				x: one(0.3), y: one(0), z: one(0.7), dx: one(0), dy: one(0.5), dz: one(0),
				place: make([]int32, 1), drop: vec.NewDropout(1, 1, 1, 0.1), sum: 1,
			}
			for b.Loop() {
				a.f(e)
				e.dx.Data[0], e.dz.Data[0] = 0, 0
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/operation")
		})
	}
}

// TestArithmeticNamed shows that each is that of an operation.
func TestArithmeticNamed(t *testing.T) {
	for _, a := range arithmetic {
		found := false
		for _, o := range operations {
			found = found || o.name == a.name
		}
		if !found {
			t.Errorf("there is no operation %s", a.name)
		}
	}
}
