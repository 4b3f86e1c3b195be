package source

import (
	"cmp"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/internal/cli"
)

// ColumnFlags say what the columns of tables are for.
type ColumnFlags struct {
	ID       *string  `name:"id" placeholder:"COLUMN" group:"tables" help:"The column that names each node. Default: the one that is called id."`
	Source   *string  `placeholder:"COLUMN" group:"tables" help:"The column of the node that an edge leads from. Default: the one that is called source."`
	Target   *string  `placeholder:"COLUMN" group:"tables" help:"The column of the node that an edge leads to. Default: the one that is called target."`
	EdgeID   *string  `name:"edge-id" placeholder:"COLUMN" group:"tables" help:"The column that names each edge. Default: none."`
	Label    []string `placeholder:"COLUMN" group:"tables" help:"The column to predict, of nodes or of edges. Several, separated by commas, are numbers or, if all are 0 and 1, labels. Default: the one that is called label, class or y."`
	Weight   *string  `placeholder:"COLUMN" group:"tables" help:"The column of the weights of edges. Default: the one that is called weight."`
	Column   []string `placeholder:"COLUMN=KIND" group:"tables" help:"What a column becomes: number (standardised), plain (a number as it stands), log (its logarithm, standardised), category (a feature for each word), code (a learnt row for each word or whole number), time (days and cycles), text (its words, weighted) or none (no feature). May be given several times. Default: its contents decide; data describe shows what."`
	Repeated *string  `placeholder:"RULE" group:"tables" help:"What becomes of several edges from one node to another: first (the first counts, with the sum of the weights), keep (each is an edge; the default where there is a label and edges have columns of their own, or the label is of edges; else first is), sum (one edge with the sums of their numbers) or count (one edge whose weight is how many there are)."`
	Directed *bool    `group:"tables" help:"Use every edge in its own direction only, from source to target, even if the files mean both."`
}

// Columns are what ColumnFlags said, as a model keeps it.
type Columns struct {
	ID       string `json:",omitempty"`
	Source   string `json:",omitempty"`
	Target   string `json:",omitempty"`
	EdgeID   string `json:",omitempty"`
	Label    string `json:",omitempty"` // between commas
	Weight   string `json:",omitempty"`
	Column   string `json:",omitempty"` // NAME=KIND between commas
	Repeated string `json:",omitempty"`
	Directed bool   `json:",omitempty"`

	Parts string `json:"-"` // --splits of a column, while the data is read
}

// Choose gives c what flags were given for.
func (f *ColumnFlags) Choose(c *Columns) {
	cli.Set(&c.ID, f.ID)
	cli.Set(&c.Source, f.Source)
	cli.Set(&c.Target, f.Target)
	cli.Set(&c.EdgeID, f.EdgeID)
	cli.Set(&c.Weight, f.Weight)
	cli.Set(&c.Repeated, f.Repeated)
	cli.Set(&c.Directed, f.Directed)
	if len(f.Label) > 0 {
		c.Label = strings.Join(f.Label, ",")
	}
	if len(f.Column) > 0 {
		c.Column = strings.Join(f.Column, ",")
	}
}

// Chosen is what flags say alone.
func (f *ColumnFlags) Chosen() (c Columns) {
	f.Choose(&c)
	return c
}

// any reports whether something was chosen.
func (c Columns) any() bool { return c != Columns{} }

// Flags returns the flags that say it, each after a space.
func (c Columns) Flags() (line string) {
	for _, f := range []struct{ name, value string }{
		{"id", c.ID}, {"source", c.Source}, {"target", c.Target}, {"edge-id", c.EdgeID}, {"label", c.Label}, {"weight", c.Weight}, {"column", c.Column}, {"repeated", c.Repeated},
	} {
		if f.value != "" {
			line += " --" + f.name + " " + cli.Word(f.value)
		}
	}
	if c.Directed {
		line += " --directed"
	}
	return line
}

// String is flags, for people.
func (c Columns) String() string { return strings.TrimPrefix(c.Flags(), " --") }

// roles returns what readers of tables are told.
func (c Columns) roles() (columns.Roles, error) {
	r := columns.Roles{ID: c.ID, Source: c.Source, Target: c.Target, EdgeID: c.EdgeID, Weight: c.Weight, Directed: c.Directed, Repeated: columns.Repeated(c.Repeated)}
	if all := []columns.Repeated{columns.First, columns.Keep, columns.Sum, columns.Count}; c.Repeated != "" && !slices.Contains(all, r.Repeated) {
		return r, cli.OneOf("--repeated", c.Repeated, []string{"first", "keep", "sum", "count"})
	}
	if c.Parts != "" {
		var err error
		if r.Part, r.Parts, err = PartsOf(c.Parts); err != nil {
			return r, err
		}
	}
	for name := range strings.SplitSeq(c.Label, ",") {
		if name = strings.TrimSpace(name); name != "" {
			r.Label = append(r.Label, name)
		}
	}
	var kinds []string
	for _, as := range columns.Encodings {
		kinds = append(kinds, string(as))
	}
	for one := range strings.SplitSeq(c.Column, ",") {
		if strings.TrimSpace(one) == "" {
			continue
		}
		at := strings.LastIndexByte(one, '=')
		if at < 1 {
			return r, cli.Misuse("--column %s: write COLUMN=KIND, as in --column %s=none; the kinds are %s", one, cmp.Or(one, "age"), strings.Join(kinds, ", "))
		}
		name, kind := strings.TrimSpace(one[:at]), strings.TrimSpace(one[at+1:])
		if !slices.Contains(kinds, kind) {
			return r, cli.OneOf("--column "+name+"=", kind, kinds)
		}
		if r.As == nil {
			r.As = map[string]columns.Encoding{}
		}
		r.As[name] = columns.Encoding(kind)
	}
	return r, nil
}

// Read reads the dataset at a path, with these columns.
func (c Columns) Read(path string) (*datasets.Dataset, error) {
	raw, schema, err := c.raw(path)
	if err != nil {
		return nil, err
	}
	return datasets.From(raw, schema)
}

// readGraphs reads the many graphs at a path, with these columns.
func (c Columns) readGraphs(path string) (*datasets.Graphs, error) {
	raw, schema, err := c.raw(path)
	if err != nil {
		return nil, err
	}
	return datasets.GraphsFrom(raw, schema)
}

// raw reads what stands at a path, and chooses what its columns are for.
func (c Columns) raw(path string) (*form.Raw, *columns.Schema, error) {
	r, err := c.roles()
	if err != nil {
		return nil, nil, err
	}
	o := r.Options()
	o.Others = OtherForms()
	raw, err := form.Load(path, o)
	if err != nil {
		return nil, nil, err
	}
	schema, err := columns.Choose(raw, r)
	return raw, schema, err
}
