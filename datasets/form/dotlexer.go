package form

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/table"
)

// The kinds of tokens of DOT, beside single bytes such as {.
const (
	dotID   = -1 // a name, a number, a text in quotes or HTML
	dotEdge = -2 // -> or --
)

// dotLexer reads the tokens of DOT.
type dotLexer struct {
	r    *bufio.Reader
	line int
	read int // bytes

	kind   int    // of the token
	text   string // of a name, without its quotes, or of an edge
	quoted bool
}

func newDotLexer(r io.Reader) *dotLexer {
	return &dotLexer{r: bufio.NewReader(table.Text(r)), line: 1}
}

// tokenMost is the length of the longest name.
const tokenMost = 1 << 20

// want returns the error for a token that is something else than is wanted.
func (l *dotLexer) want(what string) error {
	text := l.text
	if l.kind >= 0 {
		text = string(rune(l.kind))
	}
	return fmt.Errorf("%.40q stands there, want %s", text, what)
}

// isWord reports whether the token is a word of the language, whose case does not count.
func (l *dotLexer) isWord(word string) bool {
	return l.kind == dotID && !l.quoted && strings.EqualFold(l.text, word)
}

func (l *dotLexer) byte() (byte, error) {
	c, err := l.r.ReadByte()
	if err != nil {
		return 0, err
	}
	if l.read++; c == '\n' {
		l.line++
	}
	return c, nil
}

// peek returns the next byte, 0 at the end.
func (l *dotLexer) peek() byte {
	b, _ := l.r.Peek(1) // an error comes again as it is read
	if len(b) == 0 {
		return 0
	}
	return b[0]
}

// next reads the next token, which is text in UTF-8. At the end it returns io.EOF.
func (l *dotLexer) next() error {
	if err := l.token(); err != nil {
		return err
	}
	return table.CheckText([]byte(l.text))
}

// token is next of any bytes.
func (l *dotLexer) token() error {
	c, err := l.blank()
	if err != nil {
		return err
	}
	l.text, l.quoted = "", false
	switch {
	case strings.IndexByte("{}[];,=:", c) >= 0:
		l.kind = int(c)
		return nil
	case c == '-' && (l.peek() == '-' || l.peek() == '>'):
		d, err := l.byte()
		l.kind, l.text = dotEdge, "-"+string(rune(d))
		return err
	case c == '"':
		return l.quote()
	case c == '<':
		return l.html()
	case c == '-' || c == '.' || isName(c):
		return l.name(c)
	}
	return fmt.Errorf("%q begins no token: put the name that it is of in quotes", c)
}

// blank returns the first byte that is neither blank nor of a comment.
func (l *dotLexer) blank() (byte, error) {
	for {
		c, err := l.byte()
		switch {
		case err != nil:
			return 0, err
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		case c == '#', c == '/' && l.peek() == '/':
			for c != '\n' {
				if c, err = l.byte(); err != nil {
					return 0, err
				}
			}
		case c == '/' && l.peek() == '*':
			if _, err := l.byte(); err != nil {
				return 0, err
			}
			for last := byte(0); ; last = c {
				if c, err = l.byte(); err != nil {
					return 0, errors.New("a comment is not closed")
				}
				if last == '*' && c == '/' {
					break
				}
			}
		case c == 0xef && l.read == 1: // the byte-order mark
			for range 2 {
				if _, err := l.byte(); err != nil {
					return 0, err
				}
			}
		default:
			return c, nil
		}
	}
}

// isName reports whether a byte may be of a name without quotes.
func isName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

var errName = fmt.Errorf("a name is longer than %d bytes", tokenMost)

// name reads a name or a number, of which c is the first byte.
func (l *dotLexer) name(c byte) error {
	text := []byte{c}
	number := c == '-' || c == '.' || c >= '0' && c <= '9'
	for isName(l.peek()) || number && l.peek() == '.' {
		c, err := l.byte()
		if err != nil {
			return err
		}
		if text = append(text, c); len(text) > tokenMost {
			return errName
		}
	}
	l.kind, l.text = dotID, string(text)
	return nil
}

// quote reads a text in quotes, which has begun.
func (l *dotLexer) quote() error {
	line := l.line
	var text []byte
	for {
		c, err := l.byte()
		if err != nil {
			l.line = line
			return errors.New("a quote is not closed")
		}
		if c == '\\' && (l.peek() == '"' || l.peek() == '\\' || l.peek() == '\n') {
			if c, err = l.byte(); err != nil {
				return err
			}
			if c == '\n' {
				continue
			}
		} else if c == '"' {
			break
		}
		if text = append(text, c); len(text) > tokenMost {
			return errName
		}
	}
	l.kind, l.text, l.quoted = dotID, string(text), true
	return nil
}

// html reads a text in angle brackets, which has begun.
func (l *dotLexer) html() error {
	line := l.line
	var text []byte
	for open := 1; ; {
		c, err := l.byte()
		if err != nil {
			l.line = line
			return errors.New("a < is not closed")
		}
		switch c {
		case '<':
			open++
		case '>':
			open--
		}
		if open == 0 {
			break
		}
		if text = append(text, c); len(text) > tokenMost {
			return errName
		}
	}
	l.kind, l.text, l.quoted = dotID, string(text), true
	return nil
}
