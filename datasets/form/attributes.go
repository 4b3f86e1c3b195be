package form

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cells"
	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/tensor"
)

// keysMost is how many attributes the nodes, or the edges, of a file may have by name.
const keysMost = 256

// What is kept of a text in memory, in bytes: of an id and of a cell beside their texts, of an edge, and of a row in
// each column.
const (
	identTakes    = 100
	textTakes     = 24
	edgeRowTakes  = 24
	columnRowTake = 9
)

// idents numbers the ids of nodes, texts, in the order in which they turn up.
type idents struct {
	of     map[string]int32
	list   []string
	at     []int32 // the line or the element in which each turned up
	budget *unpack.Budget
}

// number returns the number of an id, a new one if it has none. A whole number that is
// written as a float, as pandas does beside gaps, is that number.
func (n *idents) number(id string, at int) (k int32, known bool, err error) {
	id = cells.ID(id)
	if k, known = n.of[id]; known {
		return k, true, nil
	}
	if len(n.list) == math.MaxInt32/2 {
		return 0, false, errors.New("there are more than 2³⁰ nodes")
	}
	if err := n.budget.Keep(identTakes + len(id)); err != nil {
		return 0, false, err
	}
	if n.of == nil {
		n.of = map[string]int32{}
	}
	k = int32(len(n.list))
	n.of[id], n.list, n.at = k, append(n.list, id), append(n.at, int32(at))
	return k, false, nil
}

// attributes are the cells of a table while it is read from a file that is none: columns turn up as they are met, and
// rows may leave cells out.
type attributes struct {
	columns []attribute
	of      map[string]int
	rows    int
	budget  *unpack.Budget
}

// attribute is a column while it is read.
type attribute struct {
	name  string
	words bool // numbers are words, too
	role  Role
	cells cells.List
}

// column returns the place of a column by its name, which is a new one if there is none.
func (a *attributes) column(name string) (int, error) {
	if i, ok := a.of[name]; ok {
		return i, nil
	}
	if len(a.columns) == keysMost {
		return 0, fmt.Errorf("%.40q is one more attribute than the %d that are read", name, keysMost)
	}
	if a.of == nil {
		a.of = map[string]int{}
	}
	a.of[name] = len(a.columns)
	a.columns = append(a.columns, attribute{name: name})
	return len(a.columns) - 1, nil
}

// row takes the cells of the next row; others of its columns are empty.
func (a *attributes) row(fields [][]byte) error {
	takes := columnRowTake * len(a.columns)
	for i, text := range fields {
		if len(text) == 0 {
			continue
		}
		c := &a.columns[i].cells
		c.Pad(a.rows)
		c.Add(text)
		takes += textTakes + len(text)
	}
	a.rows++
	return a.budget.Keep(takes)
}

// table returns the rows as a table. The cells are used up.
func (a *attributes) table(o Origin) Table {
	t := Table{Rows: a.rows, Origin: o}
	for i := range a.columns {
		c := &a.columns[i]
		c.cells.Pad(a.rows)
		column := typed(c.name, &c.cells, c.words, &o)
		column.Role = c.role
		t.Columns = append(t.Columns, column)
		c.cells = cells.List{}
	}
	return t
}

// typed makes a column of cells by the rules of tables. As words they are not numbers, though they may look like some.
func typed(name string, list *cells.List, words bool, o *Origin) Column {
	return fromCells(cells.Typed(name, list, words, (*cells.Origin)(o)))
}

// fromCells returns a column of cells.
func fromCells(c cells.Column) Column {
	out := Column{Name: c.Name, Type: Type(c.Type), Numbers: c.Numbers, Truth: c.Truth, Times: c.Times, Dated: c.Dated, Mixed: c.Mixed}
	if c.Words != nil {
		out.Words = &Words{Texts: c.Words.Texts, Codes: c.Words.Codes}
	}
	return out
}

// readCSV reads a text as a table. choose says how its columns are read, of which it gets the names.
func readCSV(r io.Reader, budget *unpack.Budget, path string, choose func(names []string) (cells.Plan, error)) (*Table, error) {
	t, err := cells.Read(r, budget, path, choose)
	if err != nil {
		return nil, err
	}
	out := &Table{Rows: t.Rows, Origin: Origin(t.Origin)}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, fromCells(c))
	}
	return out, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// originOf returns the origin of rows in those lines of a file.
func originOf(file string, lines []int32) Origin {
	o := Origin{File: file}
	for i, line := range lines {
		if i == 0 {
			o.First = int(line)
		} else if int(line) != o.First+i {
			o.Lines = lines
			break
		}
	}
	return o
}

// edgeList is edges between nodes that have ids, while they are read.
type edgeList struct {
	attributes
	ends     idents
	src, dst chunkedSlice[int32]
	lines    chunkedSlice[int32]
}

// add adds an edge.
func (e *edgeList) add(u, v string, at int) error {
	if e.src.n == math.MaxInt32/2 {
		return errors.New("there are more than 2³⁰ edges")
	}
	if u == "" || v == "" {
		return errors.New("an end of the edge is empty")
	}
	if err := e.ends.budget.Keep(edgeRowTakes); err != nil {
		return err
	}
	s, _, err := e.ends.number(u, at)
	if err != nil {
		return err
	}
	t, _, err := e.ends.number(v, at)
	if err != nil {
		return err
	}
	e.src.add(s)
	e.dst.add(t)
	return nil
}

// finish returns the edges between nodes that are listed. Unit is what they are called where one ends at another. It uses e up.
func (e *edgeList) finish(o Origin, unit string, nodes *idents) (Edges, error) {
	place := make([]int32, len(e.ends.list))
	for i, id := range e.ends.list {
		k, ok := nodes.of[id]
		if !ok {
			return Edges{}, fmt.Errorf("%s %d: node %.40q is not in %s: add it there, or leave its edges out", unit, e.ends.at[i], id, o.File)
		}
		place[i] = k
	}
	e.ends = idents{}
	out := Edges{Table: e.table(o), Source: e.src.join(), Target: e.dst.join()}
	for _, ends := range [][]int32{out.Source, out.Target} {
		for i, k := range ends {
			ends[i] = place[k]
		}
	}
	return out, nil
}

// opened reads one file of f with read, which gets its text and its name for errors.
func opened(f *Files, name string, read func(r io.Reader, at string) (*Raw, error)) (*Raw, error) {
	r, err := f.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	raw, err := read(r, f.At(name))
	if err != nil {
		return nil, err
	}
	if raw.Name == "" {
		raw.Name = stem(name)
	}
	raw.Size = f.Size()
	return raw, nil
}

// narrow is numbers while they are read: a byte each as long as that holds them, which most counts and codes do, and then floats.
type narrow struct {
	small chunkedSlice[uint8]
	large chunkedSlice[tensor.Float]
}

func (w *narrow) len() int { return w.small.n + w.large.n }

func (w *narrow) add(v tensor.Float) {
	if k := uint8(v); w.large.n == 0 && v >= 0 && v < 256 && tensor.Float(k) == v && (k > 0 || 1/v > 0) {
		w.small.add(k)
		return
	}
	w.large.add(v)
}

// join returns the numbers. w is empty in the end.
func (w *narrow) join() []tensor.Float {
	out := make([]tensor.Float, 0, w.len())
	for part := range w.small.taken() {
		for _, k := range part {
			out = append(out, tensor.Float(k))
		}
	}
	for part := range w.large.taken() {
		out = append(out, part...)
	}
	return out
}

// wide is rows of as many numbers each, while they are read.
type wide struct {
	gaps        bool // some may be NaN
	width, rows int
	inRow       int // numbers of the row that is read
	values      narrow
}

// takes returns what a row takes as it is read and as it is kept, in bytes.
func (w *wide) takes() int {
	if w.values.large.n > 0 {
		return 2 * 4 * w.width
	}
	return (1 + 4) * w.width
}

// add adds a number to the row that is read.
func (w *wide) add(f float64, what string, row int) error {
	v := tensor.Float(f)
	if v-v != 0 && !(w.gaps && v != v) {
		return fmt.Errorf("number %d of %s is %v", w.inRow, of(what, row), f)
	}
	w.inRow++
	w.values.add(v)
	return nil
}

// end ends a row of a noun.
func (w *wide) end(what string, row int) error {
	n := w.inRow
	if w.inRow = 0; w.rows == 0 {
		w.width = n
	}
	if n != w.width || w.width == 0 {
		return fmt.Errorf("%s has %d numbers, want %d as the first", of(what, row), n, max(1, w.width))
	}
	w.rows++
	return nil
}

// of names a row of a noun; below 0 there is one alone.
func of(what string, row int) string {
	if row < 0 {
		return what
	}
	return what + " " + strconv.Itoa(row)
}

// column returns the rows as a column of that name. w is empty in the end.
func (w *wide) column(name string, role Role) Column {
	return Column{Name: name, Type: Many, Role: role, Matrix: &Matrix{Rows: w.rows, Cols: w.width, Values: w.values.join()}}
}

// wordList is a column of words while it is read.
type wordList struct {
	known  map[string]int32
	texts  []string
	codes  chunkedSlice[int32]
	budget *unpack.Budget
}

// add adds a word, of which an empty one is none.
func (w *wordList) add(text []byte) error {
	k, known := w.known[string(text)]
	switch {
	case len(text) == 0:
		k = -1
	case !known:
		if err := w.budget.Keep(identTakes + len(text)); err != nil {
			return err
		}
		if w.known == nil {
			w.known = map[string]int32{}
		}
		k = int32(len(w.texts))
		w.known[string(text)], w.texts = k, append(w.texts, string(text))
	}
	w.codes.add(k)
	return w.budget.Keep(2 * 4)
}

// words returns the words. w is empty in the end.
func (w *wordList) words() *Words { return &Words{Texts: w.texts, Codes: w.codes.join()} }

// classes returns the words as classes: in the order of the numbers if all are whole, or else of the words. nan is
// none. noun says what has them, and remedy where numbers belong.
func (w *wordList) classes(name, noun, remedy string) (Column, error) {
	texts := w.texts
	none := func(s string) bool { return strings.EqualFold(s, "nan") }
	names := slices.DeleteFunc(slices.Sorted(slices.Values(texts)), none)
	if !slices.ContainsFunc(names, func(s string) bool { _, err := strconv.Atoi(s); return err != nil }) {
		slices.SortStableFunc(names, func(a, b string) int {
			x, _ := strconv.Atoi(a)
			y, _ := strconv.Atoi(b)
			return x - y
		})
	}
	at, place := make(map[string]int32, len(names)), make([]int32, len(texts))
	for k, text := range names {
		at[text] = int32(k) + 1
	}
	for k, text := range texts {
		place[k] = at[text] - 1
	}
	codes, labelled := w.codes.join(), 0
	for i, k := range codes {
		if k >= 0 {
			codes[i] = place[k]
			labelled++
		}
	}
	if many := 100; len(names) > many && 2*len(names) > labelled {
		return Column{}, fmt.Errorf("%d different labels of %d %ss are no classes: %s", len(names), labelled, noun, remedy)
	}
	return Column{Name: name, Type: Word, Role: AsLabel, Words: &Words{Texts: names, Codes: codes, Ordered: true}}, nil
}

// wholeNumber returns the number that a field is, from 0 to 2³¹−9.
func wholeNumber(field []byte) (int32, error) {
	n := int64(0)
	for _, c := range field {
		if c < '0' || c > '9' || n >= 1<<31/10 {
			n = -1
			break
		}
		n = 10*n + int64(c-'0')
	}
	if n < 0 || len(field) == 0 {
		return 0, fmt.Errorf("%.40q is no number from 0 to %d", field, 1<<31/10*10-1)
	}
	return int32(n), nil
}

// The least and the most elements of a piece.
const (
	pieceLeast = 1 << 8
	pieceMost  = 1 << 16
)

// chunkedSlice is a long slice while it is read, in pieces. It grows without being copied:
// an append that copies holds twice what it has, and leaves that behind.
type chunkedSlice[T any] struct {
	full [][]T
	last []T
	n    int
}

// add adds an element.
func (p *chunkedSlice[T]) add(v T) {
	if len(p.last) == cap(p.last) {
		if p.n > 0 {
			p.full = append(p.full, p.last)
		}
		p.last = make([]T, 0, min(max(p.n, pieceLeast), pieceMost))
	}
	p.last = append(p.last, v)
	p.n++
}

// taken yields the pieces in order. None is kept: p is empty in the end.
func (p *chunkedSlice[T]) taken() iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		whole := *p
		*p = chunkedSlice[T]{}
		for i, part := range whole.full {
			whole.full[i] = nil
			if !yield(part) {
				return
			}
		}
		yield(whole.last)
	}
}

// join returns the slice. p is empty in the end.
func (p *chunkedSlice[T]) join() []T {
	out := make([]T, 0, p.n)
	for part := range p.taken() {
		out = append(out, part...)
	}
	return out
}
