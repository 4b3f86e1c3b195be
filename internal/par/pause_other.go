//go:build !amd64 || noasm

package par

// pause passes a short time, longer for larger n.
//
//go:noinline
func pause(n uint32) {
	for range 16 * n {
	}
}
