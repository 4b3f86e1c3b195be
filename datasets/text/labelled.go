package text

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/spell"
	"github.com/edgewise-ml/edgewise/internal/table"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// Labelled is texts, each with the number of its class. Classes are the names of these
// numbers, in the order of their bytes.
type Labelled struct {
	Texts   []string
	Labels  []int32 // nil if the file has none
	Classes []string
}

// LoadLabelled is [ReadLabelled] of the file at path.
func LoadLabelled(path string) (*Labelled, error) { return labelled(documentOf(openFile(path))) }

// ReadLabelled returns texts with their labels: on each line a label, a tab and a text. Empty lines are left out.
func ReadLabelled(r io.Reader) (*Labelled, error) { return labelled(documentOf(openStream(r))) }

func labelled(d *document, err error) (*Labelled, error) {
	d, lines, err := linesOf(d, err)
	if err != nil {
		return nil, err
	}
	l, classes := &Labelled{}, classNames{}
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		label, words, found := strings.Cut(line, "\t")
		label, words = strings.TrimSpace(label), strings.TrimSpace(words)
		switch {
		case !found:
			return nil, d.wrong(i, "%.40q has no tab: write a label, a tab and the text", line)
		case label == "" || words == "":
			return nil, d.wrong(i, "%.40q has no label, or no text: write a label, a tab and the text", line)
		}
		if err := d.keep(20, i); err != nil {
			return nil, err
		}
		l.Texts, l.Labels = append(l.Texts, words), append(l.Labels, classes.id(label))
	}
	l.Classes = classes.sorted(l.Labels)
	return l, nil
}

// Len returns the number of texts.
func (l *Labelled) Len() int { return len(l.Texts) }

// Map returns the same labels with f of each text, such as [Fold].
func (l *Labelled) Map(f func(string) string) *Labelled {
	m := *l
	m.Texts = make([]string, len(l.Texts))
	for i, s := range l.Texts {
		m.Texts[i] = f(s)
	}
	return &m
}

// Rows returns some of the texts, in the order of rows. It panics with a
// [*tensor.ShapeError] if there is no such text.
func (l *Labelled) Rows(rows []int32) *Labelled {
	checkRows("text.Labelled.Rows", rows, l.Len())
	some := &Labelled{Texts: make([]string, len(rows)), Classes: l.Classes}
	for k, i := range rows {
		some.Texts[k] = l.Texts[i]
		if l.Labels != nil {
			some.Labels = append(some.Labels, l.Labels[i])
		}
	}
	return some
}

// Unique returns each text of each class once, where it stands first: what stands twice
// would be in the training and in the test of a random split.
func (l *Labelled) Unique() *Labelled {
	type key struct {
		text  string
		label int32
	}
	seen, rows := map[key]bool{}, make([]int32, 0, l.Len())
	for i, s := range l.Texts {
		k := key{text: s}
		if l.Labels != nil {
			k.label = l.Labels[i]
		}
		if !seen[k] {
			seen[k] = true
			rows = append(rows, int32(i))
		}
	}
	return l.Rows(rows)
}

// Coarse returns the same texts with classes that end before their colon: DESC of
// DESC:manner.
func (l *Labelled) Coarse() *Labelled {
	var names classNames
	coarse := make([]int32, len(l.Classes))
	for i, class := range l.Classes {
		class, _, _ = strings.Cut(class, ":")
		coarse[i] = names.id(class)
	}
	c := &Labelled{Texts: l.Texts, Classes: names.sorted(coarse)}
	for _, y := range l.Labels {
		c.Labels = append(c.Labels, coarse[y])
	}
	return c
}

// Split divides the texts at random, the same way for the same seed: share of them, a
// number from 0 to 1, are for testing and the others for training.
func (l *Labelled) Split(share float64, seed uint64) (train, test *Labelled) {
	rows := make([]int32, l.Len())
	for i, k := range rand.New(rand.NewPCG(seed, 0)).Perm(len(rows)) {
		rows[i] = int32(k)
	}
	n := int(math.Round(min(1, max(0, share)) * float64(len(rows))))
	return l.Rows(rows[n:]), l.Rows(rows[:n])
}

// classNames numbers the names of classes as they come, and in the end by their bytes.
type classNames struct {
	names []string
	ids   map[string]int32
}

// id returns the number of a name.
func (c *classNames) id(name string) int32 {
	id, ok := c.ids[name]
	if !ok {
		if c.ids == nil {
			c.ids = map[string]int32{}
		}
		name = strings.Clone(name) // of a line that need not be kept
		id = int32(len(c.names))
		c.ids[name] = id
		c.names = append(c.names, name)
	}
	return id
}

// sorted returns the names in the order of their bytes, and makes labels their numbers.
func (c *classNames) sorted(labels ...[]int32) []string {
	order := make([]int32, len(c.names))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(c.names[a], c.names[b]) })
	names, place := make([]string, len(order)), make([]int32, len(order))
	for k, id := range order {
		names[k], place[id] = c.names[id], int32(k)
	}
	for _, some := range labels {
		for i, id := range some {
			some[i] = place[id]
		}
	}
	return names
}

// LoadCSV is [ReadCSV] of the file at path.
func LoadCSV(path, text, label string) (*Labelled, error) {
	f, at, err := openFile(path)
	return labelledIn(f, at, err, text, label)
}

// ReadCSV returns the texts in a column of a table and the classes in another: CSV or
// TSV whose first line names the columns, perhaps in gzip or zstd. Fields with commas
// stand in quotes, and none goes on in another line. Without a name of a second column
// there are no labels.
func ReadCSV(r io.Reader, text, label string) (*Labelled, error) {
	f, at, err := openStream(r)
	return labelledIn(f, at, err, text, label)
}

func labelledIn(f *unpack.File, path string, err error, text, label string) (*Labelled, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := table.NewReader(f)
	if err != nil {
		return nil, in(path, err)
	}
	c := csvReader{t: t, path: path, budget: f.Budget, label: -1}
	if c.text, err = c.column(text); err == nil && label != "" {
		c.label, err = c.column(label)
	}
	if err != nil {
		return nil, err
	}
	return c.read()
}

// csvReader reads two columns of a table.
type csvReader struct {
	t           *table.Reader
	path        string
	budget      *unpack.Budget
	text, label int // columns
	texts       []string
	labels      []int32
	classes     classNames
}

// column returns the number of a column.
func (c *csvReader) column(name string) (int, error) {
	at := slices.Index(c.t.Columns, name)
	if at < 0 {
		return 0, in(c.path, fmt.Errorf("line %d: there is no column %.40q; did you mean %.40q? There are: %.200q", c.t.Line(), name, spell.Nearest(name, c.t.Columns), c.t.Columns))
	}
	return at, nil
}

func (c *csvReader) read() (*Labelled, error) {
	for c.t.Next() {
		if err := c.row(c.t.Fields()); err != nil {
			return nil, in(c.path, fmt.Errorf("line %d, %w", c.t.Line(), err))
		}
	}
	if err := c.t.Err(); err != nil {
		hint := ""
		if len(c.t.Columns) == 1 {
			hint = "; a text without columns is read as lines"
		}
		return nil, in(c.path, fmt.Errorf("%w%s", err, hint))
	}
	l := &Labelled{Texts: c.texts}
	if c.label >= 0 {
		l.Classes = c.classes.sorted(c.labels)
		l.Labels = c.labels
	}
	return l, nil
}

// row keeps a row.
func (c *csvReader) row(fields [][]byte) error {
	s := string(fields[c.text])
	c.texts = append(c.texts, s)
	if c.label >= 0 {
		name := fields[c.label]
		if len(name) == 0 {
			return fmt.Errorf("column %.40q: it is empty: every text wants a class", c.t.Columns[c.label])
		}
		c.labels = append(c.labels, c.classes.id(string(name)))
	}
	return c.budget.Keep(len(s) + 48)
}

// LoadNames is [ReadNames] of the folder or the archive at path.
func LoadNames(path string) (*Labelled, error) { return surnames(openBundle(path, "")) }

// ReadNames returns surnames and their languages, of a file LANGUAGE.txt for each, a name a
// line. White space around a name is left out, and so are lines without one. Accents and
// repeats are as in the files:
//
//	names = names.Map(text.Fold).Unique()
//
// The published files have 20,050 names of 18 languages; so 17,993 are left, of 58
// characters.
func ReadNames(fsys fs.FS) (*Labelled, error) { return surnames(openFS(fsys, "")) }

func surnames(b *bundle, err error) (*Labelled, error) {
	if err != nil {
		return nil, err
	}
	defer b.Close()
	l, languages := &Labelled{}, classNames{}
	for _, name := range b.names("*.txt", "names") {
		language := strings.TrimSuffix(unpack.Plain(path.Base(name)), ".txt")
		if strings.HasPrefix(strings.ToLower(language), "readme") {
			continue
		}
		d, err := b.document(name)
		if err != nil {
			return nil, err
		}
		lines, err := d.lines()
		if err != nil {
			return nil, err
		}
		l.Texts, l.Labels = slices.Grow(l.Texts, len(lines)), slices.Grow(l.Labels, len(lines))
		for i, line := range lines {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			if err := d.keep(20, i); err != nil {
				return nil, err
			}
			l.Texts, l.Labels = append(l.Texts, line), append(l.Labels, languages.id(language))
		}
	}
	if l.Len() == 0 {
		return nil, fmt.Errorf("%s: there is no name in it: want a file LANGUAGE.txt for each language, a name a line", b.path)
	}
	l.Classes = languages.sorted(l.Labels)
	return l, nil
}

// LoadTREC is [ReadTREC] of the folder or the archive at path.
func LoadTREC(path string) (train, test *Labelled, err error) {
	return trec(openBundle(path, "qc.zip"))
}

// ReadTREC returns the questions of TREC, 5,452 and 500, with their 50 fine classes, such
// as DESC:manner; [Labelled.Coarse] leaves the 6 coarse ones. It reads train.txt and test.txt,
// or train_5500.label and TREC_10.label. Words are as in the files, with a blank between any
// two.
//
// The published file has one byte that is no UTF-8. Such bytes are read as ISO 8859-1.
func ReadTREC(fsys fs.FS) (train, test *Labelled, err error) { return trec(openFS(fsys, "qc.zip")) }

func trec(b *bundle, err error) (train, test *Labelled, _ error) {
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	var classes classNames
	parts := [2]*Labelled{{}, {}}
	for k, names := range [2][]string{{"train.txt", "train_5500.label"}, {"test.txt", "TREC_10.label"}} {
		if err := parts[k].questions(b, names, &classes); err != nil {
			return nil, nil, err
		}
	}
	train, test = parts[0], parts[1]
	train.Classes = classes.sorted(train.Labels, test.Labels)
	test.Classes = train.Classes
	return train, test, nil
}

// questions reads the questions of a file and their classes.
func (l *Labelled) questions(b *bundle, names []string, classes *classNames) error {
	d, err := b.read("", names...)
	if err != nil {
		return err
	}
	d.latin()
	lines, err := d.lines()
	if err != nil {
		return err
	}
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		class, question, _ := strings.Cut(line, " ")
		if question = strings.TrimSpace(question); question == "" || !strings.Contains(class, ":") {
			return d.wrong(i, "%.40q does not begin with a class and a question: write CLASS:kind, a blank and the question", line)
		}
		if err := d.keep(20, i); err != nil {
			return err
		}
		l.Texts, l.Labels = append(l.Texts, question), append(l.Labels, classes.id(class))
	}
	return nil
}
