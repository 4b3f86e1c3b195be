package text_test

import (
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/sequence"
)

// fixture writes a file for an example, and returns its path.
func fixture(name, content string) string {
	dir, err := os.MkdirTemp("", "text")
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		log.Fatal(err)
	}
	return path
}

// A table of texts and classes becomes graphs of chains.
func Example() {
	path := fixture("reviews.csv", "review,stars\na fine film,5\n\"long, dull\",1\na fine long film,4\n")
	defer os.RemoveAll(filepath.Dir(path))

	l, err := text.LoadCSV(path, "review", "stars")
	if err != nil {
		log.Fatal(err) // names the file, the line and what to do
	}
	words, err := text.NewWords(l.Texts, 1, false) // of words that occur once or more
	if err != nil {
		log.Fatal(err)
	}
	reviews := text.EncodeLines(words, l.Texts)
	for _, rows := range text.ByLength(reviews.Lengths(), 2, 1, 0) { // batches of 2, seed 1, epoch 0
		b := reviews.Batch(rows)
		labels := l.Rows(rows).Labels
		fmt.Println(b.Graph.NumNodes(), "words in", len(labels), "reviews:", words.Decode(b.Tokens))
	}
	// Output:
	// 4 words in 1 reviews: a fine long film
	// 6 words in 2 reviews: a fine film long , dull
}

// A batch goes into a recurrent layer: a row of the embedding a word, and the last state
// of each sentence.
func ExampleRagged_Batch() {
	lines := []string{"a fine film", "long , dull", "a long film that is fine"}
	words, err := text.NewWords(lines, 1, false)
	if err != nil {
		log.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	embedding := grad.NewParam(words.Len(), 8)
	embedding.Value.Normal(rng, 0, 1)
	gru := &sequence.GRU{In: 8, Hidden: 4}
	gru.Init(rng)

	sentences := text.EncodeLines(words, lines)
	b := sentences.Batch([]int32{2, 0})
	t := grad.NewTape(1)
	h := gru.Forward(t, b.Graph, t.Use(embedding).Rows(b.Tokens))
	last := h.Rows(b.Graph.Sinks())
	fmt.Println(h.Shape(), last.Shape())
	// Output: [9 4] [2 4]
}

// A text file becomes segments for a language model over characters.
func ExampleSegments() {
	path := fixture("song.txt", "row, row,\nrow your boat\n")
	defer os.RemoveAll(filepath.Dir(path))

	lines, err := text.LoadLines(path)
	if err != nil {
		log.Fatal(err)
	}
	chars, err := text.NewCharacters(lines, false)
	if err != nil {
		log.Fatal(err)
	}
	var tokens []int32
	for _, line := range lines {
		tokens = append(append(tokens, chars.Encode(line)...), text.End)
	}
	input, next := text.Segments(tokens, 8)
	fmt.Printf("%q → %q\n", chars.Decode(input.Sequence(0)), chars.Decode(next.Sequence(0)))
	// Output:
	// "row, row" → "ow, row,"
}

// Lines and their translations become what an encoder–decoder is taught with.
func ExamplePairs() {
	p := &text.Parallel{Source: []string{"ein Hund", "eine Katze schläft"}, Target: []string{"a dog", "a cat sleeps"}}
	german, err := text.NewWords(p.Source, 1, true)
	if err != nil {
		log.Fatal(err)
	}
	english, err := text.NewWords(p.Target, 1, true)
	if err != nil {
		log.Fatal(err)
	}
	pairs := p.Encode(german, english)
	b := pairs.Batch([]int32{1, 0})
	fmt.Println("read   ", german.Words(b.Source.Tokens))
	fmt.Println("fed    ", english.Words(b.Input.Tokens))
	fmt.Println("to say ", english.Words(b.Output))
	// Output:
	// read    [eine Katze schläft ein Hund]
	// fed     [<begin> a cat sleeps <begin> a dog]
	// to say  [a cat sleeps <end> a dog <end>]
}

// Byte pairs know every text, and give it back.
func ExampleTrainBytePairs() {
	b, err := text.TrainBytePairs([]string{"low lower lowest", "slow slower slowest"}, 266)
	if err != nil {
		log.Fatal(err)
	}
	for _, line := range []string{"slowest", "naïve"} {
		var parts []string
		for _, token := range b.Encode(line) {
			parts = append(parts, b.Decode([]int32{token}))
		}
		fmt.Printf("%s: %q\n", line, parts)
	}
	// Output:
	// slowest: ["s" "lowe" "st"]
	// naïve: ["n" "a" "\xc3" "\xaf" "v" "e"]
}

// A tree becomes a graph from children to parents, whose edges know the child's place.
func ExampleBatchTrees() {
	tree, err := text.ParseTree("(3 (2 a) (4 (3 lovely) (2 film)))")
	if err != nil {
		log.Fatal(err)
	}
	v, err := text.NewVocabulary([][]string{tree.Words}, 1)
	if err != nil {
		log.Fatal(err)
	}
	b, err := text.BatchTrees([]text.Tree{tree}, v)
	if err != nil {
		log.Fatal(err)
	}
	for p := range b.Graph.NumNodes() {
		for e, child := range b.Graph.Sources(p) {
			fmt.Printf("node %d is child %d of node %d\n", child, b.Graph.Kinds()[e], p)
		}
	}
	fmt.Println("labels", b.Labels, "tokens", b.Tokens)

	rng := rand.New(rand.NewPCG(1, 2))
	embedding := grad.NewParam(v.Len(), 8)
	embedding.Value.Normal(rng, 0, 1)
	layer := &sequence.TreeLSTM{In: 8, Hidden: 4}
	layer.Init(rng)
	t := grad.NewTape(1)
	h := layer.Forward(t, b.Graph, t.Use(embedding).Embedding(b.Tokens, grad.NoLabel)) // zeros where there is no word
	fmt.Println(h.Shape(), h.Rows(b.Roots).Shape())
	// Output:
	// node 1 is child 0 of node 0
	// node 2 is child 1 of node 0
	// node 3 is child 0 of node 2
	// node 4 is child 1 of node 2
	// labels [3 2 4 3 2] tokens [-1 3 -1 5 4]
	// [5 4] [1 4]
}

// A task makes as many sequences as one wants, the same for the same seed.
func ExampleTask() {
	brackets, depth := text.Task{Count: 1, Min: 8, Seed: 3}.Dyck()
	fmt.Println(brackets.Sequence(0), depth.Sequence(0))

	d := text.Task{Count: 1, Seed: 1}.Dates()
	fmt.Println(d.Source[0], "→", d.Target[0])
	// Output:
	// [0 0 1 0 1 1 0 1] [1 2 1 2 1 0 1 0]
	// 9 august 2002 → 2002-08-09
}
