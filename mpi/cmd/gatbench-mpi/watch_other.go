//go:build !unix

package main

// watch watches nothing: there is no MPI for this system.
func watch(string) (done func(ends bool)) { return func(bool) {} }

func watched() bool { return false }
