package memories

import (
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A fact is a key and a value, of so many bits.
const (
	keyBits   = 10
	valueBits = 4
	factWidth = 16 // of what keys and questions become
)

// facts are memories, and a question for each: a key that is there, and the value that it has.
type facts struct {
	parents         [][]int32     // of the nodes of each memory
	keys, values    *tensor.Dense // of each node; of an inner one the mean of what is beneath, and nought
	asked, answers  *tensor.Dense // of each question
	leaf            []int32       // the node that has what is asked for
	heard           text.Bits     // the same for a network that hears one fact after the other, and then the key
	graph, asChains *graph.Graph
}

// factsIn makes so many memories of lo to hi facts, each a set or a tree.
func factsIn(tree bool, count, lo, hi int, seed uint64) *facts {
	rng, f := rand.New(rand.NewPCG(seed, 3)), &facts{}
	var keys, values, asked, answers, heard []tensor.Float
	ends, nodes := []int{0}, 0
	for range count {
		codes := rng.Perm(1 << keyBits)[:lo+rng.IntN(hi-lo+1)]
		said := make([]int, len(codes))
		for i := range said {
			said[i] = rng.IntN(1 << valueBits)
			heard = bits(bits(append(heard, 0), codes[i], keyBits), said[i], valueBits)
		}
		one := rng.IntN(len(codes))
		heard = append(bits(append(heard, 1), codes[one], keyBits), make([]tensor.Float, valueBits)...)
		asked, answers = bits(asked, codes[one], keyBits), bits(answers, said[one], valueBits)
		ends = append(ends, ends[len(ends)-1]+len(codes)+1)
		f.heard.At = append(f.heard.At, int32(ends[len(ends)-1]-1))
		b := &branches{tree: tree}
		b.grow(codes, -1)
		f.parents = append(f.parents, b.parents)
		for i, beneath := range b.beneath {
			mean := make([]tensor.Float, keyBits)
			for _, c := range beneath {
				for j, v := range bits(nil, c, keyBits) {
					mean[j] += v / tensor.Float(len(beneath))
				}
			}
			keys = append(keys, mean...)
			switch at := slices.Index(codes, beneath[0]); {
			case b.inner[i]:
				values = append(values, make([]tensor.Float, valueBits)...)
			case at == one:
				f.leaf = append(f.leaf, int32(nodes+i))
				fallthrough
			default:
				values = bits(values, said[at], valueBits)
			}
		}
		nodes += len(b.parents)
	}
	f.keys, f.values = tensor.Of(keys, nodes, keyBits), tensor.Of(values, nodes, valueBits)
	f.asked, f.answers = tensor.Of(asked, count, keyBits), tensor.Of(answers, count, valueBits)
	f.graph = graph.Must(graph.Trees(f.parents...))
	f.heard.X, f.heard.Offsets = tensor.Of(heard, ends[count], 1+keyBits+valueBits), ends
	f.heard.Answer = tensor.Of(slices.Clone(answers), count, valueBits)
	for i, v := range f.heard.Answer.Data {
		f.heard.Answer.Data[i] = (v + 1) / 2
	}
	f.asChains = f.heard.Graph()
	return f
}

// bits adds the last so many bits of a number to x, the first of them first, as −1 and 1.
func bits(x []tensor.Float, code, width int) []tensor.Float {
	for j := width - 1; j >= 0; j-- {
		x = append(x, tensor.Float(2*(code>>j&1)-1))
	}
	return x
}

// branches is a memory in the making: of each node its parent, the codes beneath it, and whether it is an inner one.
type branches struct {
	tree    bool
	parents []int32
	beneath [][]int
	inner   []bool
}

// grow adds a node for some codes, and what is beneath it: a set has all of them beneath its root, and a tree parts them
// by the first bit that they do not share.
func (b *branches) grow(codes []int, parent int32) {
	v := int32(len(b.parents))
	root := !b.tree && parent < 0
	b.parents, b.beneath, b.inner = append(b.parents, parent), append(b.beneath, codes), append(b.inner, len(codes) > 1 || root)
	if root {
		for _, c := range codes {
			b.grow([]int{c}, v)
		}
		return
	}
	for j := keyBits - 1; j >= 0 && len(codes) > 1; j-- {
		var parts [2][]int
		for _, c := range codes {
			parts[c>>j&1] = append(parts[c>>j&1], c)
		}
		if len(parts[0]) > 0 && len(parts[1]) > 0 {
			b.grow(parts[0], v)
			b.grow(parts[1], v)
			return
		}
	}
}

// factReader asks a memory for the value of a key.
type factReader struct {
	Key, Query, Answer *layers.Linear
	Memory             memory.TreeMemory
}

// newFactReader returns one that has learnt nothing.
func newFactReader(rng *rand.Rand) *factReader {
	n := &factReader{&layers.Linear{In: keyBits, Out: factWidth}, &layers.Linear{In: keyBits, Out: factWidth}, &layers.Linear{In: valueBits, Out: valueBits}, memory.TreeMemory{}}
	for _, l := range []*layers.Linear{n.Key, n.Query, n.Answer} {
		l.Init(rng)
	}
	return n
}

// read returns the logits of the bits of each answer, and how likely each node is to be reached.
func (n *factReader) read(t *grad.Tape, f *facts) (y, reached *grad.Var) {
	r, reached := n.Memory.Forward(t, f.graph, n.Key.Forward(t, t.Input(f.keys)), t.Input(f.values), n.Query.Forward(t, t.Input(f.asked)))
	return n.Answer.Forward(t, r), reached
}

// descend returns which share of the questions comes down to the right leaf, and how many keys are looked at for one.
func (n *factReader) descend(f *facts) (right, looked float64) {
	leaf, keys := n.Memory.Descend(f.graph, n.Key.Forward(nil, grad.Const(f.keys)).Value(), n.Query.Forward(nil, grad.Const(f.asked)).Value())
	for i, v := range leaf {
		looked += float64(keys[i]) / float64(len(leaf))
		if v == f.leaf[i] {
			right += 1 / float64(len(leaf))
		}
	}
	return right, looked
}

// exact is the share of answers whose bits are all right.
func (f *facts) exact(y *tensor.Dense) float64 {
	right := 0
	for i := range y.Rows() {
		wrong := false
		for j, v := range y.Row(i) {
			wrong = wrong || (v > 0) != (f.answers.Row(i)[j] > 0)
		}
		if !wrong {
			right++
		}
	}
	return float64(right) / float64(max(1, y.Rows()))
}
