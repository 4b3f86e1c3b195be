package memory

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TreeMemory is a memory whose slots are the leaves of a tree. A read begins at the root and
// goes down by a softmax over the children of each node:
//
//	p_v = softmax over v and its siblings of Scale·k_v·q
//	π_root = 1                   π_v = p_v·π_parent
//	r = Σ_leaves π_v·x_v
//
// It has no Params: keys k, N×D, and values x, N×F, are inputs, with gradients if they want
// them; a key of an inner node is often the mean of those beneath it. The graph is one of
// [graph.Trees], whose edges go from child to parent, and queries have a row for each of its
// trees. Of trees with several roots each is reached with a weight of one.
//
// A soft read looks at all nodes; [TreeMemory.Descend], which takes the best child each time,
// at the children along one path: of a balanced tree O(log N). A tree of a root and its leaves
// is a memory organised as a set, whose read does not depend on the order of the slots.
type TreeMemory struct {
	Scale float64 // 0: 1
}

// Forward returns what is read from each tree, and how likely each node is to be reached, N×1.
func (m *TreeMemory) Forward(t *grad.Tape, trees *graph.Graph, keys, values, queries *grad.Var) (r, reached *grad.Var) {
	m.check(trees, keys, queries)
	if values == nil {
		panic(&grad.TapeError{Op: "memory.TreeMemory", Why: "values are nil"})
	}
	if values.Dim(0) != trees.NumNodes() {
		compose.BadShape("memory.TreeMemory", values, fmt.Sprintf("want a value for each of %d nodes", trees.NumNodes()))
	}
	members, down := graph.Membership(trees), graph.Reverse(trees)
	q := message.UpdateAll(graph.Reverse(members), message.U(queries), message.Sum) // of each node's tree
	p := message.ApplyEdges(trees, message.UDotV(keys, q).Scale(grad.Preset(m.Scale, 1)).Softmax())
	_, byChild := trees.Out() // the order of down's edges
	p = p.Reshape(p.Dim(0), 1).Rows(byChild)
	alone := tensor.New(trees.NumNodes(), 1)
	for _, v := range down.Roots() {
		alone.Data[v] = 1
	}
	share := message.UpdateAll(down, message.E(p), message.Sum).Add(t.Input(alone))
	one := tensor.New(1, 1)
	one.Fill(1)
	reached = message.Sweep(down, message.State{t.Input(one)}, func(lv *message.Level, prev message.State) message.State {
		prev[0] = message.UpdateAll(lv.In, message.U(prev[0]), message.Sum).Mul(lv.Rows(share))
		return prev
	})[0]
	leaves := tensor.New(trees.NumNodes(), 1)
	for _, v := range down.Sinks() {
		leaves.Data[v] = 1
	}
	w := reached.Mul(t.Input(leaves))
	return message.UpdateAll(members, message.U(values.Mul(w)), message.Sum), reached
}

// Descend goes down each tree to the child with the largest k·q, the first of equals, and
// returns the leaf that it comes to and how many keys it looked at. A tree without nodes has
// the leaf −1; of several roots it begins at the first.
func (m *TreeMemory) Descend(trees *graph.Graph, keys, queries *tensor.Dense) (leaf []int32, looked []int) {
	m.check(trees, grad.Const(keys), grad.Const(queries))
	in, ends := trees.In(), trees.NodeOffsets()
	root := make([]int32, len(ends)-1)
	for i := range root {
		root[i] = -1
	}
	tree := 0
	for _, v := range trees.Sinks() { // in order
		for int(v) >= ends[tree+1] {
			tree++
		}
		if root[tree] < 0 {
			root[tree] = v
		}
	}
	looked = make([]int, len(root))
	for i, v := range root {
		if v < 0 {
			continue
		}
		for in.Offsets[v] < in.Offsets[v+1] {
			children, best, score := in.Cols[in.Offsets[v]:in.Offsets[v+1]], int32(-1), 0.0
			for _, c := range children {
				s := 0.0
				for j, k := range keys.Row(int(c)) {
					s += float64(k) * float64(queries.Row(i)[j])
				}
				if best < 0 || s > score {
					best, score = c, s
				}
			}
			looked[i] += len(children)
			v = best
		}
		root[i] = v
	}
	return root, looked
}

// check panics unless there is a key for each node and a query for each tree.
func (m *TreeMemory) check(trees *graph.Graph, keys, queries *grad.Var) {
	const op = "memory.TreeMemory"
	compose.WantGraph(op, trees)
	switch {
	case keys == nil || queries == nil:
		panic(&grad.TapeError{Op: op, Why: "keys or queries are nil"})
	case trees.Bipartite():
		compose.BadGraph(op, trees, "the graph is bipartite, and its nodes are those of trees")
	case keys.Dim(0) != trees.NumNodes():
		compose.BadShape(op, keys, fmt.Sprintf("want a key for each of %d nodes", trees.NumNodes()))
	}
	compose.WantMatrix(op, "keys", keys)
	compose.WantDense(op, "keys", keys, "CSR.Dense makes it dense")
	compose.WantDense(op, "queries", queries, "CSR.Dense makes it dense")
	if n := len(trees.NodeOffsets()) - 1; queries.Dim(0) != n || queries.Dim(-1) != keys.Dim(-1) {
		compose.BadShape("memory.TreeMemory", queries, fmt.Sprintf("want a query for each of %d trees, as long as a key, %d", n, keys.Dim(-1)))
	}
}
