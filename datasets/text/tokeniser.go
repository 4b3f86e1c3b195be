package text

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/internal/regular"
)

// Tokeniser turns a line of text into tokens and back. Tokens are numbers from 0 to
// Len() − 1; of each tokeniser here [Unknown], [Begin] and [End] are the first three,
// and those of the text begin with [First].
type Tokeniser interface {
	// Encode returns the tokens of a line, without [Begin] and [End].
	Encode(line string) []int32
	// Decode returns the text of tokens. Those that stand for no text, [Begin] and
	// [End], leave nothing; a number that is no token is read as [Unknown].
	Decode(tokens []int32) string
	// Len returns the number of tokens: the rows of an embedding, the width of an
	// output.
	Len() int
}

// The tokens that every tokeniser has, and the first that stands for text.
const (
	Unknown int32 = iota // what the vocabulary does not have
	Begin                // before a sequence that is written, called S in formulas
	End                  // after it, called E
	First
)

// EncodeLines returns the tokens of lines, a sequence a line.
func EncodeLines(t Tokeniser, lines []string) Ragged {
	r := Ragged{Offsets: make([]int, 1, len(lines)+1)}
	for _, line := range lines {
		r.add(t.Encode(line)...)
	}
	return r
}

// stored is the JSON of a tokeniser.
type stored struct {
	Tokeniser string     `json:"tokeniser"` // which
	Fold      bool       `json:"fold,omitempty"`
	Cased     bool       `json:"cased,omitempty"`
	Words     []string   `json:"words,omitempty"`  // by token, from First on
	Merges    [][2]int32 `json:"merges,omitempty"` // by token, after the bytes
}

// What each kind of tokeniser is called in JSON.
const (
	whiteSpaceKind = "white space"
	charactersKind = "characters"
	wordsKind      = "words"
	bytePairsKind  = "byte pairs"
)

// storedMost is the length of the longest file that [Read] reads.
const storedMost = 1 << 25

// MarshalJSON returns the vocabulary as [Write] does, so a struct that holds one is
// saved with it.
func (v *Vocabulary) MarshalJSON() ([]byte, error) {
	return json.Marshal(stored{Tokeniser: whiteSpaceKind, Words: v.words})
}

// MarshalJSON returns the tokeniser as [Write] does.
func (c *Characters) MarshalJSON() ([]byte, error) {
	return json.Marshal(stored{Tokeniser: charactersKind, Fold: c.Fold, Words: c.words})
}

// MarshalJSON returns the tokeniser as [Write] does.
func (w *Words) MarshalJSON() ([]byte, error) {
	return json.Marshal(stored{Tokeniser: wordsKind, Cased: w.Cased, Words: w.words})
}

// MarshalJSON returns the tokeniser as [Write] does.
func (b *BytePairs) MarshalJSON() ([]byte, error) {
	return json.Marshal(stored{Tokeniser: bytePairsKind, Merges: b.merges})
}

// UnmarshalJSON reads what MarshalJSON returned.
func (v *Vocabulary) UnmarshalJSON(b []byte) error { return restore(v, b) }

// UnmarshalJSON reads what MarshalJSON returned.
func (c *Characters) UnmarshalJSON(b []byte) error { return restore(c, b) }

// UnmarshalJSON reads what MarshalJSON returned.
func (w *Words) UnmarshalJSON(b []byte) error { return restore(w, b) }

// UnmarshalJSON reads what MarshalJSON returned.
func (b *BytePairs) UnmarshalJSON(text []byte) error { return restore(b, text) }

// restore sets a tokeniser to the one in JSON, which must be of the same kind.
func restore[T any](into *T, b []byte) error {
	t, err := decode(b)
	if err != nil {
		return fmt.Errorf("text: %w", err)
	}
	same, ok := any(t).(*T)
	if !ok {
		return fmt.Errorf("text: the JSON is of a %T, want a %T", t, into)
	}
	*into = *same
	return nil
}

// Save is [Write] to the file at path: the whole file or none.
func Save(path string, t Tokeniser) error {
	return atomicfile.Write(path, func(w io.Writer) error { return Write(w, t) })
}

// Write writes a tokeniser of this package as JSON.
func Write(w io.Writer, t Tokeniser) error {
	switch t.(type) {
	case *Vocabulary, *Characters, *Words, *BytePairs:
		return json.NewEncoder(w).Encode(t)
	}
	return fmt.Errorf("a %T cannot be saved, only tokenisers of package text", t)
}

// Load is [Read] of the file at path.
func Load(path string) (Tokeniser, error) {
	if err := regular.File(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := Read(f)
	if err != nil {
		return nil, in(path, err)
	}
	return t, nil
}

// Read reads the tokeniser that [Write] wrote. The text goes on to the end of r.
func Read(r io.Reader) (Tokeniser, error) {
	b, err := io.ReadAll(io.LimitReader(r, storedMost+1))
	if err != nil {
		return nil, err
	}
	return decode(b)
}

// decode returns the tokeniser in JSON.
func decode(b []byte) (Tokeniser, error) {
	if len(b) > storedMost {
		return nil, fmt.Errorf("it is longer than %d bytes: train a smaller one", storedMost)
	}
	var s stored
	if err := jsonread.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("it is no tokeniser in JSON, as text.Save writes it: %w", err)
	}
	if s.Tokeniser == bytePairsKind {
		t := newBytePairs()
		for _, pair := range s.Merges {
			if _, err := t.join(pair); err != nil {
				return nil, err
			}
		}
		return t, nil
	}
	v := numbered(s.Words)
	if len(v.ids) < len(v.words) {
		return nil, fmt.Errorf("of its words %.40q is there twice: each has one number", twice(s.Words))
	}
	switch s.Tokeniser {
	case whiteSpaceKind:
		return v, nil
	case charactersKind:
		for i, w := range v.words {
			if r := []rune(w); len(r) != 1 {
				return nil, fmt.Errorf("word %d, %.40q, is not one character", i, w)
			}
		}
		return &Characters{v, s.Fold}, nil
	case wordsKind:
		return &Words{v, s.Cased}, nil
	}
	return nil, fmt.Errorf("its tokeniser is %.40q, want one of: %s", s.Tokeniser, strings.Join([]string{whiteSpaceKind, charactersKind, wordsKind, bytePairsKind}, ", "))
}

// twice returns a word that is there twice.
func twice(words []string) string {
	sorted := slices.Sorted(slices.Values(words))
	for i := range len(sorted) - 1 {
		if sorted[i] == sorted[i+1] {
			return sorted[i]
		}
	}
	return ""
}
