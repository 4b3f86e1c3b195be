package node

import (
	"cmp"
	"reflect"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/train"
)

// Recipe is all that a training depends on beside the data. It is saved with the
// model, so that a run can be taken up and a model be used without its flags. The
// tags are the flags that set the fields.
type Recipe struct {
	Dataset     string         `flag:"dataset"`
	Undirected  bool           `flag:"undirected" json:",omitempty"` // both directions of each edge
	Columns     source.Columns `flag:"column" json:",omitzero"`
	Splits      string         `flag:"splits"`
	SplitNumber string         `flag:"split-number" json:",omitempty"` // empty: 0; or source.SplitsEach
	Seed        uint64         `flag:"seed"`
	Preset      string         `flag:"preset"`
	Model       string         `flag:"model"`
	Hidden      int            `flag:"hidden"` // width of a hidden layer, or of each of its heads
	Heads       int            `flag:"heads"`
	OutHeads    int            `flag:"out-heads"` // of the last layer, averaged
	Layers      int            `flag:"layers"`
	Features    task.Form      `flag:"features"`
	Encoding    string         `flag:"encoding" json:",omitempty"` // more features, such as pagerank,random-walk:16
	NoEdges     bool           `flag:"no-edge-features" json:",omitempty"`
	EdgeIn      int            `flag:"no-edge-features" json:",omitempty"` // features of edges that the layers read; 0: none
	Kinds       int            `flag:"no-edge-features" json:",omitempty"` // kinds of edges that they read; 0: none
	Dropout     float64        `flag:"dropout"`                            // of each layer's features
	AttnDrop    float64        `flag:"attention-dropout"`
	ValueDrop   bool           `flag:"preset"` // of what attention sums, too
	NoBias      bool           `flag:"preset"` // of GCN and MLP: their papers' formulas have none
	Residual    bool           `flag:"residual"`
	Norm        models.Norm    `flag:"norm" json:",omitempty"`
	Linear      bool           `flag:"residual-linear" json:",omitempty"`
	Input       int            `flag:"input" json:",omitempty"`
	Output      bool           `flag:"output" json:",omitempty"`
	LR          float64        `flag:"lr"`
	WeightDecay float64        `flag:"weight-decay"`
	Decayed     Decayed        `flag:"preset"`
	Start       models.Start   `flag:"preset"`
	Select      string         `flag:"select"`
	Weights     string         `flag:"class-weights" json:",omitempty"` // of classes in the loss; empty: all are 1
	Positive    string         `flag:"positive" json:",omitempty"`      // of two classes; empty: the goal says which
	Loss        string         `flag:"loss" json:",omitempty"`          // of numbers: empty: task.LossMSE
	Inductive   bool           `flag:"inductive" json:",omitempty"`
	Epochs      int            `flag:"epochs"`
	Patience    int            `flag:"patience"`
	Batch       int            `flag:"batch"`                        // seed nodes a step; 0: all nodes at once
	Accumulate  int            `flag:"accumulate" json:",omitempty"` // batches whose gradients make one step; 0: 1
	Fanout      string         `flag:"fanout" json:",omitempty"`     // neighbours drawn for a node, a number a layer; empty: none are drawn, all are read
	Rows        Extent         `flag:"rows"`
}

// origin is what the recipe was trained on.
func (r *Recipe) origin() task.Origin {
	return task.Origin{Dataset: r.Dataset, Splits: r.Splits, SplitNumber: r.SplitNumber, Columns: r.Columns}
}

// from makes o what the recipe is used on.
func (r *Recipe) from(o task.Origin) {
	r.Dataset, r.Splits, r.SplitNumber, r.Columns = o.Dataset, o.Splits, o.SplitNumber, o.Columns
}

// Extent says which rows of each layer a training step on all nodes computes.
type Extent string

const (
	RowsNeeded Extent = "needed" // those that the loss depends on
	rowsAll    Extent = "all"
)

// Extents are the values of --rows.
var Extents = []string{string(RowsNeeded), string(rowsAll)}

// Date completes a recipe that was written when there was no such setting.
func (r *Recipe) Date() {
	if r.Rows == "" {
		r.Rows = rowsAll
	}
	if r.Features == "" {
		r.Features, r.AttnDrop = task.FormRows, r.Dropout
	}
}

// Decayed says which Params shrink towards zero.
type Decayed string

// The values of --decayed.
const (
	DecayAll     Decayed = "all"
	decayWeights Decayed = "weights"       // no biases
	DecayFirst   Decayed = "first-weights" // those of the first layer
)

// Optimiser returns the recipe's optimiser for a network.
func (r *Recipe) Optimiser(net *Network) train.Optimiser {
	opt := &train.Adam{LR: r.LR, WeightDecay: r.WeightDecay}
	if r.WeightDecay == 0 {
		return opt
	}
	first := ""
	for name, p := range grad.Params(net) {
		if first == "" {
			first = layerOf(name)
		}
		bias := p.Value.Axes() == 1
		spared := r.Decayed != DecayAll && bias || r.Decayed == DecayFirst && layerOf(name) != first
		if spared {
			opt.Groups = append(opt.Groups, train.Group{Match: name})
		}
	}
	return opt
}

// settings returns what the layers are made from.
func (r *Recipe) settings() models.Settings {
	m, err := models.Named(r.Model)
	if err != nil {
		panic(err) // flags and files are checked
	}
	return models.SettingsOf(models.With(m, models.Settings{
		Hidden: r.Hidden, Layers: r.Layers, Heads: r.Heads, OutHeads: r.OutHeads, Dropout: meant(r.Dropout), AttentionDropout: meant(r.AttnDrop),
		Residual: r.Residual, Norm: r.Norm, ResidualLinear: r.Linear, Input: r.Input, Output: r.Output, NoBias: r.NoBias, ValueDrop: r.ValueDrop, Start: r.Start,
	}))
}

// meant is a number of which 0 is 0, and not the model's own.
func meant(v float64) float64 { return cmp.Or(v, grad.Zero) }

// width is how wide the rows of a hidden layer are.
func (r *Recipe) width() int { return r.Hidden * r.Heads }

// headsOf is how many the layer of that number from 0 has.
func (r *Recipe) headsOf(layer int) int {
	if layer == r.Layers-1 && !r.Output {
		return r.OutHeads
	}
	return r.Heads
}

// Traits returns what the model that is trained is like.
func (r *Recipe) Traits() models.Traits {
	m, err := FindModel(r.Model)
	if err != nil {
		panic(err) // flags and files are checked
	}
	return m
}

// Check returns an error for settings that cannot be.
func (r *Recipe) Check() error {
	if err := cmp.Or(task.AtLeast("hidden", r.Hidden, 1), task.AtLeast("heads", r.Heads, 1), task.AtLeast("out-heads", r.OutHeads, 1), task.AtLeast("layers", r.Layers, 1),
		task.AtLeast("input", r.Input, 0), task.AtLeast("epochs", r.Epochs, 1), task.AtLeast("patience", r.Patience, 0), task.AtLeast("batch", r.Batch, 0)); err != nil {
		return err
	}
	const wide = 1 << 16 // of a layer: beyond it the weights alone are gigabytes
	switch {
	case r.Hidden > wide || r.Heads > wide || r.OutHeads > wide || r.Hidden*r.Heads > wide:
		return cli.Misuse("--hidden %d with --heads %d and --out-heads %d: a layer has at most %d columns", r.Hidden, r.Heads, r.OutHeads, wide)
	case r.Model == modelH2GCN && (r.Layers < 2 || r.Layers > 7):
		return cli.Misuse("--layers %d: h2gcn has a dense layer and from 1 to 6 rounds, each twice as wide as the one before: want 2 to 7", r.Layers)
	case r.Input > wide:
		return cli.Misuse("--input %d: a layer has at most %d columns", r.Input, wide)
	case r.Layers > 100:
		return cli.Misuse("--layers %d: there can be at most 100", r.Layers)
	case !(r.Dropout >= 0 && r.Dropout < 1):
		return cli.Misuse("--dropout %v: it must be at least 0 and less than 1", r.Dropout)
	case !(r.AttnDrop >= 0 && r.AttnDrop < 1):
		return cli.Misuse("--attention-dropout %v: it must be at least 0 and less than 1", r.AttnDrop)
	}
	if err := cmp.Or(task.CheckRates(r.LR, r.WeightDecay), r.Choice().check(), r.checkFanout(),
		cli.OneOf("--rows", string(r.Rows), Extents), task.NoneOrOneOf("--norm", string(r.Norm), string(models.NormLayer), string(models.NormBatch)),
		task.NoneOrOneOf("--loss", r.Loss, task.LossMSE, task.LossMAE), task.NoneOrOneOf("--features", string(r.Features), task.Forms...)); err != nil {
		return err
	}
	all, err := task.EncodingsOf(r.Encoding)
	if err == nil && r.Inductive {
		if err = all.CheckInductive(); err != nil {
			name, why, _ := strings.Cut(err.Error(), ": ")
			err = cli.Misuse("--encoding %s and --inductive: %s: leave one of them out", name, why)
		}
	}
	return cmp.Or(err, cli.OneOf("--decayed", string(r.Decayed), []string{string(DecayAll), string(decayWeights), string(DecayFirst)}),
		cli.OneOf("--start", string(r.Start), []string{string(models.StartGlorot), string(models.StartHeads), string(models.StartNormal)}), cli.OneOf("--select", r.Select, task.RuleNames()))
}

// flags returns those that a command line needs for the recipe, each after a
// space; not the seed's. usual is what the recipe's preset says on its data, with the preset and
// the features' form of a training without flags.
func (r Recipe) flags(usual Recipe) string {
	usual.Dataset, usual.Model, usual.Seed = "cora", "gat", r.Seed
	if r.Dropout != usual.Dropout {
		usual.AttnDrop = r.Dropout // that flag sets both
	}
	usual.EdgeIn, usual.Kinds = r.EdgeIn, r.Kinds                                                         // these follow from the data
	usual.ValueDrop, usual.NoBias, usual.Decayed, usual.Start = r.ValueDrop, r.NoBias, r.Decayed, r.Start // these are the preset's
	line := ""
	a, b := reflect.ValueOf(r), reflect.ValueOf(usual)
	for i := range a.NumField() {
		v, flag := a.Field(i).Interface(), a.Type().Field(i).Tag.Get("flag")
		switch {
		case v == b.Field(i).Interface():
		case flag == "dataset":
			line = " " + cli.Word(v) + line
		case flag == "column":
			line += r.Columns.Flags()
		case v == true:
			line += " --" + flag
		default:
			line += " --" + flag + " " + cli.Word(v)
		}
	}
	return line
}

// The models that the code names.
const (
	modelGPS   = "gps"
	modelH2GCN = "h2gcn"
)
