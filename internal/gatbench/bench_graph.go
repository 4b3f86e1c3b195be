package gatbench

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/tensor"
)

// ownGraph returns the graph or the matrix that --graph names, in any form that is read:
// a dataset by its name, a file or a folder. Of many graphs it is all of them side by
// side, of users and items, or of facts, the links between them.
func (c *benchCommand) ownGraph() (g *bench.Graph, err error) {
	if strings.HasSuffix(unpack.Plain(c.Graph), ".mtx") && !cli.IsFolder(c.Graph) {
		a, readErr := datasets.ReadMatrix(c.Graph) // as a graph it would lose its diagonal
		if readErr != nil {
			return nil, readErr
		}
		g, err = bench.GraphOfMatrix(graphName(c.Graph), a)
	} else {
		read, weights, readErr := c.readGraph()
		if readErr != nil {
			return nil, readErr
		}
		g, err = bench.GraphOf(graphName(c.Graph), read, weights)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Graph, err)
	}
	return g, nil
}

// readGraph reads what is no matrix.
func (c *benchCommand) readGraph() (*graph.Graph, []tensor.Float, error) {
	if source.HoldsGraphs(c.Data, c.Graph) {
		d, err := source.OpenGraphs(c.Data, c.Graph, "")
		if err != nil {
			return nil, nil, err
		}
		return d.Graph, nil, nil
	}
	if source.IsFacts(c.Data, c.Graph) {
		d, err := source.ReadFacts(c.Data, c.Graph)
		if err != nil {
			return nil, nil, err
		}
		return d.Train, nil, nil
	}
	if path := source.InteractionsIn(c.Data, c.Graph); path != "" {
		d, err := datasets.ReadInteractions(path)
		if err != nil {
			return nil, nil, err
		}
		return d.Graph, nil, nil
	}
	d, err := source.OpenData(c.Data, source.DatasetNamed(c.Graph), source.Columns{})
	if err != nil {
		return nil, nil, err
	}
	return d.Graph, d.Weights, nil
}

// graphName is what the names of benchmarks call a graph: its file without what says its form.
func graphName(path string) string {
	base := unpack.Plain(filepath.Base(path))
	if cli.IsFolder(path) {
		return base
	}
	return strings.TrimSuffix(base, filepath.Ext(base))
}
