package gatbench

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// dataCommand is gatbench data.
type dataCommand struct {
	List     dataListCommand     `cmd:"" help:"List the datasets that have a name, and where each was found."`
	Describe dataDescribeCommand `cmd:"" help:"Show the size, features, classes and split of a dataset."`
	Check    dataCheckCommand    `cmd:"" help:"Read files and report what is wrong with them."`
	Convert  dataConvertCommand  `cmd:"" help:"Write a dataset to an .npz file, which gatbench and NumPy can read."`
	Fetch    dataFetchCommand    `cmd:"" help:"Download datasets to the user's cache."`
	Generate dataGenerateCommand `cmd:"" help:"Write tables that are drawn at random, to try the program on."`
}

// dataDir is the flag that every command about datasets has.
type dataDir struct {
	Data string `placeholder:"DIR" help:"Look for the dataset in this folder first, then in $$EDGEWISE_DATA and in the user's cache."`
}

// found is a dataset and where it came from.
type found struct {
	*datasets.Dataset
	from string
}

// load opens a dataset by its name, or else reads the file or folder of that
// name.
func (c dataDir) load(name string, chosen source.Columns) (found, error) {
	name = source.DatasetNamed(name)
	d, err := source.OpenData(c.Data, name, chosen)
	return found{d, source.Where(c.Data, name)}, err
}

// dataListCommand is gatbench data list.
type dataListCommand struct {
	dataDir
	JSON bool `name:"json" help:"Print a JSON object for each dataset, one a line."`
}

// listed is a dataset as data list shows it. One of text has no nodes, and no title.
type listed struct {
	Kind     string `json:"kind"` // "graph" or "text"
	Name     string `json:"name"`
	Title    string `json:"title"`
	About    string `json:"about"`
	Nodes    int    `json:"nodes"`
	Edges    int    `json:"edges"`
	Features int    `json:"features"`
	Classes  int    `json:"classes"`
	Where    string `json:"where"` // a path; empty if it is not here
}

// Run prints a line for each dataset.
func (c *dataListCommand) Run(e cli.Env) error {
	p := report.NewPrinter(e.Out)
	if !c.JSON {
		p.Printf("%-18s %6s %7s %8s %7s  %-46s %s\n", "name", "nodes", "edges", "features", "classes", "", "where")
	}
	for _, i := range datasets.Catalogue() {
		l := listed{"graph", i.Name, i.Title, i.About, i.Nodes, i.Edges, i.Features, i.Classes, source.Where(c.Data, i.Name)}
		if c.JSON {
			p.Encode(l)
			continue
		}
		if l.Where == "" {
			l.Where = "not here"
			if datasets.Sources(i.Name) != nil {
				l.Where = "not here: " + cli.Program + " data fetch " + i.Name
			}
		}
		p.Printf("%-18s %6d %7d %8d %7d  %-46s %s\n", l.Name, l.Nodes, l.Edges, l.Features, l.Classes, l.About, l.Where)
	}
	c.listText(p)
	return p.Err()
}

// listText prints a line for each dataset of text.
func (c *dataListCommand) listText(p *report.Printer) {
	if !c.JSON {
		p.Printf("\n%-18s %-79s %s\n", "of text", "", "where")
	}
	missing := false
	for _, i := range text.Catalogue() {
		path, err := text.Find(c.Data, i.Name)
		if c.JSON {
			p.Encode(listed{Kind: "text", Name: i.Name, About: i.About, Where: path})
			continue
		}
		if err != nil {
			path, missing = "not here", true
		}
		p.Printf("%-18s %-79s %s\n", i.Name, i.About, path)
	}
	if missing {
		p.Line("docs/use/text.md lists the files that each text is published as; --data or EDGEWISE_DATA names their folder")
	}
}

// dataDescribeCommand is gatbench data describe.
type dataDescribeCommand struct {
	dataDir
	source.ColumnFlags `embed:""`
	Name               string `arg:"" name:"name" help:"A name that gatbench data list shows, or a file or folder."`
	JSON               bool   `name:"json" help:"Print one JSON object."`
	Undirected         bool   `help:"Add the reverse of every edge that has none."`
}

// description is a dataset as data describe --json shows it.
type description struct {
	Name     string `json:"name"`
	From     string `json:"from"`
	Graphs   int    `json:"graphs,omitempty"` // if they are many
	Nodes    int    `json:"nodes"`
	Edges    int    `json:"edges"` // directed, without self-loops
	Features int    `json:"features"`
	Classes  int    `json:"classes"`
	Train    int    `json:"train"`
	Val      int    `json:"val"`
	Test     int    `json:"test"`
}

// Run describes the dataset.
func (c *dataDescribeCommand) Run(e cli.Env) error {
	if source.HoldsGraphs(c.Data, c.Name) {
		return c.graphs(e)
	}
	p := report.NewPrinter(e.Out)
	switch d, err := relatedIn(c.Data, c.Name); {
	case err != nil:
		return err
	case d != nil:
		return d.describe(p, c.JSON)
	}
	d, err := c.load(c.Name, c.Chosen())
	if err != nil {
		return err
	}
	if c.Undirected {
		d.Dataset = d.Dataset.Undirected()
	}
	if c.JSON {
		s := d.Split
		p.Encode(description{d.Name, d.from, 0, d.Graph.NumNodes(), d.Graph.NumEdges(), d.Features.Shape()[1], d.Classes, len(s.Train), len(s.Val), len(s.Test)})
		return p.Err()
	}
	if err := d.Describe(e.Out); err != nil {
		return err
	}
	p.Printf("%-9s %s\n", "from", d.from)
	return p.Err()
}

// graphs describes a dataset of many graphs.
func (c *dataDescribeCommand) graphs(e cli.Env) error {
	d, err := source.OpenGraphs(c.Data, c.Name, c.Chosen().Column)
	if err != nil {
		return err
	}
	p, from := report.NewPrinter(e.Out), cmp.Or(datasets.FindGraphs(c.Data, c.Name), "this program")
	if c.JSON {
		s, width := d.Split, 0
		if d.Features != nil {
			width = d.Features.Dim(1)
		}
		p.Encode(description{d.Name, from, d.Len(), d.Graph.NumNodes(), d.Graph.NumEdges(), width, d.Classes, len(s.Train), len(s.Val), len(s.Test)})
		return p.Err()
	}
	if err := d.Describe(e.Out); err != nil {
		return err
	}
	p.Printf("%-9s %s\n", "from", from)
	return p.Err()
}

// dataCheckCommand is gatbench data check.
type dataCheckCommand struct {
	source.ColumnFlags `embed:""`
	Paths              []string `arg:"" name:"path" help:"A file or folder with a dataset."`
}

// Run reads the files and says which are right.
func (c *dataCheckCommand) Run(e cli.Env) error {
	p, wrong := report.NewPrinter(e.Out), 0
	for _, path := range c.Paths {
		if datasets.FindGraphs("", path) == path {
			if d, err := datasets.ReadGraphs(path); err != nil {
				wrong++
				p.Line("wrong  %v", err)
			} else {
				p.Line("right  %s: %d graphs, %d nodes, %d edges", path, d.Len(), d.Graph.NumNodes(), d.Graph.NumEdges())
				mind(p, d.Doubt())
			}
			continue
		}
		if d, err := relatedIn("", path); d != nil || err != nil {
			if err != nil {
				wrong++
				p.Line("wrong  %v", err)
			} else {
				p.Line("right  %s: %s", path, d)
			}
			continue
		}
		d, err := c.Chosen().Read(path)
		if err != nil {
			wrong++
			p.Line("wrong  %v", err)
			continue
		}
		p.Line("right  %s: %d nodes, %d edges%s", path, d.Graph.NumNodes(), d.Graph.NumEdges(), unusual(d.Graph))
		for _, says := range d.Warnings {
			mind(p, says)
		}
		mind(p, d.Doubt())
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d cannot be used", wrong, len(c.Paths))
	}
	return p.Err()
}

// mind prints what may be a mistake in data that is right otherwise, if anything is.
func mind(p *report.Printer, doubt string) {
	if doubt != "" {
		p.Line("note   %v", errors.New(doubt))
	}
}

// unusual returns what is legal in a graph and yet often a mistake.
func unusual(g *graph.Graph) string {
	if report := g.Check().String(); report != "" {
		return "; " + strings.ReplaceAll(report, "\n", "; ")
	}
	return ""
}

// dataConvertCommand is gatbench data convert.
type dataConvertCommand struct {
	dataDir
	source.ColumnFlags `embed:""`
	Name               string `arg:"" name:"name" help:"A name that gatbench data list shows, or a file or folder."`
	Out                string `required:"" short:"o" placeholder:"FILE.npz" help:"The file to write."`
	Undirected         bool   `help:"Add the reverse of every edge that has none."`
	Largest            bool   `name:"largest-component" help:"Keep only the nodes of the largest connected component."`
}

// Run writes the file.
func (c *dataConvertCommand) Run(e cli.Env) error {
	if !strings.HasSuffix(c.Out, ".npz") {
		return cli.Misuse("--out %s: its name must end in .npz", c.Out)
	}
	if err := cli.Target("out", c.Out); err != nil {
		return err
	}
	if err := cli.Apart(source.DatasetFiles("the dataset", c.Data, source.DatasetNamed(c.Name)), []cli.File{{Flag: "--out", Path: c.Out}}); err != nil {
		return err
	}
	d, err := c.load(c.Name, c.Chosen())
	if err != nil {
		return err
	}
	if c.Undirected {
		d.Dataset = d.Dataset.Undirected()
	}
	if c.Largest {
		d.Dataset = d.LargestComponent()
	}
	if err := d.WriteNPZ(c.Out); err != nil {
		return err
	}
	info, err := os.Stat(c.Out)
	if err != nil {
		return err
	}
	p := report.NewPrinter(e.Out)
	p.Printf("%s: %s, %d nodes, %d edges, %.1f MB\n", c.Out, d.Name, d.Graph.NumNodes(), d.Graph.NumEdges(), float64(info.Size())/1e6)
	return p.Err()
}

// dataGenerateCommand is gatbench data generate.
type dataGenerateCommand struct {
	What     string `arg:"" enum:"bank,rmat" help:"bank: customers and their payments; which customers default, and which payments are frauds? rmat: a large graph with hubs, as the Graph500 benchmark draws it, to measure speed on."`
	Seed     uint64 `default:"0" help:"The seed of everything that is drawn."`
	Out      string `required:"" short:"o" placeholder:"PATH" help:"The folder to write bank_nodes.csv and bank_edges.csv into, or the .npz file of rmat."`
	Nodes    *int   `placeholder:"N" help:"rmat: the number of nodes. Default: 2400000."`
	Edges    *int   `placeholder:"N" help:"rmat: the number of edges to draw, of which loops and repeated ones are left out. Default: 62000000."`
	Features *int   `placeholder:"N" help:"rmat: the number of features, which are noise around a mean of each class. Default: 100."`
	Classes  *int   `placeholder:"N" help:"rmat: the number of classes, which are drawn for each node; edges say nothing of them. Default: 16."`
}

// Run draws and writes what is asked for.
func (c *dataGenerateCommand) Run(e cli.Env) error {
	if c.What == "rmat" {
		return c.rmat(e)
	}
	if c.Nodes != nil || c.Edges != nil || c.Features != nil || c.Classes != nil {
		return cli.Misuse("--nodes, --edges, --features and --classes are for rmat: leave them out")
	}
	return c.bank(e)
}

// rmat draws and writes a large graph.
func (c *dataGenerateCommand) rmat(e cli.Env) error {
	nodes, edges, width, classes := cli.Or(c.Nodes, 2_400_000), cli.Or(c.Edges, 62_000_000), cli.Or(c.Features, 100), cli.Or(c.Classes, 16)
	const most = 1 << 30 // numbers in the features
	switch {
	case !strings.HasSuffix(c.Out, ".npz"):
		return cli.Misuse("--out %s: its name must end in .npz", c.Out)
	case width < 1 || width > most/max(1, nodes):
		return cli.Misuse("--features %d: want at least 1, and at most %d for %d nodes", width, most/max(1, nodes), nodes)
	case classes < 2 || classes > nodes:
		return cli.Misuse("--classes %d: want at least 2, and at most as many as nodes", classes)
	}
	if err := cli.Target("out", c.Out); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(c.Seed, 0x726d6174))
	g, err := graph.RMAT(rng, nodes, edges)
	if err != nil {
		return cli.Misuse("--nodes %d --edges %d: %w", nodes, edges, err)
	}
	g, _, _ = g.WithoutSelfLoops().Coalesce()
	d := &datasets.Dataset{Name: "rmat", Graph: g, Labels: make([]int32, nodes), Classes: classes}
	x := tensor.New(nodes, width)
	x.Normal(rng, 0, 1)
	for v := range d.Labels {
		class := rng.IntN(classes)
		d.Labels[v] = int32(class)
		x.Row(v)[class%width]++
	}
	d.Features = x
	if err := d.WriteNPZ(c.Out); err != nil {
		return err
	}
	p := report.NewPrinter(e.Out)
	p.Line("%s: %d nodes, %d edges (of %d drawn, without loops and repeated ones), %d features, %d classes", c.Out, nodes, g.NumEdges(), edges, width, classes)
	return p.Err()
}

// bank draws and writes the tables of a bank.
func (c *dataGenerateCommand) bank(e cli.Env) error {
	t, err := datasets.Bank{Seed: c.Seed}.Draw()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Out, 0o777); err != nil {
		return err
	}
	p := report.NewPrinter(e.Out)
	for _, f := range []struct {
		name, of string
		rows     [][]string
		chance   []float64 // of each row, that its answer is yes
	}{{c.What + "_nodes.csv", "customers", t.Customers, t.Default}, {c.What + "_edges.csv", "payments", t.Payments, t.Fraud}} {
		path := filepath.Join(c.Out, f.name)
		if err := atomicfile.Write(path, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(f.rows) }); err != nil {
			return err
		}
		label, positive, n := len(f.rows[0])-1, make([]bool, len(f.chance)), 0
		for i, r := range f.rows[1:] {
			if positive[i] = r[label] == "yes"; positive[i] {
				n++
			}
		}
		p.Line("%s: %d %s, %d of them %s; ranked by the probabilities that the answers were drawn from, their average precision is %.3f", path, len(f.chance), f.of, n, f.rows[0][label], train.AveragePrecision(f.chance, positive))
	}
	return p.Err()
}
