package form

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/table"
	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// linqsLine is the length of the longest line that is read: words take two bytes.
const linqsLine = 1 << 22

// linqsForm is a citation graph as the LINQS group publishes them: NAME.content,
// whose lines are a paper, its words and its class, and NAME.cites, whose lines
// are a cited and a citing paper, each perhaps in gzip or zstd.
// Nodes are papers in the order of their numbers, and then of their names; classes
// are in the order of theirs. Both directions of every citation are meant; those
// of papers without content are left out. There is no split.
var linqsForm = Form{
	Name:    "linqs",
	Endings: []string{".content"},
	Says:    "papers and their citations, NAME.content and NAME.cites of LINQS",
	Opens:   one(".content"),
	Takes: func(_ *Files, name string) string {
		for _, e := range []string{".content", ".cites"} {
			if stem, ok := strings.CutSuffix(unpack.Plain(name), e); ok {
				return stem + ".content"
			}
		}
		return ""
	},
	Read: readLINQS,
	Belongs: func(names []string, main string) (all []string) {
		stem := strings.TrimSuffix(unpack.Plain(main), ".content")
		for _, name := range names {
			if plain := unpack.Plain(name); plain == stem+".content" || plain == stem+".cites" {
				all = append(all, name)
			}
		}
		return all
	},
}

// readLINQS reads a file of papers and that of their citations.
func readLINQS(f *Files, main string, _ Options) (*Raw, error) {
	content := unpack.Plain(main)
	cites := strings.TrimSuffix(content, ".content") + ".cites"
	p := &papers{number: map[string]int32{}}
	for _, part := range []struct {
		name string
		read func(io.Reader) error
	}{{content, p.readContent}, {cites, p.readCites}} {
		r, err := f.text(part.name)
		if err != nil {
			return nil, err
		}
		p.budget = r.Budget
		err = part.read(r)
		r.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.At(part.name), err)
		}
	}
	raw, err := p.raw()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	raw.Name = stem(content)
	raw.Nodes[0].Origin, raw.Edges[0].Origin = Origin{File: f.At(content), Unit: "paper"}, Origin{File: f.At(cites), Unit: "citation"}
	return raw, nil
}

// papers is what the two files hold, in their order.
type papers struct {
	names, classes []string // of each paper
	number         map[string]int32
	offsets        []int64 // of the words of each paper
	cols           chunkedSlice[int32]
	values         chunkedSlice[tensor.Float] // empty as long as each is 1
	width          int                        // words that there are
	cited, citing  chunkedSlice[int32]
	dangling       int // citations of papers without content
	budget         *unpack.Budget
}

// What a paper or page, a word of it and a citation take while they are read and a
// dataset is made of them, in bytes.
const (
	paperTakes    = 200
	wordTakes     = 24
	citationTakes = 48 // in both directions
)

// mark is what some editors put before a text: the byte-order mark, in UTF-8.
const mark = "\ufeff"

// wordsIn returns the words of a line, in the place of those before: what is between its
// tabs, or else between blanks. Between tabs there may be blanks in a word.
func wordsIn(line string, before []string) []string {
	line = strings.TrimSpace(line)
	if !strings.Contains(line, "\t") {
		return strings.Fields(line)
	}
	words := before[:0]
	for more := true; more; {
		var w string
		w, line, more = strings.Cut(line, "\t")
		if w = strings.TrimSpace(w); w != "" {
			words = append(words, w)
		}
	}
	return words
}

// eachLine calls visit with the words of each line that is not empty; the slice, but not
// the words, is overwritten by the next line.
func eachLine(r io.Reader, visit func(words []string) error) error {
	s := bufio.NewScanner(table.Text(r))
	s.Buffer(make([]byte, 1<<16), linqsLine)
	var words []string
	line := 1
	for ; s.Scan(); line++ {
		if err := table.CheckText(s.Bytes()); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		text := s.Text()
		if line == 1 {
			text = strings.TrimPrefix(text, mark)
		}
		if words = wordsIn(text, words); len(words) > 0 {
			if err := visit(words); err != nil {
				return fmt.Errorf("line %d: %w", line, err)
			}
		}
	}
	if err := tooLong(s.Err(), linqsLine); err != nil {
		return fmt.Errorf("line %d: %w", line, err)
	}
	return nil
}

// tooLong puts into words that a line is longer than a scanner reads.
func tooLong(err error, most int) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("it is longer than %d bytes", most)
	}
	return err
}

func (p *papers) readContent(r io.Reader) error {
	p.offsets = []int64{0}
	return eachLine(r, func(words []string) error {
		n := len(words)
		if len(p.names) == 0 {
			p.width = n - 2
		}
		if n < 3 || n-2 != p.width {
			return fmt.Errorf("%d words of a paper's text, want %d as in the first line", n-2, p.width)
		}
		if at, ok := p.number[words[0]]; ok {
			return fmt.Errorf("paper %.40q is paper %d already", words[0], at)
		}
		for j, w := range words[1 : n-1] {
			v, err := number(w)
			if err != nil {
				return fmt.Errorf("word %d is %.40q, want a finite number", j, w)
			}
			if v != 0 {
				p.word(int32(j), v)
			}
		}
		if err := p.budget.Keep(paperTakes + wordTakes*(p.cols.n-int(p.offsets[len(p.offsets)-1]))); err != nil {
			return err
		}
		p.number[strings.Clone(words[0])] = int32(len(p.names))
		p.names, p.classes = append(p.names, strings.Clone(words[0])), append(p.classes, strings.Clone(words[n-1]))
		p.offsets = append(p.offsets, int64(p.cols.n))
		return nil
	})
}

// word adds a word of the last paper.
func (p *papers) word(j int32, v tensor.Float) {
	if v != 1 {
		for p.values.n < p.cols.n {
			p.values.add(1)
		}
	}
	if v != 1 || p.values.n > 0 {
		p.values.add(v)
	}
	p.cols.add(j)
}

// number reads a word's count or weight, which mostly is 0 or 1.
func number(w string) (tensor.Float, error) {
	switch w {
	case "0":
		return 0, nil
	case "1":
		return 1, nil
	}
	v, err := strconv.ParseFloat(w, 32)
	if err != nil {
		return 0, err
	}
	if v-v != 0 {
		return 0, strconv.ErrRange
	}
	return tensor.Float(v), nil
}

func (p *papers) readCites(r io.Reader) error {
	return eachLine(r, func(words []string) error {
		if len(words) != 2 {
			return fmt.Errorf("%d words, want the cited and the citing paper", len(words))
		}
		u, ok1 := p.number[words[0]]
		v, ok2 := p.number[words[1]]
		if !ok1 || !ok2 {
			p.dangling++
			return nil
		}
		if err := p.budget.Keep(citationTakes); err != nil {
			return err
		}
		p.cited.add(u)
		p.citing.add(v)
		return nil
	})
}

// raw puts the parts together, papers in the order of their names.
func (p *papers) raw() (*Raw, error) {
	n := len(p.names)
	if n == 0 {
		return nil, errors.New("there are no papers in it")
	}
	if p.dangling > p.cited.n {
		return nil, fmt.Errorf("%d of %d citations are of papers without content: are these files of one dataset?", p.dangling, p.dangling+p.cited.n)
	}
	order := p.byNumber()
	place := make([]int32, n)
	names, words := make([]string, n), make([]string, n)
	for i, v := range order {
		place[v], names[i], words[i] = int32(i), p.names[v], p.classes[v]
	}
	x, err := p.features(order)
	if err != nil {
		return nil, err
	}
	citing, cited := p.citing.join(), p.cited.join()
	for e := range citing {
		citing[e], cited[e] = place[citing[e]], place[cited[e]]
	}
	label := Column{Name: "class", Type: Word, Words: &Words{Texts: classesOf(words), Codes: codesOf(words), Ordered: true}, Role: AsLabel}
	return &Raw{
		Nodes: []Nodes{{Listed: n, Table: Table{Rows: n, IDs: &Words{Texts: names}, Columns: []Column{{Name: "words", Type: Many, Matrix: MatrixOf(x), Role: AsFeature}, label}}}},
		Edges: []Edges{{Table: Table{Rows: len(citing)}, Source: citing, Target: cited, Undirected: true, Dangling: p.dangling}},
	}, nil
}

// features returns the words of the papers, in the given order. Ones are written
// last: they would be moved with the words.
func (p *papers) features(order []int32) (*sparse.CSR, error) {
	var values []tensor.Float
	if p.values.n > 0 {
		values = p.values.join()
	}
	x, err := sparse.New(len(p.names), p.width, p.offsets, p.cols.join(), values)
	if err != nil {
		return nil, err
	}
	x = sparse.GatherRows(x, order)
	if x.Values == nil {
		x.Values = slices.Repeat([]tensor.Float{1}, x.NNZ())
	}
	return x, nil
}

// byNumber returns the papers in the order of their names: numbers by their value,
// and before all others.
func (p *papers) byNumber() []int32 {
	order, numbers := span(0, len(p.names)), make([]int64, len(p.names)) // −1: it is none
	for v, name := range p.names {
		n, err := strconv.ParseUint(name, 10, 63)
		if numbers[v] = int64(n); err != nil {
			numbers[v] = -1
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := numbers[a], numbers[b]
		if x != y && min(x, y) >= 0 {
			return cmp.Compare(x, y)
		}
		if x != y {
			return cmp.Compare(y, x) // one is no number
		}
		return strings.Compare(p.names[a], p.names[b])
	})
	return order
}
