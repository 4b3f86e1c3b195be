package report

import (
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/term"

	"github.com/edgewise-ml/edgewise/internal/plain"
)

// How wide lines of prose are.
const (
	usualColumns = 80 // of a pipe, a file, or a terminal that does not know its width
	leastColumns = 40 // of a terminal that is narrower, which breaks the lines itself
)

// terminal returns a function that asks w's terminal how wide it is, which may change; nil if w is
// not a terminal.
func terminal(w io.Writer) func() int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		return columns(width, err)
	}
}

// Width returns how many columns the terminal has that w is, 0 if it is none.
func Width(w io.Writer) int {
	if wide := terminal(w); wide != nil {
		return wide()
	}
	return 0
}

// columns returns how wide a terminal is that says width. A serial line, or one of a
// machine that builds, does not know its width and says 0.
func columns(width int, err error) int {
	if err != nil || width <= 0 {
		return usualColumns
	}
	return width
}

// prose returns how wide lines of prose are on a terminal, nil: elsewhere. COLUMNS comes first, as it
// does for the command's help.
func prose(terminal func() int, environment func(string) string) int {
	n := usualColumns
	if said, err := strconv.Atoi(environment("COLUMNS")); err == nil && said > 0 {
		n = said
	} else if terminal != nil {
		n = terminal()
	}
	return max(leastColumns, n)
}

// Message prints a warning or an error for people, after the program's name. On a terminal its lines are
// as wide as that, and none breaks what the user typed in one argument, such as a path with blanks.
// Elsewhere it stays one line, so that a log can be searched. A line of progress gives way to it.
func Message(w io.Writer, text string, typed ...string) { message(w, terminal(w), text, typed) }

func message(w io.Writer, terminal func() int, text string, typed []string) {
	text = "gatbench: " + plain.Lines(text)
	if terminal != nil {
		clearLine(w)
		text = strings.ReplaceAll(wrap(kept(text, typed), prose(terminal, os.Getenv)), blank, " ")
	}
	_, _ = io.WriteString(w, text+"\n") // nowhere is left to say that this failed
}

// blank stands for a blank at which no line breaks. It is in no text that package plain has shown.
const blank = "\x00"

// kept returns a text whose blanks within arguments break no line.
func kept(text string, typed []string) string {
	for _, arg := range typed {
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "--") {
			arg = value
		}
		if arg = strings.TrimSpace(plain.Lines(arg)); strings.Contains(arg, " ") {
			text = strings.ReplaceAll(text, arg, strings.ReplaceAll(arg, " ", blank))
		}
	}
	return text
}

// wrap breaks each line of a text at its blanks into lines of at most so many columns, indented as it is.
// What would suffer from a break stays whole, and so does a word that is longer than a line.
func wrap(text string, columns int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		words := strings.TrimLeft(line, " ")
		lines[i] = fill(line[:len(line)-len(words)], whole(strings.Split(words, " ")), columns)
	}
	return strings.Join(lines, "\n")
}

// Fitted returns lines of aligned cells, with two blanks or more between them. If one of them is wider than a terminal of so
// many columns, the cells stand two blanks apart, and those that do not fit continue below, indented by the first; 0: no terminal.
func Fitted(lines []string, columns int) []string {
	indent, wide := 0, false
	for _, line := range lines {
		first, _, _ := strings.Cut(line, "  ")
		if w := plain.Width(first); first != line && w <= columns/3 {
			indent = max(indent, w+2)
		}
		wide = wide || plain.Width(line) > columns
	}
	if columns <= 0 || !wide {
		return lines
	}
	var out []string
	for _, line := range lines {
		first, rest, several := strings.Cut(line, "  ")
		if !several {
			out = append(out, line)
			continue
		}
		text, empty := plain.Pad(first, indent-2), true
		for cell := range strings.SplitSeq(rest, "  ") {
			if cell = strings.TrimSpace(cell); cell == "" {
				continue
			}
			if !empty && plain.Width(text)+2+plain.Width(cell) > columns {
				out, text = append(out, text), strings.Repeat(" ", max(0, indent-2))
			}
			parts := strings.Split(fill("", strings.Split(cell, " "), max(1, columns-plain.Width(text)-2)), "\n")
			for i, part := range parts {
				if i > 0 {
					out, text = append(out, text), strings.Repeat(" ", max(0, indent-2))
				}
				text += "  " + part
			}
			empty = false
		}
		out = append(out, text)
	}
	return out
}

// unformatted leaves out what makes letters bold.
var unformatted = strings.NewReplacer(bold, "", normal, "")

// fill puts words into lines.
func fill(indent string, words []string, columns int) string {
	var b strings.Builder
	at, gap := 0, 1 // blanks before the next word
	for _, word := range words {
		n := plain.Width(unformatted.Replace(word))
		switch {
		case word == "":
			gap++
			continue
		case at == 0:
			b.WriteString(indent)
			at = len(indent)
		case at+gap+n > columns:
			b.WriteString("\n" + indent)
			at = len(indent)
		default:
			b.WriteString(strings.Repeat(" ", gap))
			at += gap
		}
		b.WriteString(word)
		at, gap = at+n, 1
	}
	return b.String()
}

// whole joins words that stay on one line: a number and its unit, a flag and its value, what stands in
// quotes, and a command line of this program.
func whole(words []string) []string {
	var out []string
	quoted, command := false, -1 // how many words the command still takes that are no flags; -1: there is none
	for i, word := range words {
		joined := i > 0 && (quoted || sticks(words[i-1], word) || command >= 0 && !ends(words[i-1]) && (command > 0 || strings.HasPrefix(word, "-")))
		switch {
		case strings.HasSuffix(strings.TrimSuffix(word, ".exe"), "gatbench"):
			command = 2 // its name and an argument
		case word == "go" && i+1 < len(words) && words[i+1] == "run":
			command = 4
		case !joined:
			command = -1
		case command > 0 && word != "data": // whose name is of two words
			command--
		}
		if strings.Count(word, `"`)%2 == 1 {
			quoted = !quoted && strings.Contains(strings.Join(words[i+1:], " "), `"`)
		}
		if joined {
			out[len(out)-1] += " " + word
		} else {
			out = append(out, word)
		}
	}
	return out
}

// units are what stands after a number.
var units = map[string]bool{"%": true, "ms": true, "s": true, "min": true, "h": true, "B": true, "KB": true, "MB": true, "GB": true, "MiB": true, "GiB": true}

// sticks reports whether a word belongs to the one before it.
func sticks(before, word string) bool {
	before, word = unformatted.Replace(before), unformatted.Replace(word)
	last := rune(0)
	for _, last = range before {
	}
	switch {
	case word == "±" || before == "±":
		return true
	case units[strings.TrimRight(word, ",;:.)")]:
		return unicode.IsDigit(last)
	}
	return len(before) > 2 && before[:2] == "--" && !ends(before)
}

// ends reports whether a phrase ends with a word.
func ends(word string) bool { return word == "" || strings.ContainsAny(word[len(word)-1:], ",;:.)") }
