//go:build !noasm

package par

// pause passes a short time, about 25 ns for each of n ≥ 1, and leaves the
// core to its other thread meanwhile.
//
//go:noescape
func pause(n uint32)
