package mtx

import (
	"fmt"
	"strings"
)

// header is the first line of a file.
type header struct {
	array    bool   // a value for each element, by columns
	field    string // real, integer or pattern
	symmetry string // general, symmetric or skew-symmetric
}

// parseHeader reads the first line.
func parseHeader(text string) (h header, err error) {
	words := strings.Fields(strings.ToLower(text))
	if len(words) != 5 || words[0] != "%%matrixmarket" {
		return h, fmt.Errorf("%.80q is no header: want %%%%MatrixMarket matrix FORMAT FIELD SYMMETRY", text)
	}
	if words[1] != "matrix" {
		return h, fmt.Errorf("it holds a %.40q, want a matrix", words[1])
	}
	h = header{words[2] == "array", words[3], words[4]}
	switch {
	case !h.array && words[2] != "coordinate":
		return h, fmt.Errorf("the format is %.40q, want coordinate or array", words[2])
	case h.field == "double":
		h.field = "real"
	case h.field == "complex":
		return h, fmt.Errorf("its elements are complex, which edgewise does not compute with: save their real part or their absolute value")
	}
	if !oneOf(h.field, "real", "integer", "pattern") {
		return h, fmt.Errorf("its elements are %.40q, want real, integer or pattern", words[3])
	}
	if h.symmetry == "hermitian" {
		return h, fmt.Errorf("it is hermitian, which only a complex matrix can be: save it as symmetric")
	}
	if !oneOf(h.symmetry, "general", "symmetric", "skew-symmetric") {
		return h, fmt.Errorf("the symmetry is %.40q, want general, symmetric or skew-symmetric", words[4])
	}
	if h.field == "pattern" && (h.array || h.symmetry == "skew-symmetric") {
		return h, fmt.Errorf("a pattern has no values, so it cannot be %s: save it as coordinate pattern, general or symmetric", strings.Join(words[2:], " "))
	}
	return h, nil
}

func oneOf(s string, of ...string) bool {
	for _, o := range of {
		if s == o {
			return true
		}
	}
	return false
}
