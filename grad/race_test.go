//go:build race

package grad_test

// raced reports whether the race detector is on.
const raced = true
