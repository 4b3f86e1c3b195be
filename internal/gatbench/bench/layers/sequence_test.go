package layers

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/layers/decode"
)

// The ragged batch is what its comment, and so a peer, says.
func TestRaggedLengths(t *testing.T) {
	n, sum := raggedLengths(), 0
	for _, l := range n {
		sum += l
	}
	if len(n) != 64 || slices.Min(n) != 5 || slices.Max(n) != 97 || sum/64 != 25 {
		t.Errorf("%d lengths from %d to %d, %d in all", len(n), slices.Min(n), slices.Max(n), sum)
	}
	if slices.IsSorted(n) {
		t.Error("they are sorted, which hides what sorting costs")
	}
}

// Small relatives of the rows run: a stack in both directions, a variant beside a plain cell,
// trees, segments, a search.
func TestSequence(t *testing.T) {
	small := recurrentShape{4, 3, 5, 6, 2, 1}
	if name := small.String(); name != "4x3x5x6x2x1" {
		t.Errorf("the name is %s", name)
	}
	w := small.task(lstm).workload()
	w.Call()
	w.Forward()
	for _, v := range variants {
		recurrentShape{4, 3, 5, 6, 1, 0}.task(v.make).workload().Call()
	}
	recurrentShape{2 * longSegment, 1, 5, 6, 1, 0}.truncated().Call()
	for _, b := range Trees(&bench.Choice{Threads: 1}) {
		if b.Op == "sequence/treelstm_binary" && b.Prepare != nil {
			w := b.Prepare()
			w.Call()
			w.Forward()
		}
	}
}

// Every sentence of the search ends at its own length, and has a whole beam of hypotheses until then.
func TestBeamLengths(t *testing.T) {
	s, rows := beamSearch(20, 8), 0
	step := s.Step
	s.Step = func(tape *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
		rows += l.Len()
		return step(tape, l)
	}
	found, err := decode.Beam{Width: beamWidth, Best: beamWidth}.Run(s)
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for i, best := range found {
		want += 1 + beamWidth*(beamLengths[i]-1)
		if len(best) != beamWidth {
			t.Errorf("sentence %d has %d sequences", i, len(best))
		}
		for _, q := range best {
			if !q.Ended || len(q.Tokens)+1 != beamLengths[i] {
				t.Errorf("sentence %d: %d tokens, ended %v, want an end after %d", i, len(q.Tokens), q.Ended, beamLengths[i]-1)
			}
		}
	}
	if rows != want {
		t.Errorf("%d rows in all, want %d", rows, want)
	}
}

// The drawn trees are what their comment, and so a peer, says.
func TestDrawnTrees(t *testing.T) {
	g := drawnTrees().Graph
	levels, err := g.Levels()
	if err != nil {
		t.Fatal(err)
	}
	if g.NumNodes() != 923 || g.NumEdges() != 923-treeBatch || levels.Len() != 16 {
		t.Errorf("%d nodes, %d edges, %d levels", g.NumNodes(), g.NumEdges(), levels.Len())
	}
	// By hand: its four words are split 2 and 2.
	if got, want := g.In().Cols[:6], []int32{1, 4, 2, 3, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("the first tree's children are %v, want %v", got, want)
	}
}
