package text

import (
	"fmt"
	"io"
	"io/fs"

	"github.com/edgewise-ml/edgewise/tensor"
)

// LoadParallel is [ReadParallel] of the files at two paths.
func LoadParallel(source, target string) (*Parallel, error) {
	s, err := documentOf(openFile(source))
	if err != nil {
		return nil, err
	}
	t, err := documentOf(openFile(target))
	return parallel(s, t, err)
}

// ReadParallel returns two texts of which each line of the second is what becomes of the
// same line of the first: sentences and their translations. It is an error if one has
// more lines than the other.
func ReadParallel(first, second io.Reader) (*Parallel, error) {
	s, err := documentOf(openStream(first))
	if err != nil {
		return nil, err
	}
	t, err := documentOf(openStream(second))
	if err == nil {
		s.path, t.path = "the first text", "the second"
	}
	return parallel(s, t, err)
}

// parallel returns the lines of two texts, which must be as many.
func parallel(source, target *document, err error) (*Parallel, error) {
	if err != nil {
		return nil, err
	}
	p := &Parallel{}
	if p.Source, err = source.lines(); err != nil {
		return nil, err
	}
	if p.Target, err = target.lines(); err != nil {
		return nil, err
	}
	if err := p.check(source.path, target.path); err != nil {
		return nil, err
	}
	return p, nil
}

// check returns an error unless both texts have as many lines.
func (p *Parallel) check(source, target string) error {
	s, t := len(p.Source), len(p.Target)
	if s == t {
		return nil
	}
	return fmt.Errorf("%s has %d lines and %s %d: line %d has no partner: give every line of one a line of the other, an empty one if need be", source, s, target, t, min(s, t)+1)
}

// LoadMulti30k is [ReadMulti30k] of the folder or the archive at path.
func LoadMulti30k(path string) (train, val, test *Parallel, err error) {
	return multi30k(openBundle(path, ""))
}

// ReadMulti30k returns the captions of Multi30k in German and in English, 29,000, 1,014
// and 1,000, of train.de, train.en, val.de and so on; of tests it takes that of 2016.
func ReadMulti30k(fsys fs.FS) (train, val, test *Parallel, err error) {
	return multi30k(openFS(fsys, ""))
}

func multi30k(b *bundle, err error) (train, val, test *Parallel, _ error) {
	if err != nil {
		return nil, nil, nil, err
	}
	defer b.Close()
	var parts [3]*Parallel
	for k, names := range [3][]string{{"train"}, {"val"}, {"test_2016_flickr", "test2016", "test"}} {
		p := &Parallel{}
		var paths [2]string
		for side, lines := range []*[]string{&p.Source, &p.Target} {
			var files []string
			for _, name := range names {
				files = append(files, name+[2]string{".de", ".en"}[side])
			}
			d, all, err := b.lines(files...)
			if err != nil {
				return nil, nil, nil, err
			}
			*lines, paths[side] = all, d.path
		}
		if err := p.check(paths[0], paths[1]); err != nil {
			return nil, nil, nil, err
		}
		parts[k] = p
	}
	return parts[0], parts[1], parts[2], nil
}

// Pairs is sequences and what is to be written for each: sentences and their
// translations. Neither has [Begin] or [End]; batches add them.
type Pairs struct{ Source, Target Ragged }

// Len returns the number of pairs. It panics with a [*tensor.ShapeError] if there are
// not as many targets as sources.
func (p Pairs) Len() int {
	if s, t := p.Source.Len(), p.Target.Len(); s != t {
		panic(&tensor.ShapeError{Op: "text.Pairs", Shapes: [][]int{{s}, {t}}, Why: "there are not as many targets as sources"})
	}
	return p.Source.Len()
}

// Within returns the pairs of which both sequences have at most that many tokens.
func (p Pairs) Within(most int) Pairs {
	var rows []int32
	for i := range p.Len() {
		if len(p.Source.Sequence(i)) <= most && len(p.Target.Sequence(i)) <= most {
			rows = append(rows, int32(i))
		}
	}
	return Pairs{p.Source.Rows(rows), p.Target.Rows(rows)}
}

// PairBatch is some pairs: a graph of the sources and one of the targets.
type PairBatch struct {
	Source *Batch  // the sequences that are read
	Input  *Batch  // [Begin], then the target: what a decoder is fed when it is taught
	Output []int32 // the target, then [End]: what it should say at each node of Input
}

// Batch returns some of the pairs. It panics with a [*tensor.ShapeError] if there is no
// such pair.
func (p Pairs) Batch(rows []int32) *PairBatch {
	p.Len()
	b := &PairBatch{Source: p.Source.Batch(rows)}
	target := p.Target.Rows(rows)
	input := Ragged{Offsets: make([]int, 1, len(rows)+1)}
	for i := range target.Len() {
		s := target.Sequence(i)
		input.Tokens = append(input.Tokens, Begin)
		input.add(s...)
		b.Output = append(append(b.Output, s...), End)
	}
	b.Input = &Batch{Rows: rows, Graph: input.Graph(), Tokens: input.Tokens}
	return b
}

// Segments cuts a long text into segments of that many tokens, the last perhaps shorter,
// and returns with them the token that comes next at each place: what a language model
// reads, and what it should say. The last token of the text is only ever next. It panics
// with a [*tensor.ShapeError] if length is not positive.
func Segments(tokens []int32, length int) (input, next Ragged) {
	if length <= 0 {
		panic(&tensor.ShapeError{Op: "text.Segments", Shapes: [][]int{{length}}, Why: "a segment has one token or more"})
	}
	n := max(0, len(tokens)-1)
	offsets := []int{0}
	for at := 0; at < n; {
		at = min(n, at+length)
		offsets = append(offsets, at)
	}
	return Ragged{tokens[:n:n], offsets}, Ragged{tokens[len(tokens)-n:], offsets}
}

// Parallel is lines and what each of them becomes: two texts of as many lines.
type Parallel struct{ Source, Target []string }

// Encode returns the tokens of both texts.
func (p *Parallel) Encode(source, target Tokeniser) Pairs {
	return Pairs{EncodeLines(source, p.Source), EncodeLines(target, p.Target)}
}
