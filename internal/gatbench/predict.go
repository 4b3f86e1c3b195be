package gatbench

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/datasets/form/parquet"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/npy"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/models"
)

// predictCommand is gatbench predict.
type predictCommand struct {
	task.Questions  `embed:""`
	task.SavedFlags `embed:""`
	Out             string `placeholder:"FILE" help:"Write to this file. Default: standard output."`
	Embeddings      string `placeholder:"FILE" help:"Write what the network has learnt of each node, graph or entity, a row of numbers after its id, to this .csv, .parquet or .npy file (.npy has no ids), and no predictions unless --out asks for them."`
}

// Run writes the class of each node, edge or graph, and how sure the model is.
func (c *predictCommand) Run(e cli.Env) error {
	threads, err := c.Begin(e, c.Threads)
	if err != nil {
		return err
	}
	c.Threads = threads
	for _, f := range []struct{ flag, path string }{{"out", c.Out}, {"embeddings", c.Embeddings}} {
		if err := cli.Target(f.flag, f.path); err != nil {
			return err
		}
	}
	if c.Embeddings != "" && !isRows(c.Embeddings) {
		return cli.Misuse("--embeddings %s: its name must end in .csv, .parquet or .npy", c.Embeddings)
	}
	c.Outs = []cli.File{{Flag: "--out", Path: c.Out}, {Flag: "--embeddings", Path: c.Embeddings}}
	c.Few = len(c.Nodes) > 0
	m, _, err := task.Load(&c.SavedFlags)
	if err != nil {
		return err
	}
	if c.Embeddings != "" {
		if err := c.embed(e, m); err != nil || c.Out == "" && !c.Ask() {
			if err == nil {
				err = c.next(e, m)
			}
			return err
		}
	}
	write, err := m.Predict(e, &c.Questions)
	if err != nil {
		return err
	}
	if c.Out != "" {
		var failed error
		err := e.Writes(c.Out, func(w io.Writer) error {
			failed = write(w)
			return failed
		})
		if failed != nil && !errors.As(failed, new(*fs.PathError)) { // it has nothing to do with the file
			return failed
		}
		if err == nil {
			err = c.next(e, m)
		}
		return err
	}
	if err := write(e.Out); err != nil || c.JSON || report.Width(e.Out) == 0 {
		return err
	}
	report.NewPrinter(e.ErrOut).Next(c.again(m))
	return nil
}

// next says what was written, and what to do next.
func (c *predictCommand) next(e cli.Env, m task.Model) error {
	if c.JSON {
		return nil
	}
	p := report.NewPrinter(e.Out)
	for _, f := range []struct{ what, path string }{{"predictions in", c.Out}, {"embeddings in", c.Embeddings}} {
		if f.path != "" {
			p.Printf("%s %s\n", f.what, f.path)
		}
	}
	p.Next(c.again(m))
	return p.Err()
}

// again is the command to try next: why the model says so of a node that was asked for, or how good it is.
func (c *predictCommand) again(m task.Model) string {
	if _, ok := m.(explainer); ok && len(c.Nodes) > 0 {
		return fmt.Sprintf("%s explain %s --node %s%s", cli.Program, cli.Word(c.File), cli.Word(c.Nodes[0]), c.Again())
	}
	return fmt.Sprintf("%s eval %s%s", cli.Program, cli.Word(c.File), c.Again())
}

// isRows reports whether a file is one that --embeddings writes.
func isRows(path string) bool {
	return slices.Contains([]string{".csv", ".parquet", ".npy"}, strings.ToLower(filepath.Ext(path)))
}

// embed writes the file of --embeddings.
func (c *predictCommand) embed(e cli.Env, m task.Model) error {
	defer par.SetThreads(c.Threads)()
	x, err := m.Embed(e, c.Nodes)
	if err != nil {
		return task.AskedFor(err)
	}
	task.Warn(e, x.Warnings)
	defer report.NewProgress(e.ErrOut).During("writing " + c.Embeddings)()
	return e.Writes(c.Embeddings, func(w io.Writer) error {
		switch strings.ToLower(filepath.Ext(c.Embeddings)) {
		case ".npy":
			return (&npy.Named{Data: any(x.Rows.Data), Shape: x.Rows.Shape()}).Write(w)
		case ".parquet":
			t := form.Table{Rows: len(x.IDs), IDs: &form.Words{Texts: x.IDs}, Columns: []form.Column{{Name: "embedding", Type: form.Many, Matrix: form.MatrixOf(x.Rows)}}}
			return parquet.Write(w, &t)
		}
		return writeRows(w, x)
	})
}

// writeRows writes embeddings as a table.
func writeRows(w io.Writer, x *models.Embeddings) error {
	p := report.NewPrinter(w)
	head := "id"
	if x.Types != nil {
		head = "type,id"
	}
	for j := range x.Rows.Dim(1) {
		head += fmt.Sprintf(",e%d", j)
	}
	p.Printf("%s\n", head)
	for i, id := range x.IDs {
		if x.Types != nil {
			p.Printf("%s,", cli.Key(x.Types[i]))
		}
		p.Printf("%s", cli.Key(id))
		for _, v := range x.Rows.Row(i) {
			p.Printf(",%v", v)
		}
		p.Printf("\n")
	}
	return p.Err()
}
