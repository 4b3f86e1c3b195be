package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// Runs is a length: its methods take a slice as runs of d elements, with one
// number for each run: the heads of an attention, or the one weight of a row.
type Runs int

// Spread sets each run to its number:
//
//	y[k·d+j] = c[k]
func (r Runs) Spread(y, c []Float) {
	d := int(r)
	if cpu.Fast && d > 0 && d <= cpu.AtOnce && spreadFast(y, c, d) {
		return
	}
	for k, v := range c {
		run := y[k*d : k*d+d]
		for j := range run {
			run[j] = v
		}
	}
}

// SpreadAdd adds its number to each run:
//
//	y[k·d+j] += c[k]
func (r Runs) SpreadAdd(y, c []Float) {
	d := int(r)
	if cpu.Fast && d > 0 && d <= cpu.AtOnce && spreadAddFast(y, c, d) {
		return
	}
	for k, v := range c {
		run := y[k*d : k*d+d]
		for j := range run {
			run[j] += v
		}
	}
}

// Scale sets each run to its number's multiple of x:
//
//	y[k·d+j] = c[k]·x[k·d+j]
func (r Runs) Scale(y, c, x []Float) {
	d := int(r)
	if cpu.Fast && d > 0 && d <= cpu.AtOnce && scaleGroupsFast(y, c, x, d) {
		return
	}
	for k, v := range c {
		run := y[k*d : k*d+d]
		for j, w := range x[k*d : k*d+d] {
			run[j] = v * w
		}
	}
}

// Axpy adds its number's multiple of x to each run:
//
//	y[k·d+j] += c[k]·x[k·d+j]
func (r Runs) Axpy(y, c, x []Float) {
	d := int(r)
	if cpu.Fast && d > 0 && d <= cpu.AtOnce && axpyGroupsFast(y, c, x, d) {
		return
	}
	for k, v := range c {
		run := y[k*d : k*d+d]
		for j, w := range x[k*d : k*d+d] {
			run[j] += v * w
		}
	}
}

// Dot adds to each number the inner product of its runs:
//
//	y[k] += Σ_j x[k·d+j]·z[k·d+j]
func (r Runs) Dot(y, x, z []Float) {
	d := int(r)
	if cpu.Fast && d > 0 && d <= cpu.AtOnce && dotGroupsFast(y, x, z, d) {
		return
	}
	for k := range y {
		a, b, s := x[k*d:k*d+d], z[k*d:k*d+d], Float(0)
		for j, v := range a {
			s += v * b[j]
		}
		y[k] += s
	}
}

// Sum adds to each number the sum of its run:
//
//	y[k] += Σ_j x[k·d+j]
func (r Runs) Sum(y, x []Float) {
	d := int(r)
	if cpu.Fast && d > 0 && d <= cpu.AtOnce && sumGroupsFast(y, x, d) {
		return
	}
	for k := range y {
		s := Float(0)
		for _, v := range x[k*d : k*d+d] {
			s += v
		}
		y[k] += s
	}
}
