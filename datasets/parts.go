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

	"github.com/edgewise-ml/edgewise/internal/pickle"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// matrix turns a pickled csr_matrix into a CSR whose columns ascend.
func matrix(v any) (*sparse.CSR, error) {
	m, ok := v.(*pickle.CSR)
	if !ok {
		return nil, fmt.Errorf("it holds a %T, not a csr_matrix", v)
	}
	offsets, err := m.Offsets.Ints()
	if err != nil {
		return nil, fmt.Errorf("indptr: %w", err)
	}
	wide, err := m.Columns.Ints()
	if err != nil {
		return nil, fmt.Errorf("indices: %w", err)
	}
	wideValues, err := m.Values.Floats()
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	cols := make([]int32, len(wide))
	for k, c := range wide {
		if c < 0 || c >= int64(m.Cols) {
			return nil, fmt.Errorf("index %d is column %d of a matrix of %d columns", k, c, m.Cols)
		}
		cols[k] = int32(c)
	}
	values, err := floats(wideValues)
	if err != nil {
		return nil, err
	}
	a, err := sparse.New(m.Rows, m.Cols, offsets, cols, values)
	if err != nil {
		return nil, err
	}
	sortRows(a)
	return a, nil
}

// sortRows sorts the nonzeros of each row by column.
func sortRows(a *sparse.CSR) {
	for i := range a.NumRows {
		sortRow(a.Row(i))
	}
}

// sortRow sorts the nonzeros of a row by column. Most rows are sorted already.
func sortRow(cols []int32, values []tensor.Float) {
	if slices.IsSorted(cols) {
		return
	}
	order := span(0, len(cols))
	slices.SortStableFunc(order, func(i, j int32) int { return int(cols[i]) - int(cols[j]) })
	c, v := slices.Clone(cols), slices.Clone(values)
	for k, i := range order {
		cols[k] = c[i]
		if v != nil {
			values[k] = v[i]
		}
	}
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
		return onehot{}, fmt.Errorf("it holds a %T, not an array of two axes", v)
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

// edges is the edges of an adjacency, sorted by destination, then source.
type edges struct {
	src, dst     []int32
	nodes, loops int
}

// adjacency turns a pickled dictionary of neighbours into both directions of
// every edge, once.
func adjacency(v any) (edges, error) {
	d, ok := v.(*pickle.Dict)
	if !ok {
		return edges{}, fmt.Errorf("it holds a %T, not a dictionary of neighbours", v)
	}
	n := len(d.Keys)
	if n > math.MaxInt32 {
		return edges{}, fmt.Errorf("%d nodes are too many", n)
	}
	seen, taken := make([]bool, n), make(map[*pickle.List]bool, n)
	var pairs, loops []int64 // destination · 2³² + source
	for i, key := range d.Keys {
		u, ok := node(key, n)
		if !ok || seen[u] {
			return edges{}, fmt.Errorf("key %d of the graph is %s, or is repeated; its nodes are 0 to %d", i, show(key), n-1)
		}
		seen[u] = true
		l, ok := d.Values[i].(*pickle.List)
		if !ok || taken[l] { // a list shared by all nodes would be a square of edges
			return edges{}, fmt.Errorf("node %d has a %T, or another node's; it needs a list of neighbours of its own", u, d.Values[i])
		}
		taken[l] = true
		if len(pairs)+2*len(l.Items) > math.MaxInt32 {
			return edges{}, errors.New("there are more than 2³¹ edges")
		}
		for j, item := range l.Items {
			w, ok := node(item, n)
			switch {
			case !ok:
				return edges{}, fmt.Errorf("neighbour %d of node %d is %s; the nodes are 0 to %d", j, u, show(item), n-1)
			case w == u:
				loops = append(loops, u)
			default:
				pairs = append(pairs, u<<32|w, w<<32|u)
			}
		}
	}
	e := split(unique(pairs))
	e.nodes, e.loops = n, len(unique(loops))
	return e, nil
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
	return fmt.Sprintf("a %T", v)
}

// unique sorts x and drops repeated elements.
func unique(x []int64) []int64 {
	slices.Sort(x)
	return slices.Compact(x)
}

func split(pairs []int64) edges {
	e := edges{src: make([]int32, len(pairs)), dst: make([]int32, len(pairs))}
	for i, p := range pairs {
		e.src[i], e.dst[i] = int32(p), int32(p>>32)
	}
	return e
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
