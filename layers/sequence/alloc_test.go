package sequence_test

import (
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/layers/sequence"
)

// A step of training allocates as often on chains of 25 as on chains of 5, and on a large tree as on a small
// one; the message of a Tree-LSTM is kept level by level.
func TestStepsAllocateConstantly(t *testing.T) {
	if sparing.Raced {
		t.Skip("the race detector allocates")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // pools stay full
	all := map[string]func(tp *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var{}
	cells := cells(4, 6)
	for name, c := range cells {
		all[name] = func(tp *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var { return c.ForwardFrom(tp, g, x, nil)[0] }
	}
	nodes := &sequence.TreeLSTM{In: 4, Hidden: 6}
	nodes.Init(rand.New(rand.NewPCG(1, 1)))
	all["tree-lstm"] = nodes.Forward
	for name, forward := range all {
		count := func(g *graph.Graph) float64 {
			tape, x := grad.NewTape(1), random(3, g.NumNodes(), 4).Value
			step := func() {
				tape.Reset()
				tape.Backward(forward(tape, g, tape.Watch(x)).Sum())
			}
			step()
			step()
			least := testing.AllocsPerRun(1, step)
			for range 2 { // pools may still grow in the first ones
				least = min(least, testing.AllocsPerRun(1, step))
			}
			return least
		}
		for shape, gs := range map[string][2]*graph.Graph{
			"chains": {graph.Chains(slices.Repeat([]int{5}, 3)...), graph.Chains(slices.Repeat([]int{25}, 3)...)},
			"tree":   {tree(t, 10), tree(t, 40)},
		} {
			g := gs[1]
			if shape == "tree" && (strings.HasPrefix(name, "binary") || name == "recursive") {
				continue // its nodes have more than two children
			}
			few := count(gs[0])
			most := few + 2
			if c, ok := cells[name]; ok && len(normGains(c)) > 0 {
				most += 8 // norms of many rows run in parts
			}
			if levels, err := g.Levels(); err == nil && (name == "tree-lstm" || name == "child-sum") {
				most += 2 * float64(levels.Len()) // its forget gates are a message, which a level keeps
			}
			if many := count(g); many > most {
				t.Errorf("%s, %s: %.0f allocations, %.0f on the smaller graph", name, shape, many, few)
			}
		}
	}
}

// tree returns a tree in which node i, but the last, is a child of a later one.
func tree(t *testing.T, n int) *graph.Graph {
	parents := make([]int32, n)
	for i := range parents {
		parents[i] = int32(min(i+1+i*7%5, n-1))
	}
	parents[n-1] = -1
	g, err := graph.Trees(parents)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// normGains are the gains of the norms within a cell.
func normGains(c sequence.Cell) (out []*grad.Param) {
	for name, p := range grad.Params(c) {
		if strings.HasPrefix(name, "Gain") {
			out = append(out, p)
		}
	}
	return out
}
