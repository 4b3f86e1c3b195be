package form

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/pickle"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// matrix turns a pickled csr_matrix into a CSR whose columns ascend.
func matrix(v any) (*sparse.CSR, error) {
	m, ok := v.(*pickle.CSR)
	if !ok {
		return nil, fmt.Errorf("it holds %s, not a csr_matrix", kindOf(v))
	}
	offsets, err := m.Offsets.Ints()
	if err != nil {
		return nil, fmt.Errorf("indptr: %w", err)
	}
	cols, err := m.Columns.Int32s()
	if err != nil {
		return nil, fmt.Errorf("indices: %w", err)
	}
	values, err := valuesOf(m.Values)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	a, err := sparse.New(m.Rows, m.Cols, offsets, cols, values)
	if err != nil {
		return nil, err
	}
	sortRows(a)
	return a, nil
}

// valuesOf returns finite numbers.
func valuesOf(a *pickle.Array) ([]tensor.Float, error) {
	var out []tensor.Float
	var err error
	switch x := any(&out).(type) {
	case *[]float32:
		*x, err = a.Float32s()
	case *[]float64:
		*x, err = a.Floats()
	}
	if err != nil {
		return nil, err
	}
	if k := notFinite(out); k >= 0 {
		return nil, fmt.Errorf("element %d is %v", k, out[k])
	}
	return out, nil
}

// sortRows sorts the nonzeros of each row by column.
func sortRows(a *sparse.CSR) {
	par.For(a.NumRows, 256, func(lo, hi int) {
		var buffer []uint64
		for i := lo; i < hi; i++ {
			cols, values := a.Row(i)
			buffer = sortRow(cols, values, buffer)
		}
	})
}

// sortRow sorts the nonzeros of a row by column, those of one column in the order
// that they had. Most rows are sorted already. It returns the buffer it used.
func sortRow(cols []int32, values []tensor.Float, buffer []uint64) []uint64 {
	if slices.IsSorted(cols) {
		return buffer
	}
	buffer = buffer[:0]
	for k, c := range cols {
		buffer = append(buffer, uint64(c)<<32|uint64(k))
	}
	slices.Sort(buffer)
	old := slices.Clone(values)
	for k, b := range buffer {
		cols[k] = int32(b >> 32)
		if old != nil {
			values[k] = old[uint32(b)]
		}
	}
	return buffer
}

// onehot is the class of each row, of count classes.
type onehot struct {
	labels []int32
	count  int
}

// classesIn turns a pickled one-hot matrix into classes. A row of zeros is of
// class 0, as if its first largest element were asked for.
func classesIn(v any) (onehot, error) {
	a, ok := v.(*pickle.Array)
	if !ok || len(a.Shape) != 2 {
		return onehot{}, fmt.Errorf("it holds %s, not an array of two axes", kindOf(v))
	}
	x, err := a.Floats()
	if err != nil {
		return onehot{}, err
	}
	n, m := a.Shape[0], a.Shape[1]
	if n == 0 || m == 0 || n > math.MaxInt32 || m > math.MaxInt32 {
		return onehot{}, fmt.Errorf("a shape of %v is not one of labels", a.Shape)
	}
	down, right := m, 1
	if a.Fortran {
		down, right = 1, n
	}
	labels := make([]int32, n)
	for i := range labels {
		ones := 0
		for j := range m {
			switch x[i*down+j*right] {
			case 0:
			case 1:
				labels[i] = int32(j)
				ones++
			default:
				return onehot{}, fmt.Errorf("row %d, column %d is %v, want 0 or 1", i, j, x[i*down+j*right])
			}
		}
		if ones > 1 {
			return onehot{}, fmt.Errorf("row %d has %d classes, want one", i, ones)
		}
	}
	return onehot{labels, m}, nil
}

// kindOf says in Python's words what a pickled value is.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "None"
	case bool:
		return "a bool"
	case int64, float64:
		return "a number"
	case string, pickle.Bytes:
		return "a string"
	case pickle.Tuple:
		return "a tuple"
	case *pickle.List:
		return "a list"
	case *pickle.Dict:
		return "a dictionary"
	case *pickle.CSR:
		return "a csr_matrix"
	}
	return "an array"
}

// readIndex reads test.index: a node a line.
func (p *planetoid) readIndex() error {
	b, err := p.bytes("test.index")
	if err != nil {
		return err
	}
	if p.test, err = nodeList(bytes.NewReader(b), p.tx.NumRows); err != nil {
		return p.wrong("test.index", "%w", err)
	}
	return nil
}

// nodeList reads at most n nodes, one a line. The last lines may be empty.
func nodeList(r io.Reader, n int) ([]int32, error) {
	var ids []int32
	s, empty := bufio.NewScanner(r), 0
	line := 1
	for ; s.Scan(); line++ {
		text := strings.TrimSpace(s.Text())
		if line == 1 {
			text = strings.TrimPrefix(text, mark)
		}
		if text == "" {
			empty++
			continue
		}
		v, err := strconv.ParseInt(text, 10, 32)
		switch {
		case empty > 0:
			return nil, fmt.Errorf("line %d: it is empty, and line %d is not", line-1, line)
		case err != nil:
			return nil, fmt.Errorf("line %d: %.40q is not the number of a node", line, text)
		case len(ids) == n:
			return nil, fmt.Errorf("line %d: more lines than the %d rows of tx", line, n)
		}
		ids = append(ids, int32(v))
	}
	if err := tooLong(s.Err(), bufio.MaxScanTokenSize); err != nil {
		return nil, fmt.Errorf("line %d: %w", line, err)
	}
	return ids, nil
}

// adjacency is a pickled dictionary of the neighbours of each node. Nodes that
// have none may be left out, so it does not say how many nodes there are.
type adjacency struct {
	keys           []int32
	source, target []int32 // of each edge; of the loops of a node there is one
	of, at         int     // the node and the place of the largest neighbour
	largest        int64   // −1: there is none
}

// adjacencyOf reads the dictionary.
func adjacencyOf(v any) (*adjacency, error) {
	d, ok := v.(*pickle.Dict)
	if !ok {
		return nil, fmt.Errorf("it holds %s, not a dictionary of neighbours", kindOf(v))
	}
	count := countNeighbours(d)
	l := &adjacency{keys: make([]int32, len(d.Keys)), source: make([]int32, 0, count), target: make([]int32, 0, count), largest: -1}
	taken := make(map[*any]bool, len(d.Keys))
	for i, key := range d.Keys {
		u, ok := node(key)
		if !ok {
			return nil, fmt.Errorf("key %d of the graph is %s, want the number of a node", i, show(key))
		}
		items, ok := itemsOf(d.Values[i])
		if !ok || len(items) > 0 && taken[&items[0]] { // a list shared by all nodes would be a square of edges
			return nil, fmt.Errorf("node %d has %s, or another node's; it needs a list of neighbours of its own", u, kindOf(d.Values[i]))
		}
		l.keys[i] = int32(u)
		if len(items) == 0 {
			continue
		}
		taken[&items[0]] = true
		if len(l.source)+len(items) > math.MaxInt32/2 {
			return nil, errors.New("there are more than 2³¹ edges")
		}
		loop := false
		for j, item := range items {
			w, ok := node(item)
			if !ok {
				return nil, fmt.Errorf("neighbour %d of node %d is %s, want the number of a node", j, u, show(item))
			}
			if w > l.largest {
				l.of, l.at, l.largest = int(u), j, w
			}
			if u != w || !loop {
				l.source, l.target = append(l.source, int32(u)), append(l.target, int32(w))
			}
			loop = loop || u == w
		}
	}
	return l, nil
}

// check returns an error that names the first node that is not one of n.
func (l *adjacency) check(n int) error {
	seen := make([]bool, n)
	for i, u := range l.keys {
		if int(u) >= n || seen[u] {
			return fmt.Errorf("key %d of the graph is %d, or is repeated; its nodes are 0 to %d", i, u, n-1)
		}
		seen[u] = true
	}
	if l.largest >= int64(n) {
		return fmt.Errorf("neighbour %d of node %d is %d; the nodes are 0 to %d", l.at, l.of, l.largest, n-1)
	}
	return nil
}

// countNeighbours returns how many neighbours a dictionary lists, at most eight for
// each node that it has: those of a list that is repeated are not to be trusted.
func countNeighbours(d *pickle.Dict) int {
	count := 0
	for _, v := range d.Values {
		items, _ := itemsOf(v)
		count += len(items)
	}
	return min(count, 8*len(d.Values))
}

// itemsOf returns the elements of a list, a set or a tuple.
func itemsOf(v any) ([]any, bool) {
	switch v := v.(type) {
	case *pickle.List:
		return v.Items, true
	case pickle.Tuple:
		return v, true
	}
	return nil, false
}

// node returns the node that v is.
func node(v any) (int64, bool) {
	i, ok := v.(int64)
	return i, ok && i >= 0 && i < math.MaxInt32
}

// show describes a value that should have been a node.
func show(v any) string {
	if i, ok := v.(int64); ok {
		return strconv.FormatInt(i, 10)
	}
	return kindOf(v)
}

// notFinite returns where x is NaN or infinite, −1 if nowhere.
func notFinite(x []tensor.Float) int {
	for i, v := range x {
		if v-v != 0 {
			return i
		}
	}
	return -1
}
