package gatbench

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/task"
	graphs "github.com/edgewise-ml/edgewise/internal/task/graph"
	"github.com/edgewise-ml/edgewise/internal/task/link"
	"github.com/edgewise-ml/edgewise/internal/task/node"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// trainEpochs is how many epochs are timed, as many as the peers', unless the
// command line says otherwise.
const trainEpochs = 200

// epochs returns how many epochs are timed.
func (c *benchCommand) epochs() int { return cmp.Or(c.Epochs, trainEpochs) }

// rows returns what a training step computes.
func (c *benchCommand) rows() node.Extent { return cmp.Or(node.Extent(c.Rows), node.RowsNeeded) }

// trainings returns the peers' trainings, as the flags want them.
func (c *benchCommand) trainings() bench.Trainings {
	return bench.Trainings{
		Epochs: c.epochs(), Seed: c.Seed, Rows: string(c.rows()),
		Fit: func(model, dataset string) (*train.Fit, error) {
			k, r, err := c.openPeers(model, dataset)
			if err != nil {
				return nil, err
			}
			fit, _, err := k.NewFit(r)
			return fit, err
		},
		GAT: func(dataset string) (func() (*bench.GAT, error), error) {
			k, r, err := c.openPeers("gat", dataset)
			if err != nil {
				return nil, err
			}
			r.Rows = node.RowsNeeded // all of them are one of the ablations
			return func() (*bench.GAT, error) { return newBenchGAT(k, r) }, nil
		},
		Links: func(dataset string) (*train.Fit, error) {
			d, err := source.OpenData(c.Data, dataset, source.Columns{})
			if err != nil {
				return nil, err
			}
			r := link.Example()
			r.Seed, r.Epochs = c.Seed, c.epochs()
			k, err := link.NewLinks(link.Source{Dataset: d}, &r, nil)
			if err != nil {
				return nil, err
			}
			fit, _ := k.NewFit(&r)
			fit.Eval, fit.By = nil, train.ByLast
			return fit, nil
		},
		Graphs: func(dataset string, batch, hidden int) (*train.Fit, error) {
			k, err := graphs.OpenGraphs(c.Data, dataset, &graphs.Recipe{})
			if err != nil {
				return nil, err
			}
			r := graphs.GIN()
			r.Seed, r.Epochs, r.Batch, r.Hidden, r.Steps = c.Seed, c.epochs(), batch, hidden, 0
			f := new(train.Fit)
			_, _, err = k.NewFit(f, r, datasets.Split{Train: k.All()})
			return f, err
		},
	}
}

// newBenchGAT returns a new GAT that learns a task.
func newBenchGAT(k *node.Examples, r node.Recipe) (*bench.GAT, error) {
	net, err := node.NewNetwork(r, k.Features.Shape()[1], k.Classes)
	if err != nil {
		return nil, err
	}
	out := &bench.GAT{
		Optimiser: r.Optimiser(net), Seed: r.Seed, Labels: k.Goal.OnlyOf(k.Parts.Train).Labels,
		Needed: forBench(k.Needed(net)), All: forBench(k.Every(net)), Whole: forBench(net.Whole(k.Hop(net), k.X)),
		Watch: func(logits *tensor.Dense) { k.Goal.Watch(logits, k.Parts) },
	}
	for _, l := range net.Layers {
		out.Layers = append(out.Layers, l.(interface{ Conv() *layers.GATConv }).Conv())
	}
	return out, out.Optimiser.Bind(net)
}

// forBench returns a pass without the weights of its edges, which GAT does not read.
func forBench(p models.Pass) bench.Pass {
	out := bench.Pass{X: p.X, Rows: p.Rows}
	for _, h := range p.Hops {
		out.Graphs = append(out.Graphs, h.Graph)
	}
	return out
}

// openPeers returns the task and the settings of a training as PyG's examples
// have them, which the peers' scripts follow: one output head, also on PubMed; of
// SAGE, for which there is no such example, those of GCN, without self-loops.
func (c *benchCommand) openPeers(model, dataset string) (*node.Examples, node.Recipe, error) {
	r, err := node.NewRecipe("pyg", model, dataset)
	if err != nil {
		return nil, r, err
	}
	r.OutHeads, r.Select, r.Epochs, r.Seed = 1, "last", c.epochs(), c.Seed
	r.Rows = c.rows()
	d, err := source.OpenData(c.Data, dataset, source.Columns{})
	if err != nil {
		return nil, r, err
	}
	if len(d.Split.Train) == 0 {
		d.Split = perClass(d.Labels, d.Classes)
	}
	k := node.NewExamples(d)
	if err := k.Use(task.FormRows); err != nil { // as the peers' scripts have them
		return nil, r, err
	}
	r.Features = task.FormRows
	if model == "sage" {
		k.Looped = d.Graph
	}
	return k, r, nil
}

// perClass is the split that the peers' scripts draw for datasets without one.
// Nodes are taken in the order of v·2654435761 mod 2³²; of each class the first
// 20 are for training, the next 30 for validation and the others for testing.
func perClass(labels []int32, classes int) datasets.Split {
	nodes := make([]int32, len(labels))
	for v := range nodes {
		nodes[v] = int32(v)
	}
	slices.SortFunc(nodes, func(a, b int32) int { return cmp.Compare(uint32(a)*2654435761, uint32(b)*2654435761) })
	var s datasets.Split
	seen := make([]int, classes)
	for _, v := range nodes {
		c := labels[v]
		if c < 0 {
			continue // it has no class
		}
		switch n := seen[c]; {
		case n < 20:
			s.Train = append(s.Train, v)
		case n < 50:
			s.Val = append(s.Val, v)
		default:
			s.Test = append(s.Test, v)
		}
		seen[c]++
	}
	for _, part := range [][]int32{s.Train, s.Val, s.Test} {
		slices.Sort(part)
	}
	return s
}

// selfArgs are the arguments with which another process times one benchmark.
func (c *benchCommand) selfArgs(name string) []string {
	args := []string{"bench", "--json", fmt.Sprintf("--threads=%d", par.Threads())}
	for flag, value := range map[string]string{"graph": c.Graph, "size": c.Size, "data": c.Data} {
		if value != "" {
			args = append(args, "--"+flag+"="+value)
		}
	}
	for flag, value := range map[string]int{"heads": cli.Or(c.Heads, 0), "epochs": c.Epochs} {
		if value != 0 {
			args = append(args, fmt.Sprintf("--%s=%d", flag, value))
		}
	}
	for _, dim := range c.Dim {
		args = append(args, fmt.Sprintf("--dim=%d", dim))
	}
	if c.Seed != 0 {
		args = append(args, fmt.Sprintf("--seed=%d", c.Seed))
	}
	if rows := c.rows(); rows != node.RowsNeeded {
		args = append(args, "--rows="+string(rows))
	}
	return append(args, name)
}

// runSelf runs this program with other arguments and returns what it prints.
func runSelf(ctx context.Context, args ...string) ([]byte, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, fmt.Errorf("its process ended with %w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}
