package simd

// The functions here take a slice as runs of d elements, with one number for
// each run: the heads of an attention, or the one weight of a row.

// Spread sets each run to its number:
//
//	y[k·d+j] = c[k]
func Spread(y, c []Float, d int) {
	if fast && d > 0 && d <= atOnce {
		spreadFast(y, c, d)
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
func SpreadAdd(y, c []Float, d int) {
	if fast && d > 0 && d <= atOnce {
		spreadAddFast(y, c, d)
		return
	}
	for k, v := range c {
		run := y[k*d : k*d+d]
		for j := range run {
			run[j] += v
		}
	}
}

// ScaleGroups sets each run to its number's multiple of x:
//
//	y[k·d+j] = c[k]·x[k·d+j]
func ScaleGroups(y, c, x []Float, d int) {
	if fast && d > 0 && d <= atOnce {
		scaleGroupsFast(y, c, x, d)
		return
	}
	for k, v := range c {
		run := y[k*d : k*d+d]
		for j, w := range x[k*d : k*d+d] {
			run[j] = v * w
		}
	}
}

// AxpyGroups adds its number's multiple of x to each run:
//
//	y[k·d+j] += c[k]·x[k·d+j]
func AxpyGroups(y, c, x []Float, d int) {
	if fast && d > 0 && d <= atOnce {
		axpyGroupsFast(y, c, x, d)
		return
	}
	for k, v := range c {
		run := y[k*d : k*d+d]
		for j, w := range x[k*d : k*d+d] {
			run[j] += v * w
		}
	}
}

// DotGroups adds to each number the inner product of its runs:
//
//	y[k] += Σ_j x[k·d+j]·z[k·d+j]
func DotGroups(y, x, z []Float, d int) {
	if fast && d > 0 && d <= atOnce {
		dotGroupsFast(y, x, z, d)
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

// SumGroups adds to each number the sum of its run:
//
//	y[k] += Σ_j x[k·d+j]
func SumGroups(y, x []Float, d int) {
	if fast && d > 0 && d <= atOnce {
		sumGroupsFast(y, x, d)
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
