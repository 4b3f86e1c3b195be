package datasets

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/internal/npy"
	"github.com/edgewise-ml/edgewise/tensor"
)

// columnArrays returns the arrays that keep columns of nodes or of edges, as noun says: their
// names, which of them are times, and the values of each.
func columnArrays(noun string, columns []Column) (arrays []npy.Named) {
	if len(columns) == 0 {
		return nil
	}
	names, days := make([]string, len(columns)), make([]bool, len(columns))
	for i, c := range columns {
		names[i], days[i] = c.Name, c.Days
		arrays = append(arrays, npy.Named{Name: columnArray(noun, i), Data: c.Values.Data, Shape: c.Values.Shape()})
	}
	return append(arrays, npy.Named{Name: noun + "_columns", Data: names}, npy.Named{Name: noun + "_column_days", Data: days})
}

func columnArray(noun string, i int) string { return fmt.Sprintf("%s_column_%d", noun, i) }

// columns reads the columns of n nodes or edges; files that have none have no such arrays.
func (z archive) columns(noun string, n int) (columns []Column, err error) {
	names, err := z.names(noun + "_columns")
	if err != nil || names == nil {
		return nil, err
	}
	if len(names) > keysMost {
		return nil, z.wrong(noun+"_columns", "%d columns; at most %d are read", len(names), keysMost)
	}
	days, err := vector(z, noun+"_column_days", (*npy.Array).Int32s)
	if err == nil && len(days) != len(names) {
		err = z.wrong(noun+"_column_days", "%d elements for %d columns", len(days), len(names))
	}
	for i, name := range names {
		var x *tensor.Dense
		if err == nil {
			x, err = z.columnOf(columnArray(noun, i), n)
		}
		if err != nil {
			return nil, err
		}
		columns = append(columns, Column{Name: name, Values: x, Days: days[i] != 0})
	}
	return columns, nil
}

// columnOf reads the values of a column.
func (z archive) columnOf(name string, n int) (*tensor.Dense, error) {
	a, err := z.Read(name)
	if err != nil {
		return nil, err
	}
	x, err := z.answers(name, a)
	if err == nil && x.Dim(0) != n {
		err = z.wrong(name, "its shape is %v, want a row for each of %d", a.Shape, n)
	}
	return x, err
}
