package datasets

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/edgelist"
	"github.com/edgewise-ml/edgewise/internal/mtx"
	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/internal/table"
	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// EdgeList reads a list of edges in the form of SNAP, which may be in gzip or
// zstd: the numbers of two nodes a line, the source first. Lines that begin with
// # or % are comments. Numbers may leave gaps: nodes are those that occur, in
// ascending order, and NodeNames has their numbers. Edges keep their direction:
// [Dataset.Undirected] adds the other. The features are the identity matrix, and
// there are no labels. A list whose first line names columns is a table, as [Tables]
// reads it: there ids may be any words, and edges have weights.
func EdgeList(path string) (*Dataset, error) {
	return openedWith(path, edgeList)
}

// opened returns what read reads of the text at path, which may be in gzip or zstd.
func opened[T any](path string, read func(r io.Reader, path string) (T, error)) (out T, err error) {
	if err := regular.File(path); err != nil {
		return out, err
	}
	r, err := unpack.Open(path)
	if err != nil {
		return out, err
	}
	defer r.Close()
	return read(r, path)
}

// edgeList is [EdgeList] of a text.
func edgeList(r io.Reader, path string, o *chosen) (*Dataset, error) {
	budget := unpack.BudgetOf(r)
	b, list := bufio.NewReaderSize(table.Text(r), peeked), &numberedEdges{budget: budget}
	if isTable(b) {
		e, err := edgeTable(b, path, budget, o)
		if err == nil {
			err = o.check(path)
		}
		if err != nil {
			return nil, err
		}
		d, err := e.dataset(nil)
		if err == nil {
			d.Name = titleOf(stem(path))
		}
		return d, err
	}
	err := o.check(path)
	if err != nil {
		return nil, err
	}
	err = edgelist.Read(b, list.add)
	if err == nil && list.n == 0 {
		err = errors.New("there are no edges in it")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	ids, src, dst, err := list.number()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := believableNodes(len(ids), budget.Packed()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d := &Dataset{Name: titleOf(stem(path)), Features: identity(len(ids))}
	if _, err := d.simple(len(ids), src, dst, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d.NodeNames = make([]string, len(ids))
	for i, id := range ids {
		d.NodeNames[i] = strconv.FormatInt(id, 10)
	}
	if o.undirected {
		return d.Undirected(), nil
	}
	return d, nil
}

// stem returns a file's name without what its extensions say.
func stem(path string) string {
	name := filepath.Base(path)
	for _, ext := range slices.Concat([]string{".gz", ".zst"}, lists, []string{".mtx", ".npz", ".content", ".json", ".mat", ".graphml", ".dot", ".gv"}) {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// rowsMost is how many rows a Matrix Market file may have for each of its
// elements, beyond the first million: memory is taken by the row.
const rowsMost = 16

// readMatrix reads a Matrix Market file.
func readMatrix(r io.Reader, path string) (*mtx.Matrix, error) {
	m, err := mtx.Read(r, unpack.BudgetOf(r).Keep)
	if err == nil && max(m.Rows, m.Cols) > 1<<20+rowsMost*len(m.Row) {
		err = fmt.Errorf("it is %d × %d, with only %d elements: that is not believed", m.Rows, m.Cols, len(m.Row))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// ReadMatrix reads a matrix from a Matrix Market file, which may be in gzip or
// zstd. Elements that stand there several times add up, zeros are left out.
func ReadMatrix(path string) (*sparse.CSR, error) {
	m, err := opened(path, readMatrix)
	if err != nil {
		return nil, err
	}
	a, err := sparseOf(m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// sparseOf returns a matrix with ascending columns in each row.
func sparseOf(m *mtx.Matrix) (*sparse.CSR, error) {
	values, err := floats(m.Values)
	if err != nil {
		return nil, err
	}
	if m.Values == nil {
		values = nil
	}
	a, _, err := sparse.FromCOO(m.Rows, m.Cols, m.Row, m.Col, values)
	if err != nil {
		return nil, err
	}
	sortRows(a)
	b := &sparse.CSR{NumRows: a.NumRows, NumCols: a.NumCols, Offsets: make([]int64, 1, a.NumRows+1)}
	for i := range a.NumRows {
		cols, values := a.Row(i)
		for k := 0; k < len(cols); {
			c, sum := cols[k], tensor.Float(0)
			for ; k < len(cols) && cols[k] == c; k++ {
				if values == nil {
					sum++
				} else {
					sum += values[k]
				}
			}
			if sum != 0 {
				b.Cols, b.Values = append(b.Cols, c), append(b.Values, sum)
			}
		}
		b.Offsets = append(b.Offsets, int64(len(b.Cols)))
	}
	if len(b.Cols) == 0 {
		b.Values = []tensor.Float{}
	}
	return b, b.Validate()
}

// MatrixMarket reads a graph from a Matrix Market file, which may be in gzip or
// zstd: a square matrix, whose element (u, v) is an edge from u to v with that
// weight; a pattern has no weights. Zeros are no edges. The features are the
// identity matrix, and there are no labels.
func MatrixMarket(path string) (*Dataset, error) { return opened(path, matrixMarket) }

// matrixMarket is [MatrixMarket] of a text.
func matrixMarket(r io.Reader, path string) (*Dataset, error) {
	m, err := readMatrix(r, path)
	if err != nil {
		return nil, err
	}
	if m.Rows != m.Cols || m.Rows == 0 {
		return nil, fmt.Errorf("%s: it is %d × %d, and only a square matrix is a graph", path, m.Rows, m.Cols)
	}
	if err := believableNodes(m.Rows, unpack.BudgetOf(r).Packed()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d := &Dataset{Name: titleOf(stem(path)), Features: identity(m.Rows)}
	if err := d.adjacent(m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, d.Check()
}

// adjacent makes a graph of a square matrix.
func (d *Dataset) adjacent(m *mtx.Matrix) error {
	values, err := floats(m.Values)
	if err != nil {
		return err
	}
	src, dst := m.Row, m.Col
	if m.Values == nil {
		values = nil
	} else {
		kept := 0
		for k, v := range values {
			if v != 0 {
				src[kept], dst[kept], values[kept] = src[k], dst[k], v
				kept++
			}
		}
		src, dst, values = src[:kept], dst[:kept], values[:kept]
	}
	_, err = d.simple(m.Rows, src, dst, values)
	return err
}
