//go:build !race

package message_test

// raced reports whether the race detector is on.
const raced = false
