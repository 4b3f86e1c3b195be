package gatbench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/train"
)

// network is a network for nodes or edges and how it was trained. Its file holds the recipe, from which the layers are
// made again.
type network struct {
	Task        string `json:",omitempty"` // taskEdge of one that tells edges apart: its file says so; empty: nodes
	Recipe      recipe
	In, Classes int      // Classes are the outputs, whatever they are
	Kind        goalKind `json:",omitempty"` // of what is learnt
	Scale       scale    `json:",omitzero"`  // of numbers

	Codes, EdgeCodes []columns.Code `json:",omitempty"` // as models.Shape has them

	*models.Network `json:"-"`
	Head            *models.Pairs `json:",omitempty"` // what that of Network is made from; nil: nodes are told apart
}

// newNetwork returns an initialised network for features of that width.
func newNetwork(r recipe, width, classes int) (*network, error) {
	n := &network{Recipe: r, In: width, Classes: classes}
	if err := n.build(); err != nil {
		return nil, err
	}
	return n, nil
}

// plan returns the network that the recipe asks for, without its Params.
func (n *network) plan() *models.Network {
	r := &n.Recipe
	plan := &models.Network{Model: r.Model, Settings: r.settings(), Shape: models.Shape{In: n.In, Out: n.Classes, EdgeIn: r.EdgeIn, EdgeKinds: r.loopedKinds(), Codes: n.Codes, EdgeCodes: n.EdgeCodes}}
	if n.Head != nil {
		head := *n.Head
		plan.Head = &head
	}
	return plan
}

// build makes the layers that the recipe asks for.
func (n *network) build() error {
	if _, err := findModel(n.Recipe.Model); err != nil {
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
func describe(r *recipe, outputs int, head *models.Pairs) string {
	return (&network{Recipe: *r, Classes: outputs, Head: head}).plan().String()
}

// layerOf returns the layer that a Param belongs to: "Layers.0" of "Layers.0.W".
func layerOf(name string) string { return strings.Join(strings.SplitN(name, ".", 3)[:2], ".") }

// openNetwork reads what kind of network a file holds, without its Params.
func openNetwork(path string) (*network, error) {
	n := new(network)
	if p, err := modelFile(path, &n.Recipe); err == nil && (p.Task == models.Nodes || p.Task == models.Edges) {
		n.take(p)
		n.Recipe.Fanout = allWritten(n.Recipe.Fanout)
		return n, nil
	}
	if of := savedTask(path); of.Name() != taskNode && of.Name() != taskEdge {
		return nil, fmt.Errorf("%s is a model of %s, and one of nodes is wanted: %s eval and predict take it", path, of.Noun(), cli.Program)
	}
	if err := train.LoadConfig(path, n); err != nil {
		return nil, err
	}
	r := &n.Recipe
	r.date()
	err := r.check()
	if err == nil {
		_, err = newRecipe(r.Preset, r.Model, r.Dataset)
	}
	if err == nil {
		err = r.model().Edges.Check(r.Model, r.EdgeIn, r.Kinds)
	}
	const most = 1 << 24 // features and classes: files are not to be trusted with memory
	if err == nil && (n.In < 1 || n.In > most || n.Classes < 1 || n.Classes > 1<<16) {
		err = fmt.Errorf("%d features and %d classes", n.In, n.Classes)
	}
	if err == nil {
		err = n.Kind.check(n.Scale, n.Classes)
	}
	switch edges := n.Task == taskEdge; {
	case err != nil:
	case n.Task != "" && !edges || edges != (n.Head != nil):
		err = fmt.Errorf("the task %.20q, with a head of edges %v", n.Task, n.Head != nil)
	case edges || len(n.Codes)+len(n.EdgeCodes) > 0:
		err = n.plan().Check()
	}
	if err := believed(path, err, n.fits); err != nil {
		return nil, err
	}
	return n, nil
}

// take makes n that of a model file.
func (n *network) take(p *models.Predictor) {
	n.Network = p.Net.(*models.Network)
	n.In, n.Classes, n.Kind, n.Scale, n.Head = n.Shape.In, n.Shape.Out, goalKindOf(p.Goal), p.Goal.Scale, n.Network.Head
	n.Codes, n.EdgeCodes = n.Shape.Codes, n.Shape.EdgeCodes
	if n.Head != nil {
		n.Task = taskEdge
	}
}

// believed is err, what is wrong with what a file says of its model, or, if that is nil,
// what fits says to the size of the file.
func believed(path string, err error, fits func(bytes int64) error) error {
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(path); err == nil {
			err = fits(info.Size())
		}
	}
	if err != nil {
		return fmt.Errorf("%s: what it says of its model cannot be: %s", path, err)
	}
	return nil
}

// fits reports a model of more numbers than a file of that many bytes has, before
// memory is taken for them.
func (n *network) fits(bytes int64) error { return models.Fits(n.plan().Numbers(), bytes) }

// save writes a model file with the recipe of its training and the scores on the parts of its data.
func save(path string, m *models.Trained, recipe any, scores map[string]map[string]float64) (err error) {
	if m.Recipe, err = json.Marshal(recipe); err != nil {
		return err
	}
	m.Scores = scores
	for _, part := range scores {
		for name, v := range part {
			if v-v != 0 {
				delete(part, name) // of no examples
			}
		}
	}
	return m.Save(path)
}

// kept is the goal as a model file has it. Numbers are called as the columns that s, which may be nil, takes them from.
func (g *goal) kept(names []string, s *columns.Schema) *models.Goal {
	out := &models.Goal{Of: form.Of(g.example), Kind: columns.OneClass, Outputs: g.Outputs}
	out.Scale, out.Weights, out.Metric, out.Positive, out.Threshold = g.Scale, g.Weights, g.Metric, g.Positive, g.Threshold
	if g.kind != oneClass {
		out.Kind = columns.Answer(g.kind)
	}
	if out.Kind == columns.Numbers && len(names) == 0 && s != nil && s.Label != nil {
		names = s.Label.Columns
	}
	if len(names) == g.Outputs {
		out.Names = names
	}
	return out
}

// goalKindOf is what a model file says is learnt.
func goalKindOf(g *models.Goal) goalKind {
	if g.Kind == columns.OneClass {
		return oneClass
	}
	return goalKind(g.Kind)
}

// trained is a network of the task as a model file has it.
func (k *task) trained(n *network) *models.Trained {
	p, r := k.prepared, &n.Recipe
	p.Undirected, p.Encoding, p.NoEdges = r.Undirected, r.Encoding, r.NoEdges
	if r.NoEdges {
		p.Own, p.Kinds, p.Edges = 0, nil, columns.Scaling{Form: p.Edges.Form}
	}
	m := &models.Trained{Task: models.Nodes, Net: n.Network, Schema: k.Schema, Preparation: p, Goal: k.goal.kept(k.ClassNames, k.Schema)}
	if n.Head != nil {
		m.Task = models.Edges
	}
	m.Data = models.Source{Name: k.Name, Digest: m.DigestOf(k.Dataset)}
	return m
}

// trained is a network of graphs as a model file has it.
func (k *graphTask) trained(n *graphNet, own *goal) *models.Trained {
	d, r, p := k.source, &n.Recipe, k.prepared
	if !p.Fitted {
		p = r.preparation()
	}
	if p.Encoding = r.Encoding; !p.Fitted {
		m, err := models.Named(r.model().Name)
		if err == nil {
			_, err = models.PrepareGraphs(d, m, &p) // which fits p
		}
		if err != nil {
			panic(err) // the network was trained on what comes of it
		}
	}
	return &models.Trained{Task: models.Graphs, Net: n.GraphNetwork, Schema: k.Schema, Preparation: p, Goal: own.kept(k.ClassNames, k.Schema), Data: models.Source{Name: k.Name}}
}

// trained is a network of links as a model file has it.
func (k *linkTask) trained(a *autoencoder) *models.Trained {
	d := k.data
	m := &models.Trained{Task: models.Links, Net: a.LinkNetwork, Schema: d.Schema}
	m.Data = models.Source{Name: d.Name, Digest: m.DigestOf(d)}
	if a.Rows != nil {
		m.Learnt = &models.Learnt{IDs: nodeIDs(d), Users: k.users}
		return m
	}
	m.Preparation = k.prepared
	m.Preparation.Encoding = a.Recipe.Encoding
	return m
}

// nodeIDs returns the ids of nodes, or their numbers.
func nodeIDs(d *datasets.Dataset) []string {
	if len(d.NodeIDs) > 0 {
		return d.NodeIDs
	}
	ids := make([]string, d.Graph.NumNodes())
	for v := range ids {
		ids[v] = fmt.Sprint(v)
	}
	return ids
}

// trained is a scorer of facts as a model file has it.
func (n *factNet) trained(k *datasets.Knowledge) *models.Trained {
	return &models.Trained{Task: models.Facts, Net: n.FactNetwork, Learnt: &models.Learnt{IDs: entityIDs(k), Relations: k.RelationNames}, Data: models.Source{Name: k.Name}}
}

// entityIDs returns the names of entities, or their numbers.
func entityIDs(k *datasets.Knowledge) []string {
	if len(k.EntityNames) > 0 {
		return k.EntityNames
	}
	ids := make([]string, k.Entities)
	for v := range ids {
		ids[v] = fmt.Sprint(v)
	}
	return ids
}

// modelFile reads a model file and the recipe of its training, which another program need not have written.
func modelFile(path string, own any) (*models.Predictor, error) {
	p, err := models.Open(path)
	if err != nil {
		return nil, err
	}
	if len(p.Recipe) > 0 && own != nil {
		if err := jsonread.Unmarshal(p.Recipe, own); err != nil {
			return nil, fmt.Errorf("%s: what it says of its training: %w", path, jsonread.What(err))
		}
	}
	return p, nil
}

// taskIn is what train says of the task of a model file.
func taskIn(p *models.Predictor) string {
	switch p.Task {
	case models.Edges:
		return taskEdge
	case models.Graphs:
		return taskGraph
	case models.Links:
		return taskLink
	case models.Facts:
		return taskFacts
	}
	return taskNode
}

// scoresOf are the scores of a training as a model file has them.
func scoresOf(s report.Summary) map[string]map[string]float64 {
	key := cmp.Or(s.Metric.Key, "accuracy")
	return map[string]map[string]float64{"train": {key: float64(s.TrainAccuracy)}, "val": {key: float64(s.ValAccuracy)}, "test": {key: float64(s.TestAccuracy)}}
}

// The models that others name.
const (
	modelGIN      = "gin"
	modelGPS      = "gps"
	modelH2GCN    = "h2gcn"
	modelLightGCN = "lightgcn"
	modelGAE      = "gae"
	modelVGAE     = "vgae"
	modelTransE   = "transe"
	modelDistMult = "distmult"
	modelComplEx  = "complex"
	modelRotatE   = "rotate"
)

// settingOf are the settings of models that flags set, of those that only some models have.
var settingOf = map[string]string{
	"heads": "Heads", "out-heads": "OutHeads", "attention": "Heads", "attention-dropout": "AttentionDropout",
	"residual": "Residual", "residual-linear": "ResidualLinear", "norm": "Norm", "input": "Input", "output": "Output", "start": "Start", "value-drop": "ValueDrop", "no-bias": "NoBias",
}

// takes reports whether a flag is for a model.
func takes(m models.Traits, flag string) bool { return m.Has(settingOf[flag]) }

// having returns the names of the models that take a flag.
func having(flag string) string { return strings.Join(models.Having(settingOf[flag]), ", ") }

// findModel returns what the model of that name is like.
func findModel(name string) (models.Traits, error) {
	if err := modelNamed(taskNode, name, ""); err != nil {
		return models.Traits{}, err
	}
	m, err := models.Named(name)
	if err != nil {
		return models.Traits{}, err
	}
	return models.TraitsOf(m), nil
}
