package attention_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// twoLogits returns the logits of two keys and one query, which is like the first of them.
func twoLogits(s attention.Score) []tensor.Float {
	s.Init(rand.New(rand.NewPCG(1, 2)))
	g := graph.CompleteBipartite(2, 1)
	keys, query := grad.Const(tensor.Of([]tensor.Float{3, 4, -4, 3}, 2, 2)), grad.Const(tensor.Of([]tensor.Float{6, 8}, 1, 2))
	t := grad.NewEval()
	return message.ApplyEdges(g, s.Of(t, s.Keys(t, keys), query)).Value().Data
}

// The first key is half of the query, the second stands at right angles to it.
func ExampleDot() {
	fmt.Println(twoLogits(attention.Dot{}))
	// Output: [50 0]
}

func ExampleScaledDot() {
	fmt.Printf("%.2f\n", twoLogits(attention.ScaledDot{})) // over √2
	// Output: [35.36 0.00]
}

// How long keys and queries are does not matter.
func ExampleCosine() {
	fmt.Printf("%.2f\n", twoLogits(&attention.Cosine{Beta: 5}))
	// Output: [5.00 0.00]
}

// With the matrix of one, a bilinear score is the scalar product; learning changes that.
func ExampleBilinear() {
	score := &attention.Bilinear{Key: 2, Query: 2}
	fmt.Println(len(twoLogits(score)), "logits")
	copy(score.W.Value.Data, []tensor.Float{1, 0, 0, 1})
	g := graph.CompleteBipartite(1, 1)
	k := grad.Const(tensor.Of([]tensor.Float{3, 4}, 1, 2))
	fmt.Println(message.ApplyEdges(g, score.Of(nil, score.Keys(nil, k), k)).Value().Data)
	// Output:
	// 2 logits
	// [25]
}

// A small network scores each pair; no pair is laid side by side.
func ExampleConcat() {
	score := &attention.Concat{Key: 2, Query: 2, Hidden: 1}
	score.Init(rand.New(rand.NewPCG(1, 2)))
	copy(score.W.Value.Data, []tensor.Float{1, 0, 0, 1}) // of the key its first number, of the query its second
	score.V.Value.Data[0] = 2
	g := graph.CompleteBipartite(1, 1)
	k, q := grad.Const(tensor.Of([]tensor.Float{0.5, 7}, 1, 2)), grad.Const(tensor.Of([]tensor.Float{7, 0.25}, 1, 2))
	got := message.ApplyEdges(g, score.Of(nil, score.Keys(nil, k), q)).Value().Data[0]
	fmt.Printf("%.4f %.4f\n", got, 2*math.Tanh(0.75))
	// Output: 1.2703 1.2703
}

// What a key is does not matter, only where it stands: a column of scores for each place.
func ExampleByPosition() {
	score := &attention.ByPosition{Query: 2, Longest: 3}
	score.Init(rand.New(rand.NewPCG(1, 2)))
	score.W.Value.Zero()
	score.W.Value.Row(2)[0] = 1 // the third place is liked as much as the query's first number says
	g, chain := graph.CompleteBipartite(3, 1), graph.Chains(3)
	look := &attention.Soft{Score: score.At(chain.Positions())}
	q := grad.Const(tensor.Of([]tensor.Float{math.Ln2, 0}, 1, 2))
	out := look.Apply(grad.NewEval(), g, layers.In{Src: grad.Const(tensor.New(3, 4)), Dst: q})
	fmt.Print(table(g, out.Attention))
	// Output: 0.25 0.25 0.50
}

// translated is a translator of three words into two, which aligns in some way.
func translated(a attention.Aligner) (net *attention.RNNsearch, look attention.Alignment) {
	net = &attention.RNNsearch{Source: 6, Target: 6, Begin: 1, Embed: 4, Hidden: 5, Align: a}
	net.Init(rand.New(rand.NewPCG(1, 2)))
	_, look = net.Apply(grad.NewEval(), graph.Chains(3), []int32{2, 3, 4}, graph.Chains(2), []int32{1, 5})
	return net, look
}

// sums are those of the weights of each step.
func sums(look attention.Alignment) (out []string) {
	w := look.Matrices()[0]
	for i := range w.Rows() {
		s := 0.0
		for _, v := range w.Row(i) {
			s += float64(v)
		}
		out = append(out, fmt.Sprintf("%.2f", s))
	}
	return out
}

// Any score aligns a decoder.
func ExampleContent() {
	_, look := translated(&attention.Content{Score: &attention.Additive{Key: 10, Query: 5, Hidden: 4}})
	fmt.Println("the weights of a step come to", sums(look))
	// Output: the weights of a step come to [1.00 1.00]
}

// A decoder that looks by the place alone.
func ExampleByPlace() {
	_, look := translated(&attention.ByPlace{Score: &attention.ByPosition{Query: 5, Longest: 8}})
	fmt.Println("the weights of a step come to", sums(look))
	// Output: the weights of a step come to [1.00 1.00]
}

// A decoder that looks around a place which it predicts: a Gaussian takes off what is far.
func ExampleLocalP() {
	_, look := translated(&attention.LocalP{Score: &attention.Bilinear{Key: 10, Query: 5}, Query: 5, Hidden: 4, Reach: 2})
	w := look.Matrices()[0]
	fmt.Println(w.Rows(), "steps look at", w.RowLen(), "words")
	// Output: 2 steps look at 3 words
}

// Used for good a monotonic decoder stops once a step and never goes back: here it likes every
// key, so it stays at the first.
func ExampleMonotonic() {
	m := &attention.Monotonic{Score: &attention.Additive{Key: 10, Query: 5, Hidden: 4}, Offset: 20}
	_, look := translated(m)
	w := look.Matrices()[0]
	fmt.Println(w.Row(0), w.Row(1))
	// Output: [1 0 0] [1 0 0]
}

// Coverage carries what was looked at so far, and its penalty is what looking twice costs.
func ExampleCoverage() {
	c := &attention.Coverage{Key: 10, Query: 5, Hidden: 4}
	_, look := translated(c)
	fmt.Println("carried, a weight and a sum an edge:", look.Carried.Shape())
	fmt.Println("a penalty above 0:", c.Penalty(look).Value().Data[0] > 0)
	// Output:
	// carried, a weight and a sum an edge: [6 2]
	// a penalty above 0: true
}

// Luong's order: the decoder reads a word, and then looks at no more than a word on either side.
func ExampleLuong() {
	net := &attention.Luong{Source: 6, Target: 6, Begin: 1, Embed: 4, Hidden: 5, Window: 1, InputFeeding: true}
	net.Init(rand.New(rand.NewPCG(1, 2)))
	logits, look := net.Apply(grad.NewEval(), graph.Chains(4), []int32{2, 3, 4, 5}, graph.Chains(2), []int32{1, 5})
	fmt.Println(logits.Shape())
	for v := range look.Graph.NumDst() {
		fmt.Println("step", v, "sees", look.Graph.InDegree(v), "words")
	}
	// Output:
	// [2 6]
	// step 0 sees 2 words
	// step 1 sees 3 words
}

// What an encoder has read a decoder hears, and of its own tokens those before: two graphs are
// the two masks.
func ExampleDecoder() {
	block := attention.Block{Model: 8, Heads: 2, Hidden: 16}
	reads, says := &attention.Encoder{Block: block, Depth: 2}, &attention.Decoder{Block: block, Depth: 2}
	rng := rand.New(rand.NewPCG(1, 2))
	reads.Init(rng)
	says.Init(rng)
	masks, t := attention.Pairs([]int{3, 5}, []int{4, 2}), grad.NewEval() // two pairs of sentences
	memory := reads.Forward(t, masks.Source, grad.Const(tensor.New(8, 8)))
	y := says.Forward(t, masks.Target, masks.Cross, grad.Const(tensor.New(6, 8)), memory)
	fmt.Println(memory.Shape(), y.Shape())
	// Output: [8 8] [6 8]
}

// Turned by their places, the scalar product of two rows depends on how far apart they are.
func ExampleRotate() {
	x := grad.Const(tensor.Of([]tensor.Float{1, 0, 1, 0}, 2, 1, 2))
	product := func(places ...int32) tensor.Float {
		y := attention.Rotate(x, places).Value().Data
		return y[0]*y[2] + y[1]*y[3]
	}
	fmt.Printf("%.4f %.4f\n", product(0, 3), product(7, 10))
	// Output: -0.9900 -0.9900
}

// Sines and cosines take turns, from fast to slow ones.
func ExampleSinusoids() {
	for p := range int32(2) {
		fmt.Printf("%.2f\n", attention.Sinusoids([]int32{p}, 4).Row(0))
	}
	// Output:
	// [0.00 1.00 0.00 1.00]
	// [0.84 0.54 0.01 1.00]
}
