package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// object calls f for every member of a JSON object, with a view of its value. It
// is for text that json.Valid has found no fault with. Unlike a decoder of maps, it
// refuses a key that stands there twice; and it copies nothing but keys.
func object(b []byte, f func(key string, value []byte) error) error {
	w := walker{b: b}
	if !w.take('{') {
		return fmt.Errorf("%.20q is not a JSON object", b)
	}
	seen := map[string]bool{}
	for first := true; !w.take('}'); first = false {
		if !first {
			w.take(',')
		}
		raw := w.value()
		if len(raw) > nameMost {
			return fmt.Errorf("a key of %d bytes, %.40q…; at most %d are read", len(raw), raw, nameMost)
		}
		key, err := text(raw)
		if err != nil {
			return err
		}
		if seen[key] {
			return fmt.Errorf("the key %q is repeated", key)
		}
		seen[key] = true
		w.take(':')
		if err := f(key, w.value()); err != nil {
			return err
		}
	}
	return nil
}

// text returns the string that a JSON string stands for.
func text(raw []byte) (string, error) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", errors.New("it is not a string")
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// walker walks over valid JSON.
type walker struct {
	b  []byte
	at int
}

// take skips blanks and then the byte c, if it is there.
func (w *walker) take(c byte) bool {
	for w.at < len(w.b) && (w.b[w.at] == ' ' || w.b[w.at] == '\n' || w.b[w.at] == '\t' || w.b[w.at] == '\r') {
		w.at++
	}
	if w.at == len(w.b) || w.b[w.at] != c {
		return false
	}
	w.at++
	return true
}

// value returns the next value.
func (w *walker) value() []byte {
	w.take(0) // the blanks
	start, depth := w.at, 0
	for w.at < len(w.b) {
		switch c := w.b[w.at]; c {
		case '"':
			w.string()
			if depth == 0 {
				return w.b[start:w.at]
			}
			continue
		case '[', '{':
			depth++
		case ']', '}':
			if depth == 0 { // of what is around a number or a word
				return bytes.TrimRight(w.b[start:w.at], " \n\t\r")
			}
			if depth--; depth == 0 {
				w.at++
				return w.b[start:w.at]
			}
		case ',':
			if depth == 0 {
				return bytes.TrimRight(w.b[start:w.at], " \n\t\r")
			}
		}
		w.at++
	}
	return w.b[start:w.at]
}

// string skips a string.
func (w *walker) string() {
	for w.at++; w.at < len(w.b) && w.b[w.at] != '"'; w.at++ {
		if w.b[w.at] == '\\' {
			w.at++
		}
	}
	w.at = min(w.at+1, len(w.b))
}
