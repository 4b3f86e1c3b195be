//go:build race

package tensor_test

// raced reports whether the race detector is on.
const raced = true
