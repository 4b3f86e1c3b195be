package datasets

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/graph"
)

// Interactions are users and what each took: bought, watched or read.
type Interactions struct {
	Name  string
	Users []string     // a name each
	Items []string     // a name each
	Graph *graph.Graph // bipartite, an edge from a user to each of its items
}

// LoadInteractions reads a table of users and items, an interaction a line, perhaps in gzip or
// zstd. Its first line names the columns: user, customer, reader, visitor or session, and item,
// product, article, book, movie, track, song or artist, perhaps with id or _id after it. Users
// and items are any words or numbers, and user 1 is another than item 1. Other columns,
// such as ratings or times, are not read. A line that stands there twice counts once. The
// error names the file, the line and what is wrong.
func LoadInteractions(path string) (*Interactions, error) {
	raw, err := form.Load(path, form.Options{As: "interactions"})
	if err != nil {
		return nil, err
	}
	return InteractionsFrom(raw)
}

// HoldsInteractions reports whether a file is a table whose first line names a column of users
// and one of items, as [LoadInteractions] reads it.
func HoldsInteractions(path string) bool { return form.HoldsInteractions(path) }

// InteractionsFrom makes interactions of what a table says: two types of nodes, and edges from those of one to those of the other, each once.
func InteractionsFrom(raw *form.Raw) (*Interactions, error) {
	if len(raw.Edges) != 1 || len(raw.Nodes) != 2 {
		return nil, fmt.Errorf("%s: want interactions of one type of nodes with another, and there are %d types and %d kinds of edges", raw.Name, len(raw.Nodes), len(raw.Edges))
	}
	if err := checkRaw(raw); err != nil {
		return nil, err
	}
	e := &raw.Edges[0]
	ends := func(of string) *form.Nodes { return &raw.Nodes[btoi(raw.Nodes[0].Type != of)] }
	users, items := ends(e.From), ends(e.To)
	d := &Interactions{Name: raw.Name, Users: idsOf(users), Items: idsOf(items)}
	seen := make(map[[2]int32]bool, e.Rows)
	var src, dst []int32
	for k, u := range e.Source {
		pair := [2]int32{u, e.Target[k]}
		if !seen[pair] {
			seen[pair] = true
			src, dst = append(src, pair[0]), append(dst, pair[1])
		}
	}
	var err error
	d.Graph, err = graph.NewBipartite(len(d.Users), len(d.Items), src, dst)
	return d, err
}

// idsOf returns the ids of nodes, their numbers if they have none.
func idsOf(t *form.Nodes) []string {
	ids := make([]string, t.Rows)
	for row := range ids {
		if ids[row] = strconv.Itoa(row); t.IDs != nil {
			ids[row] = t.IDs.At(row)
		}
	}
	return ids
}

// Dataset returns the graph whose nodes are the users, in order, and then the items, with an
// edge each way for each interaction, as [layers.LightGCN] wants it. There are no features.
//
// [layers.LightGCN]: https://pkg.go.dev/github.com/edgewise-ml/edgewise/layers#LightGCN
func (d *Interactions) Dataset() *Dataset {
	users, n := int32(len(d.Users)), len(d.Users)+len(d.Items)
	src, dst := make([]int32, 0, 2*d.Graph.NumEdges()), make([]int32, 0, 2*d.Graph.NumEdges())
	for e, i := range d.Graph.Destinations() {
		u := d.Graph.In().Cols[e]
		src, dst = append(src, u, users+i), append(dst, users+i, u)
	}
	kinds := &Kinds{Names: []string{"user", "item"}, Of: make([]int32, n)}
	for v := users; v < int32(n); v++ {
		kinds.Of[v] = 1
	}
	names := slices.Concat(d.Users, d.Items)
	return &Dataset{Name: d.Name, Graph: graph.Must(graph.New(n, src, dst)), NodeNames: names, NodeIDs: names, NodeKinds: kinds}
}
