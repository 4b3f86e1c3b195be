package node

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/sample"
)

// loader returns the batches of a training: some of the training nodes at a time, or the
// ends of some of the edges, each with the neighbours that its layers look at. Where none are drawn it is all
// of them, and what a step computes is what the whole graph would give.
func (k *Examples) loader(net *Network) *sample.Loader {
	r, l := &net.Recipe, k.Loader(net.Network)
	l.Fanout, l.Seed, l.Size, l.Sums = r.fanout(), r.Seed, r.Batch, r.Fanout != "" && r.Traits().Sums
	if r.Fanout != "" && r.Traits().Edges.Kinds() && len(l.Graph.Kinds()) > 0 {
		l.Kinds, l.Fanout = sample.EachKind(l.Graph, l.Fanout), nil
	}
	if l.Nodes = k.Parts.Train; k.Pairing != nil {
		l.Nodes, l.Edges = nil, k.Parts.Train
	}
	return l
}

// lossOfBatch returns the loss of b, the batch of a step.
func (k *Examples) lossOfBatch(net *Network, b **sample.Batch) func(t *grad.Tape) *grad.Var {
	return func(t *grad.Tape) *grad.Var {
		return k.Goal.LossOf(net.Recipe.Loss, k.examples(*b))(net.Run(t, k.Batch(net.Network, *b)))
	}
}

// examples are the nodes of a batch that train, or the edges.
func (k *Examples) examples(b *sample.Batch) []int32 {
	if k.Pairing != nil {
		return b.Edges
	}
	return b.Seeds
}

// lossOf returns the loss of all training nodes, or edges, at once. Of the rows of each layer
// only those are computed that it depends on: of the last the training nodes', of
// the one before those and their in-neighbours', and so on. The others would be
// neither seen by the loss nor get a gradient, so loss and gradients are those of
// the whole graph; where few nodes train they are most of the work.
func (k *Examples) lossOf(net *Network) func(t *grad.Tape) *grad.Var {
	of, p := k.Goal.LossOf(net.Recipe.Loss, k.Parts.Train), k.Needed(net)
	loss := func(t *grad.Tape) *grad.Var { return of(net.Run(t, p)) }
	return net.Teach(k.GraphOf(net.Network), net.Recipe.Seed, loss)
}

// Needed returns what a network computes for the training nodes' sake: all rows if the recipe asks for them, or else what
// [models.Data.Needed] says.
func (k *Examples) Needed(net *Network) models.Pass {
	if net.Recipe.Rows == rowsAll {
		return k.Every(net)
	}
	key := nearKey{net.Model, len(net.Layers), net.Settings.Norm, net.Shape.EdgeIn > 0}
	p, _ := k.near.LoadOrStore(key, sync.OnceValue(func() models.Pass { return k.Data.Needed(net.Network, k.Parts.Train) }))
	return p.(func() models.Pass)()
}

// Every is Needed with all rows.
func (k *Examples) Every(net *Network) models.Pass {
	p := k.All(net.Network)
	if k.Pairing != nil {
		p.Ends, p.Rows = k.Pairing.Some(k.Parts.Train, nil), nil
	} else {
		p.Rows = k.Parts.Train
	}
	return p
}

// nearKey is what of a network decides what it needs.
type nearKey struct {
	model  string
	layers int
	norm   models.Norm
	edges  bool // features of edges are read
}

// setFanout sets how many neighbours are drawn, in the form in which numbers are
// printed: " 15, 010" is "15,10".
func (r *Recipe) setFanout(flag *string) {
	if flag == nil {
		return
	}
	r.Fanout = *flag
	ks, err := numbers(r.Fanout)
	if err != nil {
		return // the check says so
	}
	words := make([]string, len(ks))
	for i, k := range ks {
		words[i] = strconv.Itoa(k)
		if k == sample.All {
			words[i] = allWord
		}
	}
	r.Fanout = strings.Join(words, ",")
}

// allWord is all neighbours in --fanout.
const allWord = "all"

// numbers reads what is given as --fanout.
func numbers(list string) ([]int, error) {
	var out []int
	for _, word := range strings.Split(list, ",") {
		k, err := strconv.Atoi(strings.TrimSpace(word))
		if strings.TrimSpace(word) == allWord {
			k, err = sample.All, nil
		}
		if err != nil || k < 1 {
			return nil, cli.Misuse("--fanout %.60s: %.60q is no number of neighbours: give one for each layer, the first layer's first, such as 15,10, and all for all", list, word)
		}
		out = append(out, k)
	}
	return out, nil
}

// allWritten is a fan-out of a file in today's words: older versions wrote 0 for all.
func allWritten(fanout string) string {
	words := strings.Split(fanout, ",")
	for i, w := range words {
		if w == "0" {
			words[i] = allWord
		}
	}
	return strings.Join(words, ",")
}

// fanout returns how many neighbours are drawn for a node in each layer.
func (r *Recipe) fanout() []int {
	if r.Fanout == "" {
		return slices.Repeat([]int{sample.All}, r.Layers)
	}
	ks, err := numbers(r.Fanout)
	if err != nil {
		panic(err) // flags and files are checked
	}
	return ks
}

// checkFanout returns an error for neighbours that cannot be drawn.
func (r *Recipe) checkFanout() error {
	if r.Fanout == "" {
		return nil
	}
	m, err := FindModel(r.Model)
	if err != nil {
		return err
	}
	ks, err := numbers(r.Fanout)
	switch {
	case err != nil:
		return err
	case m.Whole != "":
		return cli.Misuse("--fanout %s: a layer of %s %s: leave it out", r.Fanout, r.Model, m.Whole)
	case len(ks) != r.Layers:
		return cli.Misuse("--fanout %s: numbers given: %d, layers: %d; give one for each layer", r.Fanout, len(ks), r.Layers)
	case r.Batch == 0:
		return cli.Misuse("--fanout %s: neighbours are drawn for batches: give --batch too, such as --batch 1024", r.Fanout)
	}
	return nil
}

// checkAccumulate returns an error for batches that cannot be taken together.
func (r *Recipe) checkAccumulate() error {
	switch {
	case r.Accumulate < 0:
		return cli.Misuse("--accumulate %d: it must be at least 1", r.Accumulate)
	case r.Accumulate > 1 && r.Batch == 0:
		return cli.Misuse("--accumulate %d: it adds up batches, and a step is on all nodes at once: give --batch too, such as --batch 1024", r.Accumulate)
	}
	return nil
}

// batching says what a step on some of the nodes reads, "" if it is on all.
func (r *Recipe) batching(example string) string {
	if r.Batch == 0 {
		return ""
	}
	text := fmt.Sprintf("batches of %d %ss", r.Batch, example)
	if r.Accumulate > 1 {
		text += fmt.Sprintf(", %d for each step of the optimiser,", r.Accumulate)
	}
	if r.Fanout == "" {
		return text + " with all their neighbours"
	}
	var drawn []string
	for i, k := range r.fanout() {
		if k == sample.All {
			drawn = append(drawn, fmt.Sprintf("all in layer %d", i+1))
		} else {
			drawn = append(drawn, fmt.Sprintf("%d in layer %d", k, i+1))
		}
	}
	each := "node"
	if r.Traits().Edges.Kinds() {
		each = "node by each kind of edge"
	}
	return text + "; neighbours drawn for each " + each + ": " + strings.Join(drawn, ", ") + "; evaluations read all"
}

// training returns the task that steps are made on: k itself, or for --inductive that of
// the nodes that train alone, with the edges among them. Evaluations are k's, so they meet
// nodes and edges that no step has seen. An encoding is that of the smaller graph.
func (k *Examples) training(r *Recipe) (*Examples, error) {
	if !r.Inductive {
		return k, nil
	}
	nodes := k.Parts.Train
	seen := &Examples{Dataset: k.Subgraph(nodes), Called: k.Called, Goal: k.Goal.OnlyOf(nodes), near: new(sync.Map)}
	seen.Parts.Train = task.NumbersTo(len(nodes))
	seen.Split = seen.Parts
	var err error
	if seen.Data, err = models.Prepare(seen.Dataset, k.Preparation); err != nil {
		return nil, fmt.Errorf("the nodes that train: %w", err)
	}
	return seen, nil
}
