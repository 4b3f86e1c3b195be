package form

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/jsonread"
)

// graphAliases are the members of a line that go by other names, too.
var graphAliases = map[string]string{"node_feat": "x", "features": "x", "edge_feat": "edge_attr", "targets": "y", "edge_index": "edges"}

// member reads a member of a line. Of members that mean the same the first is read.
func (l *graphLines) member(key string) error {
	g := &l.line
	lower := strings.ToLower(key)
	name := lower
	if of := graphAliases[lower]; of != "" {
		name = of
	}
	if _, there := g.has[name]; there {
		if name == "edges" {
			return errTwoEdges
		}
		l.note(key)
		return g.scan.Skip()
	}
	n, err, there := 0, error(nil), true
	switch name {
	case "nodes", "num_nodes":
		return l.counts(name)
	case "directed":
		return g.readDirected()
	case "edges":
		if there, err = g.scan.opened(); there && err == nil {
			if n = 1; lower == "edges" {
				err = g.pairs()
			} else {
				err = g.index()
			}
		}
	case "x":
		n, there, err = l.rows(&l.x, "node")
	case "edge_attr":
		n, there, err = l.rows(&l.attr, "edge")
	case "edge_weight":
		n, there, err = l.rows(&l.weights, "the weight of edge")
	case "node_y":
		n, there, err = l.rows(&l.nodeY, "node_y of node")
	case "edge_type":
		n, there, err = l.edgeKinds()
	case "node_label":
		n, there, err = l.labelsOfNodes()
	case "y":
		g.y, err = true, l.target()
	case "label":
		var text []byte
		if text, g.labelled, err = g.classOf(-1); err == nil {
			g.label = append(g.label[:0], text...)
		}
		return err
	case "split":
		return l.partOf()
	case "name":
		g.name, err = g.scan.text()
		return err
	default:
		l.note(key)
		return g.scan.Skip()
	}
	if there {
		g.has[name] = n
	}
	return err
}

var errTwoEdges = errors.New("want edges, or an edge_index of two lists as long as each other: sources and targets")

// counts reads how many nodes there are.
func (l *graphLines) counts(name string) error {
	g := &l.line
	kind, raw, err := g.scan.Written()
	if err != nil || kind == 'n' {
		return err
	}
	v, err := g.scan.wholeOf(kind, raw)
	if err != nil {
		return err
	}
	if v < 0 {
		return fmt.Errorf("%s is %d, want a number from 0", name, v)
	}
	if n := int(min(v, math.MaxInt32)); name == "nodes" {
		g.n = n
	} else {
		g.count = n
	}
	return nil
}

// readDirected reads whether edges lead one way.
func (g *graphLine) readDirected() error {
	kind, raw, err := g.scan.Written()
	if err != nil {
		return err
	}
	switch kind {
	case 't', 'f':
		g.directed = kind == 't'
	case 'n':
	default:
		return g.scan.want(kind, raw, "true or false")
	}
	return nil
}

// end returns an end of edge i.
func (g *graphLine) end(i int) (int32, error) {
	v, err := g.scan.whole()
	if err == nil && v < 0 {
		err = fmt.Errorf("edge %d has an end %d; nodes are numbered from 0", i, v)
	}
	return int32(min(v, math.MaxInt32-1)), err
}

// pairs reads a list of edges.
func (g *graphLine) pairs() error {
	_, err := g.scan.list(0, func(i int) error {
		there, err := g.scan.opened()
		if err != nil {
			return err
		}
		n := 0
		if there {
			n, err = g.scan.list(1, func(k int) error {
				v, err := g.end(i)
				if k == 0 {
					g.src = append(g.src, v)
				} else if k == 1 {
					g.dst = append(g.dst, v)
				}
				return err
			})
		}
		if err == nil && n != 2 {
			err = fmt.Errorf("edge %d has %d ends, want [source, target]", i, n)
		}
		return err
	})
	return err
}

// index reads a list of sources and one of targets.
func (g *graphLine) index() error {
	n, err := g.scan.list(0, func(k int) error {
		there, err := g.scan.opened()
		if err != nil || !there {
			return err
		}
		_, err = g.scan.list(1, func(i int) error {
			v, err := g.end(i)
			if k == 0 {
				g.src = append(g.src, v)
			} else {
				g.dst = append(g.dst, v)
			}
			return err
		})
		return err
	})
	if err == nil && (n != 2 || len(g.src) != len(g.dst)) {
		err = errTwoEdges
	}
	return err
}

// rows reads a list of a row of numbers each.
func (l *graphLines) rows(to *wide, what string) (n int, there bool, err error) {
	s := &l.line.scan
	if there, err = s.opened(); err != nil || !there {
		return 0, false, err
	}
	n, err = s.list(0, func(i int) error {
		kind, raw, err := s.Written()
		if err != nil {
			return err
		}
		row := to.values.len()
		if err := s.values(1, kind, raw, to.gaps, func(v float64) error { return to.add(v, what, i) }); err != nil {
			return err
		}
		if k := to.inRow; to == &l.weights && k != 1 {
			var numbers []float64
			for _, v := range to.values.join()[row:] {
				numbers = append(numbers, float64(v))
			}
			return fmt.Errorf("%s is %v, want one number", of(what, i), numbers)
		}
		if err := to.end(what, i); err != nil {
			return err
		}
		return l.budget.Keep(to.takes())
	})
	return n, true, err
}

// target reads what is to be learnt of a graph.
func (l *graphLines) target() error {
	s := &l.line.scan
	kind, raw, err := s.Written()
	if err != nil {
		return err
	}
	if err := s.values(0, kind, raw, true, func(v float64) error { return l.y.add(v, "y", -1) }); err != nil {
		if bad := (*jsonread.Error)(nil); kind == '"' && errors.As(err, &bad) {
			bad.Err = fmt.Errorf(`%w; a class that is a word is the graph's "label"`, bad.Err)
		}
		return err
	}
	if err := l.y.end("y", -1); err != nil {
		return err
	}
	return l.budget.Keep(l.y.takes())
}

// edgeKinds reads a list of whole numbers or words.
func (l *graphLines) edgeKinds() (n int, there bool, err error) {
	s := &l.line.scan
	if there, err = s.opened(); err != nil || !there {
		return 0, false, err
	}
	n, err = s.list(0, func(int) error {
		kind, raw, err := s.Written()
		if err != nil {
			return err
		}
		if kind == '"' {
			text, err := jsonread.Text(raw)
			if err != nil {
				return err
			}
			raw = []byte(text)
		}
		if _, bad := wholeNumber(raw); bad != nil {
			if kind != '"' {
				return s.want(kind, raw, "a whole number from 0, or a word")
			}
			l.numbered = false
		}
		return l.kinds.add(raw)
	})
	return n, true, err
}

// classOf reads the class of a node, or below 0 of the graph, a number or a word; there is none where null stands.
func (g *graphLine) classOf(node int) (text []byte, there bool, err error) {
	kind, raw, err := g.scan.Written()
	switch {
	case err != nil || kind == 'n':
		return nil, false, err
	case kind == '"':
		text, err := jsonread.Text(raw)
		return []byte(text), true, err
	case kind == '0':
		v, err := g.scan.number(raw, "a number")
		return fmt.Append(nil, v), true, err
	case kind == '[', kind == '{':
		noun := "the label"
		if node >= 0 {
			noun += of(" of node", node)
		}
		return nil, false, fmt.Errorf("%s is %s, want a number or a word", noun, jsonread.Token{Kind: kind}.Found())
	}
	return raw, true, nil // true or false
}

// labelsOfNodes reads a list of classes.
func (l *graphLines) labelsOfNodes() (n int, there bool, err error) {
	s := &l.line.scan
	if there, err = s.opened(); err != nil || !there {
		return 0, false, err
	}
	n, err = s.list(0, func(i int) error {
		text, _, err := l.line.classOf(i)
		if err != nil {
			return err
		}
		return l.nodeLabels.add(text)
	})
	return n, true, err
}

// partOf reads the part of the split that a graph is in.
func (l *graphLines) partOf() error {
	text, err := l.line.scan.text()
	if err != nil {
		return err
	}
	switch text {
	case "":
	case "train":
		l.line.part = &l.split.Train
	case "val", "valid", "validation":
		l.line.part = &l.split.Val
	case "test":
		l.line.part = &l.split.Test
	default:
		return fmt.Errorf("split is %.40q, want train, val or test", text)
	}
	return nil
}

// lineScanner reads the members of the object that a line is, token by token. Its errors name the member, and the
// places in its lists.
type lineScanner struct {
	*jsonread.Reader
	key string // of the member
	at  [2]int // the place in its list and in the list there, −1: not in one
}

// wrong returns an error about the value that was read last.
func (s *lineScanner) wrong(found jsonread.Token, err error) error {
	e := &jsonread.Error{Found: found, Err: err}
	if s.key != "" {
		e.Path = fmt.Sprintf("%q", s.key)
		for _, i := range s.at {
			if i >= 0 {
				e.Path += fmt.Sprintf("[%d]", i)
			}
		}
	}
	e.Line, e.Column = s.Place()
	return e
}

// want returns the error for a value that is of another kind than is wanted.
func (s *lineScanner) want(kind byte, raw []byte, what string) error {
	t := jsonread.Token{Kind: kind, Text: string(raw)}
	if kind == '"' {
		t.Text, _ = jsonread.Text(raw)
	}
	return s.wrong(t, fmt.Errorf("%s stands there, want %s", t.Found(), what))
}

// object calls f for the key of each member, whose value it reads.
func (s *lineScanner) object(f func(key string) error) error {
	s.at = [2]int{-1, -1}
	kind, raw, err := s.Written()
	if err != nil {
		return err
	}
	if kind != '{' {
		return s.want(kind, raw, "an object in braces")
	}
	for s.More() {
		t, err := s.Token()
		if err != nil {
			return err
		}
		s.key = t.Text
		if err := f(t.Text); err != nil {
			return err
		}
		s.key = ""
	}
	_, _, err = s.Written()
	return err
}

// list calls f for each value of a list at that level, whose bracket is read, and returns how many there are.
func (s *lineScanner) list(level int, f func(i int) error) (n int, err error) {
	for ; s.More(); n++ {
		s.at[level] = n
		if err := f(n); err != nil {
			return n, err
		}
	}
	s.at[level] = -1
	_, _, err = s.Written()
	return n, err
}

// opened reads the bracket of a list. Without an error it is false where null stands there instead.
func (s *lineScanner) opened() (bool, error) {
	kind, raw, err := s.Written()
	if err != nil || kind == 'n' || kind == '[' {
		return err == nil && kind == '[', err
	}
	return false, s.want(kind, raw, "a list")
}

// text reads a text, which of null is empty.
func (s *lineScanner) text() (string, error) {
	kind, raw, err := s.Written()
	switch {
	case err != nil || kind == 'n':
		return "", err
	case kind != '"':
		return "", s.want(kind, raw, "a text")
	}
	return jsonread.Text(raw)
}

// whole reads a whole number.
func (s *lineScanner) whole() (int64, error) {
	kind, raw, err := s.Written()
	if err != nil {
		return 0, err
	}
	return s.wholeOf(kind, raw)
}

// wholeOf returns the whole number that is written.
func (s *lineScanner) wholeOf(kind byte, raw []byte) (int64, error) {
	n := int64(0)
	for _, c := range raw {
		if c < '0' || c > '9' || len(raw) > 18 {
			v, err := strconv.ParseInt(string(raw), 10, 64)
			switch {
			case kind == '0' && errors.Is(err, strconv.ErrRange):
				return 0, s.want(kind, raw, fmt.Sprintf("a whole number from %d to %d", int64(math.MinInt64), int64(math.MaxInt64)))
			case kind != '0' || err != nil:
				return 0, s.want(kind, raw, "a whole number")
			}
			return v, nil
		}
		n = 10*n + int64(c-'0')
	}
	return n, nil
}

// number returns the number that is written.
func (s *lineScanner) number(raw []byte, what string) (float64, error) {
	if n := 0; len(raw) < 10 {
		for _, c := range raw {
			if c < '0' || c > '9' {
				n = -1
				break
			}
			n = 10*n + int(c-'0')
		}
		if n >= 0 {
			return float64(n), nil
		}
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return 0, s.want('0', raw, "a number that 64 bits hold"+strings.TrimPrefix(what, "a number"))
	}
	return v, nil
}

// values calls add with the numbers of a list whose bracket is read, or of what stands there instead, of which null is
// NaN. In a list without gaps null is an error at its place. what says what is wanted.
func (s *lineScanner) values(level int, kind byte, raw []byte, gaps bool, add func(v float64) error) error {
	one := func(kind byte, raw []byte, what string) error {
		switch kind {
		case 'n':
			return add(math.NaN())
		case '0':
			v, err := s.number(raw, what)
			if err != nil {
				return err
			}
			return add(v)
		}
		return s.want(kind, raw, what)
	}
	if kind != '[' {
		if kind == 'n' && !gaps {
			return nil
		}
		return one(kind, raw, "a number or a list of them")
	}
	begin := *s.Reader
	_, err := s.list(level, func(i int) error {
		kind, raw, err := s.Written()
		if err != nil {
			return err
		}
		if kind == 'n' && !gaps {
			s.at[level], *s.Reader = -1, begin
			return s.wrong(jsonread.Token{}, fmt.Errorf("number %d of a list is null: fill it in", i))
		}
		return one(kind, raw, "a number")
	})
	return err
}
