package message

import "testing"

// SetFuse switches kernels for recognised expressions on or off for one test.
func SetFuse(t testing.TB, on bool) {
	old := fuse
	fuse = on
	t.Cleanup(func() { fuse = old })
}

// SetJoin switches joined steps on or off for one test.
func SetJoin(t testing.TB, on bool) {
	old := joins
	joins = on
	t.Cleanup(func() { joins = old })
}

// SetTileBytes changes the scratch of a tile for one test.
func SetTileBytes(t testing.TB, n int) {
	old := tileBytes
	tileBytes = n
	t.Cleanup(func() { tileBytes = old })
}

// SetChunks changes the least work of a chunk and the size of a window for one
// test, both in elements.
func SetChunks(t testing.TB, work, window int) {
	oldWork, oldWindow := chunkWork, windowFloats
	chunkWork, windowFloats = work, window
	t.Cleanup(func() { chunkWork, windowFloats = oldWork, oldWindow })
}
