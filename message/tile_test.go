package message_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/tensor"
)

var reducers = message.Reducers()

// rounded is for what differs by rounding, relative to the largest element.
var rounded = compare.PartOfLargest(compare.In(1e-5, 1e-10))

// hub has one node that hears the given number of edges, and some that hear few.
func hub(edges int) *graph.Graph {
	rng := rand.New(rand.NewPCG(uint64(edges), 2))
	const n = 40
	src, dst := make([]int32, edges+60), make([]int32, edges+60)
	for i := range src {
		src[i], dst[i] = rng.Int32N(n), 7
		if i < 60 {
			dst[i] = rng.Int32N(n - 1) // the last node hears nobody
		}
	}
	return graph.Must(graph.New(n, src, dst))
}

// sides is a bipartite graph with parallel edges and a destination that hears
// nobody.
func sides() *graph.Graph {
	src := []int32{0, 4, 4, 3, 2, 1, 0, 6, 5, 5, 5, 2, 0, 1, 2, 3, 4, 5, 6}
	dst := []int32{0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 3, 4, 4, 4, 4, 4, 4, 4}
	return graph.Must(graph.NewBipartite(7, 5, src, dst))
}

func graphs() map[string]*graph.Graph {
	h := hub(100)
	return map[string]*graph.Graph{
		"odd":       odd(),
		"hub":       h,
		"empty":     graph.Must(graph.New(0, nil, nil)),
		"no edges":  graph.Must(graph.New(3, nil, nil)),
		"one node":  graph.Must(graph.New(1, []int32{0, 0}, []int32{0, 0})),
		"bipartite": sides(),
		"block":     graph.Must(graph.Block(h, []int32{7, 3, 39, 12})),
		"view":      graph.Must(graph.Dst(h, []int32{5, 39, 7, 0})),
	}
}

// way is a way to use a message: on the edges or, with reducers, at the destinations.
type way struct {
	g   *graph.Graph
	msg func(t *grad.Tape, x operands) message.Msg
	by  []message.Reducer
}

func (w way) apply(m message.Msg) *grad.Var {
	if w.by == nil {
		return message.ApplyEdges(w.g, m)
	}
	return message.UpdateAll(w.g, m, w.by...)
}

// outcome is a result and the gradient of its weighted sum by every operand.
func (w way) outcome(m *model) []*tensor.Dense {
	again.Restart(3)
	again.Reset()
	y := w.apply(w.msg(again, m.use(again)))
	if !y.Needs() {
		return []*tensor.Dense{y.Value().Clone()}
	}
	return withGradients(again, y)
}

// truth is what the formula says of an outcome; nothing of a draw.
func (w way) truth(m *model) [][]rounding.Result {
	again.Restart(3)
	again.Reset()
	msg := w.msg(again, m.use(again))
	f := formula{g: w.g, m: msg, by: w.by}
	y := w.apply(msg)
	if !y.Needs() {
		return f.results()
	}
	return f.results(operandsOf(again.Backward(weigh(y)))...)
}

// again is one tape for all that are compared: the arrays of a new one cost more than most
// of what is computed in them.
var again = grad.NewTape(3)

// withGradients returns copies of y and of the gradients of its weighted sum.
func withGradients(t *grad.Tape, y *grad.Var) []*tensor.Dense {
	out := []*tensor.Dense{y.Value().Clone()}
	for _, g := range t.Backward(weigh(y)) {
		out = append(out, g.Value.Clone())
	}
	return out
}

// runs are all ways to use a message, with one of the reducers each by itself.
func runs(g *graph.Graph, msg func(t *grad.Tape, x operands) message.Msg, single []message.Reducer) map[string]way {
	out := map[string]way{"edges": {g, msg, nil}, "all": {g, msg, reducers}}
	for _, r := range append(single, message.Sum) {
		out[r.String()] = way{g, msg, []message.Reducer{r}}
	}
	return out
}

// TestTiles runs every expression in tiles of all sizes: every result and every
// gradient has the same bits, and a rule agrees with the tiles to rounding.
func TestTiles(t *testing.T) {
	all := graphs()
	for i, at := range slices.Sorted(maps.Keys(all)) {
		checkTiles(t, at, all[at], true, i, 3)
	}
}

// TestTilesOfHub is TestTiles with a destination that no tile holds.
func TestTilesOfHub(t *testing.T) {
	if testing.Short() {
		t.Skip("2,100 edges into one node")
	}
	checkTiles(t, "hub of 2,100", hub(2100), false, 0, 5) // two tiles of 1024 edges, and a rest
}

// checkTiles tries one in so many expressions, others on each graph, and each with two reducers
// by themselves; all if sparing.Full. What differs from graph to graph is how the edges fill
// the tiles.
func checkTiles(t *testing.T, at string, g *graph.Graph, single bool, number, every int) {
	m := newModel(g)
	msgs := expressions(modulo4(g))
	for i, name := range sparing.Some(slices.Sorted(maps.Keys(msgs))) {
		if i%every != number%every && !sparing.Full() {
			continue
		}
		var alone []message.Reducer
		for k, r := range reducers {
			if single && ((k+i+number)%3 == 0 || sparing.Full()) {
				alone = append(alone, r)
			}
		}
		for way, f := range runs(g, msgs[name], alone) {
			f.checkCuts(t, fmt.Sprintf("%s of %s on %s", way, name, at), m)
		}
	}
}

// checkCuts compares the bits of one computation in tiles of several sizes and
// on several threads, for chunks and windows of two sizes, and each with the formula.
func (w way) checkCuts(t *testing.T, what string, m *model) {
	var whole []*tensor.Dense
	truth := w.truth(m)
	for _, cut := range [][2]int{{1 << 14, 1 << 20}, {64, 100}} {
		message.SetFuse(t, false)
		message.SetTileBytes(t, 32<<10)
		message.SetChunks(t, cut[0], cut[1])
		want := w.outcome(m)
		sizes, threads := []int{512, 1 << 20}, []int{1, 4}
		if sparing.Full() {
			sizes, threads = append(sizes, 4<<10), append(threads, 8)
		}
		if whole != nil { // such a chunk fits the smallest tile
			sizes, threads = sizes[:1], threads[1:2]
		}
		for i, bytes := range sizes {
			message.SetTileBytes(t, bytes)
			undo := par.SetThreads(threads[i])
			compare.Arrays(t, fmt.Sprintf("%s, tiles of %d bytes", what, bytes), w.outcome(m), want, compare.SameBits)
			undo()
		}
		reference.Near(t, fmt.Sprintf("%s, in chunks of %d", what, cut[0]), want, truth)
		whole = want
	}
	message.SetFuse(t, true)
	reference.Near(t, what+", by its rule", w.outcome(m), truth)
}

// TestGradientsInParts checks gradients where a destination's edges fill several
// tiles, without other rules.
func TestGradientsInParts(t *testing.T) {
	if !gradtest.Sharp {
		t.Skip("a finite difference over so many edges meets a kink; run with -tags f64")
	}
	message.SetTileBytes(t, 64)
	message.SetFuse(t, false)
	g := hub(20)
	m := newModel(g)
	for name, f := range expressions(modulo4(g)) {
		t.Run(name, func(t *testing.T) {
			gradtest.Check(t, m, func(tp *grad.Tape) *grad.Var {
				msg, unused := f(tp, m.use(tp)), useAll(tp, m)
				return weigh(message.ApplyEdges(g, msg)).Add(weigh(message.UpdateAll(g, msg, reducers...))).Add(unused)
			})
		})
	}
}

// useAll makes every Param of m part of the computation.
func useAll(t *grad.Tape, m *model) *grad.Var {
	y := grad.Const(tensor.New(1))
	for _, p := range grad.Params(m) {
		y = y.Add(t.Use(p).Sum().Scale(0))
	}
	return y
}
