//go:build !linux

package par

// affinity returns 0: GOMAXPROCS knows.
func affinity() int { return 0 }

// quota returns 0: there is none.
func quota() float64 { return 0 }
