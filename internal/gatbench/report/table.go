package report

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/internal/plain"
)

// Cell is a model on a dataset.
type Cell struct {
	Event   string  `json:"event"` // "cell"
	Dataset string  `json:"dataset"`
	Model   string  `json:"model"`
	Splits  string  `json:"splits"`
	Number  string  `json:"split_number,omitempty"`
	Preset  string  `json:"preset"`
	Select  string  `json:"select"`
	Form    string  `json:"features"`
	Seeds   int     `json:"seeds"`
	Mean    float64 `json:"test_accuracy_mean"`
	Std     float64 `json:"test_accuracy_std"`
	Low     float64 `json:"test_accuracy_low"` // of the mean's 95 % interval, as far as there are such accuracies
	High    float64 `json:"test_accuracy_high"`
	TotalMS float64 `json:"total_ms"` // of the trainings, added up
}

// Take gives the cell the mean of test accuracies, and how far it can be trusted.
func (c *Cell) Take(tests []float64) {
	c.Event, c.Seeds = "cell", len(tests)
	c.Mean, c.Std = MeanStd(tests)
	half := HalfWidth(len(tests), c.Std)
	c.Low, c.High = max(0, c.Mean-half), min(1, c.Mean+half)
}

// Table prints cells in rows that align, each beside what was published.
type Table struct {
	dataset, model int // columns of the names
	rows           int
}

// widest is how many columns a dataset's name has at most in a table.
const widest = 24

// NewTable returns a table for datasets and models of these names.
func NewTable(titles, models []string) *Table {
	t := &Table{dataset: len("dataset"), model: len("model")}
	for _, m := range models {
		t.model = max(t.model, plain.Width(m))
	}
	for _, title := range titles {
		t.dataset = max(t.dataset, plain.Width(plain.Text(title)))
	}
	t.dataset = min(t.dataset, widest)
	return t
}

// Row prints a cell and, before the first, the head. name is the dataset's title, like
// what the published figures are of.
func (t *Table) Row(p *Printer, name string, like Published, c *Cell) {
	const columns = "%s  %s  %-24s  %-10s  %-4s  %-10s %6s\n"
	if t.rows++; t.rows == 1 {
		p.Printf(columns, plain.Pad("dataset", t.dataset), plain.Pad("model", t.model), "here", "paper", "DGL", "PyG", "time")
	}
	said := published(like, c.Model, c.Dataset)
	here := score(c.Mean)
	if c.Seeds > 1 { // one says nothing of how far they lie apart
		here = fmt.Sprintf("%s ±%5.1f [%s, %s]", here, 100*c.Std, score(c.Low), score(c.High))
	}
	name = plain.Pad(plain.Fit(plain.Text(name), t.dataset), t.dataset)
	p.Printf(columns, name, plain.Pad(c.Model, t.model), here, said.paper, said.dgl, said.pyg, fmt.Sprintf("%.0f s", c.TotalMS/1000))
}

// Beside prints a cell and, before the first, the head, beside a published score in per cent. A cell of no seeds has a dash.
func (t *Table) Beside(p *Printer, name string, c *Cell, mean, deviation float64) {
	const columns = "%s  %s  %-15s  %5s  %-15s  %10s  %7s\n"
	if t.rows++; t.rows == 1 {
		p.Printf(columns, plain.Pad("dataset", t.dataset), plain.Pad("model", t.model), "here", "seeds", "published", "difference", "time")
	}
	here, seeds, difference, took := "–", "0", "–", "–"
	if c.Seeds > 0 {
		here, seeds = fmt.Sprintf("%5.2f ± %4.2f", 100*c.Mean, 100*c.Std), fmt.Sprint(c.Seeds)
		difference, took = fmt.Sprintf("%+.2f", 100*c.Mean-mean), fmt.Sprintf("%.0f s", c.TotalMS/1000)
	}
	name = plain.Pad(plain.Fit(plain.Text(name), t.dataset), t.dataset)
	p.Printf(columns, name, plain.Pad(c.Model, t.model), here, seeds, fmt.Sprintf("%5.2f ± %4.2f", mean, deviation), difference, took)
}

// Rows is how many there are.
func (t *Table) Rows() int { return t.rows }

// score writes an accuracy in per cent in four columns, all of it without a decimal.
func score(v float64) string {
	if v >= 0.9995 {
		return " 100"
	}
	return fmt.Sprintf("%4.1f", 100*v)
}
