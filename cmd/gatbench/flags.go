package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/spell"
)

// settingFlags are the settings of a training. What is nil was not given, and
// comes from the preset, or from the run that is resumed.
type settingFlags struct {
	Dataset        *string  `placeholder:"NAME" help:"cora (the default, part of the program), citeseer, pubmed, another that gatbench data list shows, or a file or folder."`
	Undirected     *bool    `help:"Take each edge of the dataset in both directions."`
	Model          *string  `placeholder:"NAME" help:"One of ${models} (gat); with --task graph one of ${graphmodels} (gin)."`
	Preset         *string  `placeholder:"NAME" help:"Whose settings: the model's paper's for 200 epochs (quick) or until it stops (paper), the dgl or pyg example's, those of Shchur and others for few labels (shchur) or of GraphSAINT for many (graphsaint); without it the data decides. Of whole graphs GIN's authors' with fewer epochs (quick, the default) or with theirs (paper)."`
	Splits         *string  `placeholder:"NAME" help:"own (the dataset's own, the default, which planetoid says, too), random (with --task edge of each class three fifths of the edges train, the default where they have no split), shchur (random: 20 nodes of each class train, 30 validate, the rest of the largest component tests), time (by a column that says when, earlier ones train; time:COLUMN:A,B trains up to A and validates up to B, with --task edge the edges and with --task link the links), or a .json or .npz file of the lists train, val and test."`
	SplitNumber    *string  `placeholder:"K" help:"Which of the several splits that a dataset has, from 0 (0), or each: that of the seed."`
	Seed           *uint64  `placeholder:"N" help:"Fixes everything that is random (0)."`
	Hidden         *int     `placeholder:"N" help:"Width of a hidden layer, or of each of its heads."`
	Heads          *int     `placeholder:"N" help:"Heads of a hidden layer, side by side."`
	OutHeads       *int     `placeholder:"N" help:"Heads of the last layer, of which the mean is taken."`
	Layers         *int     `placeholder:"N" help:"Number of layers (2)."`
	Features       *string  `placeholder:"FORM" help:"How the networks get the features: raw (as they are), rows (each row divided by its sum), standard (each column of mean 0 and deviation 1) or binary (1 for what is not zero); without it the data and the preset decide."`
	Encoding       *string  `placeholder:"NAME,NAME:K" help:"Give nodes features more that say where they are in their graph, one or several of: random-walk:K (how likely a walk is back after 1 to K steps), laplacian:K (eigenvectors), degree:K, pagerank, core (core numbers) and louvain:K (which of the K largest communities); K is 16 if it is left out."`
	NoEdgeFeatures *bool    `help:"Leave out the features of edges, and their kinds, which are read where the data has them."`
	Dropout        *float64 `placeholder:"P" help:"Dropout of each layer's features, and of attention."`
	AttnDrop       *float64 `name:"attention-dropout" placeholder:"P" help:"Dropout of attention, where it is another."`
	Residual       *bool    `help:"Add to each layer's result what it was given (with --task edge GAT and GATv2 do)."`
	LR             *float64 `name:"lr" placeholder:"RATE" help:"Rate of Adam."`
	WeightDecay    *float64 `placeholder:"D" help:"L2 decay."`
	Epochs         *int     `placeholder:"N" help:"Number of epochs at most (the preset's; quick has 200)."`
	Patience       *int     `placeholder:"N" help:"Stop after N epochs without progress (0: never; the preset's)."`
	Select         *string  `placeholder:"RULE" help:"Which epoch's model is kept: that of the best validation accuracy, of the lowest loss, of either (the rule of GAT's authors), or the last."`
	Loss           *string  `placeholder:"NAME" help:"Of numbers that are learnt: mse (squares, the default) or mae (moduli)."`
	Inductive      *bool    `help:"With --task node: train on the graph of the nodes that train alone, and see the others only in evaluations."`
	Batch          *int     `placeholder:"N" help:"Train on N nodes, or edges, at a time, with all the neighbours (0: on all at once)."`
	Fanout         *string  `placeholder:"N,N" help:"With --batch: draw so many neighbours of each node, one number a layer, the first layer's first, such as 15,10 (0: all)."`
	Rows           *string  `placeholder:"NAME" help:"Which rows of each layer a training step computes: those that its loss depends on (needed, the default) or all."`
}

// override gives r the settings that flags were given for.
func (f *settingFlags) override(r *recipe) {
	set(&r.Dataset, f.Dataset)
	set(&r.Undirected, f.Undirected)
	set(&r.Model, f.Model)
	set(&r.Preset, f.Preset)
	set(&r.Splits, f.Splits)
	if r.Splits == ownSplits {
		r.Splits = splitsOwn
	}
	r.setNumber(f.SplitNumber)
	set(&r.Seed, f.Seed)
	set(&r.Hidden, f.Hidden)
	set(&r.Heads, f.Heads)
	set(&r.OutHeads, f.OutHeads)
	set(&r.Layers, f.Layers)
	set(&r.Features, (*form)(f.Features))
	set(&r.Encoding, f.Encoding)
	set(&r.NoEdges, f.NoEdgeFeatures)
	set(&r.Dropout, f.Dropout)
	set(&r.AttnDrop, f.Dropout)
	set(&r.AttnDrop, f.AttnDrop)
	set(&r.Residual, f.Residual)
	set(&r.LR, f.LR)
	set(&r.WeightDecay, f.WeightDecay)
	set(&r.Epochs, f.Epochs)
	set(&r.Patience, f.Patience)
	set(&r.Select, f.Select)
	set(&r.Loss, f.Loss)
	set(&r.Inductive, f.Inductive)
	set(&r.Batch, f.Batch)
	r.setFanout(f.Fanout)
	set(&r.Rows, (*extent)(f.Rows))
}

// set sets v to what a flag was given.
func set[T any](v, flag *T) {
	if flag != nil {
		*v = *flag
	}
}

// or returns what a flag was given, or else the preset.
func or[T any](flag *T, preset T) T {
	if flag != nil {
		return *flag
	}
	return preset
}

// fresh returns the recipe of a run that begins.
func (f *settingFlags) fresh() (recipe, error) {
	dataset := datasetNamed(or(f.Dataset, "cora"))
	r, err := newRecipe(or(f.Preset, presets[0]), or(f.Model, "gat"), dataset)
	if err != nil {
		return r, err
	}
	f.override(&r)
	r.Dataset = dataset
	return r, f.check(&r)
}

// settled gives a recipe what the data decides where no flag does, and the task's
// features that form.
func (f *settingFlags) settled(k *task, r recipe) (recipe, error) {
	if r.Features == "" || f.Features != nil { // a run that begins
		if f.Preset == nil {
			var err error
			if r, err = newRecipe(k.suits().preset, r.Model, r.Dataset); err != nil {
				return r, err
			}
			f.override(&r)
			r.Dataset = k.name
		}
		r.Features = or((*form)(f.Features), k.formFor(r.Preset))
		r.Splits = k.splitNamed(r.Splits)
		m := r.model()
		r.Residual = or(f.Residual, k.pairs != nil && slices.Contains(m.takes, "residual"))
		var err error
		if r.EdgeIn, r.Kinds, err = k.there().read(m.name, m.edges, r.NoEdges); err != nil {
			return r, err
		}
	}
	if err := k.encode(r.Encoding); err != nil {
		return r, err
	}
	if err := k.use(r.Features); err != nil {
		return r, err
	}
	return r, k.suit(&r)
}

// resumed returns the recipe of a run on nodes or edges that goes on: only its length may
// change. A file that it names and that has gone may be named again.
func (f *settingFlags) resumed(e env, path, data string) (recipe, places, error) {
	n, err := openNetwork(path)
	if err != nil {
		return recipe{}, places{}, err
	}
	r := n.Recipe
	at, err := savedModel{path, data}.places(e, &r, f.Dataset, f.Splits)
	if err != nil {
		return r, at, err
	}
	r.Epochs, r.Patience = or(f.Epochs, r.Epochs), or(f.Patience, r.Patience)
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
	return r, at, r.check()
}

// check returns an error for flags that the model does not have, and for
// settings that cannot be.
func (f *settingFlags) check(r *recipe) error {
	m, err := findModel(r.Model)
	if err != nil {
		return err
	}
	for _, given := range []struct {
		flag string
		yes  bool
	}{{"heads", f.Heads != nil}, {"out-heads", f.OutHeads != nil}, {"attention-dropout", f.AttnDrop != nil}, {"residual", f.Residual != nil}} {
		if given.yes && !slices.Contains(m.takes, given.flag) {
			return misuse("--%s: %s has none; these models have: %s", given.flag, r.Model, having(given.flag))
		}
	}
	if err := r.check(); err != nil {
		return err
	}
	switch {
	case f.Features != nil && *f.Features == "":
		return oneOf("--features", "", forms)
	case f.Fanout != nil && *f.Fanout == "":
		_, err := numbers("")
		return err
	case m.whole && r.Batch > 0:
		return misuse("--batch %d: a layer of %s %s: leave it out", r.Batch, r.Model, m.whyWhole())
	case f.Rows != nil && r.Batch > 0:
		return misuse("--rows %s and --batch %d: a batch is always computed from the rows that it needs: leave --rows out", r.Rows, r.Batch)
	case r.Layers == 1 && f.Hidden != nil:
		return misuse("--hidden %d and --layers 1: one layer has no hidden one: leave one of them out", r.Hidden)
	case r.Layers == 1 && f.Heads != nil:
		return misuse("--heads %d and --layers 1: the heads of the last layer are --out-heads", r.Heads)
	}
	return nil
}

// oneOf returns an error if a flag's value is none of those there are, with the one that was meant.
func oneOf(flag, value string, known []string) error {
	switch meant := spell.Meant(value, known); {
	case slices.Contains(known, value):
		return nil
	case meant != "":
		return misuse("%s %.60s: there is none of that name; did you mean %q? There are %s", flag, value, meant, strings.Join(known, ", "))
	}
	return misuse("%s %.60s: there is none of that name; there are %s", flag, value, strings.Join(known, ", "))
}

// noSuchSplit returns the error for a split that is neither a name of those there are nor a file.
func noSuchSplit(name string, known ...string) error {
	write := "; write"
	if meant := spell.Meant(name, known); meant != "" {
		write = fmt.Sprintf("; did you mean %q? Write", meant)
	}
	return misuse("--splits %.60s: there is no such file%s %s, or the name of a .json or .npz file of the lists train, val and test", name, write, strings.Join(known, ", "))
}

// target returns an error if a file cannot be written at path, before any work
// is done.
func target(flag, path string) error {
	if path == "" {
		return nil
	}
	if isFolder(path) {
		return misuse("--%s %s: it is a folder; name a file", flag, path)
	}
	if isDevice(path) { // files are written beside their place and moved there
		return misuse("--%s %s: it is no ordinary file; name one", flag, path)
	}
	dir := filepath.Dir(path)
	if !isFolder(dir) {
		return misuse("--%s %s: there is no folder %s to put it in", flag, path, dir)
	}
	err := atomicfile.Probe(path)
	if e := (*atomicfile.Error)(nil); errors.As(err, &e) {
		return fmt.Errorf("--%s %s: %w", flag, path, e.Err)
	}
	return err
}

// isDevice reports whether a path is there and no ordinary file, or stands for one
// that the system hands out, such as what is printed to.
func isDevice(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() || strings.HasPrefix(filepath.ToSlash(filepath.Clean(path)), "/dev/")
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
