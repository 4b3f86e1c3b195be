package bench

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/spell"
)

// Sparse is the name of the sweep.
const Sparse = "sparse"

// groups are names that stand for several kernels.
var groups = map[string]func(kernel string) bool{
	"kernels": func(string) bool { return true },                                                            // all on a graph
	"spmm":    func(k string) bool { return k == "copy_u_sum" || k == "copy_u_mean" || k == "u_mul_e_sum" }, // sparse × dense
	"sddmm":   func(k string) bool { return k == "u_dot_v" },                                                // dense × dense where a sparse one has elements
}

// Choose returns the benchmarks that a pattern selects: all if it is empty, those
// of a group, the one whose path it is, those whose path it begins, else those it
// matches as path.Match does. None is no error. Those of the sweep are in its order.
func Choose(all []Benchmark, pattern string) ([]Benchmark, error) {
	pattern = strings.TrimSuffix(pattern, "/")
	if pattern == Sparse {
		return sweepOf(all), nil
	}
	group := groups[pattern]
	var out []Benchmark
	for _, b := range all {
		if b.Name == pattern { // before it is taken for a pattern: a file's name may hold a bracket
			return []Benchmark{b}, nil
		}
	}
	for _, b := range all {
		ok, err := path.Match(pattern, b.Name)
		if err != nil {
			return nil, fmt.Errorf("%q is not a pattern: %w", pattern, err)
		}
		if group != nil {
			ok = strings.HasPrefix(b.Op, "kernel/") && group(b.Kernel())
		}
		if !b.Unlisted && (ok || pattern == "" || strings.HasPrefix(b.Name, pattern+"/")) {
			out = append(out, b)
		}
	}
	return out, nil
}

// Nearest returns the name, the front of one, or the group that is most like s.
func Nearest(all []Benchmark, s string) string {
	fronts := append(slices.Sorted(maps.Keys(groups)), Sparse, Scale)
	for _, b := range all {
		for i := range len(b.Name) {
			if b.Name[i] == '/' {
				fronts = append(fronts, b.Name[:i])
			}
		}
		fronts = append(fronts, b.Name)
	}
	return spell.Nearest(s, fronts)
}
