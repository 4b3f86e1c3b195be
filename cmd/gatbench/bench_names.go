package main

import (
	"path"
	"strings"
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
		return nil, misuse("there is no benchmark %q; did you mean %q? gatbench bench --list names them all", pattern, nearest(all, pattern))
	}
	return out, nil
}

// nearest returns the name, or the front of one, with the fewest edits to s.
func nearest(all []benchmark, s string) string {
	best, fewest := "", -1
	for _, b := range all {
		for i := range len(b.name) + 1 {
			if i < len(b.name) && b.name[i] != '/' {
				continue
			}
			if d := edits(b.name[:i], s); fewest < 0 || d < fewest {
				best, fewest = b.name[:i], d
			}
		}
	}
	return best
}

// edits is how many bytes to insert, delete or replace to make b of a.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
