package datasets

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// jsonLinks is what links in JSON say beside their ends and weights, while they are read: a
// table of edges whose columns turn up as they are met.
type jsonLinks struct {
	columns []string
	of      map[string]int32
	cells   chunkedSlice[linkCell]
}

// linkCell is what a link says in a column.
type linkCell struct {
	link, column int32
	text         string
}

// linkNothings are members of links that say nothing: networkx numbers parallel edges so.
var linkNothings = []string{"key"}

// attribute reads a member of a link. What is no number, text or truth value says nothing.
func (j *jsonReader) attribute(key string, link int) error {
	first, err := j.dec.Token()
	text := ""
	switch v := first.(type) {
	case json.Delim:
		if v == '[' {
			return j.list(func() error { return j.skip(1) })
		}
		return j.object(func(string) error { return j.skip(1) })
	case string:
		text = v
	case json.Number:
		text = v.String()
	case bool:
		text = strconv.FormatBool(v)
	}
	if err != nil || text == "" || slices.Contains(linkNothings, plainColumn(key)) {
		return err
	}
	l := &j.links
	k, known := l.of[key]
	if !known {
		if len(l.columns) == keysMost {
			return fmt.Errorf("links have more than %d attributes", keysMost)
		}
		if l.of == nil {
			l.of = map[string]int32{}
		}
		k = int32(len(l.columns))
		l.of[key], l.columns = k, append(l.columns, key)
	}
	l.cells.add(linkCell{int32(link), k, text})
	return j.budget.Keep(linkCellTakes + len(key) + len(text))
}

// linkCellTakes is what a cell takes beside its text, in bytes.
const linkCellTakes = 64

// finish gives the edges what their links say: as the columns of a table of edges.
func (l *jsonLinks) finish(e *namedEdges, o *chosen) error {
	if len(l.columns) == 0 {
		return nil
	}
	r := &edgeReader{namedEdges: e, columns: append([]string{"source", "target"}, l.columns...)}
	if err := r.assign(o); err != nil {
		return err
	}
	e.cells.unit = "link"
	cells, next := l.cells.join(), 0
	fields := make([][]byte, len(r.columns))
	for link := range e.src.n {
		clear(fields)
		for ; next < len(cells) && int(cells[next].link) == link; next++ {
			fields[2+cells[next].column] = []byte(cells[next].text)
		}
		if err := r.described(fields, link+1); err != nil {
			return fmt.Errorf("link %d%w", link+1, err)
		}
	}
	return nil
}
