package source

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/models"
)

// Kind is what data consists of.
type Kind string

// The kinds of data.
const (
	OneGraph      Kind = "graph"
	ManyGraphs    Kind = "graphs"
	Facts         Kind = "facts"
	UsersAndItems Kind = "interactions"
)

// String is the kind for people.
func (k Kind) String() string {
	return map[Kind]string{OneGraph: "one graph", ManyGraphs: "many graphs", Facts: "the facts of a knowledge graph", UsersAndItems: "users and items"}[k]
}

// KindOf returns the kind of the data that a name stands for. Names of files and first lines tell it; nothing else is read.
func KindOf(dir, name string) Kind {
	switch {
	case HoldsGraphs(dir, name):
		return ManyGraphs
	case IsFacts(dir, name):
		return Facts
	case InteractionsIn(dir, name) != "":
		return UsersAndItems
	}
	return OneGraph
}

// Found is data that has been read.
type Found struct {
	Kind  Kind
	Name  string            // what the data calls itself
	From  string            // a path, or "this program"
	Graph *datasets.Dataset // of OneGraph; nil of other kinds

	graphs *datasets.Graphs
	facts  *datasets.Knowledge
	taken  *datasets.Interactions
}

// program is where data is from that needs no file.
const program = "this program"

// Find reads the data that a name stands for, of whatever kind it is.
func Find(dir, name string, columns Columns) (f *Found, err error) {
	f = &Found{Kind: KindOf(dir, name)}
	switch f.Kind {
	case ManyGraphs:
		if f.graphs, err = OpenGraphs(dir, name, columns.Column); err == nil {
			f.Name, f.From = f.graphs.Name, cmp.Or(datasets.FindGraphs(dir, name), program)
		}
	case Facts:
		if f.facts, err = ReadFacts(dir, name); err == nil {
			f.Name, f.From = f.facts.Name, factsPath(dir, name)
		}
	case UsersAndItems:
		f.From = InteractionsIn(dir, name)
		if f.taken, err = datasets.LoadInteractions(f.From); err == nil {
			f.Name = f.taken.Name
		}
	default:
		name = DatasetNamed(name)
		if f.Graph, err = OpenData(dir, name, columns); err == nil {
			f.Name, f.From = f.Graph.Name, Where(dir, name)
		}
	}
	return f, err
}

// Counts are how much data holds, as --json shows it. Which members there are depends on the kind.
type Counts struct {
	Graphs int `json:"graphs,omitempty"` // if they are many
	*GraphCounts
	Entities  int   `json:"entities,omitempty"`
	Relations int   `json:"relations,omitempty"`
	Facts     []int `json:"facts,omitempty"` // that train, validate and test
	Users     int   `json:"users,omitempty"`
	Items     int   `json:"items,omitempty"`
	Links     int   `json:"links,omitempty"`
}

// GraphCounts are the Counts that one graph and many graphs have.
type GraphCounts struct {
	Nodes    int `json:"nodes"`
	Edges    int `json:"edges"` // directed, without self-loops
	Features int `json:"features"`
	Classes  int `json:"classes"`
	Train    int `json:"train"`
	Val      int `json:"val"`
	Test     int `json:"test"`
}

// Counts counts what the data holds.
func (f *Found) Counts() Counts {
	switch {
	case f.facts != nil:
		k := f.facts
		return Counts{Entities: k.Entities, Relations: k.Relations(), Facts: []int{k.Train.NumEdges(), k.Val.NumEdges(), k.Test.NumEdges()}}
	case f.taken != nil:
		return Counts{Users: len(f.taken.Users), Items: len(f.taken.Items), Links: f.taken.Graph.NumEdges()}
	case f.graphs != nil:
		d, width := f.graphs, 0
		if d.Features != nil {
			width = d.Features.Dim(1)
		}
		return Counts{Graphs: d.Len(), GraphCounts: &GraphCounts{d.Graph.NumNodes(), d.Graph.NumEdges(), width, d.Classes, len(d.Split.Train), len(d.Split.Val), len(d.Split.Test)}}
	}
	d := f.Graph
	return Counts{GraphCounts: &GraphCounts{d.Graph.NumNodes(), d.Graph.NumEdges(), d.Features.Shape()[1], d.Classes, len(d.Split.Train), len(d.Split.Val), len(d.Split.Test)}}
}

// String says in a line how much there is.
func (f *Found) String() string {
	switch n := f.Counts(); f.Kind {
	case Facts:
		return fmt.Sprintf("%d entities, %d relations, %s", n.Entities, n.Relations, n.facts())
	case UsersAndItems:
		return fmt.Sprintf("%d users, %d items, %d links", n.Users, n.Items, n.Links)
	case ManyGraphs:
		return fmt.Sprintf("%d graphs, %d nodes, %d edges", n.Graphs, n.Nodes, n.Edges)
	default:
		return fmt.Sprintf("%d nodes, %d edges", n.Nodes, n.Edges)
	}
}

// facts says how many facts are for what.
func (n Counts) facts() string {
	return fmt.Sprintf("%d train, %d validation, %d test", n.Facts[0], n.Facts[1], n.Facts[2])
}

// Notes returns what is often a mistake: in the graph, and in how the data was read. Each is a sentence.
func (f *Found) Notes() (graph, data []string) {
	doubt := ""
	switch {
	case f.Graph != nil:
		if says := f.Graph.Graph.Check().String(); says != "" {
			graph = strings.Split(says, "\n")
		}
		data, doubt = slices.Clone(f.Graph.Warnings), f.Graph.Doubt()
	case f.graphs != nil:
		data, doubt = slices.Clone(f.graphs.Warnings), f.graphs.Doubt()
	}
	if doubt != "" {
		data = append(data, doubt)
	}
	return graph, data
}

// schema returns how columns were read; nil of data that has none.
func (f *Found) schema() *columns.Schema {
	switch {
	case f.Graph != nil:
		return f.Graph.Schema
	case f.graphs != nil:
		return f.graphs.Schema
	}
	return nil
}

// Description is data as data describe --json shows it.
type Description struct {
	Event string `json:"event"` // "description"
	Kind  Kind   `json:"kind"`
	Name  string `json:"name"`
	From  string `json:"from"`
	Counts
	NodeTypes []string    `json:"node_types,omitempty"` // if there are several
	EdgeTypes []string    `json:"edge_types,omitempty"` // likewise
	Label     []string    `json:"label,omitempty"`      // the columns that are learnt
	Columns   []ColumnUse `json:"columns,omitempty"`    // of tables
	Files     []string    `json:"files,omitempty"`
	Notes     []string    `json:"notes,omitempty"` // what may be a mistake
}

// ColumnUse is what becomes of a column.
type ColumnUse struct {
	Table   string `json:"table"` // nodes, edges or graphs, and the type if there are several
	Column  string `json:"column"`
	Becomes string `json:"becomes"` // an encoding, or label, part, weight, title, kind, time or none
}

// Description returns what Describe writes, for programs.
func (f *Found) Description() Description {
	d := Description{Event: "description", Kind: f.Kind, Name: f.Name, From: f.From, Counts: f.Counts(), Notes: slices.Concat(f.Notes())}
	if f.From != program {
		d.Files = datasets.Files(f.From)
	}
	if g := f.Graph; g != nil {
		d.NodeTypes, d.EdgeTypes = typeNames(g.NodeKinds), typeNames(g.EdgeKinds)
	}
	if s := f.schema(); s != nil {
		d.Label, d.Columns = labelOf(s), usesOf(s)
	}
	return d
}

// typeNames returns the names of several types; nil of one.
func typeNames(k *datasets.Kinds) []string {
	if k == nil || len(k.Names) < 2 {
		return nil
	}
	return k.Names
}

// labelOf returns the columns that are learnt.
func labelOf(s *columns.Schema) []string {
	if s.Label == nil {
		return nil
	}
	return s.Label.Columns
}

// usesOf returns what becomes of the columns of tables; nil if all features are matrices.
func usesOf(s *columns.Schema) (all []ColumnUse) {
	if len(s.Says()) == 0 {
		return nil
	}
	add := func(of string, tables []columns.Table) {
		for _, t := range tables {
			name := of
			if len(tables) > 1 && t.Type != "" {
				name += " " + t.Type
			}
			use := func(becomes string, columns ...string) {
				for _, c := range columns {
					if c != "" {
						all = append(all, ColumnUse{name, c, becomes})
					}
				}
			}
			for _, c := range t.Columns {
				use(string(c.As), c.Name)
			}
			use("weight", t.Weight)
			use("part", append([]string{t.Part}, t.Masks...)...)
			use("title", t.Title)
			use("kind", t.Kind)
			use("time", t.Times...)
			use(string(columns.Left), t.Unread...)
		}
	}
	add("nodes", s.Nodes)
	add("edges", s.Edges)
	if s.Graphs != nil {
		add("graphs", []columns.Table{*s.Graphs})
	}
	for _, c := range labelOf(s) {
		all = append(all, ColumnUse{string(s.Label.Of) + "s", c, "label"})
	}
	return all
}

// some joins the first few of many names.
func some(names []string) string {
	const most = 6
	if n := len(names) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", plain.Text(strings.Join(names[:most], ", ")), n)
	}
	return plain.Text(strings.Join(names, ", "))
}

// Describe says what the data holds, a line each.
func (f *Found) Describe() (string, error) {
	var b strings.Builder
	var err error
	line := func(key, format string, args ...any) { fmt.Fprintf(&b, "%-9s %s\n", key, fmt.Sprintf(format, args...)) }
	switch n := f.Counts(); f.Kind {
	case ManyGraphs:
		err = f.graphs.Describe(&b)
	case OneGraph:
		err = f.Graph.Describe(&b)
	case Facts:
		line("name", "%s", plain.Text(f.Name))
		line("entities", "%d", n.Entities)
		line("relations", "%d", n.Relations)
		line("facts", "%s", n.facts())
	case UsersAndItems:
		line("name", "%s", plain.Text(f.Name))
		line("users", "%d", n.Users)
		line("items", "%d", n.Items)
		line("links", "%d", n.Links)
	}
	d := f.Description()
	line("kind", "%s", f.Kind)
	if d.NodeTypes != nil {
		line("types", "of nodes: %s", some(d.NodeTypes))
	}
	if d.EdgeTypes != nil {
		line("types", "of edges: %s", some(d.EdgeTypes))
	}
	if g := f.Graph; g != nil && len(g.NodeIDs) > 0 {
		line("ids", "%s", some(g.NodeIDs))
	}
	if d.Label != nil {
		line("label", "%s", some(d.Label))
	} else if d.Columns != nil {
		line("label", "none: --label COLUMN names the column to learn")
	}
	if len(d.Files) > 1 {
		var names []string
		for _, path := range d.Files {
			names = append(names, filepath.Base(path))
		}
		line("files", "%s", some(names))
	}
	line("from", "%s", plain.Text(f.From))
	return b.String(), err
}

// leastLinks is how many links a graph must have to predict missing ones.
const leastLinks = 20

// Train returns the command that trains on the data, which has that name in dir. Its columns are read in the same way, and its edges in both
// directions if that is asked for. Where there is nothing to learn it is "".
func (f *Found) Train(name, dir string, c Columns, undirected bool) string {
	flags := ""
	switch g := f.graphs; {
	case f.Graph != nil && models.GoalOf(f.Graph) != nil:
		if flags = c.Flags(); undirected {
			flags += " --undirected"
		}
	case f.Graph != nil:
		links := f.Graph.Graph.NumEdges()
		if f.Graph.Graph.Symmetric() {
			links /= 2
		}
		if links < leastLinks {
			return ""
		}
		flags = " --task link" + c.Flags()
	case g != nil && models.GoalOfGraphs(g) != nil:
		flags = Columns{Column: c.Column}.Flags()
	case g != nil && (g.NodeLabels != nil || g.NodeTargets != nil):
		flags = " --task node"
	case g != nil:
		return ""
	}
	return Training(name, dir) + flags
}

// Describing is the command that describes data of that name in dir.
func Describing(name, dir string) string {
	return cli.Program + " data describe " + cli.Word(name) + Flagged(nil, dir)
}

// Training is the command that trains on data of that name in dir, with the usual settings.
func Training(name, dir string) string {
	return cli.Program + " train " + cli.Word(name) + Flagged(nil, dir)
}
