package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// The physical types of Parquet.
const (
	physBool = iota
	physInt32
	physInt64
	physInt96
	physFloat
	physDouble
	physBytes
	physFixed
)

var physNames = []string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

// How often a column of the schema is in a row.
const (
	required = iota
	optional
	repeated
)

// element is a column of the schema, or a group of them.
type element struct {
	name       string
	physical   int // -1: a group
	length     int // of physFixed
	repetition int
	children   int
	converted  int // the older way to say what the bytes mean, −1: not said
	logical    int // the field of Thrift's union LogicalType, 0: not said
	scale      int // of decimals
	unit       int // of logical times: 1 milliseconds, 2 microseconds, 3 nanoseconds
	unsigned   bool
}

// chunk is the part of a column that a row group has.
type chunk struct {
	physical, codec   int
	values            int64
	data, dict        int64 // where its pages begin
	compressed, plain int64 // bytes
	elsewhere         bool  // in another file, or encrypted
}

// group is a row group.
type group struct {
	rows   int64
	chunks []chunk
}

// footer is what a file says of itself.
type footer struct {
	rows   int64
	schema []element
	groups []group
}

const magic = "PAR1"

// readFooter reads what is at the end of a file.
func readFooter(r io.ReaderAt, size int64) (*footer, error) {
	var head, tail [8]byte
	if size < 12 {
		return nil, fmt.Errorf("it has %d bytes, which is too short for Parquet: was it cut off?", size)
	}
	if _, err := r.ReadAt(head[:4], 0); err != nil {
		return nil, err
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return nil, err
	}
	switch {
	case string(head[:4]) == "PARE" || string(tail[4:]) == "PARE":
		return nil, errors.New("it is encrypted: write it without")
	case string(head[:4]) != magic:
		return nil, fmt.Errorf("it begins with %q, and Parquet with %q: it is another kind of file", head[:4], magic)
	case string(tail[4:]) != magic:
		return nil, fmt.Errorf("it ends with %q, and Parquet with %q: it was cut off, or not closed by what wrote it; get it again", tail[4:], magic)
	}
	length := int64(binary.LittleEndian.Uint32(tail[:4]))
	if length > size-12 {
		return nil, fmt.Errorf("its footer is to have %d bytes, and the file has %d: it is damaged; get it again", length, size)
	}
	b := make([]byte, length)
	if _, err := r.ReadAt(b, size-8-length); err != nil {
		return nil, err
	}
	f := new(footer)
	t := thriftReader{b: b}
	f.read(&t)
	if t.failed {
		return nil, errThrift
	}
	return f, f.check(size)
}

func (f *footer) read(r *thriftReader) {
	r.fields(func(id int64, typ byte) {
		switch {
		case id == 2 && typ == isList:
			for n, _ := r.list(); n > 0 && !r.failed; n-- {
				f.schema = append(f.schema, readElement(r))
			}
		case id == 3 && typ == isI64:
			f.rows = r.int()
		case id == 4 && typ == isList:
			for n, _ := r.list(); n > 0 && !r.failed; n-- {
				f.groups = append(f.groups, readGroup(r))
			}
		default:
			r.skip(typ)
		}
	})
}

// whole reads a number if the field is one; else it skips the field.
func whole(r *thriftReader, typ byte, into *int) {
	if typ != isI32 && typ != isI16 {
		r.skip(typ)
		return
	}
	*into = int(r.int())
}

func readElement(r *thriftReader) element {
	e := element{physical: -1, converted: -1}
	r.fields(func(id int64, typ byte) {
		switch {
		case id == 1:
			whole(r, typ, &e.physical)
		case id == 2:
			whole(r, typ, &e.length)
		case id == 3:
			whole(r, typ, &e.repetition)
		case id == 4 && typ == isBinary:
			e.name = string(r.binary())
		case id == 5:
			whole(r, typ, &e.children)
		case id == 6:
			whole(r, typ, &e.converted)
		case id == 7:
			whole(r, typ, &e.scale)
		case id == 10 && typ == isStruct:
			e.readLogical(r)
		default:
			r.skip(typ)
		}
	})
	return e
}

// readLogical reads what the bytes of a column mean: a union, whose only field says it.
func (e *element) readLogical(r *thriftReader) {
	r.fields(func(id int64, typ byte) {
		if e.logical = int(id); typ != isStruct {
			r.skip(typ)
			return
		}
		r.fields(func(field int64, typ byte) {
			switch {
			case id == logicalDecimal && field == 1:
				whole(r, typ, &e.scale)
			case id == logicalTimestamp && field == 2 && typ == isStruct:
				r.fields(func(unit int64, typ byte) {
					e.unit = int(unit)
					r.skip(typ)
				})
			case id == logicalInteger && field == 2:
				e.unsigned = typ == isFalse
			default:
				r.skip(typ)
			}
		})
	})
}

func readGroup(r *thriftReader) (g group) {
	r.fields(func(id int64, typ byte) {
		switch {
		case id == 1 && typ == isList:
			for n, _ := r.list(); n > 0 && !r.failed; n-- {
				g.chunks = append(g.chunks, readChunk(r))
			}
		case id == 3 && typ == isI64:
			g.rows = r.int()
		default:
			r.skip(typ)
		}
	})
	return g
}

func readChunk(r *thriftReader) (c chunk) {
	c.elsewhere = true // until it says where it is
	foreign := false
	r.fields(func(id int64, typ byte) {
		switch {
		case id == 1 && typ == isBinary:
			foreign = len(r.binary()) > 0 || foreign
		case id == 3 && typ == isStruct:
			c.elsewhere = false
			c.readMeta(r)
		case id == 8 || id == 9:
			foreign = true
			r.skip(typ)
		default:
			r.skip(typ)
		}
	})
	c.elsewhere = c.elsewhere || foreign
	return c
}

func (c *chunk) readMeta(r *thriftReader) {
	numbers := map[int64]*int64{5: &c.values, 6: &c.plain, 7: &c.compressed, 9: &c.data, 11: &c.dict}
	r.fields(func(id int64, typ byte) {
		switch into := numbers[id]; {
		case id == 1:
			whole(r, typ, &c.physical)
		case id == 4:
			whole(r, typ, &c.codec)
		case into != nil && typ == isI64:
			*into = r.int()
		default:
			r.skip(typ)
		}
	})
}

// check returns an error unless all parts are where a file of that size has them, and as many as they say.
func (f *footer) check(size int64) error {
	if len(f.schema) == 0 || f.schema[0].children <= 0 {
		return errors.New("it has no columns")
	}
	leaves := 0
	for _, e := range f.schema[1:] {
		if e.physical >= 0 {
			leaves++
		}
		if e.physical >= len(physNames) || e.repetition < 0 || e.repetition > repeated || e.children < 0 || e.physical == physFixed && (e.length <= 0 || e.length > 1<<20) {
			return errThrift
		}
	}
	rows := int64(0)
	for i, g := range f.groups {
		if g.rows < 0 || g.rows > math.MaxInt32/2 || len(g.chunks) != leaves {
			return fmt.Errorf("row group %d is to have %d rows of %d columns, and the file has %d columns: it is damaged; get it again", i, g.rows, len(g.chunks), leaves)
		}
		rows += g.rows
		for k := range g.chunks {
			c := &g.chunks[k]
			if g.rows == 0 { // it has no pages, and may say so of a place that there is not
				c.values = 0
				continue
			}
			if c.elsewhere {
				return errors.New("some of its columns are encrypted, or in another file: write them into one, without encryption")
			}
			begin := c.data
			if c.dict > 0 && c.dict < begin {
				begin = c.dict
			}
			c.data = begin
			if begin < 4 || c.compressed < 0 || c.values < 0 || begin > size-8 || c.compressed > size-8-begin {
				return fmt.Errorf("column %d of row group %d is to be %d bytes from byte %d on, and the file has %d: it was cut off, or is damaged; get it again", k, i, c.compressed, begin, size)
			}
		}
	}
	if rows != f.rows || rows > math.MaxInt32/2 {
		return fmt.Errorf("it is to have %d rows, and its row groups have %d, of at most 2³⁰: it is damaged, or too long", f.rows, rows)
	}
	return nil
}

// leaf is a column with data: where it is in the tree of the schema.
type leaf struct {
	*element
	index          int // among the chunks
	maxDef, maxRep int
	listed         int // of a list: the definition level from which on there is an element
}

// columns returns the columns at the top of the schema, each with its only leaf, or an error that says what else it
// is.
func (f *footer) columns() ([]leaf, error) {
	var out []leaf
	at, index := 1, 0
	for range f.schema[0].children {
		first, begin := at, index
		l := leaf{index: index}
		leaves, err := f.descend(&at, &index, leaf{}, &l, 0)
		if err != nil {
			return nil, err
		}
		top := &f.schema[first]
		switch kind := nested(top); {
		case top.name == "" && leaves == 0, l.element == nil:
			return nil, fmt.Errorf("column %.40q has no data: leave it out", top.name)
		case leaves > 1 || kind == "map":
			return nil, fmt.Errorf("column %.40q is a %s: write what it holds as columns of their own, or leave it out", top.name, kind)
		case l.maxRep > 1:
			return nil, fmt.Errorf("column %.40q is a list of lists: write it as lists of numbers of one length, or leave it out", top.name)
		case l.maxRep == 0 && top.physical < 0:
			return nil, fmt.Errorf("column %.40q is a struct: write what it holds as columns of their own, or leave it out", top.name)
		}
		named := *l.element
		named.name = top.name
		l.element, l.index = &named, begin
		out = append(out, l)
	}
	if at != len(f.schema) {
		return nil, errThrift
	}
	return out, nil
}

// nested says what a group is called.
func nested(e *element) string {
	if e.logical == logicalMap || slices.Contains([]int{convertedMap, convertedMapKeyValue}, e.converted) {
		return "map"
	}
	return "struct"
}

// descend walks below an element, and returns how many columns with data are there; l is the last of them.
func (f *footer) descend(at, index *int, above leaf, l *leaf, depth int) (leaves int, err error) {
	if *at >= len(f.schema) || depth > 32 {
		return 0, errThrift
	}
	e := &f.schema[*at]
	*at++
	switch e.repetition {
	case optional:
		above.maxDef++
	case repeated:
		above.maxDef++
		above.maxRep++
		above.listed = above.maxDef
	}
	if e.physical >= 0 {
		above.element, above.index = e, *index
		*l = above
		*index++
		return 1, nil
	}
	for range e.children {
		n, err := f.descend(at, index, above, l, depth+1)
		if err != nil {
			return 0, err
		}
		leaves += n
	}
	return leaves, nil
}
