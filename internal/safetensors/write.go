package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Write writes tensors and metadata to w. The arrays stand in the order of
// their names, float64 before float32 so that all are aligned; the header is
// padded with spaces to a multiple of 8 bytes. Nothing is written if a tensor
// is not sound.
func Write(w io.Writer, tensors []Tensor, metadata map[string]string) error {
	sorted, err := arrange(tensors)
	if err != nil {
		return err
	}
	head, err := header(sorted, metadata)
	if err != nil {
		return err
	}
	if _, err := w.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(head)))); err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	if _, err := w.Write(head); err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	for i := range sorted {
		if err := writeData(w, &sorted[i]); err != nil {
			return fmt.Errorf("safetensors: %q: %w", sorted[i].Name, err)
		}
	}
	return nil
}

// arrange returns the tensors, checked, in the order of the file.
func arrange(tensors []Tensor) ([]Tensor, error) {
	if len(tensors) > tensorsMost {
		return nil, fmt.Errorf("safetensors: %d tensors are over the limit of %d", len(tensors), tensorsMost)
	}
	seen := make(map[string]bool, len(tensors))
	for i := range tensors {
		t := &tensors[i]
		if err := t.check(); err != nil {
			return nil, err
		}
		if seen[t.Name] {
			return nil, fmt.Errorf("safetensors: two tensors are called %q", t.Name)
		}
		seen[t.Name] = true
	}
	sorted := slices.Clone(tensors)
	slices.SortFunc(sorted, func(a, b Tensor) int {
		if d := b.dtype().size - a.dtype().size; d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
	return sorted, nil
}

// header returns the JSON header, padded. It is written by hand because the
// order of its keys is part of the promise of equal bytes.
func header(tensors []Tensor, metadata map[string]string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	if len(metadata) > metadataMost {
		return nil, fmt.Errorf("safetensors: %d keys of metadata are over the limit of %d", len(metadata), metadataMost)
	}
	if len(metadata) > 0 {
		quote(&b, metadataKey)
		b.WriteString(":{")
		for i, k := range slices.Sorted(maps.Keys(metadata)) {
			if !utf8.ValidString(k) || !utf8.ValidString(metadata[k]) {
				return nil, fmt.Errorf("safetensors: metadata %q is not UTF-8", k)
			}
			if quoted(k) > nameMost {
				return nil, fmt.Errorf("safetensors: the key %.40q… takes %d bytes in JSON; at most %d are read", k, quoted(k), nameMost)
			}
			comma(&b, i)
			quote(&b, k)
			b.WriteByte(':')
			quote(&b, metadata[k])
		}
		b.WriteByte('}')
	}
	at := 0
	for i := range tensors {
		t := &tensors[i]
		comma(&b, i+len(metadata))
		quote(&b, t.Name)
		fmt.Fprintf(&b, `:{"dtype":"%s","shape":[`, t.dtype().name)
		for j, s := range t.Shape {
			comma(&b, j)
			fmt.Fprint(&b, s)
		}
		end := at + t.len()*t.dtype().size
		fmt.Fprintf(&b, `],"data_offsets":[%d,%d]}`, at, end)
		at = end
	}
	b.WriteByte('}')
	for b.Len()%8 != 0 {
		b.WriteByte(' ')
	}
	if b.Len() > MaxHeader {
		return nil, fmt.Errorf("safetensors: a header of %d bytes is over the limit of %d", b.Len(), MaxHeader)
	}
	return b.Bytes(), nil
}

func comma(b *bytes.Buffer, i int) {
	if i > 0 {
		b.WriteByte(',')
	}
}

// quote appends s as a JSON string.
func quote(b *bytes.Buffer, s string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)         // a string and a buffer cannot fail
	b.Truncate(b.Len() - 1) // the encoder's newline
}

// quoted returns the bytes that s takes as a JSON string.
func quoted(s string) int {
	var b bytes.Buffer
	quote(&b, s)
	return b.Len()
}

// writeData writes the elements of t, a block at a time.
func writeData(w io.Writer, t *Tensor) error {
	const block = 1 << 13
	buf := make([]byte, 0, block*8)
	for part := range slices.Chunk(t.F32, block) {
		buf = buf[:0]
		for _, v := range part {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v))
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(t.F64, block) {
		buf = buf[:0]
		for _, v := range part {
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v))
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}
