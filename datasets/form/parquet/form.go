package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

var endings = []string{".parquet", ".pq"}

// Form reads tables of nodes and edges in Parquet.
var Form = form.Form{
	Name:    "parquet",
	Endings: endings,
	Says:    "tables of edges and nodes in Parquet: edges.parquet with nodes.parquet, or NAME_edges.parquet with NAME_nodes.parquet",
	Opens:   func(names []string) (string, error) { return form.FamilyIn(names, endings) },
	Takes: func(_ *form.Files, name string) string { // a table that is named may be called anything
		if slices.Contains(endings, strings.ToLower(path.Ext(name))) {
			return name
		}
		return ""
	},
	Read: read,
	Belongs: func(names []string, main string) (files []string) {
		for _, m := range form.Family(names, main, endings) {
			files = append(files, m.File)
		}
		return files
	},
}

// read reads the family of tables that main belongs to.
func read(f *form.Files, main string, o form.Options) (*form.Raw, error) {
	return f.ReadFamily(main, endings, o, func(m form.Member) ([]form.Named, error) {
		t, err := readFile(f, m, o)
		if err != nil {
			return nil, err
		}
		return []form.Named{m.Named(*t)}, nil
	})
}

// readFile reads one file.
func readFile(f *form.Files, m form.Member, o form.Options) (*form.Table, error) {
	at := f.At(m.File)
	r, size, closed, err := open(f, m.File)
	if err != nil {
		return nil, err
	}
	defer closed()
	t, err := readTable(r, size, at, func(column string) bool {
		return slices.Contains([]string{o.ID, o.Source, o.Target, o.EdgeID}, column) || form.NamesRows(column, m.Type, m.From, m.To)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return t, nil
}

// open opens a file, from which it takes gzip or zstd.
func open(f *form.Files, name string) (r io.ReaderAt, size int64, closed func() error, err error) {
	if unpack.Plain(name) == name {
		return f.OpenAt(name)
	}
	text, err := f.Open(name)
	if err != nil {
		return nil, 0, nil, err
	}
	defer text.Close()
	b, err := io.ReadAll(text)
	if err != nil {
		return nil, 0, nil, fmt.Errorf("%s: %w", f.At(name), err)
	}
	return bytes.NewReader(b), int64(len(b)), func() error { return nil }, nil
}

// What memory a file is believed to need: a fixed amount, and so much for each of its bytes.
const (
	keptLeast = 48 << 20
	keptPer   = 128
)

// readTable reads a file, whose columns of which exact says so may be ids.
func readTable(r io.ReaderAt, size int64, name string, exact func(column string) bool) (out *form.Table, err error) {
	f, err := readFooter(r, size)
	if err != nil {
		return nil, err
	}
	leaves, err := f.columns()
	if err != nil {
		return nil, err
	}
	out = &form.Table{Rows: int(f.rows), Columns: make([]form.Column, len(leaves)), Origin: form.Origin{File: name, Unit: "row", First: 1}}
	t := &table{r: r, size: size, f: f, most: unpack.Limit(size)}
	t.left.Store(keptLeast + keptPer*min(size, 1<<48))
	var tasks []task
	for i := range leaves {
		l, c := &leaves[i], &out.Columns[i]
		c.Name = l.name
		if c.Type, err = l.typeOf(exact(l.name)); err != nil {
			return nil, err
		}
		more, err := t.tasks(l, c)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, more...)
	}
	if err := sideBySide(tasks); err != nil {
		return nil, err
	}
	for i := range out.Columns {
		form.Rounded(&out.Columns[i])
	}
	return out, nil
}

// task reads a column, or a row group of one.
type task struct {
	bytes int64
	do    func() error
}

// tasks returns what reads a column.
func (t *table) tasks(l *leaf, c *form.Column) (tasks []task, err error) {
	rows, all := int(t.f.rows), int64(0)
	if c.Type == form.Number || c.Type == form.Time {
		if err := t.keep(8 * rows); err != nil {
			return nil, err
		}
	}
	switch c.Type {
	case form.Number:
		c.Numbers, c.Truth = make([]float64, rows), l.physical == physBool
	case form.Time:
		c.Times, c.Dated = make([]int64, rows), l.logical != 0 && l.logical != logicalInteger || l.physical == physInt96
	}
	first := 0
	for g, group := range t.f.groups {
		last, bytes := first+int(group.rows), group.chunks[l.index].plain
		switch c.Type {
		case form.Number:
			out := c.Numbers[first:last]
			tasks = append(tasks, task{bytes, func() error { return fixed(t, l, g, out, math.NaN(), l.numbers) }})
		case form.Time:
			out := c.Times[first:last]
			tasks = append(tasks, task{bytes, func() error { return fixed(t, l, g, out, int64(form.NoTime), l.times) }})
		}
		first, all = last, all+bytes
	}
	switch c.Type {
	case form.Word:
		tasks = append(tasks, task{2 * all, func() (err error) { c.Words, err = t.words(l); return err }})
	case form.Many:
		tasks = append(tasks, task{all, func() (err error) { c.Matrix, err = t.matrix(l); return err }})
	}
	for i := range tasks {
		do := tasks[i].do
		tasks[i].do = func() error {
			if err := do(); err != nil {
				return fmt.Errorf("column %.40q: %w", l.name, err)
			}
			return nil
		}
	}
	return tasks, nil
}

// sideBySide runs tasks on all threads, those that take long first, and returns the error of the first that has one.
func sideBySide(tasks []task) error {
	order := make([]int, len(tasks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(1, max(-1, tasks[b].bytes-tasks[a].bytes))) })
	errs := make([]error, len(tasks))
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(tasks)) {
		group.Go(func() {
			for k := next.Add(1) - 1; k < int64(len(order)); k = next.Add(1) - 1 {
				errs[order[k]] = guarded(tasks[order[k]].do)
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// showPanics is for tests.
var showPanics bool

// guarded returns an error for a panic: what a damaged file leads to is not known in full.
func guarded(do func() error) (err error) {
	defer func() {
		if !showPanics && recover() != nil {
			err = errors.New("it is damaged in a way that was not thought of: get it again")
		}
	}()
	return do()
}
