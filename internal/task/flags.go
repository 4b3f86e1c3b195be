package task

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"unicode"

	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/ranks"
)

// Remedies turns a table round that has, for what to do, the flags that a task has no use for, with spaces between them: it returns what to do
// with each flag.
func Remedies(flags map[string]string) map[string]string {
	of := map[string]string{}
	for remedy, names := range flags {
		for _, flag := range strings.Fields(names) {
			of[flag] = remedy
		}
	}
	return of
}

// Refused returns an error for a flag that was given and that a task has no use for: of says what to do with each.
func (c *Flags) Refused(of map[string]string) error {
	for _, flag := range c.Given() {
		if remedy := of[flag]; remedy != "" {
			return cli.Misuse("--%s: %s", flag, remedy)
		}
	}
	if c.Threads < 0 {
		return cli.Misuse("--threads %d: it must be at least 1, or 0 for all processors", c.Threads)
	}
	if c.Seeds < 1 {
		return cli.Misuse("--seeds %d: it must be at least 1", c.Seeds)
	}
	return nil
}

// Given returns the names of the flags that were given another value than they have
// without.
func (c *Flags) Given() []string {
	var names []string
	EachFlag(reflect.ValueOf(c).Elem(), func(name, preset string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Int:
			if preset == "1" && v.Int() == 1 || preset != "1" && v.IsZero() {
				return
			}
		default:
			if v.IsZero() {
				return
			}
		}
		names = append(names, name)
	})
	return names
}

// EachFlag calls f with the flags of a command, what each is without, and what it is.
func EachFlag(v reflect.Value, f func(name, preset string, v reflect.Value)) {
	for i := range v.NumField() {
		switch field := v.Type().Field(i); {
		case field.Anonymous:
			EachFlag(v.Field(i), f)
		case field.IsExported() && field.Tag.Get("kong") != "-":
			name := field.Tag.Get("name")
			if name == "" {
				name = kebab(field.Name)
			}
			f(name, field.Tag.Get("default"), v.Field(i))
		}
	}
}

// Override gives a recipe, whose fields name the flags that set them, the settings that flags were given for, but for some flags. Of several
// fields of a flag it is the first of its kind: the others follow from it.
func (c *Flags) Override(recipe any, but ...string) {
	given := map[string]reflect.Value{}
	EachFlag(reflect.ValueOf(c).Elem(), func(name, _ string, v reflect.Value) {
		if v.Kind() == reflect.Pointer && !v.IsNil() && !slices.Contains(but, name) {
			given[name] = v.Elem()
		}
	})
	r := reflect.ValueOf(recipe).Elem()
	for i := range r.NumField() {
		flag := r.Type().Field(i).Tag.Get("flag")
		if v, is := given[flag]; is && v.Kind() == r.Field(i).Kind() {
			r.Field(i).Set(v.Convert(r.Field(i).Type()))
			delete(given, flag)
		}
	}
}

// kebab is a field's name as kong makes a flag of it.
func kebab(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// OneRun returns an error for files of one model where several are trained: why says what
// trains them.
func (c *Flags) OneRun(why string) error {
	for _, flag := range c.Given() {
		if slices.Contains([]string{"save", "checkpoint", "every", "resume", "log", "picture", "plot"}, flag) {
			return cli.Misuse("--%s keeps one model and %s", flag, why)
		}
	}
	return nil
}

// SettingFlags are the settings of a training. What is nil was not given, and
// comes from the preset, or from the run that is resumed.
type SettingFlags struct {
	Dataset            *string `hidden:"" placeholder:"NAME" help:"The same as DATA. With --resume: where the data is now."`
	Model              *string `placeholder:"NAME" help:"The model, such as gat, gcn or sage; all are listed below. Default: gat, or gin for whole graphs."`
	Task               string  `placeholder:"NAME" help:"What to predict: the class of each node (node), edge (edge) or graph (graph), or missing links (link). Default: the data decides."`
	Epochs             *int    `placeholder:"N" help:"Train for at most N epochs. Default: see --preset."`
	Seed               *uint64 `placeholder:"N" group:"any" help:"Seed of everything that is random. Default: 0."`
	Splits             *string `placeholder:"NAME" group:"splits" help:"How to divide the data into training, validation and test parts: one of the rules above. Default: own. Data without a split is divided by time if each of its rows says when it happened, and else 60/20/20; the summary says which, and why."`
	SplitNumber        *string `placeholder:"K" group:"splits" help:"Which split to use if the dataset has several, counted from 0, or each: a different one for each seed. Default: 0."`
	Undirected         *bool   `group:"nodes" help:"Use every edge of the dataset in both directions. Default where nodes are rows of a table and edges have no kinds."`
	source.ColumnFlags `embed:""`
	Features           *string  `placeholder:"FORM" group:"any" help:"How to scale the node features: raw (as they are), rows (each row divided by its sum), standard (each column with mean 0 and standard deviation 1), binary (1 for every nonzero value) or binary-rows (binary, then rows). Default: the data and the preset decide."`
	Encoding           *string  `placeholder:"NAME,NAME:K" group:"any" help:"Give nodes extra features that say where they are in their graph. One or several of random-walk:K (how likely a walk is back after 1 to K steps), laplacian:K (eigenvectors), degree:K, pagerank, core (core numbers) and louvain:K (which of the K largest communities), separated by commas. K is 16 if left out."`
	NoEdgeFeatures     *bool    `group:"examples" help:"Ignore the features and kinds of edges. Without this flag, models that can read them do."`
	Hidden             *int     `placeholder:"N" group:"any" help:"Width of each hidden layer; of a layer with several heads, the width of each head."`
	Heads              *int     `placeholder:"N" group:"nodes" help:"Number of attention heads in each hidden layer. Their outputs are concatenated."`
	OutHeads           *int     `placeholder:"N" group:"nodes" help:"Number of attention heads in the last layer. Their outputs are averaged."`
	Layers             *int     `placeholder:"N" group:"any" help:"Number of layers."`
	Dropout            *float64 `placeholder:"P" group:"examples" help:"Dropout rate of each layer's features, and of the attention weights unless --attention-dropout is given."`
	AttnDrop           *float64 `name:"attention-dropout" placeholder:"P" group:"nodes" help:"Dropout rate of the attention weights, if it is to differ from --dropout."`
	Residual           *bool    `group:"nodes" help:"Add each layer's input to its output, through a matrix if the widths differ. With --task edge, GAT and GATv2 do so by default."`
	ResidualLinear     *bool    `group:"nodes" help:"The same, always through a matrix."`
	Norm               *string  `placeholder:"NAME" group:"nodes" help:"Normalise each layer's output: layer (each row) or batch (each column)."`
	Input              *int     `placeholder:"N" group:"nodes" help:"Put a linear layer of this width before the first convolution."`
	Output             *bool    `group:"nodes" help:"Put a linear layer after the last convolution, which is then as wide as the others."`
	Preset             *string  `placeholder:"NAME" group:"examples" help:"Where the default settings come from: quick (the model's paper, but usually 200 epochs), paper (the model's paper, with its stopping rule), dgl or pyg (the examples of these frameworks), shchur (Shchur and others, 2018: for few labels), graphsaint (GraphSAINT's paper: for many labels), tuned (Luo and others, 2024: deeper networks, for six datasets) or deep (norms and residuals, sized by the data: for many labels, or neighbours that differ). Default: the data decides. For whole graphs: quick (GIN's paper, but fewer epochs; the default) or paper."`
	LR                 *float64 `name:"lr" placeholder:"RATE" group:"any" help:"Learning rate of Adam, such as 0.01."`
	WeightDecay        *float64 `placeholder:"D" group:"any" help:"L2 penalty on the weights, such as 5e-4."`
	Patience           *int     `placeholder:"N" group:"any" help:"Stop after N epochs without improvement. 0 never stops early."`
	Select             *string  `placeholder:"RULE" group:"examples" help:"Which epoch's model to keep: accuracy (the best validation accuracy), loss (the lowest validation loss), either (the last epoch in which both were at least as good as in all earlier ones, the rule of GAT's authors), last, or the best validation auc (area under the ROC curve), ap (average precision) or f1. Default: ap for two classes if one has less than a fifth of the training part; else see --preset."`
	ClassWeights       *string  `placeholder:"WEIGHTS" group:"examples" help:"How much each class counts in the loss: balanced (each class as much as the others, however rare it is), a number for each class, such as 1,20, or NAME=W,NAME=W; classes that are not named have the weight 1. Default: every example counts the same."`
	Positive           *string  `placeholder:"NAME" group:"examples" help:"Which of two classes is looked for: average precision, F1, recall and the threshold are about it. Default: the one with less than a fifth of the training part, or that is called yes, true, 1 or the like, or the rarer one."`
	Loss               *string  `placeholder:"NAME" group:"examples" help:"Loss when numbers are predicted: mse (squared error, the default) or mae (absolute error)."`
	Batch              *int     `placeholder:"N" group:"any" help:"Train on N nodes, edges or graphs at a time. 0 trains on all nodes or edges at once. Default for nodes and edges: all, or 1024 with drawn neighbours if a step on all would cost 16 times as much or not fit in 8 GiB; the summary says why."`
	Accumulate         *int     `placeholder:"N" group:"examples" help:"With --batch: add up the gradients of N batches before each step of the optimiser, as if a batch were N times as large. Default: 1."`
	Fanout             *string  `placeholder:"N,N" group:"nodes" help:"With --batch: sample this many neighbours of each node, one number for each layer, the first layer's first, such as 15,10. all in place of a number is all neighbours."`
	Inductive          *bool    `group:"nodes" help:"With --task node: train on the graph of the training nodes alone. The other nodes are seen only in evaluation."`
	Rows               *string  `placeholder:"NAME" group:"nodes" help:"Which rows of each layer a training step computes: needed (those that its loss depends on, the default) or all."`
}

// Flags are the flags of gatbench train, of all tasks.
type Flags struct {
	SettingFlags  `embed:""`
	graphFlags    `embed:""`
	Seeds         int `default:"1" placeholder:"N" help:"Train N times, each with its own seed, and print the mean. Default: 1."`
	OutputFlags   `embed:""`
	NoBaseline    bool   `group:"nodes" help:"With --task node or edge: do not also train the same network without edges, for a fifth of the epochs, to see whether the edges help."`
	JSON          bool   `name:"json" group:"program" help:"Print JSON objects, one a line."`
	Data          string `placeholder:"DIR" group:"program" help:"Look for the dataset in this folder first, then in $$EDGEWISE_DATA and in the user's cache."`
	cli.RankFlags `embed:""`
	Threads       int `default:"0" placeholder:"N" group:"program" help:"Use at most N threads. The result is the same for any number. Default: all processors."`

	At    Places      `kong:"-"`
	Team  *ranks.Team `kong:"-"`
	Typed []string    `kong:"-"` // the command line
}

// Profiled runs a training under --profile.
func (c *Flags) Profiled(e cli.Env, run func() error) error {
	if c.kept() {
		cli.OutliveReader()
	}
	stop, err := profile(c.Profile)
	if err != nil {
		return err
	}
	err = run()
	if failed := stop(); failed != nil {
		return errors.Join(err, failed)
	}
	if c.Profile != "" && !c.JSON {
		p := report.NewPrinter(e.Out)
		p.Printf("profile in %s\n", c.Profile)
		err = errors.Join(err, p.Err())
	}
	return err
}

// profile begins a CPU profile, if a file is named, and returns what ends it.
func profile(path string) (stop func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	if runtime.GOOS == "js" {
		return nil, cli.Misuse("--profile %s: a program in WebAssembly cannot record one; node --cpu-prof does", path)
	}
	var b bytes.Buffer // package pprof does not say when a file takes no more
	if err := pprof.StartCPUProfile(&b); err != nil {
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		return atomicfile.Write(path, func(w io.Writer) error {
			_, err := b.WriteTo(w)
			return err
		})
	}, nil
}

// graphFlags are the flags that mostly trainings on graphs have.
type graphFlags struct {
	Readout *string `placeholder:"NAME" group:"graphs" help:"How the nodes of a graph are combined into one row, after each layer: sum (the default), mean, max, attention, set2set or sort (the first 16 nodes when sorted by their last feature, side by side)."`
	Pool    *string `placeholder:"NAME" group:"graphs" help:"Keep the four fifths of the nodes that score best after each layer: topk (scored by a node's own features) or sag (by its neighbours' features, too). Default: keep all nodes."`
	Folds   *int    `placeholder:"K" group:"splits" help:"Cross-validation, as --splits folds:K: divide the graphs, nodes or edges into K parts with similar shares of each class, and test on each part in turn. Default: 10 for graphs without a split of their own."`
}
