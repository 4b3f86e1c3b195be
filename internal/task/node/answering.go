package node

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/ranks"
)

// answering is a saved model of nodes or edges, and the data that it is asked about: rows as files have them, or a
// dataset that is known by its name.
type answering struct {
	*models.Predictor
	recipe Recipe
	raw    *form.Raw         // nil of a dataset
	base   *form.Raw         // rows that are known from before; nil: none are
	data   *datasets.Dataset // nil of rows
	name   string            // of the data
	splits string            // where its split is
	path   string            // of the model
	team   *ranks.Team       // of the ranks that answer together; nil: this process is alone
}

// answering opens the model and its data, or those that flags name.
func (f *Model) answering(e cli.Env) (*answering, error) {
	a := &answering{path: f.File, team: e.Team}
	var err error
	if a.Predictor, err = task.OpenFile(f.File, &a.recipe); err != nil {
		return nil, err
	}
	a.recipe.Fanout = allWritten(a.recipe.Fanout)
	if of := task.TaskIn(a.Predictor); of != task.Node && of != task.Edge {
		return nil, fmt.Errorf("%s is a model of the task %s, and one of nodes or edges is wanted", f.File, of)
	}
	was := a.recipe.Dataset
	if was == "" && f.Dataset == nil {
		return nil, cli.Misuse("%s does not say what it was trained on: name the data with --dataset", f.File)
	}
	from := a.recipe.origin()
	at, err := f.Places(e, &from)
	if err != nil {
		return nil, err
	}
	a.recipe.from(from)
	a.name, a.splits = at.Dataset, at.Splits
	in := append(source.DatasetFiles("--dataset", f.Data, at.Dataset), cli.File{Flag: "the model", Path: f.File})
	if f.Base != "" {
		in = append(in, source.DatasetFiles("--base", f.Data, f.Base)...)
	}
	if err := cli.Apart(in, f.Outs); err != nil {
		return nil, err
	}
	if a.Schema == nil || slices.Contains(datasets.Names(), at.Dataset) || datasets.FindGraphs(f.Data, at.Dataset) != "" {
		if f.Base != "" {
			return nil, cli.Misuse("--base: %s is no table, whose rows could stand beside others: leave it out", at.Dataset)
		}
		a.data, err = cli.Reading(e, at.Dataset, func() (*datasets.Dataset, error) {
			return source.OpenNodes(f.Data, at.Dataset, task.TaskIn(a.Predictor), a.recipe.Columns)
		})
		if err == nil {
			err = e.SameData(at.Dataset, a.data)
		}
		if err == nil && f.Dataset == nil && !f.Few {
			Changed(e, a.Predictor, a.data, at.Dataset)
		}
		return a, err
	}
	if a.raw, err = ReadRows(e, f.Data, at.Dataset, a.Predictor); err != nil {
		return nil, err
	}
	if err := e.SameDigest(at.Dataset, func() []byte { return digestOfRows(a.raw) }); err != nil {
		return nil, err
	}
	if (f.Dataset == nil || was == at.Dataset) && !f.Few {
		a.changed(e, a.raw, at.Dataset)
	}
	return a, f.beside(e, a, was, at.Dataset)
}

// ReadRows reads rows as the columns of a model's tables are called.
func ReadRows(e cli.Env, dir, name string, p *models.Predictor) (*form.Raw, error) {
	own := p.Schema.Options
	o := form.Options{ID: own.ID, Source: own.Source, Target: own.Target, EdgeID: own.EdgeID, Others: source.OtherForms()}
	return cli.Reading(e, name, func() (*form.Raw, error) {
		raw, err := form.Load(name, o)
		if errors.Is(err, fs.ErrNotExist) {
			if path, found := datasets.Find(dir, name); found == nil {
				return form.Load(path, o)
			}
		}
		return raw, err
	})
}

// digestOfRows tells rows from others by their tables, columns and ids.
func digestOfRows(raw *form.Raw) []byte {
	h := sha256.New()
	say := func(t *form.Table) {
		_, _ = fmt.Fprintln(h, t.Rows)
		for _, c := range t.Columns {
			_, _ = fmt.Fprintln(h, c.Name)
		}
		if t.IDs != nil {
			_, _ = fmt.Fprintln(h, t.IDs.Texts)
		}
	}
	for i := range raw.Nodes {
		say(&raw.Nodes[i].Table)
	}
	for i := range raw.Edges {
		say(&raw.Edges[i].Table)
	}
	return h.Sum(nil)
}

// beside reads the rows that are known from before: those of --base, or, where edges lead to rows that the data does not list, those that the
// model was trained on.
func (f *Model) beside(e cli.Env, a *answering, was, now string) (err error) {
	base := f.Base
	if base == "" {
		unlisted := slices.ContainsFunc(a.raw.Nodes, func(n form.Nodes) bool { return n.Listed > 0 && n.Listed < n.Rows })
		if !unlisted || f.Dataset == nil || was == "" || was == now {
			return nil
		}
		path, err := task.SavedModel{Path: f.File, Data: f.Data}.Locate(e, "dataset", was, nil)
		if err != nil {
			return fmt.Errorf("edges of %s lead to rows that it does not list, and %s, which the model was trained on, is not here: name the data that has them with --base", now, was)
		}
		base = path
		report.Message(e.ErrOut, fmt.Sprintf("edges lead to rows that %s does not list; they are read from %s (--base names others)", now, base))
	}
	if a.base, err = ReadRows(e, f.Data, base, a.Predictor); err == nil && f.Base == "" && !f.Few {
		a.changed(e, a.base, base)
	}
	return err
}

// changed warns if the rows that the model was trained on are others now.
func (a *answering) changed(e cli.Env, raw *form.Raw, name string) {
	if d, err := datasets.From(raw, a.Schema); err == nil { // of an error the answers say it
		Changed(e, a.Predictor, d, name)
	}
}

// Changed warns if what a model was trained on is not that any more.
func Changed(e cli.Env, p *models.Predictor, d *datasets.Dataset, name string) {
	if p.Data.Digest != "" && p.DigestOf(d) != p.Data.Digest {
		report.Message(e.ErrOut, fmt.Sprintf("%s is not what the model was trained on any more: it has changed since", name))
	}
}

// query is what is asked, with the rows that are known.
func (a *answering) query(ids []string) models.Query {
	return models.Query{IDs: ids, Base: a.base, Team: a.team}
}

// each answers a query in batches, and says what was read in a way that may not be meant.
func (a *answering) each(e cli.Env, ids []string) iter.Seq2[*models.Answers, error] {
	q := a.query(ids)
	all := a.Predictor.Each(a.raw, q)
	if a.raw == nil {
		all = a.Of(a.data, q)
	}
	total, noun := a.expected(ids)
	return task.Watched(e, total, noun, all, a.unfit)
}

// expected is how many answers a query has, and of what; 0: nobody knows how many.
func (a *answering) expected(ids []string) (total int, noun string) {
	edges := task.TaskIn(a.Predictor) == task.Edge
	total, noun = len(ids), "nodes"
	if edges {
		total, noun = 0, "edges" // of some nodes nobody knows how many
	}
	switch {
	case len(ids) > 0:
	case a.raw == nil && edges:
		total = a.data.Graph.NumEdges()
	case a.raw == nil:
		total = a.data.Graph.NumNodes()
	case edges:
		for i := range a.raw.Edges {
			total += a.raw.Edges[i].Rows
		}
	default:
		for i := range a.raw.Nodes {
			total += cmp.Or(a.raw.Nodes[i].Listed, a.raw.Nodes[i].Rows)
		}
	}
	return total, noun
}

// unfit says of an error whose data it is that the model cannot read.
func (a *answering) unfit(err error) error { return task.Unfit(err, a.path, a.Data.Name, a.name) }

// dataset returns the data with its split, as the model reads it. Of rows that are known from before nothing is measured.
func (a *answering) dataset() (*datasets.Dataset, error) {
	if a.raw == nil {
		return a.data, nil
	}
	raw := a.raw
	if a.base != nil {
		var err error
		if raw, err = form.Join(a.unlabelled(a.base), raw); err != nil {
			return nil, a.unfit(err)
		}
	}
	s, err := a.parted()
	if err != nil {
		return nil, err
	}
	d, err := datasets.From(raw, s)
	return d, a.unfit(err)
}

// parted is the model's Schema, with the column of --splits column:NAME.
func (a *answering) parted() (*columns.Schema, error) {
	if !source.IsColumn(a.splits) {
		return a.Schema, nil
	}
	name, words, err := source.PartsOf(a.splits)
	if err != nil {
		return nil, err
	}
	s, there := a.Schema.Clone(), false
	take := func(t *form.Table, own *columns.Table) {
		if col := t.Column(name); col != nil {
			own.Part, own.Parts, own.Masks, there = col.Name, words, nil, true
		}
	}
	for i := range a.raw.Nodes {
		if i < len(s.Nodes) {
			take(&a.raw.Nodes[i].Table, &s.Nodes[i])
		}
	}
	for i := range a.raw.Edges {
		if i < len(s.Edges) {
			take(&a.raw.Edges[i].Table, &s.Edges[i])
		}
	}
	if !there {
		return nil, cli.Misuse("--splits %.60s: %s has no column %.40q", a.splits, a.name, name)
	}
	return s, nil
}

// unlabelled returns rows without the columns that say what is learnt of them and in which part they are.
func (a *answering) unlabelled(raw *form.Raw) *form.Raw {
	out := *raw
	out.Nodes, out.Edges = slices.Clone(raw.Nodes), slices.Clone(raw.Edges)
	var names []string
	if a.Schema.Label != nil {
		names = a.Schema.Label.Columns
	}
	without := func(t *form.Table, tables []columns.Table) {
		own := slices.Clone(names)
		for _, s := range tables {
			own = append(append(own, s.Part), s.Masks...)
		}
		t.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c form.Column) bool {
			return slices.ContainsFunc(own, func(name string) bool { return form.Plain(name) == form.Plain(c.Name) })
		})
	}
	for i := range out.Nodes {
		without(&out.Nodes[i].Table, a.Schema.Nodes)
	}
	for i := range out.Edges {
		without(&out.Edges[i].Table, a.Schema.Edges)
	}
	return &out
}
