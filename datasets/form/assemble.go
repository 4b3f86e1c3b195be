package form

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/edgewise-ml/edgewise/internal/cells"
	"github.com/edgewise-ml/edgewise/internal/par"
)

// Named is a table as a file or a query has it, and what its rows are. The ids of nodes and the ends of
// edges are columns like any other: of type [Word], best with Codes; or numbers; or whole numbers in Times that are
// not Dated, which are exact beyond 2⁵³. Ids may be Table.IDs already.
type Named struct {
	Table
	Of             Of     // OfNodes or OfEdges; empty: edges if two columns are its ends, or else nodes
	Type           string // of nodes
	Kind, From, To string // of edges; where From and To are empty, the ids say of which types the ends are
}

// Assemble makes one Raw of tables of nodes and of edges, which it uses up. It finds the columns of ids and ends, takes them out
// of the other columns, and numbers the nodes: whole numbers ascend, other ids are in the order of their rows. Several
// tables of nodes of one type are joined by their ids; the first of them says which nodes there are. Nodes that only
// edges name come after these.
func Assemble(tables []Named, o Options) (*Raw, error) {
	a := &assembly{o: o, raw: new(Raw)}
	for _, of := range [2]Of{OfNodes, OfEdges} {
		for i := range tables {
			if err := a.add(&tables[i], of); err != nil {
				return nil, err
			}
		}
		if a.unchosen != nil && !a.chosen {
			return nil, a.unchosen
		}
	}
	a.finish()
	if len(tables) > 0 && !slices.ContainsFunc(a.raw.Nodes, func(n Nodes) bool { return n.Rows > 0 }) {
		return nil, fmt.Errorf("%s: there are no edges in it", tables[0].Origin.File)
	}
	return a.raw, nil
}

// assembly is a Raw while it is made.
type assembly struct {
	o    Options
	raw  *Raw
	sets []*nodeSet

	chosen   bool  // some table of nodes has the column that was chosen for ids
	unchosen error // one that has not
}

// nodeSet is the nodes of a type while tables are assembled.
type nodeSet struct {
	Nodes            // those that are listed
	ids   cells.Dict // of these, and then of those that only edges name
	at    []int32    // the lines in which the latter turned up
}

// keys are the columns that say which row is which, -1: there is none.
type keys struct {
	of           Of
	id, from, to int
}

// noEnds is the error of columns of which no two are ends.
type noEnds struct{ columns string }

func (e *noEnds) Error() string {
	return fmt.Sprintf("of the columns %s no two are the ends of an edge: call them source and target", e.columns)
}

// keys finds the keys among the names of a table's columns.
func (t *Named) keys(names []string, o Options) (k keys, err error) {
	k = keys{t.Of, -1, -1, -1}
	if t.Of != OfNodes {
		if k.from, k.to, err = t.ends(names, o); err == nil {
			k.of = OfEdges
			if o.EdgeID != "" && t.IDs == nil {
				k.id, err = columnOf(names, o.EdgeID)
			}
			if err == nil && (k.from == k.to || k.from == k.id || k.to == k.id) {
				err = fmt.Errorf("the column %.40q is chosen twice: both ends of the edges and their ids have columns of their own", names[max(k.from, k.id)])
			}
			return k, err
		}
		if t.Of == OfEdges || o.Source+o.Target != "" {
			return k, err
		}
	}
	if k.of = OfNodes; t.IDs != nil {
		return k, nil
	}
	usual, _ := columnOf(names, "", nodeNames(t.Type)...)
	if k.id = usual; o.ID != "" {
		var missing error
		if k.id, missing = columnOf(names, o.ID); missing != nil && t.Type == "" {
			return k, cmp.Or(err, missing)
		} else if missing != nil { // other types may have it
			k.id = usual
		}
	}
	if k.id < 0 {
		return k, cmp.Or(err, fmt.Errorf("of the columns %s none names the nodes: call one id, or choose it with --id, as --id %s", listed(names), likelyID(names)))
	}
	return k, nil
}

// ends returns the columns of the ends of a table's edges.
func (t *Named) ends(names []string, o Options) (from, to int, err error) {
	if from, err = columnOf(names, o.Source); err == nil {
		to, err = columnOf(names, o.Target)
	}
	if err == nil {
		for _, pair := range EndNames {
			u, v := from, to
			if u < 0 {
				u, _ = columnOf(names, "", pair[0])
			}
			if v < 0 {
				v, _ = columnOf(names, "", pair[1])
			}
			if u >= 0 && v >= 0 {
				return u, v, nil
			}
		}
	}
	if t.From != t.To { // several kinds may call their ends after their types
		u, _ := columnOf(names, "", typeNames(t.From)...)
		v, _ := columnOf(names, "", typeNames(t.To)...)
		if u >= 0 && v >= 0 {
			return u, v, nil
		}
	}
	return -1, -1, cmp.Or[error](err, &noEnds{listed(names)})
}

// nodeNames are columns that name nodes of a type, the surest first.
func nodeNames(typ string) []string {
	sure := slices.Index(IDNames, "index")
	return slices.Concat(IDNames[:sure], typeNames(typ), IDNames[sure:])
}

// typeNames are columns that name nodes of a type, such as customer_id.
func typeNames(typ string) []string {
	if typ == "" {
		return nil
	}
	return []string{Plain(typ) + "_id", Plain(typ) + "id", Plain(typ)}
}

// NamesRows reports whether a column is usually called so that names nodes, of types or of any, or the ends of edges.
func NamesRows(column string, types ...string) bool {
	plain := Plain(column)
	return slices.ContainsFunc(append(types, ""), func(t string) bool { return slices.Contains(nodeNames(t), plain) }) ||
		slices.ContainsFunc(EndNames, func(pair [2]string) bool { return plain == pair[0] || plain == pair[1] })
}

// add takes a table if it is of that.
func (a *assembly) add(t *Named, of Of) error {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	k, err := t.keys(names, a.o)
	if err == nil {
		err = cells.NamedOnce(names)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.Origin.File, err)
	}
	if k.of != of {
		return nil
	}
	if t.Rows > math.MaxInt32/2 {
		return fmt.Errorf("%s: there are more than 2³⁰ rows in it", t.Origin.File)
	}
	keyed := t.Columns
	if t.Columns = nil; k.id >= 0 {
		if t.IDs, err = idsOf(&keyed[k.id], t.Rows); err != nil {
			return fmt.Errorf("%s, column %.40q: %w", t.Origin.File, names[k.id], err)
		}
	}
	for i, c := range keyed {
		if i == k.id || i == k.from || i == k.to {
			continue
		}
		switch large := c.Type == Time && !c.Dated && c.beyond(); {
		case cells.Timely(c.Name) && (c.Type == Number && !c.Truth || large): // as the texts of a table would be
			c = c.timed(&t.Origin)
		case large: // they might have been ids
			c.asNumbers()
		}
		t.Columns = append(t.Columns, c)
	}
	if of == OfNodes {
		name := "id"
		if k.id >= 0 {
			name = names[k.id]
		}
		if _, missing := columnOf(names, a.o.ID); a.o.ID != "" && missing != nil {
			a.unchosen = fmt.Errorf("%s: %w", t.Origin.File, missing)
		} else {
			a.chosen = true
		}
		return a.nodes(t, name)
	}
	if k.id >= 0 {
		if _, err := t.unique(names[k.id], "edge"); err != nil {
			return err
		}
	}
	return a.edges(t, &keyed[k.from], &keyed[k.to])
}

// unique returns the numbers of a table's ids, of which each row has one of its own.
func (t *Table) unique(column, what string) (ids cells.Dict, err error) {
	ids.Reserve(t.Rows)
	for row := range t.Rows {
		id := t.IDs.At(row)
		if id == "" {
			return ids, fmt.Errorf("%s, column %.40q: it is empty: write an id, or leave the row out", t.Origin.At(row), column)
		}
		if k := int(ids.CodeText(id)); k < row {
			return ids, fmt.Errorf("%s, column %.40q: %s %.40q stands in %s already: keep one of the two", t.Origin.At(row), column, what, id, t.Origin.row(k))
		}
	}
	return ids, nil
}

// nodes takes a table of nodes: the first of its type says which there are.
func (a *assembly) nodes(t *Named, column string) error {
	if t.Rows == 0 {
		return fmt.Errorf("%s: there is no %s below its names: write one for each node", t.Origin.File, t.Origin.unit())
	}
	ids, err := t.unique(column, "node")
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(a.sets, func(s *nodeSet) bool { return s.Type == t.Type }); i >= 0 {
		return a.sets[i].join(&t.Table, &ids)
	}
	a.sets = append(a.sets, &nodeSet{Nodes: Nodes{Type: t.Type, Table: t.Table, Listed: t.Rows}, ids: ids})
	return nil
}

// join adds the columns of another table to nodes that are listed.
func (s *nodeSet) join(t *Table, ids *cells.Dict) error {
	for row := range t.Rows {
		if id := t.IDs.At(row); s.ids.Find(id) < 0 {
			return fmt.Errorf("%s: node %.40q is not in the table that lists the nodes, %s: add it there, or leave it out here", t.Origin.At(row), id, s.Origin.File)
		}
	}
	rows := make([]int32, s.Rows)
	for k := range rows {
		id := s.IDs.At(k)
		if rows[k] = ids.Find(id); rows[k] < 0 {
			return fmt.Errorf("%s: it says nothing of node %.40q, which is in %s: add it, or leave it out there", t.Origin.File, id, s.Origin.File)
		}
	}
	t.pick(rows)
	for _, c := range t.Columns {
		if c.Name != "" && slices.ContainsFunc(s.Columns, func(other Column) bool { return other.Name == c.Name }) {
			return fmt.Errorf("%s: the column %.40q stands in %s, too: leave one of them out", t.Origin.File, c.Name, cmp.Or(s.Origin.File, "another file"))
		}
		c.Origin = &t.Origin
		s.Columns = append(s.Columns, c)
	}
	return nil
}

// set returns the nodes of a type, which it adds if no table lists them.
func (a *assembly) set(typ string, o *Origin) *nodeSet {
	for _, s := range a.sets {
		if s.Type == typ {
			return s
		}
	}
	s := &nodeSet{Nodes: Nodes{Type: typ, Table: Table{Origin: Origin{File: o.File, Unit: o.Unit}}}}
	a.sets = append(a.sets, s)
	return s
}

// edges takes a table of edges with these ends.
func (a *assembly) edges(t *Named, from, to *Column) error {
	e := Edges{Kind: t.Kind, From: t.From, To: t.To, Table: t.Table}
	var ends [2]*Words
	for side, c := range [2]*Column{from, to} {
		w, err := idsOf(c, t.Rows)
		if err != nil {
			return fmt.Errorf("%s, column %.40q: %w", t.Origin.File, c.Name, err)
		}
		if w.Codes == nil {
			w = coded(w.Texts)
		}
		typ := [2]*string{&e.From, &e.To}[side]
		switch {
		case *typ != "" || len(a.sets) == 0:
		case len(a.sets) == 1:
			*typ = a.sets[0].Type
		default:
			if *typ, err = a.typeOf(w, &t.Origin, c.Name); err != nil {
				return err
			}
		}
		ends[side] = w
	}
	none := [2]int32{int32(slices.Index(ends[0].Texts, "")), int32(slices.Index(ends[1].Texts, ""))}
	for row := range e.Rows {
		if u, v := ends[0].Codes[row], ends[1].Codes[row]; u < 0 || v < 0 || u == none[0] || v == none[1] {
			return fmt.Errorf("%s: an end of the edge is empty: write the node's id, or leave the row out", e.Origin.At(row))
		}
	}
	err := numberEnds(&e.Origin, ends, [2]*nodeSet{a.set(e.From, &e.Origin), a.set(e.To, &e.Origin)})
	a.raw.Unlisted = cmp.Or(a.raw.Unlisted, err)
	e.Source, e.Target = ends[0].Codes, ends[1].Codes
	a.raw.Edges = append(a.raw.Edges, e)
	return nil
}

// numberEnds makes the codes of the ends of edges numbers of nodes. Those that no table lists get theirs as they turn up, of which
// it returns the first as an error if there is a table.
func numberEnds(o *Origin, ends [2]*Words, sets [2]*nodeSet) (unlisted error) {
	var numbers [2][]int32
	for side, w := range ends {
		numbers[side] = make([]int32, len(w.Texts))
		par.For(len(w.Texts), 1<<12, func(lo, hi int) {
			for k := lo; k < hi; k++ {
				numbers[side][k] = sets[side].ids.Find(w.Texts[k])
			}
		})
	}
	for row := range ends[0].Codes {
		for side, w := range ends {
			k, s := w.Codes[row], sets[side]
			if numbers[side][k] < 0 {
				if numbers[side][k] = s.ids.CodeText(w.Texts[k]); int(numbers[side][k]) == s.Listed+len(s.at) { // a new one
					s.at = append(s.at, int32(o.line(row)))
					if s.Listed > 0 && unlisted == nil {
						unlisted = fmt.Errorf("%s: node %.40q is not in %s: add it there, or leave its edges out", o.At(row), w.Texts[k], s.Origin.File)
					}
				}
			}
			w.Codes[row] = numbers[side][k]
		}
	}
	return unlisted
}

// typeOf finds of which type the ends of one side are: they are ids of only one.
func (a *assembly) typeOf(w *Words, o *Origin, column string) (string, error) {
	const remedy = "say of which types the ends are, as in FROM KIND TO"
	of := make([]int, len(w.Texts)) // the type of each text, -1: unknown
	wrong := func(row int, format string, args ...any) (string, error) {
		return "", fmt.Errorf("%s, column %.40q: %.40q is %s", o.At(row), column, w.At(row), fmt.Sprintf(format, args...))
	}
	for k, text := range w.Texts {
		of[k] = -1
		for i, s := range a.sets {
			if s.ids.Find(text) < 0 {
				continue
			}
			if of[k] >= 0 {
				return wrong(max(0, slices.Index(w.Codes, int32(k))), "a node of type %.40q and one of type %.40q: %s", a.sets[of[k]].Type, s.Type, remedy)
			}
			of[k] = i
		}
	}
	first := -1
	for row, c := range w.Codes {
		switch {
		case c < 0 || of[c] < 0: // edges and numberEnds say so
		case first < 0:
			first = row
		case of[c] != of[w.Codes[first]]:
			return wrong(row, "a node of type %.40q, and the end of the first edge, %.40q, of type %.40q: make a table of each kind of edges",
				a.sets[of[c]].Type, w.At(first), a.sets[of[w.Codes[first]]].Type)
		}
	}
	switch {
	case first >= 0:
		return a.sets[of[w.Codes[first]]].Type, nil
	case len(w.Codes) > 0:
		return wrong(0, "no node of any table, nor is the end of another edge: add it there, or %s", remedy)
	}
	return a.sets[0].Type, nil
}

// finish brings nodes into their order: ids that are whole numbers ascend, others stand as they turned up. Those that no table
// lists come last.
func (a *assembly) finish() {
	place := map[string][]int32{}
	for _, s := range a.sets {
		place[s.Type] = s.order()
		a.raw.Nodes = append(a.raw.Nodes, s.Nodes)
	}
	for i := range a.raw.Edges {
		e := &a.raw.Edges[i]
		from, to := place[e.From], place[e.To]
		par.For(e.Rows, 1<<16, func(lo, hi int) {
			for row := lo; row < hi; row++ {
				e.Source[row], e.Target[row] = from[e.Source[row]], to[e.Target[row]]
			}
		})
	}
}

// order brings the nodes into their order, and returns the row of each number.
func (s *nodeSet) order() (place []int32) {
	ids, listed := s.ids.Strings(), s.Listed
	rows := span(0, len(ids))
	for _, part := range [][]int32{rows[:listed], rows[listed:]} {
		if len(part) == 0 {
			continue
		}
		first := part[0]
		if numbers := wholeNumbers(ids[first:][:len(part)]); numbers != nil && !slices.IsSorted(numbers) {
			slices.SortFunc(part, func(a, b int32) int { return cmp.Compare(numbers[a-first], numbers[b-first]) })
		}
	}
	place = make([]int32, len(rows))
	texts, lines, same := make([]string, len(rows)), make([]int32, 0, len(s.at)), true
	for i, k := range rows {
		place[k], texts[i] = int32(i), ids[k]
		same = same && int(k) == i
		if int(k) >= listed {
			lines = append(lines, s.at[int(k)-listed])
			rows[i] = -1
		}
	}
	if s.IDs = nil; listed == 0 {
		s.Origin.Lines = lines
	} else if !same || len(lines) > 0 {
		s.pick(rows)
		copy(s.Origin.Lines[listed:], lines)
	}
	s.IDs, s.Rows = &Words{Texts: texts}, len(texts)
	return place
}

// wholeNumbers returns ids as numbers, nil if one is anything but a whole number as Go writes it.
func wholeNumbers(ids []string) []int64 {
	out := make([]int64, len(ids))
	var room [20]byte
	for i, id := range ids {
		v, err := strconv.ParseInt(id, 10, 64)
		if err != nil || string(strconv.AppendInt(room[:0], v, 10)) != id {
			return nil
		}
		out[i] = v
	}
	return out
}

// idsOf returns the texts of a column of ids, of which whole numbers are written as such: "7" for "7.0", as pandas
// writes it beside gaps.
func idsOf(c *Column, rows int) (*Words, error) {
	switch c.Type {
	case Word:
		i := slices.IndexFunc(c.Words.Texts, func(s string) bool { return cells.ID(s) != s })
		if i < 0 {
			return c.Words, nil
		}
		texts := slices.Clone(c.Words.Texts)
		for k, s := range texts[i:] {
			texts[i+k] = cells.ID(s)
		}
		return &Words{Texts: texts, Codes: c.Words.Codes}, nil
	case Number:
		return textsOf(c.Numbers, func(v float64) (string, bool) {
			if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
				return strconv.FormatInt(int64(v), 10), true
			}
			return strconv.FormatFloat(v, 'g', -1, 64), v == v
		}), nil
	case Time:
		return textsOf(c.Times, func(v int64) (string, bool) {
			if c.Dated {
				return time.UnixMicro(v).UTC().Format(time.RFC3339Nano), v != NoTime
			}
			return strconv.FormatInt(v, 10), v != NoTime
		}), nil
	case Many:
		return nil, errors.New("it has several numbers a row, and an id is one: choose another column")
	}
	return &Words{Codes: slices.Repeat([]int32{-1}, rows)}, nil
}

// textsOf returns words of numbers. text says false of an empty cell.
func textsOf[T comparable](cells []T, text func(T) (string, bool)) *Words {
	w, of := &Words{Codes: make([]int32, len(cells))}, map[T]int32{}
	for row, v := range cells {
		k, ok := of[v]
		if !ok {
			s, full := text(v)
			if !full {
				w.Codes[row] = -1
				continue
			}
			k = int32(len(w.Texts))
			of[v], w.Texts = k, append(w.Texts, s)
		}
		w.Codes[row] = k
	}
	return w
}

// coded returns words of which each text is kept once.
func coded(texts []string) *Words {
	d, codes := new(cells.Dict), make([]int32, len(texts))
	for row, s := range texts {
		if codes[row] = -1; s != "" {
			codes[row] = d.CodeText(s)
		}
	}
	return &Words{Texts: d.Strings(), Codes: codes}
}

// Rounded makes numbers of a column of whole numbers that float64 holds: ids among them stay apart.
func Rounded(c *Column) {
	if c.Type == Time && !c.Dated && !c.beyond() {
		c.asNumbers()
	}
}

// beyond reports whether there is a whole number that float64 does not hold.
func (c *Column) beyond() bool {
	return slices.ContainsFunc(c.Times, func(v int64) bool { return v != NoTime && (v > 1<<53 || v < -1<<53) })
}

// timed returns numbers whose column's name says when as the times that they mean, if they mean one kind of them.
func (c *Column) timed(o *Origin) Column {
	var list cells.List
	var text []byte
	for row := range max(len(c.Numbers), len(c.Times)) {
		switch text = text[:0]; {
		case c.Type == Time && c.Times[row] != NoTime:
			text = strconv.AppendInt(text, c.Times[row], 10)
		case c.Type == Number && c.Numbers[row] == c.Numbers[row]:
			text = strconv.AppendFloat(text, c.Numbers[row], 'f', -1, 64)
		}
		list.Add(text)
	}
	out := typed(c.Name, &list, false, o)
	out.Role = c.Role
	return out
}

func (c *Column) asNumbers() {
	c.Type, c.Numbers = Number, make([]float64, len(c.Times))
	for i, v := range c.Times {
		if c.Numbers[i] = float64(v); v == NoTime {
			c.Numbers[i] = math.NaN()
		}
	}
	c.Times = nil
}
