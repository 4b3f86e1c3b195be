package jsonread

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is what is wrong with a JSON text, and where.
type Error struct {
	Line, Column int    // from 1
	Path         string // the keys and places that lead to the value, such as "edges"[2][0]; empty: the whole
	Found        Token  // what is of the wrong kind; none: something else is wrong
	Err          error
}

// Error implements [error].
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.What())
}

// What is the error without line and column, for a text that is not a file's.
func (e *Error) What() string {
	if e.Path == "" {
		return e.Err.Error()
	}
	return e.Path + ": " + e.Err.Error()
}

// What returns the error without line and column, if it is an [*Error]: for JSON that stands
// inside of something else.
func What(err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return errors.New(e.What())
	}
	return err
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Of the types that read their own JSON or text.
var (
	readsJSON = reflect.TypeFor[json.Unmarshaler]()
	readsText = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// Unmarshal is [json.Unmarshal] of a text that is UTF-8, with an [*Error]. What reads its own JSON is
// asked for its own error, to which this adds the path. An escape of half a character is U+FFFD.
func Unmarshal(text []byte, into any) error {
	if err := encoded(text); err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return explain(text, reflect.TypeOf(into), false, err)
	}
	return nil
}

// Strict is [Unmarshal] where a member that into does not have is an error.
func Strict(text []byte, into any) error {
	if err := encoded(text); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if rest := text[d.InputOffset():]; len(bytes.TrimLeft(rest, " \n\t\r")) == 0 {
			return nil
		}
	}
	return explain(text, reflect.TypeOf(into), true, err)
}

// Check returns an [*Error] unless the text is one JSON value. It looks at nothing but the syntax.
func Check(text []byte) error {
	r := Of(text)
	err := r.Skip()
	if err == nil {
		err = r.End()
	}
	if err == nil {
		return nil
	}
	line, column := r.Place()
	return &Error{Line: line, Column: column, Err: err}
}

// encoded returns an error if a text is not UTF-8.
func encoded(text []byte) error {
	if utf8.Valid(text) {
		return nil
	}
	r := Of(text)
	for {
		if _, err := r.Token(); err != nil { // at the latest where the byte stands
			line, column := r.Place()
			return &Error{Line: line, Column: column, Err: err}
		}
	}
}

// explain finds what kept a text from being a value of a type.
func explain(text []byte, t reflect.Type, strict bool, err error) error {
	if bad := Check(text); bad != nil {
		return bad
	}
	w := &walk{Reader: Of(text), strict: strict}
	if e := w.value(t.Elem()); e != nil {
		return e
	}
	return &Error{Line: 1, Column: 1, Err: err}
}

// walk goes through a text, whose syntax is right, and a type together.
type walk struct {
	*Reader
	strict bool
	path   []string
}

// wrong returns an error about the last token.
func (w *walk) wrong(t Token, err error) *Error {
	e := &Error{Path: strings.Join(w.path, ""), Found: t, Err: err}
	e.Line, e.Column = w.Place()
	return e
}

// want returns the error of a token that is of another kind.
func (w *walk) want(t Token, what string) *Error {
	return w.wrong(t, fmt.Errorf("%s stands there, want %s", t.Found(), what))
}

// token reads a token, of which no more than an escape can be wrong.
func (w *walk) token() (Token, *Error) {
	t, err := w.Token()
	if err != nil {
		return t, w.wrong(t, err)
	}
	return t, nil
}

// in walks the value that a step leads to.
func (w *walk) in(step string, t reflect.Type) *Error {
	w.path = append(w.path, step)
	e := w.value(t)
	w.path = w.path[:len(w.path)-1]
	return e
}

// value compares the next value with a type.
func (w *walk) value(t reflect.Type) *Error {
	before := *w.Reader
	first, e := w.token()
	if e != nil {
		return e
	}
	for t.Kind() == reflect.Pointer && first.Kind != 'n' {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[json.Number]() || t.Kind() == reflect.Interface:
		return w.rest(first)
	case t.Kind() == reflect.Pointer: // of null
		return nil
	case reflect.PointerTo(t).Implements(readsJSON):
		return w.own(before, first, t)
	case first.Kind == 'n': // which leaves anything else as it is
		return nil
	case reflect.PointerTo(t).Implements(readsText):
		if first.Kind != '"' {
			return w.want(first, "a text")
		}
		if err := reflect.New(t).Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(first.Text)); err != nil {
			return w.wrong(first, err)
		}
		return nil
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		if first.Kind != '{' {
			return w.want(first, "an object in braces")
		}
		return w.members(t)
	case reflect.Slice, reflect.Array:
		if first.Kind == '"' && t.Elem().Kind() == reflect.Uint8 {
			return nil // bytes in base64
		}
		if first.Kind != '[' {
			return w.want(first, "a list")
		}
		for i := 0; w.More(); i++ {
			of := t.Elem()
			if t.Kind() == reflect.Array && i >= t.Len() { // encoding/json leaves these out
				of = reflect.TypeFor[any]()
			}
			if e := w.in(fmt.Sprintf("[%d]", i), of); e != nil {
				return e
			}
		}
		_, e := w.token()
		return e
	}
	if what := scalar(first, t); what != "" {
		return w.want(first, what)
	}
	return nil
}

// rest skips what a token begins.
func (w *walk) rest(first Token) *Error {
	if first.Kind == '[' || first.Kind == '{' {
		_ = w.Rest() // the syntax is right
	}
	return nil
}

// own asks a type that reads its own JSON what is wrong.
func (w *walk) own(before Reader, first Token, t reflect.Type) *Error {
	line, column := w.Place()
	raw, _ := before.Raw() // the syntax is right
	_ = w.rest(first)
	err := reflect.New(t).Interface().(json.Unmarshaler).UnmarshalJSON(raw)
	if err == nil {
		return nil
	}
	e := &Error{Line: line, Column: column, Path: strings.Join(w.path, ""), Found: first, Err: err}
	if in := (*Error)(nil); errors.As(err, &in) {
		e.Path, e.Found, e.Err = e.Path+in.Path, in.Found, in.Err
		if in.Line > 1 {
			e.Line, e.Column = e.Line+in.Line-1, in.Column
		} else {
			e.Column += in.Column - 1
		}
	}
	return e
}

// members walks an object, whose brace is read.
func (w *walk) members(t reflect.Type) *Error {
	for w.More() {
		key, e := w.token()
		if e != nil {
			return e
		}
		step := fmt.Sprintf("%q", key.Text)
		if len(w.path) > 0 {
			step = "." + step
		}
		of, known := member(t, key.Text)
		switch {
		case !known && w.strict:
			w.path = append(w.path, step)
			return w.wrong(Token{}, errors.New("there is no member of that name"))
		case of == nil:
			_ = w.Skip() // the syntax is right
		default:
			if e := w.in(step, of); e != nil {
				return e
			}
		}
	}
	_, e := w.token()
	return e
}

// member returns the type of a member, nil if its value is not looked at.
func member(t reflect.Type, key string) (of reflect.Type, known bool) {
	if t.Kind() == reflect.Map {
		return t.Elem(), true
	}
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for _, f := range reflect.VisibleFields(t) {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.IsExported() || f.Tag.Get("json") == "-" || f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
				continue
			}
			if name == "" {
				name = f.Name
			}
			if same(name, key) {
				if slices.Contains(strings.Split(options, ","), "string") {
					return nil, true
				}
				return f.Type, true
			}
		}
	}
	return nil, false
}

// scalar returns what a value of a type must be if a token is not, else "".
func scalar(t Token, of reflect.Type) string {
	number, err := t.Kind == '0', error(nil)
	switch of.Kind() {
	case reflect.Bool:
		if t.Kind != 't' && t.Kind != 'f' {
			return "true or false"
		}
	case reflect.String:
		if t.Kind != '"' {
			return "a text"
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		_, err = strconv.ParseInt(t.Text, 10, of.Bits())
		if most := uint64(1)<<(of.Bits()-1) - 1; number && errors.Is(err, strconv.ErrRange) {
			return fmt.Sprintf("a whole number from %d to %d", -int64(most)-1, most)
		} else if !number || err != nil {
			return "a whole number"
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		_, err = strconv.ParseUint(t.Text, 10, of.Bits())
		if most := uint64(math.MaxUint64) >> (64 - of.Bits()); number && errors.Is(err, strconv.ErrRange) {
			return fmt.Sprintf("a whole number from 0 to %d", most)
		} else if !number || err != nil {
			return "a whole number from 0"
		}
	case reflect.Float32, reflect.Float64:
		_, err = strconv.ParseFloat(t.Text, of.Bits())
		if number && err != nil {
			return fmt.Sprintf("a number that %d bits hold", of.Bits())
		} else if !number {
			return "a number"
		}
	}
	return ""
}
