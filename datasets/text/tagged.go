package text

import (
	"strings"
)

// Tagged is sentences whose words have tags: parts of speech, and chunks in the form
// B-NP, I-NP, O. POSTags and ChunkTags are the names of the tags' numbers.
type Tagged struct {
	Sentences          [][]string
	POS, Chunks        Ragged // a tag a word
	POSTags, ChunkTags []string
}

// ReadCoNLL2000 returns the sentences of the shared task of CoNLL-2000, 8,936 and 2,012,
// from the folder or the archive of train.txt and test.txt. Both parts number their tags
// alike.
func ReadCoNLL2000(path string) (train, test *Tagged, err error) {
	b, err := openBundle(path, "conll2000.zip")
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	var parts [2]columns
	for k, name := range []string{"train.txt", "test.txt"} {
		d, lines, err := b.lines(name)
		if err != nil {
			return nil, nil, err
		}
		if err := parts[k].read(d, lines); err != nil {
			return nil, nil, err
		}
	}
	pos, chunks := sortedNames(parts[0].pos, parts[1].pos), sortedNames(parts[0].chunks, parts[1].chunks)
	return parts[0].tagged(pos, chunks), parts[1].tagged(pos, chunks), nil
}

// ReadTagged returns the sentences of a file in the form of CoNLL-2000: a line a word,
// with the word, its part of speech and its chunk tag, blanks or tabs between them, and
// an empty line after each sentence.
func ReadTagged(path string) (*Tagged, error) {
	d, err := readDocument(path)
	if err != nil {
		return nil, err
	}
	lines, err := d.lines()
	if err != nil {
		return nil, err
	}
	var c columns
	if err := c.read(d, lines); err != nil {
		return nil, err
	}
	return c.tagged(sortedNames(c.pos), sortedNames(c.chunks)), nil
}

// columns are the words of a file, its tags, and where its sentences end.
type columns struct {
	words, pos, chunks []string
	offsets            []int
}

// read reads the lines of a file.
func (c *columns) read(d *document, lines []string) error {
	c.offsets = []int{0}
	for i, line := range lines {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
			c.end()
			continue
		case len(f) != 3:
			return d.wrong(i, "%.40q has %d fields, want 3: write the word, its part of speech and its chunk tag, and an empty line after each sentence", line, len(f))
		case !isChunk(f[2]):
			return d.wrong(i, "%.20q is no chunk tag: write O, or B- or I- and the kind of the chunk", f[2])
		}
		if err := d.keep(80, i); err != nil {
			return err
		}
		c.words, c.pos, c.chunks = append(c.words, f[0]), append(c.pos, f[1]), append(c.chunks, f[2])
	}
	c.end()
	return nil
}

// isChunk reports whether a tag begins, continues or is outside a chunk.
func isChunk(tag string) bool {
	return tag == "O" || len(tag) > 2 && (tag[0] == 'B' || tag[0] == 'I') && tag[1] == '-'
}

// end ends a sentence, if one has begun.
func (c *columns) end() {
	if n := len(c.words); n > c.offsets[len(c.offsets)-1] {
		c.offsets = append(c.offsets, n)
	}
}

// tagged numbers the tags.
func (c *columns) tagged(pos, chunks []string) *Tagged {
	t := &Tagged{POSTags: pos, ChunkTags: chunks}
	for i := range len(c.offsets) - 1 {
		lo, hi := c.offsets[i], c.offsets[i+1]
		t.Sentences = append(t.Sentences, c.words[lo:hi:hi])
	}
	t.POS = Ragged{numbersOf(c.pos, pos), c.offsets}
	t.Chunks = Ragged{numbersOf(c.chunks, chunks), c.offsets}
	return t
}

// Encode returns the tokens of the words.
func (t *Tagged) Encode(v *Vocabulary) Ragged {
	r := Ragged{Offsets: make([]int, 1, len(t.Sentences)+1)}
	for _, s := range t.Sentences {
		r.add(v.IDs(s)...)
	}
	return r
}
