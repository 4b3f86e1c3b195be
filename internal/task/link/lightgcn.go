package link

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/train"
)

// LightGCN returns the settings of LightGCN: those of its paper, but for a rate and a number
// of epochs that suit data of some thousand links.
func LightGCN() Recipe {
	return Recipe{Model: modelLightGCN, Hidden: 64, Out: 64, Layers: 3, LR: 0.005, Epochs: 200, Batch: 2048, Drawn: 1, WeightDecay: 1e-4, Val: 0.05, Test: 0.1}
}

// Source is a graph whose links are to be predicted.
type Source struct {
	*datasets.Dataset
	users int // nodes before it are users, the others items; 0: any two nodes may be linked
}

// ReadLinks opens a dataset, or a table of users and items.
func ReadLinks(dir, name, model string, columns source.Columns) (Source, error) {
	path := source.InteractionsIn(dir, name)
	if path == "" || source.HoldsGraphs(dir, name) {
		d, err := source.OpenData(dir, name, columns)
		return Source{Dataset: d}, err
	}
	if model != modelLightGCN {
		return Source{}, cli.Misuse("--dataset %s: users and items have no features, which %s reads: leave --model out, or take %s", name, model, modelLightGCN)
	}
	d, err := datasets.LoadInteractions(path)
	if err != nil {
		return Source{}, err
	}
	return Source{d.Dataset(), len(d.Users)}, nil
}

// fitRows returns the training of a new LightGCN: its paper's loss, with one node drawn for each
// link that its user, or one of its ends in turn, has no link with. The epoch of the best AUC of
// the links to validate with is kept.
func (k *Links) fitRows(r *Recipe) (*train.Fit, *Autoencoder) {
	net := newAutoencoder(r, k)
	conv, draw, links, weight := net.Propagation(), k.rowDrawer(r), k.Train.NumEdges(), 0.0
	return &train.Fit{
		Model: net, Optimiser: &train.Adam{LR: r.LR}, Seed: r.Seed, Epochs: r.Epochs, Patience: r.Patience, By: train.ByAccuracy, Limit: task.MaxLoss,
		Steps: (links + r.Batch - 1) / r.Batch, Team: k.team, Weight: func() float64 { return weight },
		Loss: func(t *grad.Tape) *grad.Var {
			users, items, others := draw(t.Step())
			weight = float64(len(users))
			x := t.Use(net.Rows)
			loss := conv.Loss(conv.Forward(t, k.along, x), users, items, others)
			if r.WeightDecay == 0 {
				return loss
			}
			read := x.Rows(slices.Concat(users, items, others))
			return loss.Add(read.Square().Sum().Scale(r.WeightDecay / 2 / float64(len(users))))
		},
		Eval: k.validate(net),
	}, net
}

// rowDrawer returns what draws the links of a step, which counts from 1, and for each a node
// that its first end has no link with: all links in an epoch, in an order that follows from the
// seed and the step alone.
func (k *Links) rowDrawer(r *Recipe) func(step uint64) (users, items, others []int32) {
	some, n := task.EdgeDrawer(k.Train, r.Seed, r.Batch), k.along.NumNodes()
	near := sortedNeighbours(k.Draw.Graph)
	return func(step uint64) (users, items, others []int32) {
		rng, part := rand.New(rand.NewPCG(r.Seed+2, step)), some(step)
		for e, v := range part.Destinations() {
			u := part.In().Cols[e]
			if k.users == 0 && rng.IntN(2) == 1 {
				u, v = v, u
			}
			users, items, others = append(users, u), append(items, v), append(others, k.stranger(rng, near, u, n))
		}
		return users, items, others
	}
}

// stranger draws a node that u has no link with; of one that has links with nearly all, any.
func (k *Links) stranger(rng *rand.Rand, near [][]int32, u int32, n int) (v int32) {
	const tries = 64
	for range tries {
		v = int32(k.users + rng.IntN(n-k.users))
		if _, linked := slices.BinarySearch(near[u], v); !linked && v != u {
			break
		}
	}
	return v
}

// sortedNeighbours returns the sources of each node's in-edges, in order.
func sortedNeighbours(g *graph.Graph) [][]int32 {
	in, near := g.In(), make([][]int32, g.NumNodes())
	for v := range near {
		near[v] = slices.Sorted(slices.Values(in.Cols[in.Offsets[v]:in.Offsets[v+1]]))
	}
	return near
}

// checkRows returns an error for settings of LightGCN that cannot be.
func (r *Recipe) checkRows() error {
	const most = 64
	switch {
	case r.Model != modelLightGCN:
		return nil
	case r.Layers < 1 || r.Layers > most:
		return cli.Misuse("--layers %d: it must be from 1 to %d, the number of times that rows are propagated", r.Layers, most)
	case r.Batch < 1:
		return cli.Misuse("--batch %d: it must be at least 1, or 0 for all links at once", r.Batch)
	}
	return nil
}

// LightRemedies are those of the flags that LightGCN has no use for, which other models of
// links have or have not.
func LightRemedies() map[string]string {
	none := "LightGCN reads none, a row of each node is learnt: leave it out"
	of := map[string]string{"features": none, "encoding": none}
	for name, remedy := range Remedies {
		if name != "layers" && name != "batch" {
			of[name] = remedy
		}
	}
	of["preset"] = "the settings are those of LightGCN's paper; --hidden, --layers, --lr, --weight-decay, --batch and --epochs change them"
	return of
}

// learnsRows reports whether what is trained is LightGCN: it was asked for, or the data are users
// and items.
func (c *Training) learnsRows() bool {
	return cli.Or(c.Model, "") == modelLightGCN || c.Model == nil && source.InteractionsIn(c.Data, cli.Or(c.Dataset, "")) != ""
}

// whatLinks says of some users and items, or nodes, how many there are.
func (k *Links) whatLinks() string {
	if n := k.along.NumNodes(); k.users > 0 {
		return fmt.Sprintf("%d users, %d items", k.users, n-k.users)
	} else {
		return fmt.Sprintf("%d nodes", n)
	}
}

// ranked says what the ranks of the links to test with are.
func (k *Links) ranked() string {
	if k.users > 0 {
		return "MRR and hits rank each test item of a user among all items, leaving out the user's other items (filtered). Recall and NDCG are means over the users, for the 20 best items, leaving out those of the other parts."
	}
	if k.oneWay {
		return "MRR and hits rank the node that a test link leads to among all others, leaving out those that its source is linked to already (filtered). Recall and NDCG are means over the sources, for the 20 best links, leaving out those of the other parts."
	}
	return "MRR and hits rank each end of a test link among all other nodes, leaving out those that are linked already (filtered). Recall and NDCG are means over the nodes, for the 20 best links, leaving out those of the other parts."
}
