package jsonread

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// TokenMost is the most bytes of a token that a [Reader] holds.
const TokenMost = 1 << 25

// deepest is how many lists and objects may be open at once, as in encoding/json.
const deepest = 10000

// mark is the byte-order mark, which some editors put before a text.
const mark = "\ufeff"

// Token is a bracket, a brace or a value that has no parts.
type Token struct {
	Kind byte   // [ ] { }, " of a text, 0 of a number, t, f or n of true, false and null
	Text string // of a text what it says, of others what is written
}

// Found says in an error what a token is, or begins.
func (t Token) Found() string {
	switch t.Kind {
	case '[':
		return "a list"
	case '{':
		return "an object"
	case '"':
		return fmt.Sprintf("%.40q", t.Text)
	}
	return fmt.Sprintf("%.40s", t.Text)
}

// Reader reads the tokens of one JSON value.
type Reader struct {
	r            io.Reader // nil: everything is in buf
	buf          []byte
	at           int    // of what comes next, in buf
	start        int    // of the last token or of what is wrong, in buf; −1: it is no longer there, and place is where it was
	before       place  // of buf[0]
	place        place  // see start
	open         []byte // the brackets and braces that are open
	begun        bool
	after, keyed bool  // after a value; after a key
	ended, bad   error // why nothing more can be read; what is wrong with the text
}

// place counts the line breaks before a place and the characters after the last of them.
type place struct{ line, column int }

// past returns the place behind b, which begins at p.
func (p place) past(b []byte) place {
	if n := bytes.Count(b, []byte("\n")); n > 0 {
		p.line, p.column = p.line+n, 0
		b = b[bytes.LastIndexByte(b, '\n')+1:]
	}
	for _, c := range b {
		if utf8.RuneStart(c) {
			p.column++
		}
	}
	return p
}

// New returns a reader of what r holds.
func New(r io.Reader) *Reader { return &Reader{r: r, buf: make([]byte, 0, 1<<16)} }

// Of returns a reader of a text.
func Of(text []byte) *Reader { return &Reader{buf: text} }

// Place returns the line and the column of the last token, or of what was wrong, both
// from 1. Columns count characters.
func (r *Reader) Place() (line, column int) {
	p := r.place
	if r.start >= 0 {
		p = r.before.past(r.buf[:r.start])
	}
	return p.line + 1, p.column + 1
}

// more reads on, and drops what is before keep. It returns false where nothing follows.
func (r *Reader) more(keep int) bool {
	if r.ended == nil && r.r == nil {
		r.ended = io.EOF
	}
	if r.ended != nil {
		return false
	}
	if r.start >= 0 && r.start < keep {
		r.place, r.start = r.before.past(r.buf[:r.start]), -1
	}
	r.before = r.before.past(r.buf[:keep])
	r.buf = r.buf[:copy(r.buf, r.buf[keep:])]
	r.at -= keep
	if r.start >= 0 {
		r.start -= keep
	}
	if len(r.buf) >= TokenMost {
		r.ended = fmt.Errorf("a text or number is longer than %d bytes", TokenMost)
		return false
	}
	if len(r.buf) == cap(r.buf) {
		r.buf = slices.Grow(r.buf, len(r.buf))
	}
	for range 100 {
		n, err := r.r.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf = r.buf[:len(r.buf)+n]
		if r.ended = err; n > 0 || err != nil {
			return n > 0
		}
	}
	r.ended = io.ErrNoProgress
	return false
}

// next returns the next byte that is no blank, false at the end.
func (r *Reader) next() (byte, bool) {
	for {
		for ; r.at < len(r.buf); r.at++ {
			switch c := r.buf[r.at]; c {
			case ' ', '\n', '\t', '\r':
			default:
				return c, true
			}
		}
		if !r.more(r.at) {
			return 0, false
		}
	}
}

// begin skips a byte-order mark.
func (r *Reader) begin() {
	r.begun = true
	for len(r.buf) < len(mark) && r.more(0) {
	}
	if bytes.HasPrefix(r.buf, []byte(mark)) {
		r.at, r.before.column = len(mark), -1 // no editor counts it
	}
}

// wrong returns an error about what is next, which every later call repeats.
func (r *Reader) wrong(format string, args ...any) error {
	r.start, r.bad = r.at, fmt.Errorf(format, args...)
	return r.bad
}

// ends returns the error of JSON that ends before its value does, in a text perhaps.
func (r *Reader) ends(text bool) error {
	if r.ended != io.EOF {
		return r.wrong("%w", r.ended)
	}
	switch {
	case text:
		return r.wrong("it ends inside a text: it is cut, or a closing quote is missing")
	case len(r.open) == 0:
		return r.wrong("it ends where a value is wanted: it is empty or cut")
	case r.open[len(r.open)-1] == '[':
		return r.wrong("it ends inside a list: it is cut, or a ] is missing")
	}
	return r.wrong("it ends inside an object: it is cut, or a } is missing")
}

// More reports whether the list or the object that is open goes on. It is true where the text
// is wrong or cut: the next token says so.
func (r *Reader) More() bool {
	c, ok := r.next()
	return !ok || c != ']' && c != '}'
}

// Token returns the next token, io.EOF after the last.
func (r *Reader) Token() (Token, error) {
	kind, raw, err := r.token()
	if err != nil {
		return Token{}, err
	}
	t := Token{Kind: kind}
	if kind == '"' {
		if t.Text, err = Text(raw); err != nil {
			r.bad = err
			return Token{}, err
		}
	} else {
		t.Text = string(raw)
	}
	return t, nil
}

// Written is [Reader.Token] without a copy: what is written, a text with its quotes and escapes, which stays as it is
// until the next call.
func (r *Reader) Written() (kind byte, raw []byte, err error) { return r.token() }

// token is Token without a copy.
func (r *Reader) token() (kind byte, raw []byte, err error) {
	if r.bad != nil {
		return 0, nil, r.bad
	}
	if !r.begun {
		r.begin()
	}
	c, ok := r.next()
	if len(r.open) == 0 && r.after {
		switch {
		case ok:
			return 0, nil, r.wrong("something follows its value")
		case r.ended == io.EOF:
			return 0, nil, io.EOF
		}
	}
	if !ok {
		return 0, nil, r.ends(false)
	}
	closing, key := byte(0), false
	if n := len(r.open); n > 0 {
		closing, key = r.open[n-1]+2, r.open[n-1] == '{' && !r.keyed // ] and } are two after [ and {
	}
	switch {
	case r.keyed:
		r.keyed = false
		if c != ':' {
			return 0, nil, r.wrong("%s stands there, want a colon behind the key", r.found())
		}
		r.at++
		c, ok = r.next()
	case closing != 0 && c == closing:
		r.open, r.after = r.open[:len(r.open)-1], true
		return c, r.byte(), nil
	case r.after && closing != 0:
		if c != ',' {
			return 0, nil, r.wrong("%s stands there, want a comma or %c", r.found(), closing)
		}
		r.at++
		if c, ok = r.next(); ok && c == closing {
			return 0, nil, r.wrong("%c stands there, want a value: the last one has no comma behind it", c)
		}
	}
	if !ok {
		return 0, nil, r.ends(false)
	}
	if key {
		if c != '"' {
			return 0, nil, r.wrong(`%s stands there, want a key in double quotes, "`, r.found())
		}
		r.keyed, r.after = true, false
		return r.text()
	}
	return r.value(c)
}

// value reads a value that begins with c, or its bracket.
func (r *Reader) value(c byte) (kind byte, raw []byte, err error) {
	switch r.after = true; c {
	case '"':
		return r.text()
	case '[', '{':
		if len(r.open) == deepest {
			return 0, nil, r.wrong("values are nested deeper than %d", deepest)
		}
		r.open, r.after = append(r.open, c), false
		return c, r.byte(), nil
	}
	return r.word()
}

// byte reads a byte.
func (r *Reader) byte() []byte {
	r.start = r.at
	r.at++
	return r.buf[r.start:r.at]
}

// text reads a text, with its quotes.
func (r *Reader) text() (kind byte, raw []byte, err error) {
	r.start = r.at
	escaped := false
	for n := 1; ; n++ {
		if r.start+n == len(r.buf) && !r.more(r.start) {
			r.at = len(r.buf)
			return 0, nil, r.ends(true)
		}
		switch c := r.buf[r.start+n]; {
		case c == '"':
			r.at = r.start + n + 1
			raw = r.buf[r.start:r.at]
			if escaped {
				if err := escapes(raw); err != nil {
					r.bad = err
					return 0, nil, err
				}
			}
			return '"', raw, nil
		case c < ' ':
			r.at = r.start + n
			return 0, nil, r.wrong("the control character %q stands in a text: is a quote missing, or an escape such as \\n?", rune(c))
		case c == '\\':
			escaped = true
			if n++; r.start+n == len(r.buf) && !r.more(r.start) {
				r.at = len(r.buf)
				return 0, nil, r.ends(true)
			}
		}
	}
}

// word reads a number, or true, false or null.
func (r *Reader) word() (kind byte, raw []byte, err error) {
	r.start = r.at
	n := 0
	for r.start+n < len(r.buf) || r.more(r.start) {
		if isEnd(r.buf[r.start+n]) {
			break
		}
		n++
	}
	if r.start+n == len(r.buf) && r.ended != io.EOF {
		return 0, nil, r.ends(false)
	}
	raw = r.buf[r.start : r.start+n]
	switch {
	case isNumber(raw):
		kind = '0'
	case string(raw) == "true" || string(raw) == "false" || string(raw) == "null":
		kind = raw[0]
	default:
		return 0, nil, r.wrong("%s", strange(r.found(), raw, r.before == place{} && r.start == 0))
	}
	r.at = r.start + n
	return kind, raw, nil
}

// isEnd reports whether c ends a number or a word.
func isEnd(c byte) bool {
	switch c {
	case ',', ':', '[', ']', '{', '}', '"', '\'':
		return true
	}
	return c <= ' '
}

// found says what stands next, which is no token that is wanted: a word or a character.
func (r *Reader) found() string {
	b := r.buf[r.at:]
	if n := slices.IndexFunc(b, isEnd); n > 0 {
		b = b[:n]
	} else if n == 0 {
		b = b[:1]
	}
	if len(b) > 40 {
		b = b[:40]
	}
	if c, _ := utf8.DecodeRune(b); c == utf8.RuneError || c < ' ' {
		return fmt.Sprintf("the byte 0x%02x", b[0])
	}
	return string(bytes.ToValidUTF8(b, nil))
}

// strange says what is wrong with a word that is no value; first says that it begins the text.
func strange(found string, raw []byte, first bool) string {
	if first && len(raw) > 1 && (raw[0] == 0xff && raw[1] == 0xfe || raw[0] == 0xfe && raw[1] == 0xff) {
		return "it begins as UTF-16 does: save it as UTF-8"
	}
	says := found + " stands there, "
	switch word := string(bytes.TrimLeft(raw, "+-")); {
	case word == "NaN" || word == "nan" || word == "Inf" || word == "inf" || word == "Infinity":
		return says + "and JSON has no such number: write null where a value is not known"
	case word == "True" || word == "False" || word == "None":
		return says + "as Python writes it: JSON has true, false and null; json.dump writes them"
	case len(raw) == 0 && found == "'":
		return says + `and JSON has double quotes, ": json.dump writes them`
	case len(raw) > 0 && bytes.IndexByte([]byte("+-.0123456789"), raw[0]) >= 0:
		return says + "and is no number of JSON, such as -1, 0.5 or 2e-3"
	}
	return says + "want a value"
}

// Skip reads a value, be it a list or an object, and checks no more than its syntax.
func (r *Reader) Skip() error {
	kind, _, err := r.token()
	if err == nil && (kind == '[' || kind == '{') {
		err = r.Rest()
	}
	return err
}

// Rest skips what follows in the innermost list or object that is open, and its end.
func (r *Reader) Rest() error {
	for depth := len(r.open); len(r.open) >= depth; {
		if _, _, err := r.token(); err != nil {
			return err
		}
	}
	return nil
}

// Raw reads a key or a value of a reader that [Of] made, and returns what is written.
func (r *Reader) Raw() ([]byte, error) {
	kind, raw, err := r.token()
	if err != nil || kind != '[' && kind != '{' {
		return raw, err
	}
	start := r.start
	if err := r.Rest(); err != nil {
		return nil, err
	}
	return r.buf[start:r.at], nil
}

// End returns an error unless the text ends behind its value.
func (r *Reader) End() error {
	_, _, err := r.token()
	switch err {
	case io.EOF:
		return nil
	case nil:
		return errors.New("its value goes on")
	}
	return err
}
