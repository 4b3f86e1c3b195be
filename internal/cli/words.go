package cli

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/internal/spell"
)

// Set sets v to what a flag was given.
func Set[T any](v, flag *T) {
	if flag != nil {
		*v = *flag
	}
}

// Or returns what a flag was given, or else the preset.
func Or[T any](flag *T, preset T) T {
	if flag != nil {
		return *flag
	}
	return preset
}

// OneOf returns an error if a flag's value is none of those there are, with the one that was meant.
func OneOf(flag, value string, known []string) error {
	if !strings.HasSuffix(flag, "=") {
		flag += " "
	}
	switch meant := spell.Meant(value, known); {
	case slices.Contains(known, value):
		return nil
	case meant != "":
		return Misuse("%s%.60s: there is no such name; did you mean %q? The choices are %s", flag, value, meant, strings.Join(known, ", "))
	}
	return Misuse("%s%.60s: there is no such name; the choices are %s", flag, value, strings.Join(known, ", "))
}

// Cell is a text as a cell of a table. A quotation mark is doubled, as readers of CSV want it. What
// could harm a terminal, and a line break, is written as an escape of Go.
func Cell(s string) string {
	if plain.Text(s) != s {
		escaped := strconv.QuoteToGraphic(s)
		return `"` + strings.ReplaceAll(escaped[1:len(escaped)-1], `\"`, `""`) + `"`
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// Key is a text as a cell that names a row: in quotation marks if it would not be one cell without.
func Key(s string) string {
	if s == "" || plain.Text(s) != s || strings.ContainsAny(s, ",;\t\"' #") {
		return Cell(s)
	}
	return s
}

// Word returns a value as one word of a shell's command line, in quotes unless it needs
// none. What a terminal must not get is in $'…', which bash, zsh and ksh read.
func Word(v any) string {
	s := fmt.Sprint(v)
	switch {
	case s != "" && strings.IndexFunc(s, special) < 0:
		return s
	case plain.Text(s) == s && !strings.ContainsAny(s, "$`\"\\!"), runtime.GOOS == "windows": // every shell reads these
		return `"` + s + `"`
	case plain.Text(s) == s:
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			b.WriteString(`\` + string(c))
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return "$'" + b.String() + "'"
}

// special reports whether a character may mean something to a shell.
func special(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./:=,@%+", r) && r != filepath.Separator
}

// InWords is how long something takes, about.
func InWords(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 100*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 100*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
