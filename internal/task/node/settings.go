package node

import (
	"cmp"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
)

// override gives r the settings that flags were given for.
func (f *Training) override(r *Recipe) {
	f.ColumnFlags.Choose(&r.Columns)
	cli.Set(&r.AttnDrop, f.Dropout)
	f.Override(r, "split-number", "fanout")
	if r.Splits == source.OwnSplits {
		r.Splits = source.SplitsOwn
	}
	r.SetNumber(f.SplitNumber)
	r.setFanout(f.Fanout)
}

// fresh returns the recipe of a run that begins.
func (f *Training) fresh() (Recipe, error) {
	dataset := source.DatasetNamed(cli.Or(f.Dataset, "cora"))
	r, err := NewRecipe(cli.Or(f.Preset, presets[0]), cli.Or(f.Model, "gat"), dataset)
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
func (f *Training) settled(k *Examples, r Recipe) (Recipe, error) {
	begins := r.Features == "" || f.Features != nil
	if begins {
		if f.Preset == nil || r.Preset == PresetDeep {
			model, err := r.Model, error(nil)
			if f.Model == nil && f.Preset == nil && f.OutHeads == nil && !r.NoEdges {
				model = models.TraitsOf(k.advised("").Model).Name
			}
			if r, err = k.Preset(cli.Or(f.Preset, k.Suits(model).Preset), model, r.Dataset); err != nil {
				return r, err
			}
			if f.override(&r); r.Preset == PresetDeep && f.Layers == nil {
				r.batched()
			}
			r.Dataset = k.Called
		}
		r.Undirected = k.both
		r.Features = cli.Or((*task.Form)(f.Features), k.FormFor(r.Preset))
		r.Splits = k.named(r.Splits)
		if f.Select == nil {
			r.Select = task.RuleOf(k.Goal, k.Parts, r.Select, f.Preset != nil)
		}
		m := r.Traits()
		r.Residual = cli.Or(f.Residual, k.Pairing != nil && !r.Linear && (m.Name == "gat" || m.Name == "gatv2"))
		var err error
		if r.EdgeIn, r.Kinds, err = k.There().Read(m.Name, m.Edges, r.NoEdges); err != nil {
			return r, err
		}
	}
	if err := k.prepare(&r); err != nil {
		return r, err
	}
	if begins {
		f.pace(k, &r)
	}
	return r, cmp.Or(r.checkFanout(), r.checkAccumulate(), k.Suit(&r))
}

// pace decides how a training that begins is cut into steps, if no flag does, and how long it is then.
func (f *Training) pace(k *Examples, r *Recipe) {
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
func (f *Training) cuts() bool {
	asked := f.Norm != nil && *f.Norm == string(models.NormBatch) // for the statistics of all nodes
	return f.Batch == nil && f.Rows == nil && !asked && f.ours()
}

// ours reports whether the preset is one whose settings follow from the data.
func (f *Training) ours() bool { return f.Preset == nil || *f.Preset == PresetDeep }

// resumed returns the recipe of a run on nodes or edges that goes on: only its length may
// change. A file that it names and that has gone may be named again.
func (f *Training) resumed(e cli.Env, path, data string) (Recipe, task.Places, error) {
	n, err := Open(path)
	if err != nil {
		return Recipe{}, task.Places{}, err
	}
	r := n.Recipe
	at, err := task.SavedModel{Path: path, Data: data}.Places(e, r.origin(), f.Dataset, f.Splits)
	if err != nil {
		return r, at, err
	}
	r.Epochs, r.Patience = cli.Or(f.Epochs, r.Epochs), cli.Or(f.Patience, r.Patience)
	asked := r
	f.override(&asked)
	asked.Dataset = source.DatasetNamed(asked.Dataset)
	if f.Dataset != nil && *f.Dataset == at.Dataset { // where it is now
		asked.Dataset = r.Dataset
	}
	if f.Splits != nil && *f.Splits == at.Splits {
		asked.Splits = r.Splits
	}
	if err := task.SameRun(path, r, asked); err != nil {
		return r, at, err
	}
	f.Features = nil // the run's own
	return r, at, r.Check()
}

// checkSettings returns an error for flags that the model does not have, and for
// settings that cannot be.
func (f *Training) checkSettings(r *Recipe) error {
	m, err := FindModel(r.Model)
	if err != nil {
		return err
	}
	for _, given := range []struct {
		flag string
		yes  bool
	}{{"heads", f.Heads != nil}, {"out-heads", f.OutHeads != nil}, {"attention-dropout", f.AttnDrop != nil}, {"residual", f.Residual != nil},
		{"residual-linear", f.ResidualLinear != nil}, {"norm", f.Norm != nil}, {"input", f.Input != nil}, {"output", f.Output != nil}} {
		if given.yes && !Takes(m, given.flag) {
			return cli.Misuse("--%s: %s has no such setting; these models have it: %s", given.flag, r.Model, Having(given.flag))
		}
	}
	if err := r.Check(); err != nil {
		return err
	}
	switch {
	case f.Features != nil && *f.Features == "":
		return cli.OneOf("--features", "", task.Forms)
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

// checkOutputs returns an error for files that cannot be written and flags that
// contradict each other.
func (o *Training) checkOutputs(r *Recipe, seeds int) error {
	if err := o.Single(seeds); err != nil {
		return err
	}
	m, err := FindModel(r.Model)
	if err != nil {
		return err
	}
	if err := o.CheckEvery(); err != nil {
		return err
	}
	switch {
	case len(o.Attention) > 0 && !Takes(m, "attention"):
		return cli.Misuse("--attention: %s has no such setting; these models have it: %s", r.Model, Having("attention"))
	case len(o.Nodes) > 0 && len(o.Attention) == 0:
		return cli.Misuse("--nodes: they are for --attention FILE")
	}
	return o.Targets(r.Layers)
}
