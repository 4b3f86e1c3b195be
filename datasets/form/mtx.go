package form

import (
	"fmt"
	"io"

	"github.com/edgewise-ml/edgewise/internal/mtx"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// mtxForm is a graph as a Matrix Market file: a square matrix, whose element (u, v) is an edge from u to v with that
// weight; a pattern has no weights. Zeros are no edges.
var mtxForm = Form{
	Name:    "mtx",
	Endings: []string{".mtx"},
	Says:    "the adjacency as a Matrix Market file",
	Opens:   one(".mtx"),
	Read:    readMatrixMarket,
}

// rowsMost is how many rows a Matrix Market file may have for each of its
// elements, beyond the first million: memory is taken by the row.
const rowsMost = 16

func readMatrixMarket(f *Files, main string, _ Options) (*Raw, error) {
	r, err := f.open(main)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	m, err := readMatrix(r, r.Budget.Keep)
	switch {
	case err != nil:
	case m.Rows != m.Cols || m.Rows == 0:
		err = fmt.Errorf("it is %d × %d, and only a square matrix is a graph", m.Rows, m.Cols)
	default:
		err = finite(m.Values)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.At(main), err)
	}
	return &Raw{
		Nodes: []Nodes{{Table: Table{Rows: m.Rows}, Listed: m.Rows}},
		Edges: []Edges{elementsOf(m, f.At(main))},
	}, nil
}

// readMatrix reads the elements of a matrix. keep says whether so many bytes may be taken.
func readMatrix(r io.Reader, keep func(bytes int) error) (*mtx.Matrix, error) {
	m, err := mtx.Read(r, keep)
	if err == nil && max(m.Rows, m.Cols) > 1<<20+rowsMost*len(m.Row) {
		err = fmt.Errorf("it is %d × %d, with only %d elements: that is not believed", m.Rows, m.Cols, len(m.Row))
	}
	return m, err
}

// elementsOf returns the edges that are the elements of a matrix, whose lists it uses up.
func elementsOf(m *mtx.Matrix, file string) Edges {
	e := Edges{Table: Table{Origin: Origin{File: file, Unit: "element", First: 1}}}
	kept := len(m.Row)
	if m.Values != nil {
		kept = 0
		for k, v := range m.Values {
			if v != 0 {
				m.Row[kept], m.Col[kept], m.Values[kept] = m.Row[k], m.Col[k], v
				kept++
			}
		}
		e.Columns = []Column{{Name: "value", Type: Number, Numbers: m.Values[:kept:kept], Role: AsWeight}}
	}
	e.Rows, e.Source, e.Target = kept, m.Row[:kept:kept], m.Col[:kept:kept]
	return e
}

// LoadMatrix reads a matrix from the Matrix Market file at path, which may be in gzip or
// zstd. Elements that stand there several times add up, zeros are left out.
func LoadMatrix(path string) (*sparse.CSR, error) { return matrixIn(openFile(path)) }

// ReadMatrix is [LoadMatrix] of what r reads. Errors call it name.
func ReadMatrix(r io.Reader, name string) (*sparse.CSR, error) {
	return matrixIn(alone(openReader(r, name)))
}

func matrixIn(f single, err error) (*sparse.CSR, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := f.open(f.name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	m, err := readMatrix(r, r.Budget.Keep)
	var a *sparse.CSR
	if err == nil {
		a, err = sparseOf(m)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.At(f.name), err)
	}
	return a, nil
}

// sparseOf returns a matrix with ascending columns in each row.
func sparseOf(m *mtx.Matrix) (*sparse.CSR, error) {
	if err := finite(m.Values); err != nil {
		return nil, err
	}
	var values []tensor.Float
	if m.Values != nil {
		values = make([]tensor.Float, len(m.Values))
		for i, v := range m.Values {
			values[i] = tensor.Float(v)
		}
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
