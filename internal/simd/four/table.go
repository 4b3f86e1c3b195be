//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math"
	"runtime"
)

// Table holds the constants of kernels, each four times: they must not refer to anything, and
// are given its place.
var Table = table()

// The constants, by what they are of. The places are those of their bytes.
const (
	one16     = 16
	log2e     = 0 * one16 // e^z = 2ⁿ·e^r, where n = z/log 2 is rounded by a sum with shifter
	shifter   = 1 * one16
	minusLog2 = 2 * one16 // −log 2 in two parts
	minusLess = 3 * one16
	power0    = 4 * one16 // of (e^r − 1 − r)/r², the highest power's first
	power1    = 5 * one16
	power2    = 6 * one16
	power3    = 7 * one16
	half      = 8 * one16 // also the last of them
	unit      = 9 * one16
	exponent  = 10 * one16 // 2²³, by which n is put to where an exponent is
	bias      = 11 * one16 // and what 1 has there
	least     = 12 * one16 // beyond which exponentials are 0 and infinite
	most      = 13 * one16
	below     = 14 * one16 // beyond which eˣ − 1 is −1
	tanhEnd   = 15 * one16
	over0     = 16 * one16 // tanh x = x·over/under, polynomials of x²; the last coefficient is 1
	over1     = 17 * one16
	over2     = 18 * one16
	over3     = 19 * one16
	under0    = 20 * one16
	under1    = 21 * one16
	under2    = 22 * one16
	under3    = 23 * one16
	minusEnd  = 24 * one16
	constants = 25
)

func table() (t [constants][4]float32) {
	end := 8.176332 // where the quotient comes to 1, and not beyond before
	if runtime.GOARCH == "wasm" {
		end = 8.10067 // of products that are rounded
	}
	for i, v := range [constants]float64{
		math.Log2E, 0x1.8p23, -0.693359375, 2.12194440e-4,
		0.001392625083186576, 0.008363232883685949, 0.041666554212978844, 0.16666576666119892, 0.5,
		1, 1 << 23, 127 << 23, -104, 89, -87,
		end, 1.34169582e-08, 2.06592522e-05, 0.00349887903, 0.133838847, 7.8035805e-07, 0.0003290842, 0.0258897692, 0.467172086,
		-end,
	} {
		t[i] = [4]float32{float32(v), float32(v), float32(v), float32(v)}
	}
	return t
}

// Lanes[n] says, for n vectors of four heads of n columns side by side, which bytes of a vector of four numbers the
// columns' heads have.
var Lanes = lanes()

func lanes() (l [9][8][16]uint8) {
	for n := range l {
		for at := range 16 * n {
			l[n][at/16][at%16] = uint8(at/4/n*4 + at%4)
		}
	}
	return l
}
