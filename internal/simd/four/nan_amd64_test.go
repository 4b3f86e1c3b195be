//go:build goexperiment.simd && !noasm && !f64

package four

// maxLosesNaN says that this processor's vectors take the second operand where there is a NaN: amd64's, on which
// the kernels are tested and not used.
const maxLosesNaN = true
