package gatbench

import (
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/peers"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/runs"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/trace"
)

// benchCommand is gatbench bench.
type benchCommand struct {
	Patterns []string `arg:"" optional:"" name:"name-pattern" help:"What to time: sparse (kernels on graphs of few and many edges a node, as one table), scale (a dozen names on 1, 2, 4 … threads), kernels (all on a graph), spmm (its products of a sparse and a dense matrix), sddmm (inner products at its elements), a name that --list prints, the front of one (gemm) or a pattern (exp/*). Default: sparse with --graph or --size, else everything, which takes ten to twenty minutes."`
	Threads  int      `default:"0" placeholder:"N" help:"Use at most N threads (0: all there are)."`
	Isolate  bool     `help:"Run each name in a process of its own, so that memory is its own."`
	Graph    string   `placeholder:"FILE" help:"Time kernels and layers on this graph or matrix instead of generated ones: an .mtx file, with its values, or anything else that gatbench train reads."`
	Size     string   `placeholder:"NAME" help:"Time them on a generated graph of this size: cora, pubmed, arxiv, grid, reddit-tenth, reddit-small, reddit, proteins-small, ogbn-proteins, NODESxEDGES, uniform:NODESxEDGES or grid:SIDE."`
	Dim      []int    `placeholder:"D" help:"Columns of each head of kernels and layers on a graph; several, 16,64,128, are timed one after the other."`
	Heads    *int     `placeholder:"H" help:"Heads of kernels and layers on a graph."`
	Data     string   `placeholder:"DIR" help:"Folder of the datasets' files, for train, ablation and read."`
	Epochs   int      `default:"0" placeholder:"N" help:"Epochs of train/* (0: 200, of scale 40)."`
	Seed     uint64   `default:"0" placeholder:"N" help:"Seed of train/* and ablation/*."`
	Rows     string   `default:"needed" placeholder:"NAME" help:"Which rows of each layer a training step of train/* computes: those that its loss depends on (needed, the default) or all, as the peers do."`
	JSON     bool     `name:"json" help:"Print one JSON object a line, as the scripts in peers do."`
	List     bool     `help:"Print the names and do nothing."`
	Picture  string   `placeholder:"FILE" help:"Draw a sweep to this .svg or .png file: for each kernel, a cell for each graph and width; of length, a line for each layer."`
	Plot     bool     `help:"Show in the terminal what --picture would draw, or with --trace and --from the threads."`
	Beside   string   `placeholder:"OUT.tsv" help:"Time nothing, and draw to --picture, or show by --plot, the table that peers/compare.py wrote: who is ahead of whom."`
	Trace    string   `placeholder:"FILE" group:"threads" help:"Instead of timing, record which thread does what and when, list what loses most, and draw it to this .svg or .png file, or keep the record as .json; - only lists."`
	From     string   `placeholder:"FILE" group:"threads" help:"Show the records of this .json file, from this or another machine, as --trace does. --trace FILE.svg draws them."`
	At       *int     `placeholder:"N" group:"threads" help:"List what loses most on N threads, and draw the record and N threads alone. Default: list 16, draw 4, 8, 16 and 32."`
	Growth   string   `placeholder:"N:TIMES" group:"threads" help:"Predict for a machine of which N threads do TIMES as much as one, such as 16:11. Default: N times as much."`
}

func (c *benchCommand) endsItself() {}

// Run times what the patterns select.
func (c *benchCommand) Run(e cli.Env) error { return runs.Run(e, c.settings()) }

func (c *benchCommand) settings() runs.Settings {
	return runs.Settings{
		Version: thisBuild().Version, Names: c.Patterns, Threads: c.Threads, Isolate: c.Isolate,
		Graph: c.Graph, Size: c.Size, Dims: c.Dim, Heads: c.Heads,
		Data: c.Data, Epochs: c.Epochs, Seed: c.Seed, Rows: c.Rows,
		JSON: c.JSON, List: c.List, Plot: c.Plot, Picture: c.Picture, Beside: c.Beside,
		Trace:  trace.Settings{File: c.Trace, From: c.From, At: c.At, Growth: c.Growth},
		Source: peers.Trainings, Read: peers.ReadGraph,
	}
}
