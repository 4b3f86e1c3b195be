package spell

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

// Distance returns how many bytes have to be put in, taken out or replaced to
// make b of a. Only the first 64 of each count.
func Distance(a, b string) int {
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	row := make([]int, len(b)+1) // of the bytes of a so far, for each prefix of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
