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

// groups are names that stand for several fronts of paths.
var groups = map[string]func() []string{
	"kernels": func() []string { // all on a graph
		var fronts []string
		for _, k := range sparseKernels() {
			fronts = append(fronts, k.name)
		}
		return fronts
	},
	"spmm":  func() []string { return []string{"copy_u_sum", "copy_u_mean", "u_mul_e_sum"} }, // sparse × dense
	"sddmm": func() []string { return []string{"u_dot_v"} },                                  // dense × dense where a sparse one has elements
}

// Choose returns the benchmarks that a pattern selects: all if it is empty, those
// of a group, the one whose path it is, those whose path it begins, else those it
// matches as path.Match does. None is no error. Those of the sweep are in its order.
func Choose(all []Benchmark, pattern string) ([]Benchmark, error) {
	pattern = strings.TrimSuffix(pattern, "/")
	if pattern == Sparse {
		return sweepOf(all), nil
	}
	fronts := []string{pattern}
	if group := groups[pattern]; group != nil {
		fronts = group()
	}
	var out []Benchmark
	for _, b := range all {
		if b.name == pattern { // before it is taken for a pattern: a file's name may hold a bracket
			return []Benchmark{b}, nil
		}
	}
	for _, b := range all {
		ok, err := path.Match(pattern, b.name)
		if err != nil {
			return nil, fmt.Errorf("%q is not a pattern: %w", pattern, err)
		}
		begun := func(front string) bool { return strings.HasPrefix(b.name, front+"/") }
		if b.unlisted {
			continue
		}
		if ok || pattern == "" || slices.ContainsFunc(fronts, begun) {
			out = append(out, b)
		}
	}
	return out, nil
}

// Nearest returns the name, the front of one, or the group that is most like s.
func Nearest(all []Benchmark, s string) string {
	fronts := append(slices.Sorted(maps.Keys(groups)), Sparse, Scale)
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
