package datasets

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
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

// classes turns a pickled one-hot matrix into classes. A row of zeros is of
// class 0, as if its first largest element were asked for.
func classes(v any) (onehot, error) {
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

// edges is the edges of an adjacency: into each node those from others, in both
// directions, once, by source.
type edges struct {
	in    *sparse.CSR
	loops int // nodes that had an edge to themselves
}

// both returns both directions of a list of edges, whose ends are below n, in the
// order u, v, u, v, ….
func both(n int, ends []int32) edges {
	offsets := make([]int64, n+2)
	loop := make([]bool, n)
	e := edges{}
	for i := 0; i < len(ends); i += 2 {
		u, v := ends[i], ends[i+1]
		if u != v {
			offsets[u+2]++
			offsets[v+2]++
		} else if !loop[u] {
			loop[u] = true
			e.loops++
		}
	}
	for v := range n {
		offsets[v+2] += offsets[v+1]
	}
	cols := make([]int32, offsets[n+1])
	for i := 0; i < len(ends); i += 2 {
		if u, v := ends[i], ends[i+1]; u != v {
			cols[offsets[u+1]], cols[offsets[v+1]] = v, u
			offsets[u+1]++
			offsets[v+1]++
		}
	}
	// Now node v's sources end at offsets[v+1].
	par.For(n, 1024, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			slices.Sort(cols[offsets[v]:offsets[v+1]])
		}
	})
	kept := int64(0)
	for v := range n {
		row := cols[offsets[v]:offsets[v+1]]
		offsets[v] = kept
		kept += int64(copy(cols[kept:], slices.Compact(row)))
	}
	offsets[n] = kept
	e.in = &sparse.CSR{NumRows: n, NumCols: n, Offsets: offsets[:n+1], Cols: cols[:kept]}
	return e
}

// adjacency turns a pickled dictionary of neighbours into both directions of
// every edge, once.
func adjacency(v any) (edges, error) {
	d, ok := v.(*pickle.Dict)
	if !ok {
		return edges{}, fmt.Errorf("it holds %s, not a dictionary of neighbours", kindOf(v))
	}
	n := len(d.Keys)
	if n > math.MaxInt32 {
		return edges{}, fmt.Errorf("%d nodes are too many", n)
	}
	seen, taken := make([]bool, n), make(map[*pickle.List]bool, n)
	ends := make([]int32, 0, 2*neighboursOf(d))
	for i, key := range d.Keys {
		u, ok := node(key, n)
		if !ok || seen[u] {
			return edges{}, fmt.Errorf("key %d of the graph is %s, or is repeated; its nodes are 0 to %d", i, show(key), n-1)
		}
		seen[u] = true
		l, ok := d.Values[i].(*pickle.List)
		if !ok || taken[l] { // a list shared by all nodes would be a square of edges
			return edges{}, fmt.Errorf("node %d has %s, or another node's; it needs a list of neighbours of its own", u, kindOf(d.Values[i]))
		}
		taken[l] = true
		if len(ends)+2*len(l.Items) > math.MaxInt32 {
			return edges{}, errors.New("there are more than 2³¹ edges")
		}
		for j, item := range l.Items {
			w, ok := node(item, n)
			if !ok {
				return edges{}, fmt.Errorf("neighbour %d of node %d is %s; the nodes are 0 to %d", j, u, show(item), n-1)
			}
			ends = append(ends, int32(u), int32(w))
		}
	}
	return both(n, ends), nil
}

// neighboursOf returns how many neighbours a dictionary lists, at most eight for
// each node that it has: those of a list that is repeated are not to be trusted.
func neighboursOf(d *pickle.Dict) int {
	count := 0
	for _, v := range d.Values {
		if l, ok := v.(*pickle.List); ok {
			count += len(l.Items)
		}
	}
	return min(count, 8*len(d.Values))
}

// node returns the node that v is, of n.
func node(v any, n int) (int64, bool) {
	i, ok := v.(int64)
	return i, ok && i >= 0 && i < int64(n)
}

// show describes a value that should have been a node.
func show(v any) string {
	if i, ok := v.(int64); ok {
		return strconv.FormatInt(i, 10)
	}
	return kindOf(v)
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
	f, err := os.Open(p.path("test.index"))
	if err != nil {
		return err
	}
	defer f.Close()
	if p.test, err = nodeList(f, p.nodes); err != nil {
		return fmt.Errorf("%s: %w", p.path("test.index"), err)
	}
	return nil
}

// nodeList reads at most n nodes, one a line.
func nodeList(r io.Reader, n int) ([]int32, error) {
	var ids []int32
	s := bufio.NewScanner(r)
	for line := 1; s.Scan(); line++ {
		text := strings.TrimSpace(s.Text())
		v, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("line %d: %.40q is not the number of a node", line, text)
		}
		if len(ids) == n {
			return nil, fmt.Errorf("line %d: more lines than the graph's %d nodes", line, n)
		}
		ids = append(ids, int32(v))
	}
	return ids, s.Err()
}
