package form

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zip"

	"github.com/edgewise-ml/edgewise/internal/npy"
)

// pickled is an array of objects as a member of an archive: the pickle.
type pickled string

// object is an array of objects that is the one object given by its opcodes.
func object(opcodes string) pickled {
	return pickled("\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01)cnumpy\ndtype\n" +
		str2("O8") + "K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?tb\x89](" + opcodes + "etb.")
}

// inner is a pickle without its first two bytes and its last.
func inner(pickle string) string { return pickle[2 : len(pickle)-1] }

// archiveOf returns an archive of arrays by name; a value of another type than
// pickled is as npy.Named has it.
func archiveOf(t testing.TB, arrays ...npy.Named) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, a := range arrays {
		m, err := z.Create(a.Name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := a.Data.(pickled); ok {
			head := "{'descr': '|O', 'fortran_order': False, 'shape': (), }\n"
			m.Write([]byte("\x93NUMPY\x01\x00"))
			binary.Write(m, binary.LittleEndian, uint16(len(head)))
			m.Write([]byte(head + string(p)))
			continue
		}
		var one bytes.Buffer
		if err := npy.WriteArchive(&one, a); err != nil {
			t.Fatal(err)
		}
		r, err := zip.NewReader(bytes.NewReader(one.Bytes()), int64(one.Len()))
		if err != nil {
			t.Fatal(err)
		}
		f, err := r.File[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		var raw bytes.Buffer
		raw.ReadFrom(f)
		m.Write(raw.Bytes())
	}
	z.Close()
	return b.Bytes()
}

// arrays returns npy.Named of names and elements, alternating.
func arrays(parts ...any) []npy.Named {
	var out []npy.Named
	for i := 0; i < len(parts); i += 2 {
		out = append(out, npy.Named{Name: parts[i].(string), Data: parts[i+1]})
	}
	return out
}

// with returns the arrays with some replaced, added, or (nil) taken out.
func with(base []npy.Named, parts ...any) []npy.Named {
	out := slices.Clone(base)
	for _, a := range arrays(parts...) {
		out = slices.DeleteFunc(out, func(b npy.Named) bool { return b.Name == a.Name })
		if a.Data != nil {
			out = append(out, a)
		}
	}
	return out
}

// shchur is a graph of four nodes in the plain form: 0→1, 1→2, 2→2.
func shchur() []npy.Named {
	return arrays(
		"adj_data", []float32{1, 1, 1}, "adj_indices", []int32{1, 2, 2}, "adj_indptr", []int32{0, 1, 2, 3, 3}, "adj_shape", []int64{4, 4},
		"attr_data", []float32{3, 1}, "attr_indices", []int32{2, 0}, "attr_indptr", []int32{0, 2, 2, 2, 2}, "attr_shape", []int64{4, 3},
		"labels", []int64{1, 0, -1, 1}, "class_names", []string{"A", "B"}, "node_names", []string{"a", "b", "c", "d"},
		"train_mask", []bool{true, false, false, false}, "val", []int32{3, 1}, "test_mask", []int32{0, 0, 1, 0})
}

// shaped is an array of that shape.
func shaped(name string, data any, shape ...int) npy.Named {
	return npy.Named{Name: name, Data: data, Shape: shape}
}

// The pickles below are put together by hand, as Python 2 would write them.

func le4(vs ...int) string {
	var b []byte
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return string(b)
}

func str2(s string) string { return "T" + le4(len(s)) + s }

func num(v int) string { return "J" + le4(v) }

func array(code, data string, shape ...int) string {
	s := "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01("
	for _, n := range shape {
		s += num(n)
	}
	return s + "tcnumpy\ndtype\n" + str2(code) + "K\x00K\x01\x87R(K\x03U\x01<NNNtb\x89" + str2(data) + "tb"
}

// words is a matrix of ones; each row is the columns of its ones.
func words(cols int, rows ...[]int) string {
	offsets, columns, ones := []int{0}, []int{}, []int{}
	for _, r := range rows {
		for _, c := range r {
			columns, ones = append(columns, c), append(ones, int(math.Float32bits(1)))
		}
		offsets = append(offsets, len(columns))
	}
	return "\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81}(" + str2("_shape") + num(len(rows)) + num(cols) + "\x86" +
		str2("indptr") + array("i4", le4(offsets...), len(offsets)) +
		str2("indices") + array("i4", le4(columns...), len(columns)) +
		str2("data") + array("f4", le4(ones...), len(ones)) + "ub."
}

// onehots is labels of two classes; −1 is a row of zeros.
func onehots(labels ...int) string {
	var x []int
	for _, l := range labels {
		row := []int{0, 0}
		if l >= 0 {
			row[l] = 1
		}
		x = append(x, row...)
	}
	return "\x80\x02" + array("i4", le4(x...), len(labels), 2) + "."
}

func neighbours(lists ...[]int) string {
	s := "\x80\x02ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R("
	for u, list := range lists {
		s += num(u) + "]("
		for _, v := range list {
			s += num(v)
		}
		s += "e"
	}
	return s + "u."
}

// small is a dataset of seven nodes: 0 trains, 1 and 2 validate, 5 and 3 test,
// 4 and 6 are in the graph alone. Edge 1–2 stands there twice, 2–3 in one
// direction, and 3 has a loop.
func small() map[string]string {
	return map[string]string{
		"x":          words(3, []int{1}),
		"allx":       words(3, []int{1}, []int{2, 0}, []int{}),
		"tx":         words(3, []int{0, 1, 2}, []int{0}),
		"y":          onehots(1),
		"ally":       onehots(1, 0, 1),
		"ty":         onehots(1, 1),
		"graph":      neighbours([]int{1}, []int{0, 2, 2}, []int{1, 3}, []int{3}, []int{5}, []int{4}, nil),
		"test.index": "5\n3\n",
	}
}

// fileOf is a file system of one file.
func fileOf(name string, b []byte) fstest.MapFS { return fstest.MapFS{name: &fstest.MapFile{Data: b}} }

// told is what a Raw holds, for comparison.
func told(r *Raw) string {
	var lines []string
	for i := range r.Nodes {
		n := &r.Nodes[i]
		lines = append(lines, fmt.Sprintf("%d nodes, %d listed%s", n.Rows, n.Listed, toldTable(&n.Table)))
	}
	for i := range r.Edges {
		e := &r.Edges[i]
		line := fmt.Sprintf("edges %v to %v", e.Source, e.Target)
		for _, is := range []struct {
			so   bool
			says string
		}{{e.Undirected, " undirected"}, {e.Saved, " saved"}, {e.Dangling > 0, fmt.Sprintf(" %d dangling", e.Dangling)}} {
			if is.so {
				line += is.says
			}
		}
		lines = append(lines, line+toldTable(&e.Table))
	}
	for _, s := range r.Splits {
		lines = append(lines, fmt.Sprintf("split %s of %ss %v %v %v", s.Name, s.Of, s.Train, s.Val, s.Test))
	}
	return strings.Join(lines, "\n")
}

func toldTable(t *Table) string {
	var out string
	if t.IDs != nil {
		out += fmt.Sprintf(" ids %v", t.IDs.Texts)
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		out += fmt.Sprintf("; %s %s %s", c.Name, c.Type, c.Role)
		switch c.Type {
		case Number:
			out += fmt.Sprint(c.Numbers)
		case Time:
			out += fmt.Sprint(c.Times, c.Dated)
		case Word:
			out += fmt.Sprint(c.Words.Texts, c.Words.Codes, c.Words.Ordered)
		case Many:
			m := c.Matrix
			out += fmt.Sprint(m.Rows, "x", m.Cols, m.Values, m.Names)
			if m.Offsets != nil {
				out += fmt.Sprint(m.Offsets, m.Columns)
			}
		}
		if c.Classes > 0 {
			out += fmt.Sprint(" of ", c.Classes)
		}
	}
	return out
}

// same fails the test unless two texts are, line by line.
func same(t *testing.T, name, got, want string) {
	t.Helper()
	plain := strings.NewReplacer("\t", "", " [", "[", "] ", "]") // blanks beside lists count for nothing
	if plain.Replace(got) != plain.Replace(strings.TrimSpace(want)) {
		t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
	}
}

// readOne reads a file of that name and content from a file system.
func readOne(name string, b []byte) (*Raw, error) {
	r, err := ReadFS(fileOf(name, b), name, Options{})
	if err == nil {
		err = r.Check()
	}
	return r, err
}

// holds reads a file and fails the test if what is read does not hold together.
func holds(t *testing.T, fsys fstest.MapFS, name string) {
	t.Helper()
	r, err := ReadFS(fsys, name, Options{})
	if err != nil {
		return
	}
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
}
