package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/edgewise-ml/edgewise/datasets/form"
)

// Write writes a table, such as embeddings or predictions: its ids as a column id, its columns as numbers, times and texts, and a
// matrix as a column of numbers for each of its own, which are called by their names, or e0, e1 and so on. Empty cells are
// null. Other programs read it as they read any Parquet file:
//
//	pandas.read_parquet("embeddings.parquet")
//
// A file is written whole or not at all by whoever opens w; Write fills it as it goes.
func Write(w io.Writer, t *form.Table) error {
	out, err := outOf(t)
	if err != nil {
		return err
	}
	f := &fileWriter{w: w}
	f.write([]byte(magic))
	meta := thriftWriter{}
	meta.open()
	meta.small(1, 2)
	meta.list(2, len(out)+1, isStruct)
	meta.open()
	meta.field(4, isBinary)
	meta.text("schema")
	meta.small(5, int64(len(out)))
	meta.close()
	for i := range out {
		out[i].schema(&meta)
	}
	meta.int(3, int64(t.Rows))
	const most = 1 << 20 // rows of a group
	groups := (t.Rows + most - 1) / most
	meta.list(4, groups, isStruct)
	for g := range groups {
		first, last := g*most, min(t.Rows, (g+1)*most)
		meta.open()
		meta.list(1, len(out), isStruct)
		total := int64(0)
		for i := range out {
			total += f.chunk(&out[i], first, last, &meta)
		}
		meta.int(2, total)
		meta.int(3, int64(last-first))
		meta.close()
	}
	meta.field(6, isBinary)
	meta.text("edgewise")
	meta.close()
	f.write(meta.b)
	f.write(binary.LittleEndian.AppendUint32(nil, uint32(len(meta.b))))
	f.write([]byte(magic))
	return f.err
}

// written is a column as it is written. cell appends the cell of a row, and says false if it is empty.
type written struct {
	name     string
	physical int
	logical  int
	cell     func(b []byte, row int) ([]byte, bool)
}

// outOf returns the columns that a table is written as.
func outOf(t *form.Table) ([]written, error) {
	var out []written
	seen := map[string]bool{}
	add := func(c written) error {
		if seen[c.name] {
			return fmt.Errorf("two columns are called %.40q: rename one of them", c.name)
		}
		seen[c.name] = true
		out = append(out, c)
		return nil
	}
	number := func(name string, at func(row int) float64) error {
		return add(written{name, physDouble, 0, func(b []byte, row int) ([]byte, bool) {
			v := at(row)
			return binary.LittleEndian.AppendUint64(b, math.Float64bits(v)), v == v
		}})
	}
	word := func(name string, w *form.Words) error {
		return add(written{name, physBytes, logicalString, func(b []byte, row int) ([]byte, bool) {
			s := w.At(row)
			return append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...), s != "" || w.Codes != nil && w.Codes[row] >= 0
		}})
	}
	if t.IDs != nil {
		if err := word("id", t.IDs); err != nil {
			return nil, err
		}
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		var err error
		switch c.Type {
		case form.Number:
			if c.Truth {
				err = add(written{c.Name, physBool, 0, func(b []byte, row int) ([]byte, bool) {
					v := c.Numbers[row]
					if v == 1 {
						return append(b, 1), true
					}
					return append(b, 0), v == v
				}})
				break
			}
			err = number(c.Name, func(row int) float64 { return c.Numbers[row] })
		case form.Time:
			logical := 0
			if c.Dated {
				logical = logicalTimestamp
			}
			err = add(written{c.Name, physInt64, logical, func(b []byte, row int) ([]byte, bool) {
				return binary.LittleEndian.AppendUint64(b, uint64(c.Times[row])), c.Times[row] != form.NoTime
			}})
		case form.Word:
			err = word(c.Name, c.Words)
		case form.Empty:
			err = number(c.Name, func(int) float64 { return math.NaN() })
		case form.Many:
			err = matrixOf(c, add)
		default:
			err = fmt.Errorf("the column %.40q has no type", c.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, errors.New("a table without ids and columns cannot be written")
	}
	return out, nil
}

// matrixOf adds a column for each of a matrix.
func matrixOf(c *form.Column, add func(written) error) error {
	m := c.Matrix
	if m.Offsets != nil {
		return fmt.Errorf("the column %.40q is a sparse matrix, which is not written: make it dense", c.Name)
	}
	for j := range m.Cols {
		name := fmt.Sprintf("e%d", j)
		if len(m.Names) == m.Cols {
			name = m.Names[j]
		}
		if err := add(written{name, physFloat, 0, func(b []byte, row int) ([]byte, bool) {
			v := float32(m.Values[row*m.Cols+j])
			return binary.LittleEndian.AppendUint32(b, math.Float32bits(v)), v == v
		}}); err != nil {
			return err
		}
	}
	return nil
}

// schema writes what a column is.
func (c *written) schema(w *thriftWriter) {
	w.open()
	w.small(1, int64(c.physical))
	w.small(3, optional)
	w.field(4, isBinary)
	w.text(c.name)
	switch c.logical {
	case logicalString:
		w.small(6, convertedUTF8)
		w.field(10, isStruct)
		w.open()
		w.field(logicalString, isStruct)
		w.open()
		w.close()
		w.close()
	case logicalTimestamp:
		w.small(6, convertedTimestampMicros)
		w.field(10, isStruct)
		w.open()
		w.field(logicalTimestamp, isStruct)
		w.open()
		w.field(1, isTrue) // in UTC
		w.field(2, isStruct)
		w.open()
		w.field(2, isStruct) // microseconds
		w.open()
		w.close()
		w.close()
		w.close()
		w.close()
	}
	w.close()
}

// fileWriter counts what it writes, and keeps the first error.
type fileWriter struct {
	w   io.Writer
	at  int64
	err error
}

func (f *fileWriter) write(b []byte) {
	if f.err == nil {
		var n int
		n, f.err = f.w.Write(b)
		f.at += int64(n)
	}
}

// chunk writes rows of a column as pages of plain values, and what it is to meta. It returns its bytes.
func (f *fileWriter) chunk(c *written, first, last int, meta *thriftWriter) int64 {
	const page = 1 << 16 // rows
	begin := f.at
	var b, values []byte
	for row := first; row < last; row += page {
		b, values = f.page(c, row, min(last, row+page), b[:0], values[:0])
	}
	meta.open()
	meta.int(2, 0)
	meta.field(3, isStruct)
	meta.open()
	meta.small(1, int64(c.physical))
	meta.list(2, 2, isI32)
	meta.varint(encPlain)
	meta.varint(encRLE)
	meta.list(3, 1, isBinary)
	meta.text(c.name)
	meta.small(4, 0)
	meta.int(5, int64(last-first))
	meta.int(6, f.at-begin)
	meta.int(7, f.at-begin)
	meta.int(9, begin)
	meta.close()
	meta.close()
	return f.at - begin
}

// page writes a page: which cells are not empty, a bit each, and then those.
func (f *fileWriter) page(c *written, first, last int, b, values []byte) ([]byte, []byte) {
	n := last - first
	groups := (n + 7) / 8
	b = append(b, 0, 0, 0, 0)
	b = binary.AppendUvarint(b, uint64(groups)<<1|1)
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4+groups))
	levels := len(b)
	b = append(b, make([]byte, groups)...)
	full := 0
	for i := range n {
		before := len(values)
		var ok bool
		if values, ok = c.cell(values, first+i); !ok {
			values = values[:before]
			continue
		}
		b[levels+i/8] |= 1 << (i % 8)
		if c.physical == physBool { // a bit each
			bit := values[before]
			values = values[:before]
			if full%8 == 0 {
				values = append(values, 0)
			}
			values[full/8] |= bit << (full % 8)
		}
		full++
	}
	b = append(b, values...)
	h := thriftWriter{}
	h.open()
	h.small(1, dataPage)
	h.small(2, int64(len(b)))
	h.small(3, int64(len(b)))
	h.field(5, isStruct)
	h.open()
	h.small(1, int64(n))
	h.small(2, encPlain)
	h.small(3, encRLE)
	h.small(4, encRLE)
	h.close()
	h.close()
	f.write(h.b)
	f.write(b)
	return b, values
}
