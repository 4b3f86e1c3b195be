package layers

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/sequence"
)

// What is timed of trees: so many in a batch, and so wide.
const (
	treeBatch  = 25
	treeHidden = 150
	sentiments = 5
)

// Trees are batches of trees: of drawn ones, and of the Stanford Sentiment Treebank's where that is
// found.
func Trees(c *bench.Choice) []bench.Benchmark {
	var out []bench.Benchmark
	params := func(of string) map[string]any {
		return map[string]any{"trees": of, "batch": treeBatch, "i": treeHidden, "h": treeHidden, "threads": c.Threads}
	}
	for _, l := range []struct {
		name  string
		arity int
	}{{"treelstm", 0}, {"treelstm_binary", 2}} {
		out = append(out, bench.Benchmark{
			Name: fmt.Sprintf("sequence/%s/drawn/%dx%d", l.name, treeBatch, treeHidden), Op: "sequence/" + l.name, Lanes: c.Threads, Params: params("drawn"),
			Prepare: func() bench.Work { return treeTask(drawnTrees(), l.arity).workload() },
		})
		dir, err := text.Find(c.Data, "sst")
		if err != nil {
			continue
		}
		out = append(out, bench.Benchmark{
			Name: fmt.Sprintf("sequence/%s/sst/%dx%d", l.name, treeBatch, treeHidden), Op: "sequence/" + l.name, Lanes: c.Threads, Params: params("sst"),
			Open: func() (bench.Work, error) {
				b, err := firstTrees(dir)
				if err != nil {
					return bench.Work{}, err
				}
				return treeTask(b, l.arity).workload(), nil
			},
		})
	}
	return out
}

// firstTrees are a batch of the treebank's first sentences.
func firstTrees(dir string) (*text.TreeBatch, error) {
	trees, _, _, err := text.LoadSST(dir)
	if err != nil {
		return nil, err
	}
	if len(trees) < treeBatch {
		return nil, errors.New("the treebank has fewer sentences than a batch")
	}
	trees = trees[:treeBatch]
	var words [][]string
	for _, t := range trees {
		words = append(words, t.Words)
	}
	v, err := text.NewVocabulary(words, 1)
	if err != nil {
		return nil, err
	}
	return text.BatchTrees(trees, v)
}

// drawnTrees are binary trees over sentences of 4 + 6k mod 31 words, for k = 0, 1, 2 …. A
// span of n words is split after the first 1 + ⌊r/2¹⁶⌋ mod min(n−1, 4), where r, which begins with 1,
// becomes 1664525·r + 1013904223 mod 2³² before each split. Nodes come in preorder, and
// labels are their places, modulo 5. So a peer can make the same.
func drawnTrees() *text.TreeBatch {
	r, b := uint32(1), &text.TreeBatch{}
	var parents [][]int32
	words := int32(0)
	for k := range treeBatch {
		var parent []int32
		var grow func(up int32, n int)
		grow = func(up int32, n int) {
			at := int32(len(parent))
			parent = append(parent, up)
			if b.Labels = append(b.Labels, at%sentiments); n == 1 {
				b.Tokens = append(b.Tokens, words)
				words++
				return
			}
			b.Tokens = append(b.Tokens, grad.NoLabel)
			r = 1664525*r + 1013904223
			left := 1 + int(r>>16)%min(n-1, 4)
			grow(at, left)
			grow(at, n-left)
		}
		grow(-1, 4+6*k%31)
		parents = append(parents, parent)
	}
	b.Graph = graph.Must(graph.Trees(parents...))
	return b
}

// sentimentTask is a label for every node of trees.
type sentimentTask struct {
	*text.TreeBatch
	words *grad.Param
	tree  *sequence.TreeLSTM
	out   *layers.Linear
}

func treeTask(b *text.TreeBatch, arity int) *sentimentTask {
	rng, most := rand.New(rand.NewPCG(1, 2)), int32(0)
	for _, w := range b.Tokens {
		most = max(most, w)
	}
	s := &sentimentTask{
		TreeBatch: b, words: grad.NewParam(int(most)+1, treeHidden),
		tree: &sequence.TreeLSTM{In: treeHidden, Hidden: treeHidden, Arity: arity}, out: &layers.Linear{In: treeHidden, Out: sentiments},
	}
	s.words.Value.Normal(rng, 0, 1)
	s.tree.Init(rng)
	s.out.Init(rng)
	return s
}

func (s *sentimentTask) forward(t *grad.Tape) *grad.Var {
	return s.out.Forward(t, s.tree.Forward(t, s.Graph, t.Use(s.words).Embedding(s.Tokens, grad.NoLabel)))
}

// workload is the loss at all nodes with its gradients, without the optimiser.
func (s *sentimentTask) workload() bench.Work {
	t, eval := grad.NewTape(1), grad.NewEval()
	return bench.Work{
		Call: func() {
			t.Reset()
			t.Backward(s.forward(t).CrossEntropy(s.Labels))
		},
		Forward: func() {
			eval.Reset()
			s.forward(eval)
		},
	}
}
