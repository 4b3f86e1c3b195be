package safetensors

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/edgewise-ml/edgewise/internal/jsonread"
)

// entry is one tensor of a header: where its elements are.
type entry struct {
	name       string
	dtype      dtype
	shape      []int
	begin, end int64
}

// parseHeader reads the JSON header of a file whose data have that many bytes.
// The entries come back in the order of their data.
func parseHeader(head []byte, data int64) ([]entry, map[string]string, error) {
	if len(head) == 0 || head[0] != '{' || !utf8.Valid(head) {
		return nil, nil, errors.New("the header is not a JSON object in UTF-8")
	}
	if err := jsonread.Check(head); err != nil {
		return nil, nil, fmt.Errorf("the header is not JSON: %w", err)
	}
	var entries []entry
	var metadata map[string]string
	err := object(head, func(key string, value []byte) (err error) {
		if key == metadataKey {
			metadata, err = parseMetadata(value)
			return err
		}
		if len(entries) == tensorsMost {
			return fmt.Errorf("there are more than %d tensors", tensorsMost)
		}
		e, err := parseEntry(key, value, data)
		if err != nil {
			return fmt.Errorf("tensor %.80q: %w", key, err)
		}
		entries = append(entries, e)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return entries, metadata, tile(entries, data)
}

func parseMetadata(b []byte) (map[string]string, error) {
	m := map[string]string{}
	err := object(b, func(key string, value []byte) error {
		if len(m) == metadataMost {
			return fmt.Errorf("there are more than %d keys", metadataMost)
		}
		s, err := jsonread.Text(value)
		if err != nil {
			return fmt.Errorf("the value of %.80q: %w", key, err)
		}
		m[key] = s
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", metadataKey, err)
	}
	return m, nil
}

// parseEntry reads the header of one tensor and checks it against itself and
// the number of bytes there are.
func parseEntry(name string, b []byte, data int64) (entry, error) {
	e := entry{name: name}
	var kind string
	var offsets []int64
	err := object(b, func(key string, value []byte) error {
		if len(value) > fieldMost {
			return fmt.Errorf("%.80q takes %d bytes; at most %d are read", key, len(value), fieldMost)
		}
		var into any
		switch key {
		case "dtype":
			into = &kind
		case "shape":
			into = &e.shape
		case "data_offsets":
			into = &offsets
		default:
			return fmt.Errorf("unknown field %.80q", key)
		}
		if err := jsonread.Unmarshal(value, into); err != nil {
			return fmt.Errorf("%s: %w", key, jsonread.What(err))
		}
		return nil
	})
	if err != nil {
		return e, err
	}
	i := slices.IndexFunc(dtypes, func(d dtype) bool { return d.name == kind })
	if i < 0 {
		return e, fmt.Errorf("elements of type %.80q cannot be read, only floats (F64, F32, F16, BF16), whole numbers to 64 bits and BOOL", kind)
	}
	e.dtype = dtypes[i]
	if e.shape == nil {
		return e, errors.New("there is no shape")
	}
	if len(offsets) != 2 || offsets[0] < 0 || offsets[1] < offsets[0] || offsets[1] > data {
		return e, fmt.Errorf("data_offsets %v are not a range of the %d bytes of data", offsets, data)
	}
	e.begin, e.end = offsets[0], offsets[1]
	n, err := elements(e.shape)
	if err != nil {
		return e, err
	}
	if int64(n) != (e.end-e.begin)/int64(e.dtype.size) || (e.end-e.begin)%int64(e.dtype.size) != 0 {
		return e, fmt.Errorf("%d bytes for %d elements of type %s", e.end-e.begin, n, kind)
	}
	return e, nil
}

// tile sorts the entries by their data and checks that these fill the file.
func tile(entries []entry, data int64) error {
	slices.SortFunc(entries, func(a, b entry) int {
		switch {
		case a.begin != b.begin:
			return int(max(-1, min(1, a.begin-b.begin)))
		case a.end != b.end:
			return int(max(-1, min(1, a.end-b.end)))
		}
		return strings.Compare(a.name, b.name)
	})
	at := int64(0)
	for _, e := range entries {
		if e.begin != at {
			return fmt.Errorf("tensor %q begins at byte %d of the data, where %d is next: arrays must not overlap or leave gaps", e.name, e.begin, at)
		}
		at = e.end
	}
	if at != data {
		return fmt.Errorf("the tensors end at byte %d of %d: something follows, or the header belongs to another file", at, data)
	}
	return nil
}

// object calls f for every member of a JSON object, with a view of its value. Unlike
// a decoder of maps, it refuses a key that stands there twice; and it copies nothing but keys.
func object(b []byte, f func(key string, value []byte) error) error {
	r := jsonread.Of(b)
	first, err := r.Token()
	if err == nil && first.Kind != '{' {
		err = fmt.Errorf("%s stands there, want an object in braces", first.Found())
	}
	seen := map[string]bool{}
	for err == nil && r.More() {
		err = member(r, seen, f)
	}
	if err == nil {
		if _, err = r.Token(); err == nil { // the brace
			err = r.End()
		}
	}
	return err
}

// member reads a member of an object.
func member(r *jsonread.Reader, seen map[string]bool, f func(key string, value []byte) error) error {
	raw, err := r.Raw()
	if err != nil {
		return err
	}
	if len(raw) > nameMost {
		return fmt.Errorf("a key of %d bytes, %.40q…; at most %d are read", len(raw), raw, nameMost)
	}
	key, err := jsonread.Text(raw)
	if err != nil {
		return fmt.Errorf("the key %.80q: %w", raw, err)
	}
	if seen[key] {
		return fmt.Errorf("the key %q is repeated", key)
	}
	seen[key] = true
	value, err := r.Raw()
	if err != nil {
		return err
	}
	return f(key, value)
}
