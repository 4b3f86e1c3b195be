package form

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Queries ask a database for a graph: a query for each type of nodes and each kind of edges. Most graphs
// have one of each, whose key is "".
type Queries struct {
	Nodes map[string]string // by type
	Edges map[string]string // by KIND, or FROM KIND TO where the ids do not say of which types the ends are
}

// Querier is what answers a query: *sql.DB, *sql.Tx and *sql.Conn do.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// SQL reads a graph from a database, by any driver of database/sql. The columns of the answers are those of tables as
// files have them: an id of nodes, the ends of edges, and whatever else is known of them.
//
//	raw, err := form.SQL(ctx, db, form.Queries{
//		Nodes: map[string]string{"": "SELECT id, age, town, churned FROM customers"},
//		Edges: map[string]string{"": "SELECT payer AS source, payee AS target, amount FROM payments"},
//	}, form.Options{})
//
// What a driver gives as numbers, booleans, times and texts is so; NULL is an empty cell. Drivers that give everything as
// text make words of numbers: cast in the query what should be something else.
func SQL(ctx context.Context, db Querier, q Queries, o Options) (*Raw, error) {
	if len(q.Nodes)+len(q.Edges) == 0 {
		return nil, errors.New("there is no query: write one for nodes or edges")
	}
	var tables []Named
	for _, key := range slices.Sorted(maps.Keys(q.Nodes)) {
		t, err := tableOfQuery(ctx, db, "nodes", key, q.Nodes[key])
		if err != nil {
			return nil, err
		}
		tables = append(tables, Named{Table: *t, Of: OfNodes, Type: key})
	}
	for _, key := range slices.Sorted(maps.Keys(q.Edges)) {
		n := Named{Of: OfEdges, Kind: key}
		switch words := strings.Fields(key); len(words) {
		case 0, 1:
		case 3:
			n.From, n.Kind, n.To = words[0], words[1], words[2]
		default:
			return nil, fmt.Errorf("the query of edges %.40q is of neither KIND nor FROM KIND TO: its key has %d words", key, len(words))
		}
		t, err := tableOfQuery(ctx, db, "edges", key, q.Edges[key])
		if err != nil {
			return nil, err
		}
		n.Table = *t
		tables = append(tables, n)
	}
	return Assemble(tables, o)
}

// tableOfQuery reads what a query answers as a table.
func tableOfQuery(ctx context.Context, db Querier, of, key, query string) (*Table, error) {
	t := &Table{Origin: Origin{File: "query of " + of, Unit: "row", First: 1}}
	if key != "" {
		t.Origin.File += fmt.Sprintf(" %.40q", key)
	}
	if strings.TrimSpace(query) == "" {
		return nil, fmt.Errorf("%s: it is empty: write a SELECT", t.Origin.File)
	}
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("%s: the database refused it: %w", t.Origin.File, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Origin.File, err)
	}
	columns, into := make([]sqlColumn, len(names)), make([]any, len(names))
	for i := range columns {
		columns[i].name, into[i] = names[i], &columns[i].value
	}
	for ; rows.Next(); t.Rows++ {
		if t.Rows == math.MaxInt32/2 {
			return nil, fmt.Errorf("%s: it answers more than 2³⁰ rows: ask for fewer", t.Origin.File)
		}
		if err := rows.Scan(into...); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Origin.At(t.Rows), err)
		}
		for i := range columns {
			if err := columns[i].add(t.Rows); err != nil {
				return nil, fmt.Errorf("%s, column %.40q: %w", t.Origin.At(t.Rows), names[i], err)
			}
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: it failed after %d rows: %w", t.Origin.File, t.Rows, err)
	}
	for i := range columns {
		t.Columns = append(t.Columns, columns[i].column(t.Rows))
	}
	return t, nil
}

// sqlColumn is a column of an answer while it is read. Its first cell that is not NULL says of which type it is; whole
// numbers are kept exactly as long as there are no others, since they may be ids.
type sqlColumn struct {
	name  string
	value any // of the row that is read
	typ   Type
	truth bool
	dated bool
	whole chunkedSlice[int64] // numbers that are whole, or times
	real  chunkedSlice[float64]
	codes chunkedSlice[int32]
	texts []string
	known map[string]int32
}

// add adds the cell that was read.
func (c *sqlColumn) add(row int) error {
	switch v := c.value.(type) {
	case nil:
		c.null()
		return nil
	case int64:
		return c.number(row, v, float64(v), true, false)
	case float64:
		if math.IsInf(v, 0) {
			return fmt.Errorf("it is %v, and numbers are finite: leave it NULL", v)
		}
		if v != v {
			c.null()
			return nil
		}
		return c.number(row, 0, v, false, false)
	case bool:
		one := int64(0)
		if v {
			one = 1
		}
		return c.number(row, one, float64(one), true, true)
	case time.Time:
		if err := c.begin(row, Time, true); err != nil {
			return err
		}
		if v.Year() < -290000 || v.Year() > 290000 {
			return fmt.Errorf("the time %v is beyond the year 290,000: leave it NULL", v)
		}
		c.whole.add(v.UnixMicro())
		return nil
	case []byte:
		return c.word(row, string(v))
	case string:
		return c.word(row, v)
	}
	return fmt.Errorf("the driver gives it as a %T, which is neither a number nor a time or text: cast it in the query", c.value)
}

// begin says of which type the column is, which goes back to the first row.
func (c *sqlColumn) begin(row int, typ Type, dated bool) error {
	if c.typ == "" {
		c.typ, c.dated = typ, dated
		for range row {
			c.null()
		}
	}
	if c.typ != typ || c.dated != dated {
		return fmt.Errorf("it is %s, and those above are %s: cast the column in the query, or make the cell NULL", saidType(typ, dated), saidType(c.typ, c.dated))
	}
	return nil
}

// saidType says what cells of a type are.
func saidType(typ Type, dated bool) string {
	if typ == Word {
		return "text"
	}
	if dated {
		return "a time"
	}
	return "a number"
}

// null adds a cell that is empty.
func (c *sqlColumn) null() {
	switch c.typ {
	case Number:
		c.real.add(math.NaN())
	case Time:
		c.whole.add(NoTime)
	case Word:
		c.codes.add(-1)
	}
}

// number adds a number. Until one is not whole they are kept as whole numbers.
func (c *sqlColumn) number(row int, whole int64, real float64, isWhole, truth bool) error {
	if c.typ == "" {
		c.truth = truth
	}
	c.truth = c.truth && truth
	if c.typ == Number {
		c.real.add(real)
		return nil
	}
	if err := c.begin(row, Time, false); err != nil {
		return err
	}
	if isWhole && whole != NoTime {
		c.whole.add(whole)
		return nil
	}
	c.typ = Number
	for _, v := range c.whole.join() {
		if v == NoTime {
			c.null()
		} else {
			c.real.add(float64(v))
		}
	}
	c.real.add(real)
	return nil
}

// word adds a text.
func (c *sqlColumn) word(row int, s string) error {
	if s == "" {
		c.null()
		return nil
	}
	if err := c.begin(row, Word, false); err != nil {
		return err
	}
	if !utf8.ValidString(s) {
		return fmt.Errorf("%.40q is not text in UTF-8: convert it in the query, or leave the column out", s)
	}
	code, ok := c.known[s]
	if !ok {
		if c.known == nil {
			c.known = map[string]int32{}
		}
		code = int32(len(c.texts))
		c.known[s], c.texts = code, append(c.texts, s)
	}
	c.codes.add(code)
	return nil
}

// column returns what was read. Whole numbers that float64 holds are numbers.
func (c *sqlColumn) column(rows int) Column {
	out := Column{Name: c.name, Type: c.typ, Dated: c.dated, Truth: c.truth}
	switch c.typ {
	case "":
		out.Type = Empty
	case Number:
		out.Numbers = c.real.join()
	case Word:
		out.Words = &Words{Texts: c.texts, Codes: c.codes.join()}
	case Time:
		out.Times = c.whole.join()
		Rounded(&out)
	}
	return out
}
