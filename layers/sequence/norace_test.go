//go:build !race

package sequence_test

const raced = false
