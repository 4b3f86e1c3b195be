package task

import (
	"math"
	"path/filepath"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/tensor"
)

// SavedFlags say which model is used, and on what.
type SavedFlags struct {
	File      string `arg:"" help:"A model that train --save wrote."`
	DataFlags `embed:""`
}

// DataFlags say what a model is used on, and how.
type DataFlags struct {
	Dataset       *string `placeholder:"NAME" help:"Use the model on this dataset. Default: the one it was trained on."`
	Data          string  `placeholder:"DIR" group:"program" help:"Look for the dataset in this folder first, then in $$EDGEWISE_DATA and in the user's cache."`
	Splits        *string `placeholder:"NAME" help:"Measure on the parts of this split, which train --help explains. Default: the one it was trained on."`
	Number        *string `name:"split-number" placeholder:"K" help:"Which split to use if there are several, counted from 0. Default: the one it was trained on."`
	Base          string  `placeholder:"NAME" group:"program" help:"Rows that are known from before, which edges of --dataset lead to. They are neighbours, which get no answer and are not measured. Default: what the model was trained on, if edges lead to rows that --dataset does not list."`
	cli.RankFlags `embed:""`
	Threads       int  `default:"0" placeholder:"N" group:"program" help:"Use at most N threads. The result is the same for any number. Default: all processors."`
	JSON          bool `name:"json" group:"program" help:"Print JSON objects, one a line."`

	Outs []cli.File `kong:"-"` // that are written
	Few  bool       `kong:"-"` // some rows are asked about by their ids: that the others are as they were takes longer to see than to answer
}

// Again is how a command goes on that uses a model on the same data.
func (f *SavedFlags) Again() (flags string) {
	if f.Dataset != nil {
		flags = " --dataset " + cli.Word(*f.Dataset)
	}
	return flags + source.Flagged(nil, f.Data)
}

// Instead says what to do with a model that is not for the data.
func (f *SavedFlags) Instead() string {
	if f.Dataset != nil {
		return "leave --dataset out, or name data like its own"
	}
	return "name its dataset with --dataset"
}

// Places returns where the model's data is, or that which flags name instead, which
// it makes the origin.
func (f *SavedFlags) Places(e cli.Env, r *Origin) (Places, error) {
	recorded, trained := *r, r.Dataset
	if f.Dataset != nil {
		if r.Dataset = source.DatasetNamed(*f.Dataset); slices.Contains(datasets.Names(), r.Dataset) {
			r.Columns = source.Columns{} // what its columns are for is known
		}
		recorded.Dataset = "cora" // which need not be looked for
	}
	switch {
	case f.Splits != nil:
		r.Splits, recorded.Splits = *f.Splits, source.SplitsOwn
		if r.Splits == source.OwnSplits {
			r.Splits = source.SplitsOwn
		}
	case f.Dataset != nil && otherData(r.Dataset, trained): // nothing of it was trained on
		r.Splits, recorded.Splits, r.SplitNumber = source.SplitsOwn, source.SplitsOwn, ""
	}
	at, err := SavedModel{f.File, f.Data}.Places(e, recorded, nil, nil)
	if err != nil {
		return at, err
	}
	if f.Dataset != nil {
		at.Dataset = r.Dataset
	}
	if f.Splits != nil {
		at.Splits = r.Splits
	}
	return at, cli.Ordinary(source.SplitsFile(at.Splits))
}

// otherData reports whether a dataset is another one than that which was trained on, and not the same that
// was moved.
func otherData(dataset, trained string) bool {
	was := cli.Locate(cli.File{Path: trained})
	return filepath.Base(dataset) != filepath.Base(trained) || was.Info != nil && !was.Is(cli.Locate(cli.File{Path: dataset}))
}

// Scored is how good a saved model is.
type Scored struct {
	Event         string        `json:"event"` // "eval"
	File          string        `json:"file"`
	Dataset       string        `json:"dataset"`
	Model         string        `json:"model"`
	TrainAccuracy report.Number `json:"train_accuracy"` // null of a part that is empty
	ValAccuracy   report.Number `json:"val_accuracy"`
	TestAccuracy  report.Number `json:"test_accuracy"`
	TestLoss      report.Number `json:"test_loss"`
	Features      Form          `json:"features"`
	Learns        string        `json:"learns,omitempty"`
	report.Metrics
}

// RowsBelow returns the rows of x and then those of y; y of nil.
func RowsBelow(x, y *tensor.Dense) *tensor.Dense {
	if x == nil {
		return y
	}
	return tensor.Of(append(x.Data, y.Data...), x.Rows()+y.Rows(), x.Dim(1))
}

// Measured is what is measured.
type Measured struct{ Network, Data string }

// Measure completes the line with the scores of y on the parts of a split, and prints it: as an object, or
// as a table. A dataset without a split is all test.
func (l *Scored) Measure(p *report.Printer, asJSON bool, g *Goal, y *tensor.Dense, s datasets.Split, of Measured) {
	metric, test := g.ScoredBy(), g.Score(y, s.Test)
	score := func(ids []int32) report.Number {
		if len(ids) == 0 {
			return report.Number(math.NaN())
		}
		return report.Number(g.Score(y, ids).Accuracy)
	}
	l.TrainAccuracy, l.ValAccuracy, l.TestAccuracy, l.TestLoss = score(s.Train), score(s.Val), score(s.Test), report.Number(test.Loss)
	l.Learns, l.Metrics = string(g.Learns), g.QualityOn(y, s)
	if asJSON {
		p.Encode(metric.JSON(*l))
		return
	}
	p.Printf("%s on %s\n\n%-10s  %6s  %-9s  %s\n", of.Network, of.Data, "", g.Example+"s", metric.Name(), "loss")
	parts := []struct {
		name string
		ids  []int32
	}{{"train", s.Train}, {"validation", s.Val}, {"test", s.Test}}
	if len(s.Train)+len(s.Val) == 0 {
		parts = parts[2:]
		parts[0].name = "all"
	}
	for _, part := range parts {
		one := g.Score(y, part.ids)
		p.Printf("%-10s  %6d   %s   %.4f\n", part.name, len(part.ids), metric.Shown(one.Accuracy), one.Loss)
	}
	accuracy := test.Accuracy
	if metric.Says != "" {
		accuracy = math.NaN() // which is compared with no accuracy
	}
	if says := l.Metrics.Line(accuracy); says != "" {
		p.Printf("\n")
		p.Paragraph("%s", says)
	}
	if says := g.Untaught(s); says != "" && len(s.Train) > 0 {
		p.Printf("\n")
		p.Paragraph("%s", says)
	}
}
