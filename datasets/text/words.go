package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words is a tokeniser whose tokens are words, as [SplitWords] finds them, in lower case
// unless Cased is set. Decode puts a blank between any two, so it gives back the words
// and not the line.
type Words struct {
	*Vocabulary
	Cased bool // letters stay as they are
}

// NewWords returns a tokeniser of the words that occur in lines at least that many
// times, in lower case unless cased. The error names the first line that is not UTF-8,
// and the byte.
func NewWords(lines []string, least int, cased bool) (*Words, error) {
	if err := checkLines(lines); err != nil {
		return nil, err
	}
	w, counts := &Words{Cased: cased}, map[string]int{}
	for _, line := range lines {
		for _, word := range w.Split(line) {
			counts[word]++
		}
	}
	w.Vocabulary = mostFrequent(counts, least)
	return w, nil
}

// Split returns the words of a line.
func (w *Words) Split(line string) []string {
	if !w.Cased {
		line = strings.ToLower(line)
	}
	return SplitWords(line)
}

// Encode returns a token a word.
func (w *Words) Encode(line string) []int32 { return w.IDs(w.Split(line)) }

// SplitWords returns the words of a line: each longest run of letters, digits, combining
// marks and underscores is one, and so is every other character that is no white space.
// "Don't stop-start!" is Don ' t stop - start !
func SplitWords(line string) []string {
	var words []string
	start := -1 // of the run
	for i, r := range line {
		in := inWord(r)
		if start >= 0 && !in {
			words, start = append(words, line[start:i]), -1
		}
		switch {
		case in && start < 0:
			start = i
		case !in && !unicode.IsSpace(r):
			words = append(words, line[i:i+width(line[i:], r)])
		}
	}
	if start >= 0 {
		words = append(words, line[start:])
	}
	return words
}

// inWord reports whether a character goes on with the word before it.
func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// Characters is a tokeniser whose tokens are characters: Unicode code points, in their
// order. Decode gives back what Encode read, with U+FFFD in the place of characters that
// are unknown; where Fold is set, without accents.
type Characters struct {
	*Vocabulary
	Fold bool // letters lose their accents first, as [Fold] says
}

// NewCharacters returns a tokeniser of the characters that occur in lines, perhaps
// folded. The error names the first line that is not UTF-8, and the byte.
func NewCharacters(lines []string, fold bool) (*Characters, error) {
	if err := checkLines(lines); err != nil {
		return nil, err
	}
	seen := map[rune]bool{}
	for _, line := range lines {
		if fold {
			line = Fold(line)
		}
		for _, r := range line {
			seen[r] = true
		}
	}
	all := make([]rune, 0, len(seen))
	for r := range seen {
		all = append(all, r)
	}
	slices.Sort(all)
	words := make([]string, len(all))
	for i, r := range all {
		words[i] = string(r)
	}
	return &Characters{numbered(words), fold}, nil
}

// Encode returns a token a character. A byte that is no part of one is unknown.
func (c *Characters) Encode(line string) []int32 {
	if c.Fold {
		line = Fold(line)
	}
	ids := make([]int32, 0, utf8.RuneCountInString(line))
	for i, r := range line {
		id := c.ids[line[i:i+width(line[i:], r)]]
		ids = append(ids, id)
	}
	return ids
}

// width returns how many bytes of s its first character r takes.
func width(s string, r rune) int {
	if r == utf8.RuneError {
		_, size := utf8.DecodeRuneInString(s)
		return size // 1 of a byte that is none, which no vocabulary has
	}
	return utf8.RuneLen(r)
}

// Decode returns the characters of tokens.
func (c *Characters) Decode(tokens []int32) string { return c.join(tokens, "", "\ufffd") }
