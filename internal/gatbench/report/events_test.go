package report

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/edgewise-ml/edgewise/train"
)

// records splits a file into its records and checks both checksums of each.
func records(t *testing.T, data []byte) [][]byte {
	t.Helper()
	sum := func(data []byte) uint32 { // the reverse of what a reader does
		c := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
		return (c>>15 | c<<17) + 0xa282ead8
	}
	var out [][]byte
	for len(data) > 0 {
		n := binary.LittleEndian.Uint64(data)
		if got := binary.LittleEndian.Uint32(data[8:]); got != sum(data[:8]) {
			t.Fatalf("record %d: checksum %x of its length", len(out), got)
		}
		body := data[12 : 12+n]
		if got := binary.LittleEndian.Uint32(data[12+n:]); got != sum(body) {
			t.Fatalf("record %d: checksum %x", len(out), got)
		}
		out = append(out, body)
		data = data[16+n:]
	}
	return out
}

// fields returns the fields of a message, by number, as they stand.
func fields(t *testing.T, b []byte) map[int][][]byte {
	t.Helper()
	out := map[int][][]byte{}
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		b = b[n:]
		size := 0
		switch key & 7 {
		case 0:
			_, size = binary.Uvarint(b)
		case 1:
			size = 8
		case 5:
			size = 4
		case 2:
			length, n := binary.Uvarint(b)
			b, size = b[n:], int(length)
		default:
			t.Fatalf("wire type %d", key&7)
		}
		out[int(key>>3)] = append(out[int(key>>3)], b[:size])
		b = b[size:]
	}
	return out
}

// The checksum of the polynomial's standard vector, masked by hand.
func TestMasked(t *testing.T) {
	const plain = uint32(0xe3069283) // CRC-32C of "123456789"
	c := plain
	if got, want := masked([]byte("123456789")), (c>>15|c<<17)+0xa282ead8; got != want {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestEvents(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	l, err := CreateEvents(dir)
	if err != nil {
		t.Fatal(err)
	}
	l.Epoch(train.Epoch{N: 300, Loss: 1.5, Rate: 0.005, Scores: train.Scores{Test: train.Score{Accuracy: 0.25}}})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "events.out.tfevents.*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	rs := records(t, data)
	if len(rs) != 2 || string(fields(t, rs[0])[3][0]) != "brain.Event:2" {
		t.Fatalf("records %q", rs)
	}
	event := fields(t, rs[1])
	if step, _ := binary.Uvarint(event[2][0]); step != 300 {
		t.Errorf("step %d", step)
	}
	got := map[string]float32{}
	for _, v := range fields(t, event[5][0])[1] {
		f := fields(t, v)
		got[string(f[1][0])] = math.Float32frombits(binary.LittleEndian.Uint32(f[2][0]))
	}
	if got["loss/train"] != 1.5 || got["accuracy/test"] != 0.25 || got["rate"] != 0.005 || len(got) != 7 {
		t.Errorf("values %v", got)
	}
}
