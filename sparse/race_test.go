//go:build race

package sparse_test

// raced reports whether the race detector is on.
const raced = true
