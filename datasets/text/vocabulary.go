package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Vocabulary numbers words. The numbers from [First] on are the words', the most
// frequent first; [Unknown] is the number of every other word.
//
// It is a [Tokeniser], too: Encode cuts a line at white space and changes nothing else,
// and Decode puts a blank between words.
type Vocabulary struct {
	words []string // by number, from First on
	ids   map[string]int32
}

// special are the words that stand for the tokens below First.
var special = [First]string{"<unknown>", "<begin>", "<end>"}

// NewVocabulary numbers the words of sentences that occur at least that many times.
// Words that are equally frequent are in the order of their bytes. The error names the
// first sentence, as a line, that is not UTF-8, and the byte of it.
func NewVocabulary(sentences [][]string, least int) (*Vocabulary, error) {
	counts := map[string]int{}
	for i, words := range sentences {
		at := 0
		for _, w := range words {
			if k := invalid(w); k >= 0 {
				return nil, invalidAt(i, at+k, w[k])
			}
			at += len(w) + 1
			counts[w]++
		}
	}
	return mostFrequent(counts, least), nil
}

// mostFrequent numbers what was counted at least that many times.
func mostFrequent(counts map[string]int, least int) *Vocabulary {
	words := make([]string, 0, len(counts))
	for w, n := range counts {
		if n >= least {
			words = append(words, strings.Clone(w)) // of a long text, which need not be kept
		}
	}
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
	return numbered(words)
}

// numbered is a vocabulary of distinct words in order.
func numbered(words []string) *Vocabulary {
	v := &Vocabulary{words: words, ids: make(map[string]int32, min(len(words), 1<<16))}
	for i, w := range words {
		v.ids[w] = First + int32(i)
	}
	return v
}

// invalid returns the first byte of s that is no UTF-8, −1 if all are.
func invalid(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i, r := range s {
		if _, size := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && size == 1 {
			return i
		}
	}
	return -1
}

// invalidAt is the error for a byte of line number i; both are counted from 0.
func invalidAt(i, k int, b byte) error {
	return fmt.Errorf("line %d, byte %d: 0x%02x is no UTF-8: save the text as UTF-8", i+1, k+1, b)
}

// checkLines returns an error that names the first line that is no UTF-8.
func checkLines(lines []string) error {
	for i, line := range lines {
		if k := invalid(line); k >= 0 {
			return invalidAt(i, k, line[k])
		}
	}
	return nil
}

// Len returns the number of tokens, [Unknown], [Begin] and [End] among them.
func (v *Vocabulary) Len() int { return int(First) + len(v.words) }

// ID returns the number of a word.
func (v *Vocabulary) ID(word string) int32 { return v.ids[word] } // Unknown is 0

// IDs returns the numbers of words.
func (v *Vocabulary) IDs(words []string) []int32 {
	ids := make([]int32, len(words))
	for i, w := range words {
		ids[i] = v.ids[w]
	}
	return ids
}

// Word returns the word of a number: "<unknown>", "<begin>" or "<end>" of those that
// are no word's, and "<unknown>" if there is no such number.
func (v *Vocabulary) Word(id int32) string {
	switch {
	case id < 0 || int(id) >= v.Len():
		return special[Unknown]
	case id < First:
		return special[id]
	}
	return v.words[id-First]
}

// Words returns the words of numbers, as Word does each.
func (v *Vocabulary) Words(ids []int32) []string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = v.Word(id)
	}
	return words
}

// Encode returns the numbers of the words of a line, between which is white space.
func (v *Vocabulary) Encode(line string) []int32 { return v.IDs(strings.Fields(line)) }

// Decode returns words with blanks between them.
func (v *Vocabulary) Decode(tokens []int32) string { return v.join(tokens, " ", special[Unknown]) }

// join returns the words of tokens with sep between them. A token that is no word's is
// read as unknown, but Begin and End leave nothing.
func (v *Vocabulary) join(tokens []int32, sep, unknown string) string {
	var b strings.Builder
	some := false
	for _, id := range tokens {
		if id == Begin || id == End {
			continue
		}
		word := unknown
		if id >= First && int(id) < v.Len() {
			word = v.words[id-First]
		}
		if some {
			b.WriteString(sep)
		}
		some = true
		b.WriteString(word)
	}
	return b.String()
}
