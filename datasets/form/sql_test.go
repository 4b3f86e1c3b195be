package form

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"
)

// answers are what a database answers, by query: the names of the columns, and the rows.
type answers map[string][][]driver.Value

func (a answers) Open(string) (driver.Conn, error)             { return a, nil }
func (a answers) Connect(context.Context) (driver.Conn, error) { return a, nil }
func (a answers) Driver() driver.Driver                        { return a }
func (a answers) Prepare(query string) (driver.Stmt, error)    { return nil, errors.New("not prepared") }
func (a answers) Close() error                                 { return nil }
func (a answers) Begin() (driver.Tx, error)                    { return nil, errors.New("no transactions") }
func (a answers) QueryContext(ctx context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	rows, ok := a[query]
	if !ok {
		return nil, errors.New("no such table")
	}
	return &given{rows: rows[1:], names: rows[0]}, nil
}

// given is rows. One that is called fails fails.
type given struct {
	names []driver.Value
	rows  [][]driver.Value
}

func (g *given) Columns() (out []string) {
	for _, name := range g.names {
		out = append(out, name.(string))
	}
	return out
}
func (g *given) Close() error { return nil }
func (g *given) Next(into []driver.Value) error {
	if len(g.rows) == 0 {
		return io.EOF
	}
	if len(g.rows[0]) == 0 {
		return errors.New("the connection was lost")
	}
	copy(into, g.rows[0])
	g.rows = g.rows[1:]
	return nil
}

type rowsOf = [][]driver.Value

func TestSQL(t *testing.T) {
	day := time.Date(2024, 2, 29, 1, 0, 0, 1500, time.FixedZone("", 3600))
	db := sql.OpenDB(answers{
		"n": rowsOf{{"id", "age", "big", "town", "joined", "left", "nothing", "fraction"},
			{int64(1<<60 + 1), nil, int64(1 << 60), []byte("Ulm"), nil, true, nil, int64(3)}, {int64(1 << 60), int64(40), nil, "", day, nil, nil, 0.5}, {int64(7), int64(2), int64(3), "Ulm", day, false, nil, math.NaN()}},
		"e": rowsOf{{"source", "target", "amount"}, {int64(7), int64(1 << 60), 1.5}, {int64(1<<60 + 1), int64(7), nil}},
		"s": rowsOf{{"shop_id", "kind"}, {"a", "x"}},
		"b": rowsOf{{"man_id", "shop_id"}, {int64(7), "a"}},
	})
	defer db.Close()
	raw, err := SQL(t.Context(), db, Queries{Nodes: map[string]string{"": "n"}, Edges: map[string]string{"": "e"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shownRows(raw), `[3]: 7@3 age=2 big=3 town="Ulm" joined=1709164800000001 left=0 fraction=NaN 1152921504606846976@2 age=40 big=NaN town="" joined=1709164800000001 left=NaN fraction=0.5 1152921504606846977@1 age=NaN big=1.152921504606847e+18 town="Ulm" joined=-9223372036854775808 left=1 fraction=3; (-): 0>1 amount=1.5 2>0 amount=NaN;`; got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	if c := raw.Nodes[0].Column("left"); !c.Truth || raw.Nodes[0].Column("age").Truth || raw.Nodes[0].Column("nothing").Type != Empty || !raw.Nodes[0].Column("joined").Dated {
		t.Errorf("the columns are %+v", raw.Nodes[0].Columns)
	}
	raw, err = SQL(t.Context(), db, Queries{Nodes: map[string]string{"man": "n", "shop": "s"}, Edges: map[string]string{"man buys shop": "b", "pays": "e"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := shownRows(raw); !strings.HasSuffix(got, `shop[1]: a@1 kind="x"; buys(man-shop): 0>0; pays(man-man): 0>1 amount=1.5 2>0 amount=NaN;`) {
		t.Errorf("got %s", got)
	}
}

// Each error names the query, the row, the column, the value, and what to do.
func TestSQLErrors(t *testing.T) {
	db := sql.OpenDB(answers{
		"n": rowsOf{{"id"}, {"a"}, {"b"}}, "m": rowsOf{{"id"}, {"b"}},
		"null": rowsOf{{"id"}, {"a"}, {nil}}, "twice": rowsOf{{"id", "age"}, {int64(1), nil}, {int64(2), nil}, {int64(1), nil}},
		"same": rowsOf{{"id", "x", "x"}, {"a", nil, nil}}, "lost": rowsOf{{"id"}, {"a"}, {}},
		"mixed": rowsOf{{"id", "x"}, {"a", int64(1)}, {"b", "one"}}, "latin": rowsOf{{"id"}, {[]byte("M\xfcller")}}, "inf": rowsOf{{"id", "x"}, {"a", math.Inf(1)}},
		"e": rowsOf{{"source", "target"}, {"a", "a"}, {"a", "b"}}, "u": rowsOf{{"source", "target"}, {"a", "q"}}, "open": rowsOf{{"source", "target"}, {"a", nil}},
		"ends": rowsOf{{"payer", "payee"}, {"a", "a"}},
	})
	defer db.Close()
	one := func(node, edge string) Queries {
		q := Queries{Nodes: map[string]string{"": node}}
		if edge != "" {
			q.Edges = map[string]string{"pays": edge}
		}
		return q
	}
	for want, q := range map[string]Queries{
		"there is no query: write one for nodes or edges":                                                              {},
		`query of nodes: it is empty: write a SELECT`:                                                                  one(" ", ""),
		`query of nodes: the database refused it: no such table`:                                                       one("?", ""),
		`query of nodes: it failed after 1 rows: the connection was lost`:                                              one("lost", ""),
		`query of nodes: the columns 2 and 3 are both called "x": rename one of them`:                                  one("same", ""),
		`query of nodes: row 2, column "id": it is empty: write an id`:                                                 one("null", ""),
		`query of nodes: row 3, column "id": node "1" stands in row 1 already: keep one of the two`:                    one("twice", ""),
		`query of nodes: row 2, column "x": it is text, and those above are a number: cast the column in the query`:    one("mixed", ""),
		`query of nodes: row 1, column "id": "M\xfcller" is not text in UTF-8: convert it in the query`:                one("latin", ""),
		`query of nodes: row 1, column "x": it is +Inf, and numbers are finite: leave it NULL`:                         one("inf", ""),
		`query of edges "pays": row 1: an end of the edge is empty: write the node's id`:                               one("n", "open"),
		`query of edges "pays": of the columns "payer", "payee" no two are the ends of an edge: call them source and`:  one("n", "ends"),
		`query of edges "pays": row 2, column "target": "b" is a node of type "man" and one of type "shop": say of wh`: {Nodes: map[string]string{"man": "n", "shop": "m"}, Edges: map[string]string{"pays": "e"}},
		`the query of edges "man buys" is of neither KIND nor FROM KIND TO: its key has 2 words`:                       {Edges: map[string]string{"man buys": "e"}},
	} {
		if _, err := SQL(t.Context(), db, q, Options{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	raw, err := SQL(t.Context(), db, one("n", "u"), Options{})
	if want := `query of edges "pays": row 1: node "q" is not in query of nodes: add it there, or leave its edges out`; err != nil || raw.Unlisted == nil || raw.Unlisted.Error() != want {
		t.Errorf("%v, error %v, want %s", raw, err, want)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := SQL(ctx, db, one("n", ""), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was cancelled", err)
	}
}
