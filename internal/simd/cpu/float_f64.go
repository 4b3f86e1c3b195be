//go:build f64

package cpu

// Float is float64 under the test-only build tag f64.
type Float = float64
