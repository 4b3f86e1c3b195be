package bench

import (
	"fmt"
	"path"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/spell"
)

// Choose returns the benchmarks that a pattern selects: all if it is empty, the
// one whose path it is, those whose path it begins, else those it matches as
// path.Match does. None is no error.
func Choose(all []Benchmark, pattern string) ([]Benchmark, error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("%q is not a pattern: %w", pattern, err)
	}
	pattern = strings.TrimSuffix(pattern, "/")
	var out []Benchmark
	for _, b := range all {
		if b.name == pattern {
			return []Benchmark{b}, nil
		}
		ok, _ := path.Match(pattern, b.name) // a bad pattern was refused above
		if ok || pattern == "" || strings.HasPrefix(b.name, pattern+"/") {
			out = append(out, b)
		}
	}
	return out, nil
}

// Nearest returns the name, or the front of one, that is most like s.
func Nearest(all []Benchmark, s string) string {
	var fronts []string
	for _, b := range all {
		for i := range len(b.name) {
			if b.name[i] == '/' {
				fronts = append(fronts, b.name[:i])
			}
		}
		fronts = append(fronts, b.name)
	}
	return spell.Nearest(s, fronts)
}
