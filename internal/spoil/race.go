//go:build race

package spoil

const raced = true
