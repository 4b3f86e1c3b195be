package gatbench

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/spell"
	"github.com/edgewise-ml/edgewise/models"
)

// settingFlags are the settings of a training. What is nil was not given, and
// comes from the preset, or from the run that is resumed.
type settingFlags struct {
	Dataset        *string `placeholder:"NAME" help:"A dataset that gatbench data list names, or a file or folder. Default: cora, part of the program."`
	Model          *string `placeholder:"NAME" help:"The model, such as gat, gcn or sage; the section Model lists all. Default: gat, or gin for whole graphs."`
	Task           string  `placeholder:"NAME" help:"What to predict: the class of each node (node), edge (edge) or graph (graph), or missing links (link). Default: the data decides."`
	Epochs         *int    `placeholder:"N" help:"Train for at most N epochs. Default: see --preset."`
	Seed           *uint64 `placeholder:"N" help:"Seed of everything that is random. Default: 0."`
	Splits         *string `placeholder:"NAME" group:"splits" help:"How to divide the data into training, validation and test parts: one of the rules above. Default: own. Data without a split is divided by time if each of its rows says when it happened, and else 60/20/20; the summary says which, and why."`
	SplitNumber    *string `placeholder:"K" group:"splits" help:"Which split to use if the dataset has several, counted from 0, or each: a different one for each seed. Default: 0."`
	Undirected     *bool   `group:"data" help:"Use every edge of the dataset in both directions. Default where nodes are rows of a table and edges have no kinds."`
	columnFlags    `embed:""`
	Features       *string  `placeholder:"FORM" group:"data" help:"How to scale the node features: raw (as they are), rows (each row divided by its sum), standard (each column with mean 0 and standard deviation 1), binary (1 for every nonzero value) or binary-rows (binary, then rows). Default: the data and the preset decide."`
	Encoding       *string  `placeholder:"NAME,NAME:K" group:"data" help:"Give nodes extra features that say where they are in their graph. One or several of random-walk:K (how likely a walk is back after 1 to K steps), laplacian:K (eigenvectors), degree:K, pagerank, core (core numbers) and louvain:K (which of the K largest communities), separated by commas. K is 16 if left out."`
	NoEdgeFeatures *bool    `group:"data" help:"Ignore the features and kinds of edges. Without this flag, models that can read them do."`
	Hidden         *int     `placeholder:"N" group:"model" help:"Width of each hidden layer; of a layer with several heads, the width of each head."`
	Heads          *int     `placeholder:"N" group:"model" help:"Number of attention heads in each hidden layer. Their outputs are concatenated."`
	OutHeads       *int     `placeholder:"N" group:"model" help:"Number of attention heads in the last layer. Their outputs are averaged."`
	Layers         *int     `placeholder:"N" group:"model" help:"Number of layers."`
	Dropout        *float64 `placeholder:"P" group:"model" help:"Dropout rate of each layer's features, and of the attention weights unless --attention-dropout is given."`
	AttnDrop       *float64 `name:"attention-dropout" placeholder:"P" group:"model" help:"Dropout rate of the attention weights, if it is to differ from --dropout."`
	Residual       *bool    `group:"model" help:"Add each layer's input to its output, through a matrix if the widths differ. With --task edge, GAT and GATv2 do so by default."`
	ResidualLinear *bool    `group:"model" help:"The same, always through a matrix."`
	Norm           *string  `placeholder:"NAME" group:"model" help:"Normalise each layer's output: layer (each row) or batch (each column)."`
	Input          *int     `placeholder:"N" group:"model" help:"Put a linear layer of this width before the first convolution."`
	Output         *bool    `group:"model" help:"Put a linear layer after the last convolution, which is then as wide as the others."`
	Preset         *string  `placeholder:"NAME" group:"training" help:"Where the default settings come from: quick (the model's paper, but usually 200 epochs), paper (the model's paper, with its stopping rule), dgl or pyg (the examples of these frameworks), shchur (Shchur and others, 2018: for few labels), graphsaint (GraphSAINT's paper: for many labels), tuned (Luo and others, 2024: deeper networks, for six datasets) or deep (norms and residuals, sized by the data: for many labels, or neighbours that differ). Default: the data decides. For whole graphs: quick (GIN's paper, but fewer epochs; the default) or paper."`
	LR             *float64 `name:"lr" placeholder:"RATE" group:"training" help:"Learning rate of Adam, such as 0.01."`
	WeightDecay    *float64 `placeholder:"D" group:"training" help:"L2 penalty on the weights, such as 5e-4."`
	Patience       *int     `placeholder:"N" group:"training" help:"Stop after N epochs without improvement. 0 never stops early."`
	Select         *string  `placeholder:"RULE" group:"training" help:"Which epoch's model to keep: accuracy (the best validation accuracy), loss (the lowest validation loss), either (the last epoch in which both were at least as good as in all earlier ones, the rule of GAT's authors), last, or the best validation auc (area under the ROC curve), ap (average precision) or f1. Default: ap for two classes if one has less than a fifth of the training part; else see --preset."`
	ClassWeights   *string  `placeholder:"WEIGHTS" group:"training" help:"How much each class counts in the loss: balanced (each class as much as the others, however rare it is), a number for each class, such as 1,20, or NAME=W,NAME=W; classes that are not named have the weight 1. Default: every example counts the same."`
	Positive       *string  `placeholder:"NAME" group:"training" help:"Which of two classes is looked for: average precision, F1, recall and the threshold are about it. Default: the one with less than a fifth of the training part, or that is called yes, true, 1 or the like, or the rarer one."`
	Loss           *string  `placeholder:"NAME" group:"training" help:"Loss when numbers are predicted: mse (squared error, the default) or mae (absolute error)."`
	Batch          *int     `placeholder:"N" group:"training" help:"Train on N nodes, edges or graphs at a time. 0 trains on all nodes or edges at once. Default for nodes and edges: all, or 1024 with drawn neighbours if a step on all would cost 16 times as much or not fit in 8 GiB; the summary says why."`
	Accumulate     *int     `placeholder:"N" group:"training" help:"With --batch: add up the gradients of N batches before each step of the optimiser, as if a batch were N times as large. Default: 1."`
	Fanout         *string  `placeholder:"N,N" group:"training" help:"With --batch: sample this many neighbours of each node, one number for each layer, the first layer's first, such as 15,10. 0 means all neighbours, as without this flag."`
	Inductive      *bool    `group:"training" help:"With --task node: train on the graph of the training nodes alone. The other nodes are seen only in evaluation."`
	Rows           *string  `placeholder:"NAME" group:"training" help:"Which rows of each layer a training step computes: needed (those that its loss depends on, the default) or all."`
}

// override gives r the settings that flags were given for.
func (f *nodeTraining) override(r *recipe) {
	cli.Set(&r.Dataset, f.Dataset)
	cli.Set(&r.Undirected, f.Undirected)
	f.columnFlags.choose(&r.Columns)
	cli.Set(&r.Model, f.Model)
	cli.Set(&r.Preset, f.Preset)
	cli.Set(&r.Splits, f.Splits)
	if r.Splits == ownSplits {
		r.Splits = splitsOwn
	}
	r.setNumber(f.SplitNumber)
	cli.Set(&r.Seed, f.Seed)
	cli.Set(&r.Hidden, f.Hidden)
	cli.Set(&r.Heads, f.Heads)
	cli.Set(&r.OutHeads, f.OutHeads)
	cli.Set(&r.Layers, f.Layers)
	cli.Set(&r.Features, (*featureForm)(f.Features))
	cli.Set(&r.Encoding, f.Encoding)
	cli.Set(&r.NoEdges, f.NoEdgeFeatures)
	cli.Set(&r.Dropout, f.Dropout)
	cli.Set(&r.AttnDrop, f.Dropout)
	cli.Set(&r.AttnDrop, f.AttnDrop)
	cli.Set(&r.Residual, f.Residual)
	cli.Set(&r.Linear, f.ResidualLinear)
	cli.Set(&r.Norm, (*models.Norm)(f.Norm))
	cli.Set(&r.Input, f.Input)
	cli.Set(&r.Output, f.Output)
	cli.Set(&r.LR, f.LR)
	cli.Set(&r.WeightDecay, f.WeightDecay)
	cli.Set(&r.Epochs, f.Epochs)
	cli.Set(&r.Patience, f.Patience)
	cli.Set(&r.Select, f.Select)
	cli.Set(&r.Loss, f.Loss)
	cli.Set(&r.Weights, f.ClassWeights)
	cli.Set(&r.Positive, f.Positive)
	cli.Set(&r.Inductive, f.Inductive)
	cli.Set(&r.Batch, f.Batch)
	cli.Set(&r.Accumulate, f.Accumulate)
	r.setFanout(f.Fanout)
	cli.Set(&r.Rows, (*extent)(f.Rows))
}

// fresh returns the recipe of a run that begins.
func (f *nodeTraining) fresh() (recipe, error) {
	dataset := datasetNamed(cli.Or(f.Dataset, "cora"))
	r, err := newRecipe(cli.Or(f.Preset, presets[0]), cli.Or(f.Model, "gat"), dataset)
	if err != nil {
		return r, err
	}
	f.override(&r)
	r.Dataset = dataset
	if f.Layers == nil && f.ours() {
		if ks, err := numbers(r.Fanout); err == nil {
			r.Layers = len(ks) // until the data decides
		}
	}
	return r, f.checkSettings(&r)
}

// settled gives a recipe what the data decides where no flag does, and the task's
// features that form.
func (f *nodeTraining) settled(k *task, r recipe) (recipe, error) {
	begins := r.Features == "" || f.Features != nil
	if begins {
		if f.Preset == nil || r.Preset == presetDeep {
			model, err := r.Model, error(nil)
			if f.Model == nil && f.Preset == nil && f.OutHeads == nil && !r.NoEdges {
				model = models.TraitsOf(k.advised("").Model).Name
			}
			if r, err = k.preset(cli.Or(f.Preset, k.suits(model).preset), model, r.Dataset); err != nil {
				return r, err
			}
			if f.override(&r); r.Preset == presetDeep && f.Layers == nil {
				r.batched()
			}
			r.Dataset = k.name
		}
		r.Undirected = k.both
		r.Features = cli.Or((*featureForm)(f.Features), k.formFor(r.Preset))
		r.Splits = k.named(r.Splits)
		if f.Select == nil {
			r.Select = ruleOf(k.goal, k.split, r.Select, f.Preset != nil)
		}
		m := r.model()
		r.Residual = cli.Or(f.Residual, k.pairs != nil && !r.Linear && (m.Name == "gat" || m.Name == "gatv2"))
		var err error
		if r.EdgeIn, r.Kinds, err = k.there().read(m.Name, m.Edges, r.NoEdges); err != nil {
			return r, err
		}
	}
	if err := k.encode(r.Encoding); err != nil {
		return r, err
	}
	if err := k.use(r.Features); err != nil {
		return r, err
	}
	if begins {
		f.pace(k, &r)
	}
	return r, cmp.Or(r.checkFanout(), r.checkAccumulate(), k.suit(&r))
}

// pace decides how a training that begins is cut into steps, if no flag does, and how long it is then.
func (f *nodeTraining) pace(k *task, r *recipe) {
	if f.cuts() {
		one := *r
		if f.Layers == nil {
			one.Layers = min(r.Layers, cutLayers)
		}
		if c := k.cut(&one); c.batch > 0 {
			r.Layers, r.Batch, r.Fanout = one.Layers, c.batch, c.fanout
		}
	}
	k.paced(r)
	cli.Set(&r.Epochs, f.Epochs)
	cli.Set(&r.Patience, f.Patience)
}

// cuts reports whether the data decides how a training is cut into steps.
func (f *nodeTraining) cuts() bool {
	asked := f.Norm != nil && *f.Norm == string(models.NormBatch) // for the statistics of all nodes
	return f.Batch == nil && f.Rows == nil && !asked && f.ours()
}

// ours reports whether the preset is one whose settings follow from the data.
func (f *nodeTraining) ours() bool { return f.Preset == nil || *f.Preset == presetDeep }

// resumed returns the recipe of a run on nodes or edges that goes on: only its length may
// change. A file that it names and that has gone may be named again.
func (f *nodeTraining) resumed(e cli.Env, path, data string) (recipe, places, error) {
	n, err := openNetwork(path)
	if err != nil {
		return recipe{}, places{}, err
	}
	r := n.Recipe
	at, err := savedModel{path, data}.places(e, r.origin(), f.Dataset, f.Splits)
	if err != nil {
		return r, at, err
	}
	r.Epochs, r.Patience = cli.Or(f.Epochs, r.Epochs), cli.Or(f.Patience, r.Patience)
	asked := r
	f.override(&asked)
	asked.Dataset = datasetNamed(asked.Dataset)
	if f.Dataset != nil && *f.Dataset == at.dataset { // where it is now
		asked.Dataset = r.Dataset
	}
	if f.Splits != nil && *f.Splits == at.splits {
		asked.Splits = r.Splits
	}
	if err := sameRun(path, r, asked); err != nil {
		return r, at, err
	}
	f.Features = nil // the run's own
	return r, at, r.check()
}

// checkSettings returns an error for flags that the model does not have, and for
// settings that cannot be.
func (f *nodeTraining) checkSettings(r *recipe) error {
	m, err := findModel(r.Model)
	if err != nil {
		return err
	}
	for _, given := range []struct {
		flag string
		yes  bool
	}{{"heads", f.Heads != nil}, {"out-heads", f.OutHeads != nil}, {"attention-dropout", f.AttnDrop != nil}, {"residual", f.Residual != nil},
		{"residual-linear", f.ResidualLinear != nil}, {"norm", f.Norm != nil}, {"input", f.Input != nil}, {"output", f.Output != nil}} {
		if given.yes && !takes(m, given.flag) {
			return cli.Misuse("--%s: %s has no such setting; these models have it: %s", given.flag, r.Model, having(given.flag))
		}
	}
	if err := r.check(); err != nil {
		return err
	}
	switch {
	case f.Features != nil && *f.Features == "":
		return cli.OneOf("--features", "", forms)
	case f.Fanout != nil && *f.Fanout == "":
		_, err := numbers("")
		return err
	case m.Whole != "" && r.Batch > 0:
		return cli.Misuse("--batch %d: a layer of %s %s: leave it out", r.Batch, r.Model, m.Whole)
	case f.Rows != nil && r.Batch > 0:
		return cli.Misuse("--rows %s and --batch %d: a batch is always computed from the rows that it needs: leave --rows out", r.Rows, r.Batch)
	case r.Layers == 1 && f.Hidden != nil && !r.Output:
		return cli.Misuse("--hidden %d and --layers 1: a network of one layer has no hidden layer: leave one of the two flags out", r.Hidden)
	case r.Layers == 1 && f.Heads != nil && !r.Output:
		return cli.Misuse("--heads %d and --layers 1: the heads of the last layer are --out-heads", r.Heads)
	}
	return nil
}

// noSuchSplit returns the error for a split that is neither a name of those there are nor a file.
func noSuchSplit(name string, known ...string) error {
	write := "; write"
	if meant := spell.Meant(name, known); meant != "" {
		write = fmt.Sprintf("; did you mean %q? Write", meant)
	}
	return cli.Misuse("--splits %.60s: there is no such file%s %s, or the name of a .json or .npz file of the lists train, val and test", name, write, strings.Join(known, ", "))
}
