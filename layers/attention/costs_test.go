package attention_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/sequence"
)

// costs are the multiplications of one layer over a sequence, counted on its graph and its
// Params: a matrix of Params multiplies each row once, and each message of attention is a score
// and a weight of d numbers.
type costs struct{ recurrent, convolution, messages, projections int }

func costsOf(n, d, taps int) costs {
	rng := rand.New(rand.NewPCG(1, 1))
	matrices := func(l interface{ Init(rng *rand.Rand) }) (sum int) {
		l.Init(rng)
		for _, p := range grad.Params(l) {
			if s := p.Value.Shape(); len(s) == 2 && s[0] > 1 { // else a bias
				sum += len(p.Value.Data)
			}
		}
		return sum
	}
	heard := graph.ShiftedChains([]int{n}, 1, 0, -1).NumEdges() // by three taps
	return costs{
		recurrent:   n * matrices(&sequence.RNN{In: d, Hidden: d}),
		convolution: heard * matrices(&sequence.Conv1D{In: d, Out: d, Kernel: taps}) / taps,
		messages:    graph.Complete(n).NumEdges() * 2 * d,
		projections: n * matrices(&attention.MultiHead{Model: d, Heads: 4}),
	}
}

// What the layers cost by length is what docs/models/memory.md says: N·d² for a matrix of a recurrent
// layer, K·N·d² for a convolution, N²·d for each of the two products of self-attention. They
// cross where a sequence is as long as its rows are wide.
func TestCostByLength(t *testing.T) {
	const d, taps = 256, 3
	guide, err := os.ReadFile("../../docs/models/memory.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{64, 256, 1024, 4096} {
		c := costsOf(n, d, taps)
		if want := (costs{2 * n * d * d, (taps*n - 2) * d * d, 2 * n * n * d, 4 * n * d * d}); c != want {
			t.Errorf("N %d: %+v multiplications, want %+v", n, c, want)
		}
		if less, shorter := c.messages < c.recurrent, n < d; less != shorter {
			t.Errorf("N %d, d %d: attention takes %d multiplications, a recurrence %d", n, d, c.messages, c.recurrent)
		}
		row := fmt.Sprintf("| %d | %.1f | %.1f | %.1f | %.1f |", n, float64(c.recurrent)/1e6, float64(c.convolution)/1e6, float64(c.messages)/1e6, float64(c.messages+c.projections)/1e6)
		if !strings.Contains(string(guide), row) {
			t.Errorf("docs/models/memory.md has no line %s", row)
		}
	}
	if c := costsOf(d, d, taps); c.messages != c.recurrent {
		t.Errorf("N = d: attention takes %d multiplications, a recurrence %d", c.messages, c.recurrent)
	}
}
