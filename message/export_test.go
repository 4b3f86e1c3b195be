package message

import (
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/message/internal/rules"
)

// SetFuse switches the rules but that of the tiles on or off for one test.
func SetFuse(t testing.TB, on bool) {
	old := rules.TilesOnly
	rules.TilesOnly = !on
	t.Cleanup(func() { rules.TilesOnly = old })
}

// SetJoin switches joined steps on or off for one test.
func SetJoin(t testing.TB, on bool) {
	old := plan.Join
	plan.Join = on
	t.Cleanup(func() { plan.Join = old })
}

// SetTileBytes changes the scratch of a tile for one test.
func SetTileBytes(t testing.TB, n int) {
	old := exec.TileBytes
	exec.TileBytes = n
	t.Cleanup(func() { exec.TileBytes = old })
}

// SetChunks changes the least work of a chunk and the size of a window for one
// test, both in elements.
func SetChunks(t testing.TB, work, window int) {
	oldWork, oldWindow := exec.ChunkWork, exec.WindowFloats
	exec.ChunkWork, exec.WindowFloats = work, window
	t.Cleanup(func() { exec.ChunkWork, exec.WindowFloats = oldWork, oldWindow })
}

// Reducers are all of them.
func Reducers() (all []Reducer) {
	for r := range reducers {
		all = append(all, Reducer(r))
	}
	return all
}

// Computing is what computes reducers.
func Computing(rs []Reducer) (by []*ops.Reducer) {
	for _, r := range rs {
		by = append(by, reducers[r])
	}
	return by
}

// Say is an operation on a message, or on two.
func Say(k ops.Kind, a, b Msg) Msg {
	if k.Paired() {
		return a.with(&b, ir.Node{Kind: k})
	}
	return a.then(ir.Node{Kind: k})
}

// Says are the operations that m says.
func Says(m Msg) (kinds []ops.Kind) {
	for _, n := range m.nodes() {
		kinds = append(kinds, n.Kind)
	}
	return kinds
}

// Reference evaluates m on the edges of g in float64.
func Reference(g *graph.Graph, m Msg, made reference.Made) *reference.Reference {
	return reference.New(g, m.nodes(), m.operands(), m.attributeList(), made)
}
