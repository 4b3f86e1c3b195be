package ranks

import (
	"fmt"
	"slices"
	"strings"
)

// list names ranks: "rank 1", or "ranks 1, 2 and 5".
func list(ranks []int) string {
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d", ranks[0])
	}
	var words []string
	for _, i := range ranks {
		words = append(words, fmt.Sprint(i))
	}
	last := len(words) - 1
	return "ranks " + strings.Join(words[:last], ", ") + " and " + words[last]
}

func (e *MissingError) sort() { slices.Sort(e.Ranks) }

// cut returns the parts of b, which have those sizes.
func cut(b []byte, sizes []int) [][]byte {
	parts := make([][]byte, len(sizes))
	for i, n := range sizes {
		parts[i], b = b[:n:n], b[n:]
	}
	return parts
}

func sum(sizes []int) int {
	n := 0
	for _, size := range sizes {
		n += size
	}
	return n
}
