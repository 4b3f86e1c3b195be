package spell

import "strings"

// longest is how many bytes of a name count, so that a hostile one costs no
// more than a long one.
const longest = 64

// Nearest returns the known name with the smallest [Distance] to name, the first
// of them if there are several, and "" if none is known.
func Nearest(name string, known []string) string {
	best, fewest := "", -1
	for _, k := range known {
		if d := Distance(name, k); fewest < 0 || d < fewest {
			best, fewest = k, d
		}
	}
	return best
}

// Meant returns the known name that name, whatever its case, is short for or most like, or "" if half of it
// and more would have to be written anew.
func Meant(name string, known []string) string {
	name = strings.ToLower(name)
	for _, k := range known {
		if len(name) > 1 && strings.HasPrefix(k, name) {
			return k
		}
	}
	best := Nearest(name, known)
	if 2*Distance(name, best) >= len(name) {
		return ""
	}
	return best
}

// Distance returns how many bytes have to be put in, taken out or replaced, or pairs of
// neighbours swapped, to make b of a. Only the first 64 of each count.
func Distance(a, b string) int {
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	before, row := make([]int, len(b)+1), make([]int, len(b)+1) // of the bytes of a so far, for each prefix of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			d := row[j]
			if a[i] != b[j] {
				d = 1 + min(row[j], next[j], row[j+1])
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, 1+before[j-1])
			}
			next[j+1] = d
		}
		before, row = row, next
	}
	return row[len(b)]
}
