package gatbench

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
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

// dataListCommand is gatbench data list.
type dataListCommand struct {
	dataDir
	JSON bool `name:"json" help:"Print a JSON object for each dataset, one a line."`
}

// listed is a dataset as data list shows it. One of text has no nodes, and no title.
type listed struct {
	Event    string `json:"event"` // "dataset"
	Kind     string `json:"kind"`  // "graph" or "text"
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
	p, here := report.NewPrinter(e.Out), ""
	if !c.JSON {
		p.Printf("%-18s %6s %7s %8s %7s  %-46s %s\n", "name", "nodes", "edges", "features", "classes", "", "where")
	}
	for _, i := range datasets.Catalogue() {
		l := listed{"dataset", "graph", i.Name, i.Title, i.About, i.Nodes, i.Edges, i.Features, i.Classes, source.Where(c.Data, i.Name)}
		if l.Where != "" && here == "" {
			here = l.Name
		}
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
	if !c.JSON {
		p.Next(source.Describing(here, c.Data)) // karate at least is here
	}
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
			p.Encode(listed{Event: "dataset", Kind: "text", Name: i.Name, About: i.About, Where: path})
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
	Name               string `arg:"" name:"data" help:"A name that gatbench data list shows, or a file or folder."`
	JSON               bool   `name:"json" help:"Print one JSON object."`
	Undirected         bool   `help:"Add the reverse of every edge that has none."`
}

// Run describes the dataset.
func (c *dataDescribeCommand) Run(e cli.Env) error {
	says := ""
	f, err := cli.Reading(e, c.Name, func() (f *source.Found, err error) {
		if f, err = source.Find(c.Data, c.Name, c.Chosen()); err != nil {
			return nil, err
		}
		if c.Undirected {
			if f.Graph == nil {
				return nil, cli.Misuse("--undirected: it is for one graph, and %s is %s: leave it out", c.Name, f.Kind)
			}
			f.Graph = f.Graph.Undirected()
		}
		says, err = f.Describe()
		return f, err
	})
	if err != nil {
		return err
	}
	p := report.NewPrinter(e.Out)
	if c.JSON {
		p.Encode(f.Description())
		return p.Err()
	}
	p.Drawn(says)
	p.Next(cmp.Or(f.Train(c.Name, c.Data, c.Chosen(), c.Undirected), cli.Program+" train --help"))
	return p.Err()
}

// dataCheckCommand is gatbench data check.
type dataCheckCommand struct {
	source.ColumnFlags `embed:""`
	Paths              []string `arg:"" name:"path" help:"A file or folder with a dataset."`
	JSON               bool     `name:"json" help:"Print a JSON object for each path, one a line."`
}

// checked is what data check says of a path.
type checked struct {
	Event string      `json:"event"` // "check"
	Path  string      `json:"path"`
	Right bool        `json:"right"`
	Error string      `json:"error,omitempty"`
	Kind  source.Kind `json:"kind,omitempty"`
	source.Counts
	Notes []string `json:"notes,omitempty"` // what may be a mistake
}

// Run reads the files and says which are right.
func (c *dataCheckCommand) Run(e cli.Env) error {
	p, wrong, next := report.NewPrinter(e.Out), 0, ""
	for _, path := range c.Paths {
		f, err := cli.Reading(e, path, func() (*source.Found, error) { return source.Find("", path, c.Chosen()) })
		if err != nil {
			if wrong++; c.JSON {
				p.Encode(checked{Event: "check", Path: path, Error: err.Error()})
			} else {
				p.Line("wrong  %v", err)
			}
			continue
		}
		next = cmp.Or(next, f.Train(path, "", c.Chosen(), false), source.Describing(path, ""))
		unusual, notes := f.Notes()
		if c.JSON {
			p.Encode(checked{"check", path, true, "", f.Kind, f.Counts(), append(unusual, notes...)})
			continue
		}
		p.Line("right  %s: %s", path, strings.Join(append([]string{f.String()}, unusual...), "; "))
		for _, says := range notes {
			p.Line("note   %v", errors.New(says))
		}
	}
	if next != "" && !c.JSON {
		p.Next(next)
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d cannot be used", wrong, len(c.Paths))
	}
	return p.Err()
}

// dataConvertCommand is gatbench data convert.
type dataConvertCommand struct {
	dataDir
	source.ColumnFlags `embed:""`
	Name               string `arg:"" name:"data" help:"A name that gatbench data list shows, or a file or folder."`
	Out                string `required:"" short:"o" placeholder:"FILE.npz" help:"The file to write."`
	Undirected         bool   `help:"Add the reverse of every edge that has none."`
	Largest            bool   `name:"largest-component" help:"Keep only the nodes of the largest connected component."`
	JSON               bool   `name:"json" help:"Print one JSON object."`
}

// written is a file that data convert or data generate wrote.
type written struct {
	Event    string `json:"event"` // "written"
	File     string `json:"file"`
	Holds    string `json:"holds"` // the name of a dataset, or what the rows of a table are
	Bytes    int64  `json:"bytes"`
	Nodes    int    `json:"nodes,omitempty"` // of a dataset
	Edges    int    `json:"edges,omitempty"`
	Drawn    int    `json:"edges_drawn,omitempty"` // before loops and repeated ones were left out
	Features int    `json:"features,omitempty"`
	Classes  int    `json:"classes,omitempty"`

	Rows     int     `json:"rows,omitempty"` // of a table
	Label    string  `json:"label,omitempty"`
	Positive int     `json:"positive,omitempty"`               // rows whose label is yes
	Best     float64 `json:"best_average_precision,omitempty"` // of a model that knew the probabilities that labels were drawn from
}

// of completes the line with the size of its file.
func (l written) of(file string) (written, error) {
	info, err := os.Stat(file)
	if err == nil {
		l.Event, l.File, l.Bytes = "written", file, info.Size()
	}
	return l, err
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
	f, err := cli.Reading(e, c.Name, func() (*source.Found, error) { return source.Find(c.Data, c.Name, c.Chosen()) })
	if err != nil {
		return err
	}
	d := f.Graph
	if d == nil {
		return cli.Misuse("%s is %s, and an .npz file holds one graph: %s train reads it as it stands", c.Name, f.Kind, cli.Program)
	}
	done := report.NewProgress(e.ErrOut).During("writing " + c.Out)
	if c.Undirected {
		d = d.Undirected()
	}
	if c.Largest {
		d = d.LargestComponent()
	}
	err = d.SaveNPZ(c.Out)
	done()
	if err != nil {
		return err
	}
	l, err := written{Holds: d.Name, Nodes: d.Graph.NumNodes(), Edges: d.Graph.NumEdges(), Features: d.Features.Shape()[1], Classes: d.Classes}.of(c.Out)
	if err != nil {
		return err
	}
	p := report.NewPrinter(e.Out)
	if c.JSON {
		p.Encode(l)
		return p.Err()
	}
	p.Printf("%s: %s, %d nodes, %d edges, %.1f MB\n", l.File, l.Holds, l.Nodes, l.Edges, float64(l.Bytes)/1e6)
	f.Graph = d
	p.Next(cmp.Or(f.Train(c.Out, "", source.Columns{}, false), source.Describing(c.Out, "")))
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
	JSON     bool   `name:"json" help:"Print a JSON object for each file, one a line."`
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
	case edges < 0 || edges > math.MaxInt32:
		return cli.Misuse("--edges %d: want 0 to %d", edges, math.MaxInt32)
	}
	if err := cli.Target("out", c.Out); err != nil {
		return err
	}
	done := report.NewProgress(e.ErrOut).During("drawing " + c.Out)
	defer done()
	rng := rand.New(rand.NewPCG(c.Seed, 0x726d6174))
	g, _, _ := graph.Coalesce(graph.WithoutSelfLoops(random.RMAT(rng, nodes, edges)))
	d := &datasets.Dataset{Name: "rmat", Graph: g, Labels: make([]int32, nodes), Classes: classes}
	x := tensor.New(nodes, width)
	x.Normal(rng, 0, 1)
	for v := range d.Labels {
		class := rng.IntN(classes)
		d.Labels[v] = int32(class)
		x.Row(v)[class%width]++
	}
	d.Features = x
	if err := d.SaveNPZ(c.Out); err != nil {
		return err
	}
	l, err := written{Holds: d.Name, Nodes: nodes, Edges: g.NumEdges(), Drawn: edges, Features: width, Classes: classes}.of(c.Out)
	done()
	if err != nil {
		return err
	}
	p := report.NewPrinter(e.Out)
	if c.JSON {
		p.Encode(l)
		return p.Err()
	}
	p.Line("%s: %d nodes, %d edges (of %d drawn, without loops and repeated ones), %d features, %d classes", l.File, l.Nodes, l.Edges, l.Drawn, l.Features, l.Classes)
	p.Next(source.Training(c.Out, ""))
	return p.Err()
}

// bank draws and writes the tables of a bank.
func (c *dataGenerateCommand) bank(e cli.Env) error {
	if _, err := os.Stat(c.Out); err == nil && !cli.IsFolder(c.Out) {
		return cli.Misuse("--out %s: it is a file; name a folder", c.Out)
	}
	if err := os.MkdirAll(c.Out, 0o777); err != nil {
		return fmt.Errorf("--out %s: %w", c.Out, err)
	}
	nodes, edges := filepath.Join(c.Out, c.What+"_nodes.csv"), filepath.Join(c.Out, c.What+"_edges.csv")
	if err := errors.Join(cli.Target("out", nodes), cli.Target("out", edges)); err != nil {
		return err
	}
	done := report.NewProgress(e.ErrOut).During("drawing " + c.Out)
	defer done()
	t, err := datasets.Bank{Seed: c.Seed}.Draw()
	if err != nil {
		return err
	}
	var lines []written
	for _, f := range []struct {
		path, holds string
		rows        [][]string
		chance      []float64 // of each row, that its answer is yes
	}{{nodes, "customers", t.Customers, t.Default}, {edges, "payments", t.Payments, t.Fraud}} {
		if err := atomicfile.Write(f.path, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(f.rows) }); err != nil {
			return err
		}
		l, err := written{Holds: f.holds, Rows: len(f.chance)}.of(f.path)
		if err != nil {
			return err
		}
		label, positive := len(f.rows[0])-1, make([]bool, len(f.chance))
		for i, r := range f.rows[1:] {
			if positive[i] = r[label] == "yes"; positive[i] {
				l.Positive++
			}
		}
		l.Label, l.Best = f.rows[0][label], train.AveragePrecision(f.chance, positive)
		lines = append(lines, l)
	}
	done()
	p := report.NewPrinter(e.Out)
	for _, l := range lines {
		if c.JSON {
			p.Encode(l)
			continue
		}
		p.Line("%s: %d %s, %d of them %s; ranked by the probabilities that the answers were drawn from, their average precision is %.3f", l.File, l.Rows, l.Holds, l.Positive, l.Label, l.Best)
	}
	if !c.JSON {
		p.Next(source.Training(c.Out, "") + " --label " + lines[0].Label)
	}
	return p.Err()
}
