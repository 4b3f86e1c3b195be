package tensor

import (
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// Uniform fills d from the interval [lo, hi).
func (d *Dense) Uniform(rng *rand.Rand, lo, hi float64) {
	for i := range d.Data {
		d.Data[i] = Float(lo + (hi-lo)*rng.Float64())
	}
}

// Normal fills d from the normal distribution of the given mean and standard
// deviation.
func (d *Dense) Normal(rng *rand.Rand, mean, std float64) {
	for i := range d.Data {
		d.Data[i] = Float(mean + std*rng.NormFloat64())
	}
}

// GlorotUniform fills d from U(−b, b) with b = gain·√(6/(in+out)).
func (d *Dense) GlorotUniform(rng *rand.Rand, in, out int, gain float64) {
	b := gain * math.Sqrt(6/float64(in+out))
	d.Uniform(rng, -b, b)
}

// GlorotNormal fills d from N(0, σ²) with σ = gain·√(2/(in+out)).
func (d *Dense) GlorotNormal(rng *rand.Rand, in, out int, gain float64) {
	d.Normal(rng, 0, gain*math.Sqrt(2/float64(in+out)))
}

// KaimingUniform fills d from U(−b, b) with b = gain·√(3/in), where in is the
// number of inputs that an output is summed over. [LeakyGain] gives the gain of
// a ReLU.
func (d *Dense) KaimingUniform(rng *rand.Rand, in int, gain float64) {
	b := gain * math.Sqrt(3/float64(in))
	d.Uniform(rng, -b, b)
}

// KaimingNormal fills d from N(0, σ²) with σ = gain/√in, where in is the number
// of inputs that an output is summed over. [LeakyGain] gives the gain of a ReLU.
func (d *Dense) KaimingNormal(rng *rand.Rand, in int, gain float64) {
	d.Normal(rng, 0, gain/math.Sqrt(float64(in)))
}

// LeakyGain returns √(2/(1+slope²)): by that weights must be larger before a
// LeakyReLU of the given slope for the variance to stay. Slope 0 is ReLU, slope
// 1 no activation.
func LeakyGain(slope float64) float64 { return math.Sqrt(2 / (1 + slope*slope)) }

// Orthogonal makes the matrix d of n rows and m columns orthogonal: the rows
// if n ≤ m, else the columns, are orthonormal.
func (d *Dense) Orthogonal(rng *rand.Rand) {
	n, m, width := d.Rows(), d.RowLen(), d.RowLen()
	at := func(i, j int) *Float { return &d.Data[i*width+j] }
	if n > m { // work on the columns
		at = func(i, j int) *Float { return &d.Data[j*width+i] }
		n, m = m, n
	}
	for i := range n {
		for again := true; again; {
			row := make([]float64, m)
			for j := range row {
				row[j] = rng.NormFloat64()
			}
			again = !orthogonalise(row, i, at)
			for j, v := range row {
				*at(i, j) = Float(v)
			}
		}
	}
}

// orthogonalise takes the first i rows out of row and scales it to length 1. It
// reports whether enough was left.
func orthogonalise(row []float64, i int, at func(i, j int) *Float) bool {
	for range 2 { // the second pass removes what rounding left
		for k := range i {
			s := 0.0
			for j, v := range row {
				s += v * float64(*at(k, j))
			}
			for j := range row {
				row[j] -= s * float64(*at(k, j))
			}
		}
	}
	s := 0.0
	for _, v := range row {
		s += v * v
	}
	if s = math.Sqrt(s); s < 1e-6 {
		return false
	}
	for j := range row {
		row[j] /= s
	}
	return true
}

// Mask says which elements one dropout keeps in one step. [NewMask] makes one, and
// so does grad's Tape.NextDropout. An element is kept by a hash of its row, its
// column and the fields, so any part of a mask can be computed anywhere and again.
type Mask struct {
	K0, K1 uint32  // the keys of the hash
	Below  uint32  // an element is dropped if its hash is below
	Off    bool    // nothing is dropped
	Scale  float64 // of what is kept: 1/(1−p)
}

// NewMask returns the mask that drops a fraction p of the elements: that of
// dropout number op of a step of a training with a seed. A p of at least 1 drops
// all.
func NewMask(seed, step uint64, op uint32, p float64) Mask {
	return Mask(vec.NewDropout(seed, step, op, p))
}

// Keeps reports whether the element of a row and a column is kept.
func (m *Mask) Keeps(row, col int) bool {
	d := (*vec.Dropout)(m)
	return d.Keep(d.Row(row), col)
}

// drop is a dropout of rows.
type drop struct {
	dst, src []Float
	width    int
	mask     *vec.Dropout
	add      bool
}

var dropJobs jobs[drop]

// Dropout sets dst to what the mask keeps of x, scaled, and else to zero. An
// element is its row along the first axis and its place in that row. dst has x's
// shape; it may be x itself but must not overlap it otherwise.
func Dropout(dst, x *Dense, mask *Mask) {
	sameShape("Dropout", dst, x)
	inPlace("Dropout", dst, x)
	dropRows(dst, x, mask, false)
}

// DropoutAdd adds what the mask keeps of x, scaled, to dst: the gradient of
// [Dropout], if x is that of its result. dst has x's shape and must not overlap
// it.
func DropoutAdd(dst, x *Dense, mask *Mask) {
	sameShape("DropoutAdd", dst, x)
	apart("DropoutAdd", dst, x)
	dropRows(dst, x, mask, true)
}

func dropRows(dst, x *Dense, mask *Mask, add bool) {
	if len(x.Data) == 0 {
		return
	}
	d := drop{dst.Data, x.Data, x.RowLen(), (*vec.Dropout)(mask), add}
	if alone(x.Rows(), 2*d.width) {
		d.rows(0, x.Rows())
		return
	}
	dropJobs.run(d, x.Rows(), 2*d.width, (*drop).rows)
}

func (d *drop) rows(lo, hi int) {
	to, from := d.dst[lo*d.width:hi*d.width], d.src[lo*d.width:hi*d.width]
	if d.add {
		d.mask.Add(to, from, lo, d.width)
	} else {
		d.mask.Set(to, from, lo, d.width)
	}
}
