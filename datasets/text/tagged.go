package text

import (
	"io"
	"io/fs"
	"strings"
)

// Tagged is sentences whose words have tags: parts of speech, and chunks in the form
// B-NP, I-NP, O. POSTags and ChunkTags are the names of the tags' numbers.
type Tagged struct {
	Sentences          [][]string
	POS, Chunks        Ragged // a tag a word
	POSTags, ChunkTags []string
}

// LoadCoNLL2000 is [ReadCoNLL2000] of the folder or the archive at path.
func LoadCoNLL2000(path string) (train, test *Tagged, err error) {
	return conll2000(openBundle(path, "conll2000.zip"))
}

// ReadCoNLL2000 returns the sentences of the shared task of CoNLL-2000, 8,936 and 2,012, of
// train.txt and test.txt. Both parts number their tags alike.
func ReadCoNLL2000(fsys fs.FS) (train, test *Tagged, err error) {
	return conll2000(openFS(fsys, "conll2000.zip"))
}

func conll2000(b *bundle, err error) (train, test *Tagged, _ error) {
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	var pos, chunks classNames
	var parts [2]*Tagged
	for k, name := range []string{"train.txt", "test.txt"} {
		d, lines, err := b.lines(name)
		if err != nil {
			return nil, nil, err
		}
		if parts[k], err = taggedOf(d, lines, &pos, &chunks); err != nil {
			return nil, nil, err
		}
	}
	train, test = parts[0], parts[1]
	train.POSTags = pos.sorted(train.POS.Tokens, test.POS.Tokens)
	train.ChunkTags = chunks.sorted(train.Chunks.Tokens, test.Chunks.Tokens)
	test.POSTags, test.ChunkTags = train.POSTags, train.ChunkTags
	return train, test, nil
}

// LoadTagged is [ReadTagged] of the file at path.
func LoadTagged(path string) (*Tagged, error) { return tagged(linesOf(documentOf(openFile(path)))) }

// ReadTagged returns the sentences of a text in the form of CoNLL-2000: a line a word,
// with the word, its part of speech and its chunk tag, blanks or tabs between them, and
// an empty line after each sentence. A chunk that begins with I- is read as if it began with B-, as in the scorer
// of that task.
func ReadTagged(r io.Reader) (*Tagged, error) { return tagged(linesOf(documentOf(openStream(r)))) }

func tagged(d *document, lines []string, err error) (*Tagged, error) {
	if err != nil {
		return nil, err
	}
	var pos, chunks classNames
	t, err := taggedOf(d, lines, &pos, &chunks)
	if err != nil {
		return nil, err
	}
	t.POSTags, t.ChunkTags = pos.sorted(t.POS.Tokens), chunks.sorted(t.Chunks.Tokens)
	return t, nil
}

// taggedOf reads the lines of a file, and adds the names of its tags.
func taggedOf(d *document, lines []string, pos, chunks *classNames) (*Tagged, error) {
	t, words, offsets := &Tagged{}, []string{}, []int{0}
	last := "O" // the chunk tag of the word before
	for i, line := range lines {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
			if n := len(words); n > offsets[len(offsets)-1] {
				offsets = append(offsets, n)
			}
			last = "O"
			continue
		case len(f) != 3:
			return nil, d.wrong(i, "%.40q has %d fields, want 3: write the word, its part of speech and its chunk tag, and an empty line after each sentence", line, len(f))
		case !isChunk(f[2]):
			return nil, d.wrong(i, "%.20q is no chunk tag: write O, or B- or I- and the kind of the chunk", f[2])
		}
		if err := d.keep(60, i); err != nil {
			return nil, err
		}
		if kind, inside := strings.CutPrefix(f[2], "I-"); inside && (last == "O" || last[2:] != kind) {
			f[2] = "B-" + kind
		}
		last = f[2]
		words = append(words, f[0])
		t.POS.Tokens, t.Chunks.Tokens = append(t.POS.Tokens, pos.id(f[1])), append(t.Chunks.Tokens, chunks.id(f[2]))
	}
	if n := len(words); n > offsets[len(offsets)-1] {
		offsets = append(offsets, n)
	}
	t.POS.Offsets, t.Chunks.Offsets = offsets, offsets
	t.Sentences = make([][]string, t.POS.Len())
	for i := range t.Sentences {
		t.Sentences[i] = words[offsets[i]:offsets[i+1]:offsets[i+1]]
	}
	return t, nil
}

// isChunk reports whether a tag begins, continues or is outside a chunk.
func isChunk(tag string) bool {
	return tag == "O" || len(tag) > 2 && (tag[0] == 'B' || tag[0] == 'I') && tag[1] == '-'
}

// Encode returns the tokens of the words.
func (t *Tagged) Encode(v *Vocabulary) Ragged {
	r := Ragged{Offsets: make([]int, 1, len(t.Sentences)+1)}
	for _, s := range t.Sentences {
		r.add(v.IDs(s)...)
	}
	return r
}
