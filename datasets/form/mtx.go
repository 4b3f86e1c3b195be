package form

import (
	"fmt"
	"io"

	"github.com/edgewise-ml/edgewise/internal/mtx"
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
