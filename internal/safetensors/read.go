package safetensors

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Read reads the safetensors file of size bytes in r. The tensors come in the
// order of the file. It never holds more than a small multiple of size.
func Read(r io.ReaderAt, size int64) (tensors []Tensor, metadata map[string]string, err error) {
	var prefix [8]byte
	if size < 8 {
		return nil, nil, fmt.Errorf("safetensors: %d bytes are no file; a header needs 8", size)
	}
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, 8), prefix[:]); err != nil {
		return nil, nil, fmt.Errorf("safetensors: byte 0: %w", err)
	}
	n := binary.LittleEndian.Uint64(prefix[:])
	if n > MaxHeader || int64(n) > size-8 {
		return nil, nil, fmt.Errorf("safetensors: a header of %d bytes in a file of %d: not a safetensors file, or cut short", n, size)
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(r, 8, int64(n)), head); err != nil {
		return nil, nil, fmt.Errorf("safetensors: byte 8: %w", err)
	}
	start := 8 + int64(n)
	entries, metadata, err := parseHeader(head, size-start)
	if err != nil {
		return nil, nil, fmt.Errorf("safetensors: header: %w", err)
	}
	tensors = make([]Tensor, 0, len(entries))
	for _, e := range entries {
		t, err := readData(io.NewSectionReader(r, start+e.begin, e.end-e.begin), e)
		if err != nil {
			return nil, nil, fmt.Errorf("safetensors: tensor %q, byte %d: %w", e.name, start+e.begin, err)
		}
		tensors = append(tensors, t)
	}
	return tensors, metadata, nil
}

// readData reads the elements of one tensor, a block at a time.
func readData(r io.Reader, e entry) (Tensor, error) {
	t := Tensor{Name: e.name, Shape: e.shape}
	n := int(e.end-e.begin) / e.dtype.size
	switch {
	case e.dtype.whole():
		t.I64 = make([]int64, 0, n)
	case e.dtype.size == 8:
		t.F64 = make([]float64, 0, n)
	default:
		t.F32 = make([]float32, 0, n)
	}
	buf := make([]byte, min(1<<16, n*e.dtype.size))
	for left := n * e.dtype.size; left > 0; left -= len(buf) {
		buf = buf[:min(len(buf), left)]
		if _, err := io.ReadFull(r, buf); err != nil {
			return t, err
		}
		t.decode(e.dtype, buf)
	}
	return t, nil
}

// decode appends the elements in b.
func (t *Tensor) decode(d dtype, b []byte) {
	for i := 0; i < len(b); i += d.size {
		switch d.name {
		case "F64":
			t.F64 = append(t.F64, math.Float64frombits(binary.LittleEndian.Uint64(b[i:])))
		case "F32":
			t.F32 = append(t.F32, math.Float32frombits(binary.LittleEndian.Uint32(b[i:])))
		case "BF16":
			t.F32 = append(t.F32, math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[i:]))<<16))
		case "F16":
			t.F32 = append(t.F32, Half(binary.LittleEndian.Uint16(b[i:])))
		default:
			t.I64 = append(t.I64, whole(d.name, b[i:]))
		}
	}
}

// Half returns the float32 of an IEEE 754 half-precision number.
func Half(h uint16) float32 {
	sign, exp, frac := uint32(h&0x8000)<<16, uint32(h>>10&31), uint32(h&0x3ff)
	switch exp {
	case 0: // zero or subnormal: frac · 2⁻²⁴
		v := float32(frac) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// whole returns the first element in b, a whole number or a boolean.
func whole(kind string, b []byte) int64 {
	switch kind {
	case "I64":
		return int64(binary.LittleEndian.Uint64(b))
	case "I32":
		return int64(int32(binary.LittleEndian.Uint32(b)))
	case "I16":
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case "I8":
		return int64(int8(b[0]))
	}
	return int64(b[0])
}
