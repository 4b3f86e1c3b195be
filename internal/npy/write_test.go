package npy

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zip"
)

func TestWriteArchive(t *testing.T) {
	arrays := []Named{
		{"i4", []int32{1, -2, 3, 4, 5, 6}, []int{2, 3}},
		{"i8", []int64{1 << 40}, nil},
		{"f4", []float32{0.5}, []int{1, 1, 1}},
		{"f8", []float64{0.1, 0.2}, nil},
		{"b1", []bool{true, false}, nil},
		{"text", []string{"a", "", "ünï"}, nil},
		{"empty", []int32{}, nil},
		{"none", []string{}, nil},
	}
	var b, again bytes.Buffer
	if err := WriteArchive(&b, arrays...); err != nil {
		t.Fatal(err)
	}
	if err := WriteArchive(&again, arrays...); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Errorf("written twice it differs, error %v", err)
	}
	z, err := archiveOf(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]float64{"i4": {1, -2, 3, 4, 5, 6}, "i8": {1 << 40}, "f4": {0.5}, "f8": {0.1, 0.2}, "b1": {1, 0}, "empty": {}} {
		a, err := z.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := a.Float64s(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, error %v; want %v", name, got, err, want)
		}
	}
	if a, err := z.Read("i4"); err != nil || !slices.Equal(a.Shape, []int{2, 3}) {
		t.Errorf("shape %v, error %v", a.Shape, err)
	}
	a, err := z.Read("text")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := a.Strings(); err != nil || !slices.Equal(got, arrays[5].Data.([]string)) {
		t.Errorf("%q, error %v", got, err)
	}
}

func TestHeaderTextIsAligned(t *testing.T) {
	for _, shape := range [][]int{{}, {1}, {12345}, {1, 2}, {1, 2, 3}} {
		text := headerText("<f4", shape)
		if len(text)%64 != 0 || !strings.HasSuffix(text, "\n") {
			t.Errorf("shape %v: %q", shape, text)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWriteArchiveFails(t *testing.T) {
	for want, a := range map[string]Named{
		`array "x": elements of type []uint8`:             {"x", []byte{1}, nil},
		`array "y": 2 elements do not have the shape [3]`: {"y", []int32{1, 2}, []int{3}},
	} {
		if err := WriteArchive(&bytes.Buffer{}, a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if err := WriteArchive(full{}, Named{"x", []int32{1}, nil}); err == nil {
		t.Error("no error of a full disk")
	}
}

// archiveOf opens the archive that b is.
func archiveOf(b []byte) (*Archive, error) {
	return NewArchive("a.npz", bytes.NewReader(b), int64(len(b)))
}

// TestBomb wants an array refused that expands without bound.
func TestBomb(t *testing.T) {
	var b bytes.Buffer
	if err := WriteArchive(&b, Named{"x", make([]int32, 20<<20), nil}); err != nil {
		t.Fatal(err)
	}
	z, err := archiveOf(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Read("x"); err == nil || !strings.Contains(err.Error(), "to 83886208 bytes, which is refused") {
		t.Errorf("read a bomb, error %v", err)
	}
}

// TestRoom wants the arrays of an archive to share what they may take: elements
// that are small in the file, or nothing there, are not when they are read.
func TestRoom(t *testing.T) {
	member := func(descr string, n int, data []byte) []byte {
		return append(file(headerOf(descr, fmt.Sprintf("(%d,)", n))), data...)
	}
	const n = 6 << 20
	z, err := archiveOf(zipped(t, "a.npy", member("|u1", n, make([]byte, n)), "b.npy", member("|u1", n, make([]byte, n)), "c.npy", member("|S0", n, make([]byte, n)),
		"d.npy", append(file(headerOf("|O", "()")), make([]byte, n)...)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Read("a"); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"b", "c", "d"} {
		if _, err := z.Read(name); err == nil || !strings.Contains(err.Error(), "its arrays take more than the") {
			t.Errorf("array %s: error %v", name, err)
		}
	}
}

// TestRoomOfData wants room for what people share: dense features that mostly are
// zeros, in files of these sizes.
func TestRoomOfData(t *testing.T) {
	for _, c := range []struct {
		name        string
		file        int64
		nodes, wide int
		size        int
	}{
		{"Actor", 252_956, 7600, 932, 4}, {"Chameleon", 177_840, 2277, 2325, 4}, {"Squirrel", 704_277, 5201, 2089, 4},
		{"CiteSeer, bool", 278_849, 3327, 3703, 1}, {"CiteSeer, float32", 491_641, 3327, 3703, 4}, {"CiteSeer, float64", 734_485, 3327, 3703, 8},
		{"Coauthor CS, bool", 2_889_032, 18333, 6805, 1}, {"Coauthor CS, float32", 5_349_858, 18333, 6805, 4},
	} {
		a := &Array{Type: "<f4"}
		if err := newRoom(c.file).take(c.nodes*c.wide, a.takes(c.size)); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestLyingArchives wants refused what an archive says that is not so.
func TestLyingArchives(t *testing.T) {
	long := file(headerOf("<i4", "(2,)"), int32(1), int32(2))
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	m, err := w.CreateRaw(&zip.FileHeader{Name: "x.npy", Method: zip.Store, CompressedSize64: uint64(len(long)), UncompressedSize64: uint64(len(long)) - 4, CRC32: crc32.ChecksumIEEE(long)})
	if err != nil {
		t.Fatal(err)
	}
	m.Write(long)
	w.Close()
	z, err := archiveOf(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Read("x"); err == nil {
		t.Error("read an array that is longer than its archive says")
	}
	b.Reset()
	w = zip.NewWriter(&b)
	for i := range 1<<16 + 1 {
		if _, err := w.CreateRaw(&zip.FileHeader{Name: strconv.Itoa(i)}); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	if _, err := archiveOf(b.Bytes()); err == nil || !strings.HasSuffix(err.Error(), "65537 arrays are too many; the limit is 65536") {
		t.Errorf("65537 arrays: error %v", err)
	}
	if _, err := archiveOf(zipped(t, "x.npy", long, "y.npy", long, "x.npy", long)); err == nil || !strings.HasSuffix(err.Error(), `there are two arrays "x", of which one would be lost: save it again`) {
		t.Errorf("two arrays of a name: error %v", err)
	}
}

// The numbers of a large array are read block by block, as often as they are asked for, and what is damaged among them is an error then.
func TestLargeArrays(t *testing.T) {
	const n = blockBytes/2 + 7 // of four bytes, which is two blocks and a bit
	ints, floats := make([]int32, n), make([]float32, n)
	for i := range n {
		ints[i], floats[i] = int32(i*i), float32(i)/3
	}
	whole := zipped(t, "i.npy", file(headerOf("<i4", fmt.Sprintf("(%d,)", n)), ints), "f.npy", file(headerOf("<f4", fmt.Sprintf("(%d,)", n)), floats))
	z, err := archiveOf(whole)
	if err != nil {
		t.Fatal(err)
	}
	a, err := z.Read("i")
	if err != nil || a.Raw != nil || a.Len() != n {
		t.Fatalf("%d elements, %d bytes, error %v", a.Len(), len(a.Raw), err)
	}
	for range 2 {
		if got, err := a.Int32s(); err != nil || !slices.Equal(got, ints) {
			t.Errorf("whole numbers differ, error %v", err)
		}
	}
	f, err := z.Read("f")
	if err != nil {
		t.Fatal(err)
	}
	doubles, err := f.Float64s()
	if err != nil || len(doubles) != n {
		t.Fatal(err)
	}
	at, err := f.Numbers()
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if doubles[i] != float64(floats[i]) || at(i) != doubles[i] {
			t.Fatalf("element %d is %v and %v, want %v", i, doubles[i], at(i), floats[i])
		}
	}
	if _, err := f.Int64s(); err == nil || !strings.Contains(err.Error(), `elements of type "<f4", want whole numbers`) {
		t.Errorf("floats as whole numbers: error %v", err)
	}
	stop := errors.New("stop")
	if err := a.Each(func(i int, v float64) error { return map[bool]error{true: stop}[i == n-1] }); err != stop {
		t.Errorf("error %v", err)
	}
	for _, packed := range []bool{false, true} {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		data := file(headerOf("<i4", fmt.Sprintf("(%d,)", n)), ints)
		h := &zip.FileHeader{Name: "i.npy", Method: zip.Store, CompressedSize64: uint64(len(data)), UncompressedSize64: uint64(len(data)), CRC32: crc32.ChecksumIEEE(data) ^ 1}
		want := "its checksum is not that of the archive"
		if packed { // it has fewer elements than it says
			data, want = data[:len(data)-100], "it ends after"
			h.CompressedSize64, h.CRC32 = uint64(len(data)), crc32.ChecksumIEEE(data)
		}
		m, err := w.CreateRaw(h)
		if err != nil {
			t.Fatal(err)
		}
		m.Write(data)
		w.Close()
		z, err := archiveOf(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		a, err := z.Read("i")
		if err == nil {
			_, err = a.Int32s()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("damaged: error %v, want %s", err, want)
		}
	}
}

// zipped is an archive of names and contents, alternating.
func zipped(t *testing.T, parts ...any) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		m, err := w.Create(parts[i].(string))
		if err != nil {
			t.Fatal(err)
		}
		m.Write(parts[i+1].([]byte))
	}
	w.Close()
	return b.Bytes()
}
