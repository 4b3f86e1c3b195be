package safetensors

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/internal/jsonread"
)

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
