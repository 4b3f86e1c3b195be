package main

import (
	"path"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/spell"
)

// choose returns the benchmarks that a pattern selects: all if it is empty, the
// one whose path it is, those whose path it begins, else those it matches as
// path.Match does.
func choose(all []benchmark, pattern string) ([]benchmark, error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, misuse("%q is not a pattern: %w", pattern, err)
	}
	pattern = strings.TrimSuffix(pattern, "/")
	var out []benchmark
	for _, b := range all {
		if b.name == pattern {
			return []benchmark{b}, nil
		}
		ok, _ := path.Match(pattern, b.name) // a bad pattern was refused above
		if ok || pattern == "" || strings.HasPrefix(b.name, pattern+"/") {
			out = append(out, b)
		}
	}
	if len(out) == 0 {
		return nil, misuse("there is no benchmark %q; did you mean %q? %s bench --list names them all", pattern, nearest(all, pattern), program)
	}
	return out, nil
}

// nearest returns the name, or the front of one, that is most like s.
func nearest(all []benchmark, s string) string {
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
