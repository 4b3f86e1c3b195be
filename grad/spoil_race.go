//go:build race

package grad

// spoil fills what an operation says it will set, to see that it does.
const spoil = true
