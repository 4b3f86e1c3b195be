package runs

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// mostColumns is how wide rows of kernels may be.
const mostColumns = 1 << 16

// choice returns what benchmarks are made for.
func (s *Settings) choice() (bench.Choice, error) {
	out := bench.Choice{Threads: par.Threads(), Heads: cli.Or(s.Heads, 0), Dims: s.Dims, Data: s.Data}
	var err error
	dim := slices.Max(append([]int{0}, s.Dims...))
	switch {
	case cli.Or(s.Heads, 1) < 1:
		return out, cli.Misuse("--heads %d: it must be at least 1", *s.Heads)
	case len(s.Dims) > 0 && slices.Min(s.Dims) < 1:
		return out, cli.Misuse("--dim %d: it must be at least 1", slices.Min(s.Dims))
	case max(out.Heads, dim) > mostColumns || max(out.Heads, 1)*max(dim, 1) > mostColumns:
		return out, cli.Misuse("--heads %d --dim %d: rows have at most %d columns, those of all heads together", out.Heads, dim, mostColumns)
	case s.Graph != "" && s.Size != "":
		return out, cli.Misuse("--graph and --size both name a graph: leave one of them out")
	case s.Graph != "":
		out.Graph, err = s.ownGraph()
	case s.Size != "":
		if out.Graph, err = bench.GraphOfSize(s.Size); err != nil {
			err = cli.Misuse("--size %s: %w", s.Size, err)
		}
	}
	return out, err
}

// ownGraph returns the graph or the matrix that --graph names.
func (s *Settings) ownGraph() (g *bench.Graph, err error) {
	if strings.HasSuffix(unpack.Plain(s.Graph), ".mtx") && !cli.IsFolder(s.Graph) {
		a, readErr := datasets.LoadMatrix(s.Graph) // as a graph it would lose its diagonal
		if readErr != nil {
			return nil, readErr
		}
		g, err = bench.GraphOfMatrix(graphName(s.Graph), a)
	} else {
		read, weights, readErr := s.Read(s.Data, s.Graph)
		if readErr != nil {
			return nil, readErr
		}
		g, err = bench.GraphOf(graphName(s.Graph), read, weights)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Graph, err)
	}
	return g, nil
}

// graphName is what the names of benchmarks call a graph: its file without what says its form.
func graphName(path string) string {
	base := unpack.Plain(filepath.Base(path))
	if cli.IsFolder(path) {
		return base
	}
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// Chosen returns the benchmarks that the names select, each once, in the order of all or, of
// the sweep, in its own.
func (s *Settings) Chosen() ([]bench.Benchmark, error) {
	switch {
	case s.everything() && !s.JSON && !s.List: // people see the ceilings below the table
		return bench.WithoutMachine(bench.Listed(s.All)), nil
	case s.everything():
		return bench.Listed(s.All), nil
	case s.scaling():
		return bench.Scaled(s.All), nil
	case len(s.Names) == 0:
		return choose(s.All, bench.Sparse)
	}
	return choose(s.All, s.Names...)
}

// choose returns the benchmarks that names select, each once, in the order of all or, of one name, in
// the order that it has. A name that selects none is an error.
func choose(all []bench.Benchmark, names ...string) ([]bench.Benchmark, error) {
	var some []bench.Benchmark
	wanted := map[string]bool{}
	for _, name := range names {
		var err error
		if some, err = bench.Choose(all, name); err != nil {
			return nil, cli.Misuse("%w", err)
		}
		if len(some) == 0 {
			name = strings.TrimSuffix(name, "/")
			return nil, cli.Misuse("there is no benchmark %q; did you mean %q? %s bench --list names them all", name, bench.Nearest(all, name), cli.Program)
		}
		for i := range some {
			wanted[some[i].Name] = true
		}
	}
	if len(names) == 1 {
		return some, nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(b bench.Benchmark) bool { return !wanted[b.Name] }), nil
}

func list(w io.Writer, bs []bench.Benchmark) error {
	p := report.NewPrinter(w)
	for i := range bs {
		p.Printf("%s\n", bs[i].Name)
	}
	return p.Err()
}
