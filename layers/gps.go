package layers

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// GPSConv is a graph Transformer's layer: beside a convolution over the edges, all
// nodes of a graph attend to each other.
//
//	a = norm(x + drop(Local(x)))
//	c = norm(x + drop(MHA(x)))
//	y = norm(a + c + drop(Net(a + c)))
//
// of Rampášek, Galkin, Dwivedi, Luu, Wolf and Beaini, "Recipe for a General, Powerful,
// Scalable Graph Transformer", NeurIPS 2022. Local is a [GINEConv] where EdgeIn is given,
// else a [GINConv], with one hidden layer; MHA is attention over the nodes of the same member
// of the batch, themselves included; Net has one hidden layer; each norm is a [BatchNorm] of
// its own. Positional encodings belong to x. Src is N×Width, dense; Edge E×EdgeIn; Weight
// E or E×1, for Local. The result is N×Width. A node without in-edges hears nobody in Local,
// and all of its graph in MHA.
//
// A member of n nodes has n² pairs; none are listed: attention runs as products of
// matrices on blocks. It wants all nodes of a graph, so there are no blocks of seeds. A graph
// of more than 2³¹−1 pairs in all its members is a [*tensor.ShapeError].
type GPSConv struct {
	Width     int
	Heads     int     `json:",omitempty"` // 0: 1
	EdgeIn    int     `json:",omitempty"` // width of the edges' features; 0: none
	Hidden    int     `json:",omitempty"` // width of Net's hidden layer; 0: 2·Width
	Drop      float64 `json:",omitempty"` // dropout of what is added to x, and within Net
	AttnDrop  float64 `json:",omitempty"` // dropout of the normalised attention
	LayerNorm bool    `json:",omitempty"` // each norm is a LayerNorm

	GIN               *GINConv     `json:"-"` // Local, or nil
	GINE              *GINEConv    `json:"-"` // Local, or nil
	Query, Key, Value *Linear      `json:"-"` // Width×Width
	Merge             *Linear      `json:"-"` // of the heads, Width×Width
	Net               *MLP         `json:"-"`
	BatchNorms        []*BatchNorm `json:"-"` // three, or none
	LayerNorms        []*LayerNorm `json:"-"` // none, or three
}

// Init makes the Params of all parts, as these do.
func (l *GPSConv) Init(rng *rand.Rand) {
	compose.WantOptions(l, "Width")
	if l.Width%cmp.Or(l.Heads, 1) != 0 {
		panic(&grad.TapeError{Op: "layers.GPSConv", Why: fmt.Sprintf("Width %d cannot be cut into %d Heads", l.Width, l.Heads)})
	}
	local := MLP{Widths: []int{l.Width, l.Width, l.Width}}
	l.GIN, l.GINE, l.BatchNorms, l.LayerNorms = nil, nil, nil, nil
	if l.EdgeIn > 0 {
		l.GINE = &GINEConv{Net: local, EdgeIn: l.EdgeIn}
		l.GINE.Init(rng)
	} else {
		l.GIN = &GINConv{Net: local}
		l.GIN.Init(rng)
	}
	for _, p := range []**Linear{&l.Query, &l.Key, &l.Value, &l.Merge} {
		*p = &Linear{In: l.Width, Out: l.Width}
		(*p).Init(rng)
	}
	l.Net = &MLP{Widths: []int{l.Width, cmp.Or(l.Hidden, 2*l.Width), l.Width}, Drop: l.Drop}
	l.Net.Init(rng)
	for range 3 {
		if l.LayerNorm {
			l.LayerNorms = append(l.LayerNorms, &LayerNorm{Width: l.Width})
			l.LayerNorms[len(l.LayerNorms)-1].Init(rng)
		} else {
			l.BatchNorms = append(l.BatchNorms, &BatchNorm{Width: l.Width})
			l.BatchNorms[len(l.BatchNorms)-1].Init(rng)
		}
	}
}

// Forward returns the layer's result for the features x of g's nodes.
func (l *GPSConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with features and weights of the edges. In.Dst is not read. The
// attention is between pairs that are no edges of g, so it is not returned.
func (l *GPSConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	compose.WantMade("layers.GPSConv", "Params", l.Net != nil)
	in.Dst = nil
	in.check(g, wants{op: "layers.GPSConv", width: &l.Width, srcField: "Width", edge: l.EdgeIn})
	in.checkDense("layers.GPSConv", "give it the product with a matrix, such as a Linear's result")
	if g.Bipartite() {
		compose.BadGraph("layers.GPSConv", g, "the graph is bipartite, and the layer attends to all nodes of a graph")
	}
	if l.LayerNorm != (l.LayerNorms != nil) {
		compose.SetBefore("layers.GPSConv", "LayerNorm")
	}
	x := in.Src
	a := l.norm(t, 0, x.Add(t.Dropout(l.local(t, g, in), l.Drop)))
	c := l.norm(t, 1, x.Add(t.Dropout(l.attend(t, g, x), l.Drop)))
	y := a.Add(c)
	return Out{Y: l.norm(t, 2, y.Add(t.Dropout(l.Net.Forward(t, y), l.Drop)))}
}

func (l *GPSConv) local(t *grad.Tape, g *graph.Graph, in In) *grad.Var {
	if l.GINE != nil {
		return l.GINE.Apply(t, g, in).Y
	}
	return l.GIN.Apply(t, g, in).Y
}

// attend is MHA.
func (l *GPSConv) attend(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	heads := cmp.Or(l.Heads, 1)
	split := func(of *Linear) *grad.Var { return compose.SplitHeads(of.Forward(t, x), heads, l.Width/heads) }
	attention := message.Attention{Q: split(l.Query), K: split(l.Key), V: split(l.Value), Drop: l.AttnDrop}
	y, _ := attention.Apply(t, complete(g))
	return l.Merge.Forward(t, compose.MergeHeads(y, false))
}

// norm is the norm of that number.
func (l *GPSConv) norm(t *grad.Tape, i int, x *grad.Var) *grad.Var {
	if l.LayerNorm {
		return l.LayerNorms[i].Forward(t, x)
	}
	return l.BatchNorms[i].Forward(t, x)
}

type completeKey struct{ members string }

// complete returns the graph in which each node of a member of g leads to all of them.
// Graphs that differ in members share what is derived, so these are part of the key.
func complete(g *graph.Graph) *graph.Graph {
	ends, pairs := g.NodeOffsets(), int64(0)
	for i := range len(ends) - 1 {
		n := int64(ends[i+1] - ends[i])
		pairs += n * n
	}
	if pairs > math.MaxInt32 {
		panic(&tensor.ShapeError{Op: "layers.GPSConv", Shapes: [][]int{{g.NumNodes()}}, Why: fmt.Sprintf(
			"the graph's members have %d pairs of nodes, and attention is between at most 2³¹−1: give it fewer graphs at a time, or take a layer that attends along edges, such as TransformerConv", pairs)})
	}
	return graph.Derive(g, completeKey{fmt.Sprint(ends)}, func() *graph.Graph {
		var members []*graph.Graph
		for i := range len(ends) - 1 {
			members = append(members, graph.Complete(ends[i+1]-ends[i]))
		}
		if len(members) == 0 {
			return graph.Complete(0)
		}
		return graph.Batch(members...)
	})
}
