package text

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
