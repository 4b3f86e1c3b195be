package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/sparing"
)

// file returns a version 1 file with the header and the elements given.
func file(header string, elements ...any) []byte {
	var b bytes.Buffer
	b.WriteString(magic + "\x01\x00")
	binary.Write(&b, binary.LittleEndian, uint16(len(header)))
	b.WriteString(header)
	for _, e := range elements {
		binary.Write(&b, binary.LittleEndian, e)
	}
	return b.Bytes()
}

func headerOf(descr, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }   \n", descr, shape)
}

func TestReadNumbers(t *testing.T) {
	tests := []struct {
		descr string
		data  any
		want  []float64
	}{
		{"<i8", []int64{-1, math.MaxInt32 + 1}, []float64{-1, math.MaxInt32 + 1}},
		{"<i4", []int32{-5, 7}, []float64{-5, 7}},
		{"<u4", []uint32{5, math.MaxUint32}, []float64{5, math.MaxUint32}},
		{"<u8", []uint64{5, math.MaxUint64}, []float64{5, math.MaxUint64}},
		{"<i2", []int16{-3, 3}, []float64{-3, 3}},
		{"<u2", []uint16{3, 65535}, []float64{3, 65535}},
		{"|i1", []int8{-3, 3}, []float64{-3, 3}},
		{"|u1", []uint8{3, 255}, []float64{3, 255}},
		{"|b1", []bool{true, false}, []float64{1, 0}},
		{"<f4", []float32{0.5, -2}, []float64{0.5, -2}},
		{"<f8", []float64{0.1, math.Inf(-1)}, []float64{0.1, math.Inf(-1)}},
		{"<f2", []uint16{0x3c00, 0xc000}, []float64{1, -2}},
		{"<f2", []uint16{0x0001, 0xfc00}, []float64{math.Ldexp(1, -24), math.Inf(-1)}},
		{">i4", []uint32{0x01000000, 0x02000000}, []float64{1, 2}},
	}
	for _, c := range tests {
		a, err := Read(bytes.NewReader(file(headerOf(c.descr, "(2,)"), c.data)), 1<<20)
		if err != nil {
			t.Errorf("%s: %v", c.descr, err)
			continue
		}
		if got, err := a.Float64s(); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, %v, want %v", c.descr, got, err, c.want)
		}
	}
}

func TestWholeNumbers(t *testing.T) {
	a, err := Read(bytes.NewReader(file(headerOf("<i8", "(3, 1)"), []int64{1, 2, 1 << 40})), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.Shape, []int{3, 1}) || a.Len() != 3 {
		t.Errorf("shape %v, %d elements", a.Shape, a.Len())
	}
	if got, err := a.Int64s(); err != nil || !slices.Equal(got, []int64{1, 2, 1 << 40}) {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := a.Int32s(); err == nil || !strings.Contains(err.Error(), "element 2 is 1099511627776") {
		t.Errorf("a number beyond 32 bits gives %v", err)
	}
}

func TestStrings(t *testing.T) {
	a, err := Read(bytes.NewReader(file(headerOf("<U3", "(2,)"), []int32{'a', 'ö', 0, 'x', 'y', 'z'})), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := a.Strings(); err != nil || !slices.Equal(got, []string{"aö", "xyz"}) {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := a.Int64s(); err == nil {
		t.Error("strings read as whole numbers")
	}
}

// Arrays whose first axis runs fastest are turned into those whose last one does.
func TestFirstAxisFastest(t *testing.T) {
	for shape, want := range map[string][]float64{
		"(6,)":      {0, 1, 2, 3, 4, 5},
		"(2, 3)":    {0, 2, 4, 1, 3, 5},
		"(3, 2)":    {0, 3, 1, 4, 2, 5},
		"(1, 6)":    {0, 1, 2, 3, 4, 5},
		"(3, 1, 2)": {0, 3, 1, 4, 2, 5},
		"(0, 3)":    {},
		"(3, 0)":    {},
		"(2, 3" + strings.Repeat(", 1", 62) + ")": {0, 2, 4, 1, 3, 5},
	} {
		all := []int16{0, 1, 2, 3, 4, 5}[:len(want)]
		a, err := Read(bytes.NewReader(file("{'descr': '<i2', 'fortran_order': True, 'shape': "+shape+"}", all)), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := a.Float64s(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%.20s: %v, error %v; want %v", shape, got, err, want)
		}
	}
	// Of three axes element (i, j, k) has its place by the formula.
	var all []int32
	for i := range 24 {
		all = append(all, int32(i))
	}
	a, err := Read(bytes.NewReader(file("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3, 4)}", all)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Int32s()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		for j := range 3 {
			for k := range 4 {
				if v := int(got[(i*3+j)*4+k]); v != i+2*(j+3*k) {
					t.Errorf("element (%d, %d, %d) is %d, want %d", i, j, k, v, i+2*(j+3*k))
				}
			}
		}
	}
}

func TestPickled(t *testing.T) {
	a, err := Read(bytes.NewReader(append(file(headerOf("|O", "()")), "\x80\x02N."...)), 1<<10)
	if err != nil || !a.Pickled || string(a.Raw) != "\x80\x02N." {
		t.Errorf("got %+v, %v", a, err)
	}
	if _, err := a.Float64s(); err == nil {
		t.Error("objects read as numbers")
	}
}

func TestBadFiles(t *testing.T) {
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "inside the first 8 bytes"},
		{"foreign", []byte("PK\x03\x04 something"), "no array of NumPy's"},
		{"version", []byte(magic + "\x09\x00\x00\x00"), "format version 9"},
		{"huge header", append([]byte(magic+"\x02\x00"), 0xff, 0xff, 0xff, 0x7f), "a header of 2147483647 bytes"},
		{"cut header", file(headerOf("<f4", "(2,)"))[:40], "inside the header"},
		{"cut elements", file(headerOf("<f4", "(2,)"), float32(1)), "after 4 of 8 bytes"},
		{"huge shape", file(headerOf("<f4", "(1000000000,)"), float32(1)), "more than the"},
		{"overflow", file(headerOf("<f4", "(2000000000, 2000000000, 2000000000)")), "more elements than"},
		{"huge axis", file(headerOf("<f4", "(90000000000000000000,)")), "the length of an axis"},
		{"negative", file(headerOf("<f4", "(-1,)")), "the length of an axis"},
		{"65 axes", file(headerOf("<f4", "("+strings.Repeat("1,", 65)+")"), float32(1)), "at most 64 axes"},
		{"records", file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}"), "records are not read"},
		{"fortran", file("{'descr': '|O', 'fortran_order': True, 'shape': (1, 1)}", []byte("N.")), "ascontiguousarray"},
		{"cut fortran", file("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}", []float32{1, 2}), "after 8 of 24 bytes"},
		{"complex", file(headerOf("<c8", "(1,)"), int64(0)), `elements of type "<c8"`},
		{"missing", file("{'descr': '<f4'}"), "has not all of"},
		{"twice", file("{'descr': '<f4', 'descr': '<f8'}"), "twice"},
		{"other key", file("{'colour': 'red'}"), "a key descr"},
		{"no dictionary", file("exit()"), `want "{"`},
	}
	for _, c := range tests {
		_, err := Read(bytes.NewReader(c.data), 1<<20)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
}

func TestArchive(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"y", "x"} {
		w, err := z.Create(name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		w.Write(file(headerOf("<i4", "(1,)"), int32(len(name))))
	}
	z.Close()
	a, err := archiveOf(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Names(); !slices.Equal(got, []string{"x", "y"}) {
		t.Errorf("names %q", got)
	}
	x, err := a.Read("x")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := x.Int32s(); err != nil || got[0] != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := a.Read("z"); err == nil || !strings.Contains(err.Error(), `no array "z"; it has x, y`) {
		t.Errorf("a missing array gives %v", err)
	}
	if _, err := archiveOf([]byte("not a zip")); err == nil {
		t.Error("opened what is no archive")
	}
}

// A bit that flips in a member, stored or compressed, is an error that names the
// array: or, in what fills up a compressed one's last byte, it is nothing.
func TestDamagedArchive(t *testing.T) {
	elements := slices.Repeat([]int32{7, 1 << 20}, 8)
	for method, where := range map[uint16]string{zip.Store: "stored", zip.Deflate: "compressed"} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.CreateHeader(&zip.FileHeader{Name: "first.npy", Method: method})
		if err != nil {
			t.Fatal(err)
		}
		w.Write(file(headerOf("<i4", "(16,)"), elements))
		z.Close()
		whole := b.Bytes()
		start := bytes.Index(whole, []byte("first.npy")) + len("first.npy")
		end := bytes.Index(whole, []byte("PK\x07\x08")) // what follows the member
		step := 3                                       // so that each of the eight bits is turned round, and some bytes of each field
		if sparing.Full() {
			step = 1
		}
		for at := start; at < end; at += step {
			damaged := bytes.Clone(whole)
			damaged[at] ^= 1 << (at % 8)
			a, err := archiveOf(damaged)
			if err != nil {
				t.Fatal(err)
			}
			x, err := a.Read("first")
			want := `a.npz: array "first": `
			if method == zip.Store && at >= end-4*len(elements) {
				want += "its checksum is not that of the archive, which is damaged: copy or download it again"
			}
			if err == nil {
				if got, err := x.Int32s(); method == zip.Store || err != nil || !slices.Equal(got, elements) {
					t.Errorf("%s: byte %d of %d to %d is damaged, and read as %v", where, at, start, end, got)
				}
			} else if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: byte %d is damaged: error %v, want one with %q", where, at, err, want)
			}
		}
	}
}

// FuzzRead wants an error or an array whose elements are there, and no panic.
func FuzzRead(f *testing.F) {
	f.Add(file(headerOf("<f4", "(2,)"), []float32{1, 2}))
	f.Add(file(headerOf("<U2", "(1, 1)"), []int32{1, 2}))
	f.Add(file(headerOf("|O", "()")))
	f.Add(file("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3)}", []int16{0, 1, 2, 3, 4, 5}))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := Read(bytes.NewReader(data), 1<<16)
		if err != nil {
			return
		}
		if got, err := a.Float64s(); err == nil && len(got) != a.Len() {
			t.Errorf("%d numbers of %d", len(got), a.Len())
		}
		if got, err := a.Strings(); err == nil && len(got) != a.Len() {
			t.Errorf("%d strings of %d", len(got), a.Len())
		}
		if got, err := a.Int64s(); err == nil && len(got) != a.Len() {
			t.Errorf("%d whole numbers of %d", len(got), a.Len())
		}
	})
}
