package datasets

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/internal/table"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// Interactions are users and what each took: bought, watched or read.
type Interactions struct {
	Name  string
	Users []string     // a name each
	Items []string     // a name each
	Graph *graph.Graph // bipartite, an edge from a user to each of its items
}

// userColumns and itemColumns are what the columns of users and of items may be called.
var (
	userColumns = []string{"user", "userid", "uid", "customer", "customerid", "reader", "readerid", "visitor", "visitorid", "session", "sessionid"}
	itemColumns = []string{"item", "itemid", "iid", "movie", "movieid", "product", "productid", "article", "articleid", "book", "bookid", "track", "trackid", "song", "songid", "artist", "artistid"}
)

// ReadInteractions reads a table of users and items, an interaction a line, perhaps in gzip or
// zstd. Its first line names the columns: user, customer, reader, visitor or session, and item,
// product, article, book, movie, track, song or artist, perhaps with id or _id after it. Users
// and items are any words or numbers, and user 1 is another than item 1. Other columns,
// such as ratings or times, are not read. A line that stands there twice counts once. The
// error names the file, the line and what is wrong.
func ReadInteractions(path string) (*Interactions, error) {
	if err := regular.File(path); err != nil {
		return nil, err
	}
	d, err := readInteractions(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d.Name, _, _ = strings.Cut(filepath.Base(path), ".")
	return d, nil
}

// HoldsInteractions reports whether a file is a table whose first line names a column of users
// and one of items, as ReadInteractions reads it.
func HoldsInteractions(path string) bool {
	if regular.File(path) != nil {
		return false
	}
	f, err := unpack.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	rows, err := table.NewReader(f)
	if err != nil {
		return false
	}
	_, _, err = usersAndItems(rows.Columns)
	return err == nil
}

// usersAndItems returns which columns are those of users and of items.
func usersAndItems(columns []string) (user, item int, err error) {
	at := func(names []string) int {
		return slices.IndexFunc(columns, func(c string) bool {
			return slices.Contains(names, strings.ReplaceAll(strings.ToLower(strings.TrimSpace(c)), "_", ""))
		})
	}
	if user, item = at(userColumns), at(itemColumns); user < 0 || item < 0 {
		return 0, 0, fmt.Errorf("line 1: of the columns %.200q none is that of users, or none that of items: call them user and item", columns)
	}
	return user, item, nil
}

func readInteractions(path string) (*Interactions, error) {
	f, err := unpack.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := table.NewReader(f)
	if err != nil {
		return nil, err
	}
	user, item, err := usersAndItems(rows.Columns)
	if err != nil {
		return nil, err
	}
	d, seen := &Interactions{}, map[[2]int32]bool{}
	users, items := map[string]int{}, map[string]int{}
	var src, dst []int32
	for rows.Next() {
		u, i := strings.TrimSpace(string(rows.Fields()[user])), strings.TrimSpace(string(rows.Fields()[item]))
		if u == "" || i == "" {
			return nil, fmt.Errorf("line %d: the %s or the %s is empty: fill it in, or take the line out", rows.Line(), rows.Columns[user], rows.Columns[item])
		}
		if err := f.Budget.Keep(64 + 2*len(u) + 2*len(i)); err != nil {
			return nil, fmt.Errorf("line %d: %w", rows.Line(), err)
		}
		pair := [2]int32{int32(nameNumber(users, &d.Users, u)), int32(nameNumber(items, &d.Items, i))}
		if !seen[pair] {
			seen[pair] = true
			src, dst = append(src, pair[0]), append(dst, pair[1])
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(src) == 0 {
		return nil, fmt.Errorf("no line follows that of the columns: want a user and an item a line")
	}
	d.Graph, err = graph.NewBipartite(len(d.Users), len(d.Items), src, dst)
	return d, err
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
	return &Dataset{Name: d.Name, Graph: graph.Must(graph.New(n, src, dst)), NodeNames: slices.Concat(d.Users, d.Items)}
}
