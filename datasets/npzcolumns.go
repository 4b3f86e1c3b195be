package datasets

import (
	"fmt"
	"math"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/npy"
)

// columnArrays returns the arrays that keep columns of nodes or of edges, as noun says: their
// names, which of them are dated, and the times or the numbers of each.
func columnArrays(noun string, columns []Column) (arrays []npy.Named) {
	var names []string
	var dated []bool
	for _, c := range columns {
		if c.wrong != nil {
			continue
		}
		one := npy.Named{Name: columnArray(noun, len(names)), Data: c.Times}
		if c.Times == nil {
			one.Data = c.Numbers
		}
		names, dated, arrays = append(names, c.Name), append(dated, c.Dated), append(arrays, one)
	}
	if names == nil {
		return nil
	}
	return append(arrays, npy.Named{Name: noun + "_columns", Data: names}, npy.Named{Name: noun + "_column_dated", Data: dated})
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
	dated, err := vector(z, noun+"_column_dated", (*npy.Array).Int32s)
	if err == nil && len(dated) != len(names) {
		err = z.wrong(noun+"_column_dated", "%d elements for %d columns", len(dated), len(names))
	}
	for i, name := range names {
		c := Column{Name: name}
		if err == nil {
			c.Dated = dated[i] != 0
			err = z.columnOf(columnArray(noun, i), n, &c)
		}
		if err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// columnOf reads the times of a column, or its numbers.
func (z archive) columnOf(name string, n int, c *Column) error {
	a, err := z.column(name)
	if err != nil {
		return err
	}
	if len(a.Shape) != 1 || a.Shape[0] != n {
		return z.wrong(name, "its shape is %v, want a number for each of %d", a.Shape, n)
	}
	if !strings.Contains(a.Type, "f") {
		c.Times, err = elements(z, name, a, (*npy.Array).Int64s)
		return err
	}
	if c.Dated {
		return z.wrong(name, "its type is %s, and times are whole numbers of microseconds since 1970: save them as int64", a.Type)
	}
	if c.Numbers, err = elements(z, name, a, (*npy.Array).Float64s); err != nil {
		return err
	}
	for i, v := range c.Numbers {
		if math.IsInf(v, 0) {
			return z.wrong(name, "element %d is %v", i, v)
		}
	}
	return nil
}
