package message

import "testing"

// SetFuse switches kernels for recognised expressions on or off for one test.
func SetFuse(t testing.TB, on bool) {
	old := fuse
	fuse = on
	t.Cleanup(func() { fuse = old })
}

// SetTileBytes changes the scratch of a tile for one test.
func SetTileBytes(t testing.TB, n int) {
	old := tileBytes
	tileBytes = n
	t.Cleanup(func() { tileBytes = old })
}
