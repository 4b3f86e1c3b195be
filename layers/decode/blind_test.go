package decode_test

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A decoder that says the token after the last one counts; fed one token every time it
// stays where it is, though it is not told its own words and Live still has them.
func TestBlind(t *testing.T) {
	var said [][]int32
	next := func(_ *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
		x := tensor.New(l.Len(), 6)
		for i, last := range l.Last {
			x.Row(i)[(last+1)%6] = 1
			said = append(said, l.Tokens(i, nil))
		}
		return grad.Const(x), nil
	}
	run := func(step decode.Step) []int32 {
		got, err := decode.Greedy{}.Run(&decode.Search{Step: step, Begin: []int32{1}, End: decode.NoEnd, Longest: []int{4}})
		if err != nil {
			t.Fatal(err)
		}
		return got[0].Tokens
	}
	if got := run(next); !slices.Equal(got, []int32{2, 3, 4, 5}) {
		t.Errorf("fed its own words it says %v", got)
	}
	said = nil
	if got := run(decode.Blind(next, 3)); !slices.Equal(got, []int32{4, 4, 4, 4}) {
		t.Errorf("blind it says %v, want the same four times", got)
	}
	if last := said[len(said)-1]; !slices.Equal(last, []int32{4, 4, 4}) {
		t.Errorf("in the last step it has said %v", last)
	}
}
