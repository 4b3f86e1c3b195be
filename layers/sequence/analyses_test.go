package sequence_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/sequence"
)

// An LSTM has 4m(n+m+1) numbers, of n inputs and m units. PyTorch's second bias, 4m more, is
// no number of its own. The variants have as many as their gates.
func TestLSTMParameters(t *testing.T) {
	const n, m = 5, 7
	for _, c := range []struct {
		l    *sequence.LSTM
		want int
	}{
		{&sequence.LSTM{In: n, Hidden: m}, 364},
		{&sequence.LSTM{In: n, Hidden: m, Forget: sequence.NoForget}, 3 * m * (n + m + 1)},
		{&sequence.LSTM{In: n, Hidden: m, Forget: sequence.CoupledForget}, 3 * m * (n + m + 1)},
		{&sequence.LSTM{In: n, Hidden: m, Peephole: sequence.DiagonalPeephole}, 364 + 3*m},
	} {
		c.l.Init(rand.New(rand.NewPCG(1, 1)))
		got := 0
		for _, p := range grad.Params(c.l) {
			got += len(p.Value.Data)
		}
		if got != c.want {
			t.Errorf("%+v has %d numbers, want %d", c.l, got, c.want)
		}
		t.Logf("forget %v, peephole %v: %d numbers", c.l.Forget, c.l.Peephole, got)
	}
}
