package form

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cells"
	"github.com/edgewise-ml/edgewise/internal/table"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// interactionsForm is users and what each took: bought, watched or read. The first line names the columns: user,
// customer, reader, visitor or session, and item, product, article, book, movie, track, song or artist, perhaps with id
// or _id after it. Users and items are any words or numbers, and user 1 is another than item 1. Other columns are
// of the edges.
var interactionsForm = Form{
	Name:    "interactions",
	Endings: tableEndings,
	Says:    "a table of users and items, an interaction a line",
	Read:    readInteractions,
}

// userColumns and itemColumns are what the columns of users and of items may be called.
var (
	userColumns = []string{"user", "userid", "uid", "customer", "customerid", "reader", "readerid", "visitor", "visitorid", "session", "sessionid"}
	itemColumns = []string{"item", "itemid", "iid", "movie", "movieid", "product", "productid", "article", "articleid", "book", "bookid", "track", "trackid", "song", "songid", "artist", "artistid"}
)

// usersAndItems returns which columns are those of users and of items.
func usersAndItems(columns []string, o Options) (user, item int, err error) {
	at := func(chosen string, names []string) (int, error) {
		if chosen != "" {
			return columnOf(columns, chosen)
		}
		return slices.IndexFunc(columns, func(c string) bool {
			return slices.Contains(names, strings.ReplaceAll(strings.ToLower(strings.TrimSpace(c)), "_", ""))
		}), nil
	}
	if user, err = at(o.Source, userColumns); err == nil {
		item, err = at(o.Target, itemColumns)
	}
	switch {
	case err != nil:
		return user, item, err
	case user < 0 || item < 0:
		return user, item, fmt.Errorf("of the columns %s none is that of users, or none that of items: call them user and item", listed(columns))
	case user == item:
		return user, item, fmt.Errorf("the column %.40q is chosen twice, for users and for items", columns[user])
	}
	return user, item, nil
}

// HoldsInteractions reports whether a file is a table whose first line names a column of users and one of items.
func HoldsInteractions(path string) bool {
	f, err := openFile(path)
	if err != nil {
		return false
	}
	defer f.Close()
	r, err := f.open(f.name)
	if err != nil {
		return false
	}
	defer r.Close()
	rows, err := table.NewReader(r)
	if err == nil {
		_, _, err = usersAndItems(rows.Columns, Options{})
	}
	return err == nil
}

// readInteractions reads a table of users and items, which become nodes in the order in which they turn up.
func readInteractions(f *Files, main string, o Options) (*Raw, error) {
	r, err := f.Open(main)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var ends [2]int
	t, err := readCSV(r, unpack.BudgetOf(r), f.At(main), func(names []string) (p cells.Plan, err error) {
		p.As = make([]cells.As, len(names))
		if ends[0], ends[1], err = usersAndItems(names, o); err == nil {
			p.As[ends[0]], p.As[ends[1]] = cells.AsNames, cells.AsNames
		}
		return p, err
	})
	if err != nil {
		return nil, err
	}
	if t.Rows == 0 {
		return nil, fmt.Errorf("%s: no line follows that of the columns: want a user and an item a line", f.At(main))
	}
	users, items := t.Columns[ends[0]], t.Columns[ends[1]]
	for row := range t.Rows {
		if users.Words.Codes[row] < 0 || items.Words.Codes[row] < 0 {
			return nil, fmt.Errorf("%s: the %s or the %s is empty: fill it in, or take the line out", t.Origin.At(row), users.Name, items.Name)
		}
	}
	e := Edges{From: "user", To: "item", Table: *t, Source: users.Words.Codes, Target: items.Words.Codes}
	e.Columns = slices.DeleteFunc(e.Columns, func(c Column) bool { return c.Name == users.Name || c.Name == items.Name })
	nodes := func(typ string, w *Words) Nodes {
		return Nodes{Type: typ, Table: Table{Rows: len(w.Texts), IDs: &Words{Texts: w.Texts}}}
	}
	name, _, _ := strings.Cut(main[strings.LastIndexByte(main, '/')+1:], ".")
	return &Raw{Name: name, Nodes: []Nodes{nodes("user", users.Words), nodes("item", items.Words)}, Edges: []Edges{e}, Size: f.Size()}, nil
}
