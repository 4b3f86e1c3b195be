package columns

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/form"
)

// most are the largest sizes that a Schema may have.
const (
	tablesMost  = 1 << 12
	columnsMost = 1 << 16
	widthMost   = 1 << 28
	textMost    = 1 << 20 // bytes
	hashesMost  = 1 << 16
)

// Check returns an error that names the first thing that cannot have been fitted: a file may hold anything.
func (s *Schema) Check() error {
	if len(s.Nodes) == 0 || len(s.Nodes) > tablesMost || len(s.Edges) > tablesMost {
		return fmt.Errorf("%d types of nodes and %d kinds of edges: want at least a type, and at most %d of each", len(s.Nodes), len(s.Edges), tablesMost)
	}
	switch s.Repeated {
	case "", First, Keep, Sum, Count:
	default:
		return fmt.Errorf("%.40q says nothing of repeated edges: want %s, %s, %s or %s", s.Repeated, First, Keep, Sum, Count)
	}
	seen, width := map[[3]string]bool{}, 0
	for i := range s.Nodes {
		if err := s.Nodes[i].check(seen, &width, s.Fitted); err != nil {
			return fmt.Errorf("nodes of type %.40q: %w", s.Nodes[i].Type, err)
		}
	}
	clear(seen)
	width = 0
	for i := range s.Edges {
		t := &s.Edges[i]
		if err := t.check(seen, &width, s.Fitted); err != nil {
			return fmt.Errorf("edges %s: %w", kindOf(t.Type, t.From, t.To), err)
		}
		for _, end := range []string{t.From, t.To} {
			if !slices.ContainsFunc(s.Nodes, func(n Table) bool { return n.Type == end }) && (end != "" || len(s.Nodes) > 1) {
				return fmt.Errorf("edges %s: there is no type of nodes %.40q", kindOf(t.Type, t.From, t.To), end)
			}
		}
	}
	if s.Graphs != nil {
		clear(seen)
		if err := s.Graphs.check(seen, &width, s.Fitted); err != nil {
			return fmt.Errorf("graphs: %w", err)
		}
	}
	return s.Label.check(s.Fitted)
}

// check checks a table, whose type none of seen has.
func (t *Table) check(seen map[[3]string]bool, width *int, fitted bool) error {
	key := [3]string{t.Type, t.From, t.To}
	switch {
	case seen[key]:
		return fmt.Errorf("they stand there twice")
	case len(t.Columns) > columnsMost:
		return fmt.Errorf("%d columns; want at most %d", len(t.Columns), columnsMost)
	case t.Count < 0 || t.Count > widthMost || t.Count > 0 && len(t.Columns) > 0:
		return fmt.Errorf("%d nodes with a feature of their own, and %d columns", t.Count, len(t.Columns))
	}
	seen[key] = true
	names := map[string]bool{}
	for i := range t.Columns {
		c := &t.Columns[i]
		if names[c.Name] {
			return fmt.Errorf("the column %.40q stands there twice", c.Name)
		}
		names[c.Name] = true
		if err := c.check(fitted); err != nil {
			return fmt.Errorf("column %.40q: %w", c.Name, err)
		}
		if *width += c.width(); *width > widthMost {
			return fmt.Errorf("more than %d features", widthMost)
		}
	}
	if *width += t.Count; *width > widthMost {
		return fmt.Errorf("more than %d features", widthMost)
	}
	if err := differ(t.Kinds, "kinds"); err != nil {
		return err
	}
	if len(t.Kinds) > 0 && t.Kind == "" {
		return fmt.Errorf("%d kinds, and no column says which a row is of", len(t.Kinds))
	}
	for word, part := range t.Parts {
		if part != "train" && part != "val" && part != "test" {
			return fmt.Errorf("%.40q is to mean the part %.40q: want train, val or test", word, part)
		}
	}
	for _, name := range slices.Concat([]string{t.Type, t.From, t.To, t.Weight, t.Part, t.Title, t.Kind}, t.Times, t.Unread) {
		if len(name) > textMost {
			return fmt.Errorf("a name of %d bytes", len(name))
		}
	}
	return nil
}

// check checks a column.
func (c *Column) check(fitted bool) error {
	if !slices.Contains([]form.Type{form.Empty, form.Number, form.Time, form.Word, form.Many}, c.Type) {
		return fmt.Errorf("%.40q is no type of cells", c.Type)
	}
	for _, only := range []struct {
		may, there bool
		what       string
	}{
		{c.As == AsCategory || c.As == AsCode && !c.Given, len(c.Words) > 0 || c.Given, "words"},
		{c.many() || c.As == AsText, c.Width != 0 || len(c.Names) > 0, "a width"},
		{c.As == AsText, len(c.Hashes)+len(c.Weights) > 0, "hashes"},
		{c.As == AsTime, c.From != 0 || c.Till != 0 || c.Dated, "an origin of times"},
		{c.As == AsTime && c.Dated, len(c.Cycles) > 0, "cycles"},
		{c.As.number() && c.As != AsLog, c.Less != 0, "what is taken off"},
		{c.As.number() && c.As != AsPlain || c.As == AsTime, c.Scale != nil, "a scale"},
	} {
		if only.there && !only.may {
			return fmt.Errorf("it is a %s, and has %s", c.As, only.what)
		}
	}
	if err := c.checkCodes(fitted); err != nil {
		return err
	}
	switch c.As {
	case AsNumber, AsPlain, AsLog, AsTime:
		if err := c.checkNumber(fitted); err != nil {
			return err
		}
	case AsCategory, AsCode:
		for i, w := range c.Words {
			if w == "" || len(w) > textMost || !c.Given && i > 0 && c.Words[i-1] >= w {
				return fmt.Errorf("word %d, %.40q, is empty, too long, or not after the one before", i, w)
			}
		}
		if err := differ(c.Words, "words"); err != nil {
			return err
		}
		if len(c.Words) > wordsAsked {
			return fmt.Errorf("%d words; want at most %d", len(c.Words), wordsAsked)
		}
	case AsText:
		if err := c.checkText(fitted); err != nil {
			return err
		}
	case AsMatrix:
		if c.Width < 0 || c.Width > widthMost || len(c.Names) > 0 && len(c.Names) != c.Width {
			return fmt.Errorf("%d numbers a row, and %d names", c.Width, len(c.Names))
		}
	default:
		return fmt.Errorf("%.40q is nothing that a column becomes", c.As)
	}
	if len(c.Name) > textMost {
		return fmt.Errorf("a name of %d bytes", len(c.Name))
	}
	return nil
}

// checkNumber checks a column of numbers or times.
func (c *Column) checkNumber(fitted bool) error {
	if fitted && c.Fill == nil {
		return fmt.Errorf("nothing says what an empty cell is")
	}
	if c.Fill != nil && !(*c.Fill > -1<<62 && *c.Fill < 1<<62) && !(c.As.number() && finite(*c.Fill)) {
		return fmt.Errorf("an empty cell is %v", *c.Fill)
	}
	if c.Less-c.Less != 0 {
		return fmt.Errorf("%v is taken off", c.Less)
	}
	if s := c.Scale; s != nil && (s.Mean-s.Mean != 0 || s.Dev-s.Dev != 0 || s.Dev < 0) {
		return fmt.Errorf("the mean is %v and the standard deviation %v", s.Mean, s.Dev)
	}
	for i, cycle := range c.Cycles {
		if cycle.days() == 0 || slices.Contains(c.Cycles[:i], cycle) {
			return fmt.Errorf("%.40q is no cycle, or stands there twice: want %s, %s or %s", cycle, Day, Week, Year)
		}
	}
	return nil
}

// checkText checks a column of texts.
func (c *Column) checkText(fitted bool) error {
	if c.Width < 0 || c.Width > hashesMost || fitted && c.Width == 0 {
		return fmt.Errorf("words have %d hashes; want 1 to %d", c.Width, hashesMost)
	}
	if len(c.Weights) != len(c.Hashes) || len(c.Names) != len(c.Hashes) {
		return fmt.Errorf("%d weights and %d names of %d hashes", len(c.Weights), len(c.Names), len(c.Hashes))
	}
	for i, h := range c.Hashes {
		if h < 0 || int(h) >= c.Width || i > 0 && h <= c.Hashes[i-1] {
			return fmt.Errorf("hash %d is %d of %d, or not after the one before", i, h, c.Width)
		}
		if w := c.Weights[i]; !(w > 0 && w < 1<<20) || len(c.Names[i]) > textMost {
			return fmt.Errorf("the weight of hash %d is %v, or its name too long", i, w)
		}
	}
	return nil
}

// differ checks that names are not empty and differ.
func differ(names []string, what string) error {
	seen := make(map[string]bool, len(names))
	for i, n := range names {
		if seen[n] || len(n) > textMost {
			return fmt.Errorf("name %d of the %s, %.40q, stands there twice or is too long", i, what, n)
		}
		seen[n] = true
	}
	return nil
}

// check checks what is to be learnt.
func (l *Label) check(fitted bool) error {
	if l == nil {
		return nil
	}
	switch {
	case l.Of != form.OfNodes && l.Of != form.OfEdges && l.Of != form.OfGraphs:
		return fmt.Errorf("%.40q is nothing to learn from", l.Of)
	case len(l.Columns) == 0 || len(l.Columns) > columnsMost:
		return fmt.Errorf("%d columns are learnt", len(l.Columns))
	case l.As != "" && l.As != AsNumber && l.As != AsCategory:
		return fmt.Errorf("it is learnt as %.40q, which is neither %s nor %s", l.As, AsNumber, AsCategory)
	case !fitted && l.Kind == "":
	case l.Kind != OneClass && l.Kind != Labels && l.Kind != Numbers:
		return fmt.Errorf("%.40q is nothing to learn", l.Kind)
	case l.Count < 0 || l.Count > widthMost:
		return fmt.Errorf("%d classes", l.Count)
	case len(l.Classes) > 0 && len(l.Classes) != l.Count:
		return fmt.Errorf("%d names of %d classes", len(l.Classes), l.Count)
	case len(l.Columns) > 1 && (l.Kind == OneClass || l.Count != len(l.Columns)):
		return fmt.Errorf("%d columns are learnt as %d numbers", len(l.Columns), l.Count)
	}
	if err := differ(l.Columns, "columns that are learnt"); err != nil {
		return err
	}
	return differ(l.Classes, "classes")
}
