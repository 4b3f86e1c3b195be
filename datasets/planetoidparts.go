package datasets

import (
	"bufio"
	"bytes"
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
