package node

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/train"
)

// Network is a network for nodes or edges and how it was trained. Its file holds the recipe, from which the layers are
// made again.
type Network struct {
	Task        string `json:",omitempty"` // task.Edge of one that tells edges apart: its file says so; empty: nodes
	Recipe      Recipe
	In, Classes int          // Classes are the outputs, whatever they are
	Kind        task.Kind    `json:",omitempty"` // of what is learnt
	Scale       models.Scale `json:",omitzero"`  // of numbers

	Codes, EdgeCodes []columns.Code `json:",omitempty"` // as models.Shape has them

	*models.Network `json:"-"`
	Head            *models.Pairs `json:",omitempty"` // what that of Network is made from; nil: nodes are told apart
}

// NewNetwork returns an initialised network for features of that width.
func NewNetwork(r Recipe, width, classes int) (*Network, error) {
	n := &Network{Recipe: r, In: width, Classes: classes}
	if err := n.build(); err != nil {
		return nil, err
	}
	return n, nil
}

// plan returns the network that the recipe asks for, without its Params.
func (n *Network) plan() *models.Network {
	r := &n.Recipe
	plan := &models.Network{Model: r.Model, Settings: r.settings(), Shape: models.Shape{In: n.In, Out: n.Classes, EdgeIn: r.EdgeIn, EdgeKinds: r.loopedKinds(), Codes: n.Codes, EdgeCodes: n.EdgeCodes}}
	if n.Head != nil {
		head := *n.Head
		plan.Head = &head
	}
	return plan
}

// build makes the layers that the recipe asks for.
func (n *Network) build() error {
	if _, err := FindModel(n.Recipe.Model); err != nil {
		return err
	}
	n.Network = n.plan()
	if err := n.Check(); err != nil {
		return err
	}
	n.Init(rand.New(rand.NewPCG(n.Recipe.Seed, 0)))
	return nil
}

// describe says what a network is made of, with a head of edges, if it has one.
func describe(r *Recipe, outputs int, head *models.Pairs) string {
	return (&Network{Recipe: *r, Classes: outputs, Head: head}).plan().String()
}

// layerOf returns the layer that a Param belongs to: "Layers.0" of "Layers.0.W".
func layerOf(name string) string { return strings.Join(strings.SplitN(name, ".", 3)[:2], ".") }

// Open reads what kind of network a file holds, without its Params.
func Open(path string) (*Network, error) {
	n := new(Network)
	if p, err := task.OpenFile(path, &n.Recipe); err == nil && (p.Task == models.Nodes || p.Task == models.Edges) {
		n.take(p)
		n.Recipe.Fanout = allWritten(n.Recipe.Fanout)
		return n, nil
	}
	if of := task.Saved(path); of.About().Name != task.Node && of.About().Name != task.Edge {
		return nil, fmt.Errorf("%s is a model of %s, and one of nodes is wanted: %s eval and predict take it", path, of.About().Noun, cli.Program)
	}
	if err := train.LoadConfig(path, n); err != nil {
		return nil, err
	}
	r := &n.Recipe
	r.Date()
	err := r.Check()
	if err == nil {
		_, err = NewRecipe(r.Preset, r.Model, r.Dataset)
	}
	if err == nil {
		err = r.Traits().Edges.Check(r.Model, r.EdgeIn, r.Kinds)
	}
	const most = 1 << 24 // features and classes: files are not to be trusted with memory
	if err == nil && (n.In < 1 || n.In > most || n.Classes < 1 || n.Classes > 1<<16) {
		err = fmt.Errorf("%d features and %d classes", n.In, n.Classes)
	}
	if err == nil {
		err = n.Kind.Check(n.Scale, n.Classes)
	}
	switch edges := n.Task == task.Edge; {
	case err != nil:
	case n.Task != "" && !edges || edges != (n.Head != nil):
		err = fmt.Errorf("the task %.20q, with a head of edges %v", n.Task, n.Head != nil)
	case edges || len(n.Codes)+len(n.EdgeCodes) > 0:
		err = n.plan().Check()
	}
	if err := task.Believed(path, err, n.fits); err != nil {
		return nil, err
	}
	return n, nil
}

// take makes n that of a model file.
func (n *Network) take(p *models.Predictor) {
	n.Network = p.Net.(*models.Network)
	n.In, n.Classes, n.Kind, n.Scale, n.Head = n.Shape.In, n.Shape.Out, task.GoalKindOf(p.Goal), p.Goal.Scale, n.Network.Head
	n.Codes, n.EdgeCodes = n.Shape.Codes, n.Shape.EdgeCodes
	if n.Head != nil {
		n.Task = task.Edge
	}
}

// fits reports a model of more numbers than a file of that many bytes has, before
// memory is taken for them.
func (n *Network) fits(bytes int64) error { return models.Fits(n.plan().Numbers(), bytes) }

// trained is a network of the task as a model file has it.
func (k *Examples) trained(n *Network) *models.Trained {
	m := k.Trained(n.Network)
	m.Preparation.Undirected, m.Goal = n.Recipe.Undirected, k.Goal.Kept(k.Schema)
	return m
}

// settingOf are the settings of models that flags set, of those that only some models have.
var settingOf = map[string]string{
	"heads": "Heads", "out-heads": "OutHeads", "attention": "Heads", "attention-dropout": "AttentionDropout",
	"residual": "Residual", "residual-linear": "ResidualLinear", "norm": "Norm", "input": "Input", "output": "Output", "start": "Start", "value-drop": "ValueDrop", "no-bias": "NoBias",
}

// Takes reports whether a flag is for a model.
func Takes(m models.Traits, flag string) bool { return m.Has(settingOf[flag]) }

// Having returns the names of the models that take a flag.
func Having(flag string) string { return strings.Join(models.Having(settingOf[flag]), ", ") }

// FindModel returns what the model of that name is like.
func FindModel(name string) (models.Traits, error) {
	if err := task.ModelNamed(task.Node, name, ""); err != nil {
		return models.Traits{}, err
	}
	m, err := models.Named(name)
	if err != nil {
		return models.Traits{}, err
	}
	return models.TraitsOf(m), nil
}
