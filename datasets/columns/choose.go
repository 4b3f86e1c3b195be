package columns

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/internal/spell"
)

// Choose decides what the columns of raw are for: r says it, or else the form of the files, or else
// the columns' names ([form.LabelNames] and its like) and contents. The rest are features. The error names a
// column that is not there, or cannot be what it is to be, and what to do. The Schema has to be fitted.
func Choose(raw *form.Raw, r Roles) (*Schema, error) {
	c := &chooser{raw: raw, r: r, found: map[string]bool{}}
	c.s = &Schema{Undirected: r.Undirected, Directed: r.Directed, Repeated: r.Repeated, Options: Names{r.ID, r.Source, r.Target, r.EdgeID}}
	if r.Directed && r.Undirected {
		return nil, errors.New("edges cannot be directed and undirected: choose one")
	}
	switch r.Repeated {
	case "", First, Keep, Sum, Count:
	default:
		return nil, fmt.Errorf("%.40q says nothing of repeated edges: want %s, %s, %s or %s", r.Repeated, First, Keep, Sum, Count)
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	for i := range raw.Nodes {
		t := &raw.Nodes[i]
		out, err := c.table(&t.Table, form.OfNodes)
		if err != nil {
			return nil, err
		}
		out.Type = t.Type
		c.s.Nodes = append(c.s.Nodes, out)
	}
	for i := range raw.Edges {
		t := &raw.Edges[i]
		out, err := c.table(&t.Table, form.OfEdges)
		if err != nil {
			return nil, err
		}
		out.Type, out.From, out.To = t.Kind, t.From, t.To
		c.s.Edges = append(c.s.Edges, out)
	}
	if raw.Graphs != nil {
		out, err := c.table(&raw.Graphs.Table, form.OfGraphs)
		if err != nil {
			return nil, err
		}
		c.s.Graphs = &out
	}
	says := func(t Table) bool { // more than of what kind edges are
		return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Name != t.Kind })
	}
	if l := c.s.Label; c.s.Repeated == "" && !c.given && l != nil && (l.Of == form.OfEdges || l.Of == form.OfNodes && slices.ContainsFunc(c.s.Edges, says)) {
		c.s.Repeated = Keep // each row of a table has an answer of its own, or says something
	}
	return c.s, nil
}

// chooser is a Schema while its columns are chosen.
type chooser struct {
	raw   *form.Raw
	r     Roles
	s     *Schema
	found map[string]bool // the plain names that were chosen and are there
	given bool            // the form says what is to be learnt
}

// tables calls f for each table.
func tables(raw *form.Raw, f func(t *form.Table, of form.Of)) {
	for i := range raw.Nodes {
		f(&raw.Nodes[i].Table, form.OfNodes)
	}
	for i := range raw.Edges {
		f(&raw.Edges[i].Table, form.OfEdges)
	}
	if raw.Graphs != nil {
		f(&raw.Graphs.Table, form.OfGraphs)
	}
}

// check checks that each column that was named is there.
func (c *chooser) check() error {
	var all []string
	there, labels := map[string]bool{}, []form.Of{}
	err := error(nil)
	tables(c.raw, func(t *form.Table, of form.Of) {
		seen := map[string]bool{}
		for i := range t.Columns {
			col := &t.Columns[i]
			if seen[col.Name] && err == nil {
				err = fmt.Errorf("%s: the column %.40q stands there twice: give one another name", where(t), col.Name)
			}
			seen[col.Name] = true
			if there[form.Plain(col.Name)] = true; col.Name != "" && !slices.Contains(all, col.Name) {
				all = append(all, col.Name)
			}
			if c.chosen(c.r.Label, col.Name) && !slices.Contains(labels, of) {
				labels = append(labels, of)
			}
			c.given = c.given || col.Role == form.AsLabel || col.Role == form.AsTarget
		}
	})
	if err != nil {
		return err
	}
	if len(labels) > 1 {
		return fmt.Errorf("%s: the columns %s are of %ss and of %ss: one of these is learnt", c.path(), listed(c.r.Label), labels[0], labels[1])
	}
	for _, name := range c.named() {
		plain := form.Plain(name)
		switch {
		case there[plain]:
		case c.isKey(plain):
			return fmt.Errorf("%s: the column %.40q says which row is which; it is neither learnt nor a feature", c.path(), name)
		case len(all) == 0:
			return fmt.Errorf("%s: there is no column %.40q: its nodes and edges have no columns", c.path(), name)
		default:
			return fmt.Errorf("%s: there is no column %.40q%s; there are %s", c.path(), name, meant(name, all), listed(all))
		}
	}
	for name, as := range c.r.As {
		switch as {
		case AsNumber, AsCategory: // of what is learnt, how it is learnt
		case AsPlain, AsLog, AsCode, AsTime, AsText, AsMatrix:
			if c.chosen(c.r.Label, name) {
				return fmt.Errorf("the column %.40q is to be learnt, and no feature becomes of it: want %s, which learns its numbers, or %s, which learns classes", name, AsNumber, AsCategory)
			}
		case Left:
		default:
			return fmt.Errorf("column %.40q: %.40q is nothing that a column may become: want %s", name, as, oneOf(Encodings))
		}
	}
	return nil
}

// oneOf lists encodings for an error.
func oneOf(all []Encoding) string {
	var out []string
	for _, as := range all {
		out = append(out, string(as))
	}
	return strings.Join(out[:len(out)-1], ", ") + " or " + out[len(out)-1]
}

// named returns the columns that were named, in order.
func (c *chooser) named() []string {
	names := slices.Clone(c.r.Label)
	for _, name := range []string{c.r.Weight, c.r.Part, c.r.Title} {
		if name != "" {
			names = append(names, name)
		}
	}
	var others []string
	for name := range c.r.As {
		others = append(others, name)
	}
	slices.Sort(others)
	return append(names, others...)
}

// isKey reports whether a name that is no column's is one of ids or ends.
func (c *chooser) isKey(plain string) bool {
	for _, name := range []string{c.r.ID, c.r.Source, c.r.Target, c.r.EdgeID} {
		if name != "" && form.Plain(name) == plain {
			return true
		}
	}
	return plain != "" && slices.Contains(form.IDNames, plain) ||
		slices.ContainsFunc(form.EndNames, func(pair [2]string) bool { return slices.Contains(pair[:], plain) })
}

func (c *chooser) chosen(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return form.Plain(n) == form.Plain(name) })
}

// as returns what a column is to become, empty if nobody says so.
func (c *chooser) as(name string) Encoding {
	for n, as := range c.r.As {
		if form.Plain(n) == form.Plain(name) {
			return as
		}
	}
	return ""
}

// path names the data for an error.
func (c *chooser) path() string {
	path := ""
	tables(c.raw, func(t *form.Table, _ form.Of) {
		if path == "" {
			path = t.Origin.File
		}
	})
	if path == "" {
		path = c.raw.Name
	}
	return path
}

// table decides what the columns of a table are for.
func (c *chooser) table(t *form.Table, of form.Of) (out Table, err error) {
	roles := make([]form.Role, len(t.Columns))
	for i := range t.Columns {
		col := &t.Columns[i]
		if roles[i] = col.Role; roles[i] == "" {
			if roles[i] = form.AsFeature; col.Name == "" || isNumbering(col.Name, of) {
				roles[i] = form.Unused
			}
		}
	}
	c.byName(t, of, roles)
	out.seen = map[string]seen{}
	for i := range t.Columns {
		col := &t.Columns[i]
		as := c.as(col.Name)
		look := lookAt(col, t.Rows)
		out.seen[col.Name] = seen{says: look.says(col), truth: col.Truth, few: col.Type == form.Number && !col.Truth && !look.broken && look.different > 2 && look.different <= fewWords}
		if out.order = append(out.order, col.Name); col.Type == form.Empty {
			out.seen[col.Name] = seen{says: look.says(col), why: whyEmpty}
		}
		if of == form.OfNodes && as == "" && col.Role == "" && slices.Contains(maskNames, form.Plain(col.Name)) {
			out.Masks = append(out.Masks, col.Name)
			continue
		}
		if as == Left {
			roles[i] = form.Unused
		} else if as != "" {
			roles[i] = form.AsFeature
		}
		if len(c.r.Label) > 0 {
			switch isLabel := roles[i] == form.AsLabel || roles[i] == form.AsTarget; {
			case c.chosen(c.r.Label, col.Name) && !isLabel:
				roles[i] = form.AsLabel
			case isLabel && !c.chosen(c.r.Label, col.Name): // of the form's
				roles[i] = form.Unused
			}
		}
		switch roles[i] {
		case form.AsFeature:
			if err := out.feature(t, col, look, of, as); err != nil {
				return out, err
			}
		case form.AsLabel, form.AsTarget:
			if c.s.Label != nil && c.s.Label.Of != of {
				return out, fmt.Errorf("%s: the column %.40q is to be learnt, and a column of %ss, too: name the one that is meant, --label NAME", where(t), col.Name, c.s.Label.Of)
			}
			if c.s.Label == nil {
				c.s.Label = &Label{Of: of}
			}
			if as := c.as(col.Name); as == AsNumber || as == AsCategory {
				c.s.Label.As = as
			}
			if !slices.Contains(c.s.Label.Columns, col.Name) {
				c.s.Label.Columns = append(c.s.Label.Columns, col.Name)
			}
		case form.AsWeight:
			out.Weight = col.Name
		case form.AsPart:
			if out.Part = col.Name; c.chosen([]string{c.r.Part}, col.Name) {
				out.Parts = c.r.Parts
			}
		case form.AsTitle:
			out.Title = col.Name
		case form.AsKind:
			if out.Kind = col.Name; c.raw.Graphs != nil { // networks on many graphs read kinds as features
				if err := out.feature(t, col, look, of, as); err != nil {
					return out, err
				}
			}
		case form.Unused:
			out.Unread = append(out.Unread, col.Name)
		}
		if roles[i] == form.AsTime || (roles[i] == form.AsFeature || roles[i] == form.Unused || roles[i] == form.AsWeight) && Timely(col.Name) {
			out.Times = append(out.Times, col.Name)
		}
	}
	out.leaveBags(t)
	out.nameKind(t, of)
	return out, nil
}

// bagLeast is how many columns of 0 and 1, most of them 0, are a bag of words.
const bagLeast = 32

// leaveBags leaves such columns as they are if they are many: standardised, nothing in them would be 0.
func (out *Table) leaveBags(t *form.Table) {
	var bag []int
	for i := range out.Columns {
		c := &out.Columns[i]
		if col := t.Column(c.Name); c.As == AsNumber && !c.Asked && col.Type == form.Number {
			ones := 0
			if !slices.ContainsFunc(col.Numbers, func(v float64) bool { ones += btoi(v == 1); return v != 0 && v != 1 }) && 2*ones < t.Rows {
				bag = append(bag, i)
			}
		}
	}
	if len(bag) >= bagLeast {
		for _, i := range bag {
			out.Columns[i].As = AsPlain
		}
	}
}

// maskNames are what columns are called that say whether a row trains, validates or tests.
var maskNames = []string{"train_mask", "val_mask", "test_mask"}

// isNumbering reports whether a column only numbers the rows.
func isNumbering(name string, of form.Of) bool {
	name = form.Plain(name)
	if of == form.OfEdges {
		return slices.Contains([]string{"id", "edge_id", "edgeid", "index"}, name)
	}
	return name == "id" // beside new_id
}

// byName gives columns the roles that they are named for, if neither the user nor the form gives these.
func (c *chooser) byName(t *form.Table, of form.Of, roles []form.Role) {
	for _, one := range []struct {
		role  form.Role
		own   string
		names []string
		for_  []form.Of
	}{
		{form.AsTitle, c.r.Title, form.TitleNames, []form.Of{form.OfNodes, form.OfGraphs}},
		{form.AsWeight, c.r.Weight, form.WeightNames, []form.Of{form.OfEdges}},
		{form.AsPart, c.r.Part, form.PartNames, nil},
		{form.AsLabel, "", form.LabelNames, []form.Of{form.OfNodes, form.OfGraphs}},
	} {
		if one.role == form.AsLabel && (len(c.r.Label) > 0 || c.given) || one.role == form.AsWeight && (c.r.Repeated == Count || c.raw.Graphs != nil) {
			continue
		}
		names := one.names
		if one.own != "" {
			names = []string{form.Plain(one.own)}
		} else if one.for_ != nil && !slices.Contains(one.for_, of) || slices.Contains(roles, one.role) {
			continue
		}
		if i := first(t, names, func(i int) bool { return t.Columns[i].Role == "" || one.own != "" }); i >= 0 {
			roles[i] = one.role
		}
	}
}

// first returns which column has the first of the names, among those that may; -1 if none has.
func first(t *form.Table, names []string, may func(i int) bool) int {
	for _, name := range names {
		for i := range t.Columns {
			if form.Plain(t.Columns[i].Name) == name && may(i) {
				return i
			}
		}
	}
	return -1
}

// feature adds a column that becomes features.
func (out *Table) feature(t *form.Table, col *form.Column, look *look, of form.Of, as Encoding) error {
	asked := as != ""
	names := form.NodeKindNames
	if of == form.OfEdges {
		names = form.EdgeKindNames
	}
	usual, why, err := Encoding(""), whyEmpty, error(nil)
	if col.Type != form.Empty {
		usual, why, err = look.usual(t, col, of, col.Role == form.AsKind || slices.Contains(names, form.Plain(col.Name)))
	}
	if as == "" {
		as = usual
	}
	other := map[form.Type]Encoding{form.Number: AsNumber, form.Time: AsTime, form.Word: AsCategory, form.Many: AsMatrix}[col.Type]
	wrong := func(want string) error {
		row, text := firstNot(col, as)
		return fmt.Errorf("%s, column %.40q: %.40q is no %s: leave the column out, --column %s=none, or choose another form, as --column %s=%s", t.At(col, row), col.Name, text, want, col.Name, col.Name, other)
	}
	switch {
	case col.Type == form.Empty:
	case col.Mixed != nil && col.Type == form.Word && as != AsText:
		if strings.Contains(col.Mixed.Error(), "--column") {
			return col.Mixed
		}
		return fmt.Errorf("%w, --column %s=none", col.Mixed, col.Name)
	case !asked && err != nil:
		return err
	case as.number() && col.Type != form.Number && (col.Type != form.Time || col.Dated):
		return wrong("number")
	case as == AsTime && col.Type != form.Time:
		return wrong("time, such as 2024-03-01T12:30:00Z")
	case as == AsMatrix && col.Type != form.Many:
		return wrong("list of numbers")
	case as == AsCode && col.Type == form.Many && col.Matrix.Offsets == nil:
	case as.worded() && col.Type == form.Many:
		return fmt.Errorf("%s: the column %.40q has %d numbers a row, which are no %s: leave it out, --column %s=none", where(t), col.Name, col.Matrix.Cols, as, col.Name)
	}
	if as == "" || as == Left {
		out.Unread = append(out.Unread, col.Name)
		out.seen[col.Name] = seen{says: look.says(col), why: why, words: col.Type == form.Word && why != whySame}
		return nil
	}
	out.Columns = append(out.Columns, Column{Name: col.Name, Type: col.Type, As: as, Asked: asked})
	return nil
}

// firstNot returns the first row of a column whose cell cannot be read in a way, and the cell.
func firstNot(col *form.Column, as Encoding) (row int, text string) {
	at := textsOf(col)
	for row := range at.rows {
		text, ok := at.text(row)
		if !ok {
			continue
		}
		_, right := numberOf(text)
		right = right && as.number()
		if as == AsTime && col.Type == form.Word && len(text) > 4 && text[4] == '-' { // written out
			_, right = form.TimeOf(text)
		}
		if !right {
			return row, text
		}
	}
	return 0, ""
}

// nameKind chooses the column that says of which kind a row is: of words, and none is empty.
func (out *Table) nameKind(t *form.Table, of form.Of) {
	if out.Kind != "" || of == form.OfGraphs {
		return
	}
	names := form.NodeKindNames
	if of == form.OfEdges {
		names = form.EdgeKindNames
	}
	i := first(t, names, func(i int) bool {
		return slices.ContainsFunc(out.Columns, func(c Column) bool { return c.Name == t.Columns[i].Name })
	})
	if i < 0 || t.Columns[i].Type != form.Word {
		return
	}
	for row := range t.Rows {
		if t.Columns[i].Words.At(row) == "" {
			return
		}
	}
	out.Kind = t.Columns[i].Name
}

// Timely reports whether a column's name says that it holds times, or years.
func Timely(name string) bool {
	name = form.Plain(name)
	for _, end := range []string{"time", "timestamp", "date", "ts", "at", "year"} {
		if name == end || strings.HasSuffix(name, "_"+end) {
			return true
		}
	}
	return strings.HasSuffix(name, "timestamp")
}

// where names a table for an error.
func where(t *form.Table) string {
	if t.Origin.File == "" {
		return "the data"
	}
	return t.Origin.File
}

// originOf says where the cells of a column come from.
func originOf(t *form.Table, name string) *form.Origin {
	if col := t.Column(name); col != nil && col.Origin != nil {
		return col.Origin
	}
	return &t.Origin
}

// fileOf names the file of a column, without folders.
func fileOf(t *form.Table, name string) string {
	o := originOf(t, name)
	if o.File == "" {
		return "the data"
	}
	return filepath.Base(o.File)
}

// meant asks whether the most similar name was meant, "" if none is similar.
func meant(name string, all []string) string {
	plain := make([]string, len(all))
	for i, n := range all {
		plain[i] = form.Plain(n)
	}
	if i := slices.Index(plain, spell.Meant(form.Plain(name), plain)); i >= 0 && plain[i] != "" {
		return fmt.Sprintf(" (is %.40q meant?)", all[i])
	}
	return ""
}

// namesMost is how many names an error lists.
const namesMost = 10

// listed returns names for a message, in quotes and not too many.
func listed(names []string) string {
	var out []string
	for i, n := range names {
		if i == namesMost {
			out = append(out, fmt.Sprintf("and %d more", len(names)-i))
			break
		}
		out = append(out, fmt.Sprintf("%.40q", n))
	}
	return strings.Join(out, ", ")
}
