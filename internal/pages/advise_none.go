//go:build !linux

package pages

// advise does nothing: there is no such request.
func advise([]byte) {}
