package decode_test

import (
	"fmt"
	"math"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The words of a toy language, and how often one follows another.
var words = []string{"<end>", "<begin>", "the", "a", "cat", "dog", "sleeps", "barks"}

func follows() *tensor.Dense {
	counts := map[[2]string]float64{
		{"<begin>", "the"}: 5, {"<begin>", "a"}: 4,
		{"the", "cat"}: 3, {"the", "dog"}: 2, {"a", "dog"}: 9, {"a", "cat"}: 1,
		{"cat", "sleeps"}: 3, {"cat", "<end>"}: 1, {"dog", "barks"}: 8, {"dog", "sleeps"}: 1,
		{"sleeps", "<end>"}: 1, {"barks", "<end>"}: 9, {"barks", "barks"}: 1,
	}
	x := tensor.New(len(words), len(words))
	for i, a := range words {
		for j, b := range words {
			x.Row(i)[j] = tensor.Float(math.Log(counts[[2]string{a, b}])) // −Inf where never
		}
	}
	return x
}

// bigram is a model without a state: the last word says what follows.
func bigram(t *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
	return t.Input(follows()).Rows(l.Last), nil
}

func sentence(s decode.Sequence) string {
	var text []string
	for _, k := range s.Tokens {
		text = append(text, words[k])
	}
	return strings.Join(text, " ")
}

// The likeliest sentence does not begin with the likeliest word.
func ExampleBeam() {
	s := &decode.Search{Step: bigram, Begin: []int32{1}, End: 0, Longest: []int{10}}
	greedy, err := decode.Greedy{}.Run(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("greedy %.3f %s\n", math.Exp(greedy[0].LogProb), sentence(greedy[0]))
	found, err := decode.Beam{Width: 3, Best: 3}.Run(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range found[0] {
		fmt.Printf("beam   %.3f %s\n", math.Exp(f.LogProb), sentence(f))
	}
	// Output:
	// greedy 0.250 the cat sleeps
	// beam   0.320 a dog barks
	// beam   0.250 the cat sleeps
	// beam   0.178 the dog barks
}

// Three sentences drawn from a model, the last of which has to begin with "a".
func ExampleSample() {
	s := &decode.Search{Step: bigram, Begin: []int32{1, 1, 1}, End: 0, Longest: []int{10}, Prefix: [][]int32{nil, nil, {3}}}
	drawn, err := decode.Sample{Temperature: 1, TopK: 2, Seed: 1}.Run(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range drawn {
		fmt.Println(sentence(d), d.Ended)
	}
	// Output:
	// a dog barks true
	// the cat sleeps true
	// a dog sleeps true
}

// No word twice, and no end before there are three.
func ExampleSearch_forbid() {
	s := &decode.Search{Step: bigram, Begin: []int32{1}, End: 0, Longest: []int{10}}
	s.Forbid = func(l *decode.Live, row int, forbidden []bool) {
		for _, k := range l.Tokens(row, nil) {
			forbidden[k] = true
		}
		forbidden[0] = l.Step < 3
	}
	found, err := decode.Greedy{}.Run(s)
	fmt.Println(sentence(found[0]), err)
	// Output: the cat sleeps <nil>
}
