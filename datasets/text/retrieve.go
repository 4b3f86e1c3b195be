package text

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/tensor"
)

// digits are the values of Retrieve.
const digits = 10

// Retrieve returns sequences such as c9k8j3f1??c, pairs of a letter and a digit, a mark twice
// and one of the letters again, and the digit that stood behind it, 0 to 9: here 9. Min and Max
// are numbers of pairs, and Symbols the letters, 26 where it is 0; those of a sequence differ.
// Tokens are the letters from [First] on, then the digits, and then the mark.
//
// Ba and others, "Using Fast Weights to Attend to the Recent Past", 2016.
func (t Task) Retrieve() (pairs Ragged, digit []int32) {
	if t.Symbols == 0 {
		t.Symbols = 26
	}
	const op = "text.Task.Retrieve"
	rng := t.rng(op, 1)
	if t.Max > t.Symbols {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{t.Count, t.Max}}, Why: fmt.Sprintf("there are up to %d pairs and %d letters, which must differ", t.Max, t.Symbols)})
	}
	pairs, digit = Ragged{Offsets: make([]int, 1, t.Count+1)}, make([]int32, t.Count)
	mark := First + int32(t.Symbols+digits)
	for i := range t.Count {
		letters := rng.Perm(t.Symbols)[:t.length(rng)]
		asked := rng.IntN(len(letters))
		for k, letter := range letters {
			d := int32(rng.IntN(digits))
			pairs.Tokens = append(pairs.Tokens, First+int32(letter), First+int32(t.Symbols)+d)
			if k == asked {
				digit[i] = d
			}
		}
		pairs.add(mark, mark, First+int32(letters[asked]))
	}
	return pairs, digit
}
