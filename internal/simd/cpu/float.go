//go:build !f64

package cpu

// Float is the element type of every array. It is float32, except under the
// test-only build tag f64, which the gradient checks use.
type Float = float32
