package sparing

import "os"

// Full reports whether EDGEWISE_FULL is set, as the whole gate has it: then the dear
// cases run too.
func Full() bool { return os.Getenv("EDGEWISE_FULL") != "" }

// Some returns all cases in the usual build, every second one in plain Go and in float64,
// and every third under the race detector, which looks for accesses and not for values.
// If Full, only the race detector is spared.
func Some[T any](all []T) []T {
	every := 1
	switch {
	case Raced:
		every = 3
	case plain && !Full():
		every = 2
	}
	var some []T
	for i := 0; i < len(all); i += every {
		some = append(some, all[i])
	}
	return some
}
