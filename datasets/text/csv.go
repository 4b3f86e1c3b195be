package text

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/internal/spell"
	"github.com/edgewise-ml/edgewise/internal/table"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// ReadCSV returns the texts in a column of a table and the classes in another: CSV or
// TSV whose first line names the columns, perhaps in gzip or zstd. Fields with commas
// stand in quotes, and none goes on in another line. Without a name of a second column
// there are no labels.
func ReadCSV(path, text, label string) (*Labelled, error) {
	if err := regular.File(path); err != nil {
		return nil, err
	}
	f, err := unpack.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := table.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
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
		return 0, fmt.Errorf("%s: line %d: there is no column %.40q; did you mean %.40q? There are: %.200q", c.path, c.t.Line(), name, spell.Nearest(name, c.t.Columns), c.t.Columns)
	}
	return at, nil
}

func (c *csvReader) read() (*Labelled, error) {
	for c.t.Next() {
		if err := c.row(c.t.Fields()); err != nil {
			return nil, fmt.Errorf("%s: line %d, %w", c.path, c.t.Line(), err)
		}
	}
	if err := c.t.Err(); err != nil {
		hint := ""
		if len(c.t.Columns) == 1 {
			hint = "; a text without columns is read as lines"
		}
		return nil, fmt.Errorf("%s: %w%s", c.path, err, hint)
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
