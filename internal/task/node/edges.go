package node

import (
	"cmp"
	"fmt"
	"strings"
	"sync"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/models"
)

// loopedKinds is how many kinds of edges the layers read: the loops are one more.
func (r *Recipe) loopedKinds() int {
	if r.Kinds == 0 {
		return 0
	}
	return r.Kinds + 1
}

// ofEdges says what the layers read of edges, after what they read of nodes.
func (r *Recipe) ofEdges() string {
	switch {
	case r.EdgeIn > 0:
		return fmt.Sprintf("; %d per edge", r.EdgeIn)
	case r.Kinds > 0:
		return fmt.Sprintf("; %d kinds of edges", r.Kinds)
	}
	return ""
}

// There says what the dataset has of edges.
func (k *Examples) There() task.EdgesThere {
	kinds := 0
	if k.EdgeKinds.Known() {
		kinds = len(k.EdgeKinds.Names)
	}
	return task.EdgesThere{
		Data: k.Name, Width: task.WidthOf(k.EdgeFeatures), Kinds: kinds,
		Readers: models.Names(models.MayNumbers, models.WantsNumbers), Instead: "gat", How: "a table of edges says them in a column of words that is called relation",
		Beside: k.Pairing != nil,
	}
}

// Suit prepares the data as a recipe wants it: the form of the features, encodings beside them, and what is read of edges, of which features
// are standardised if those of nodes are. What has been prepared so stays.
func (k *Examples) Suit(r *Recipe) error {
	if err := k.prepare(r); err != nil {
		return err
	}
	if err := r.Traits().Edges.Check(r.Model, r.EdgeIn, r.Kinds); err != nil {
		return cli.Misuse("--model %w", err)
	}
	return cmp.Or(r.checkPairs(k.Graph.NumNodes()), r.checkRings(k.Looped))
}

// prepare is Suit without a look at the model.
func (k *Examples) prepare(r *Recipe) error {
	p := models.Preparation{Encoding: r.Encoding, NoEdges: r.NoEdges}
	p.Features.Form = string(cmp.Or(r.Features, task.FormOf(k.words)))
	if was := k.Preparation; was != nil && was.Features.Form == p.Features.Form && was.Encoding == p.Encoding && was.NoEdges == p.NoEdges {
		return nil
	}
	if p.Features.Form == columns.Standard {
		p.Edges.Form = columns.Standard
	}
	d, form := *k.Dataset, p.Features.Form
	d.Split = k.Parts
	wrong := p.Fit(&d)
	if wrong == nil {
		data, err := models.Prepare(&d, &p)
		if err == nil {
			k.Data, k.near = data, new(sync.Map)
			return nil
		}
		if _, wrong = p.Apply(k.Features); wrong == nil {
			return err
		}
	}
	return fmt.Errorf("features as %s: %w; the forms of --features are %s", form, wrong, strings.Join(task.Forms, ", "))
}

// Weighing says what becomes of the weights of the edges, "" if there are none.
func (k *Examples) Weighing(m models.Traits) string {
	switch {
	case k.Weights == nil:
		return ""
	case m.Weighted:
		return "used"
	}
	return "not used"
}

// rescale says what to try if a column of the features has a large scale and the form keeps it, or
// keeps only whether there is a number; empty if no column has. Columns of tables are of one scale unless somebody wants them otherwise.
func (k *Examples) rescale(f task.Form) string {
	if k.words.Columns {
		return ""
	}
	if most, large := k.LargestDeviation(); f != task.FormStandard && large {
		return fmt.Sprintf("some features have a large scale (standard deviations up to %.3g), so equal scales may help: try --features %s", most, task.FormStandard)
	}
	return ""
}
