package text

import (
	"slices"
	"unicode/utf8"
)

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
