package layers

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// PNAConv aggregates in several ways at once, and scales each by how many neighbours
// there are, since no single aggregator tells all neighbourhoods apart.
//
//	m_uv = Pre([x_v ‖ x_u ‖ e_uv]),   h_v = Post([x_v ‖ s·a over all scalers s of all aggregators a of m])
//	y_v = act( leaky(Mix(h_v of all towers side by side))  [+ x_v] )
//
// of Corso, Cavalleri, Beaini, Liò and Veličković, "Principal Neighbourhood
// Aggregation for Graph Nets", NeurIPS 2020. Each tower has networks of its own and
// makes Out/Towers columns. Delta and MeanDegree belong to the training graphs, which
// [PNAConv.Measure] reads. Src is NumSrc×In and Dst NumDst×In, dense; Edge E×EdgeIn;
// Weight E or E×1 multiplies the messages. The result is NumDst×Out. A node without
// in-edges aggregates zero.
//
// DGL: Divide, BatchNorm, Slope 0.01, and Residual where In is Out; its Pre reads x_u
// first. PyG: PreLayers, PostLayers, EncodeEdges and Divide where they are asked for.
//
// Pre's first layer is linear in both nodes and the edge, so its products are taken on
// nodes; what is left runs in tiles, once for all aggregators of a tower.
type PNAConv struct {
	In, Out     int
	Towers      int             `json:",omitempty"` // 0: 1
	Divide      bool            `json:",omitempty"` // a tower reads In/Towers columns of x, its own; else all
	EdgeIn      int             `json:",omitempty"` // width of the edges' features; 0: none
	EncodeEdges bool            `json:",omitempty"` // they go through a linear layer first, as wide as a tower reads
	PreLayers   int             `json:",omitempty"` // of Pre; 0: 1
	PostLayers  int             `json:",omitempty"` // of Post; 0: 1
	Aggregators []Aggregator    `json:",omitempty"` // mean, max, min, std, sum, var; none: the first four
	Scalers     []Scaler        `json:",omitempty"` // none: identity, amplification, attenuation
	Delta       float64         `json:",omitempty"` // δ, the mean of log(d+1) of the training graphs' nodes
	MeanDegree  float64         `json:",omitempty"` // the mean of d, for the linear scalers
	BatchNorm   bool            `json:",omitempty"` // each tower's rows are divided by the root of the number of nodes of their graph, and batch-normalised; not for blocks
	Slope       float64         `json:",omitempty"` // of leaky, a LeakyReLU; 0: there is none
	Residual    bool            `json:",omitempty"` // add x_v; wants In = Out
	Activation  grad.Activation `json:",omitempty"`

	Pre     []*MLP       `json:"-"` // of each tower
	Post    []*MLP       `json:"-"`
	Norms   []*BatchNorm `json:"-"`
	Encoder *Linear      `json:"-"` // of the edges' features
	Mix     *Linear      `json:"-"` // Out×Out
}

// Init makes the Params, tower by tower, as [MLP] does.
func (l *PNAConv) Init(rng *rand.Rand) {
	compose.WantOptions(l, "Out")
	towers, width := cmp.Or(l.Towers, 1), l.width()
	switch {
	case l.Out%towers != 0 || l.Divide && l.In%towers != 0:
		panic(&grad.TapeError{Op: "layers.PNAConv", Why: fmt.Sprintf("In %d and Out %d cannot be cut into %d Towers", l.In, l.Out, towers)})
	case l.Residual && l.In != l.Out:
		panic(&grad.TapeError{Op: "layers.PNAConv", Why: fmt.Sprintf("Residual wants In = Out, and they are %d and %d", l.In, l.Out)})
	}
	l.Pre, l.Post, l.Norms, l.Encoder = nil, nil, nil, nil
	read := 2*width + l.EdgeIn
	if l.EncodeEdges {
		l.Encoder = &Linear{In: l.EdgeIn, Out: width}
		l.Encoder.Init(rng)
		read = 3 * width
	}
	heard := (1 + len(l.aggregators())*len(l.scalers())) * width
	for range towers {
		l.Pre = append(l.Pre, tower(rng, read, width, cmp.Or(l.PreLayers, 1)))
		l.Post = append(l.Post, tower(rng, heard, l.Out/towers, cmp.Or(l.PostLayers, 1)))
		if l.BatchNorm {
			norm := &BatchNorm{Width: l.Out / towers}
			norm.Init(rng)
			l.Norms = append(l.Norms, norm)
		}
	}
	l.Mix = &Linear{In: l.Out, Out: l.Out}
	l.Mix.Init(rng)
}

// tower returns a network of so many layers, all of the same width.
func tower(rng *rand.Rand, in, out, layers int) *MLP {
	net := &MLP{Widths: []int{in}}
	for range layers {
		net.Widths = append(net.Widths, out)
	}
	net.Init(rng)
	return net
}

// width is how many columns of x a tower reads.
func (l *PNAConv) width() int {
	if l.Divide {
		return l.In / cmp.Or(l.Towers, 1)
	}
	return l.In
}

// Measure sets Delta and MeanDegree by the in-degrees of the nodes of the graphs that
// the layer is trained on.
func (l *PNAConv) Measure(gs ...*graph.Graph) {
	nodes, logs, sum := 0, 0.0, 0.0
	for _, g := range gs {
		for _, d := range g.InDegrees() {
			nodes, logs, sum = nodes+1, logs+math.Log(float64(d)+1), sum+float64(d)
		}
	}
	if sum > 0 {
		l.Delta, l.MeanDegree = logs/float64(nodes), sum/float64(nodes)
	}
}

// Forward returns the layer's result for the features x of g's sources.
func (l *PNAConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with features and weights of the edges and other nodes as
// destinations. There is no attention.
func (l *PNAConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	compose.WantMade("layers.PNAConv", "Params", l.Mix != nil)
	if l.BatchNorm && l.Norms == nil {
		compose.SetBefore("layers.PNAConv", "BatchNorm")
	}
	in.check(g, wants{op: "layers.PNAConv", own: true, width: &l.In, edge: l.EdgeIn})
	in.checkDense("layers.PNAConv", "give it the product with a matrix, such as a Linear's result")
	own := in.onDst(g, func(x *grad.Var) *grad.Var { return x })
	columns := l.scales(g)
	parts := make([]*grad.Var, len(l.Post))
	for i := range parts {
		read, self := in, own
		if l.Divide && len(parts) > 1 {
			lo, hi := i*l.width(), (i+1)*l.width()
			read.Src, self = in.Src.Columns(lo, hi), own.Columns(lo, hi)
		}
		heard := l.aggregate(g, in.weigh(l.message(t, g, pnaTower{i, read, self})))
		h := append([]*grad.Var{self}, slices.Repeat([]*grad.Var{heard}, len(columns))...)
		parts[i] = l.Post[i].Forward(t, grad.ConcatScaled(h, append([]*grad.Var{nil}, columns...)))
		if l.BatchNorm {
			parts[i] = l.Norms[i].Forward(t, parts[i].Mul(rootShares(g)))
		}
	}
	y := l.Mix.Forward(t, grad.Concat(parts...))
	if l.Slope != 0 {
		y = y.LeakyReLU(l.Slope)
	}
	if l.Residual {
		y = y.Add(own)
	}
	return Out{Y: y.Activate(l.Activation)}
}

// pnaTower is what a tower reads.
type pnaTower struct {
	number int
	in     In
	own    *grad.Var // of the destinations
}

// message is m of a tower.
func (l *PNAConv) message(t *grad.Tape, g *graph.Graph, p pnaTower) message.Msg {
	net, f := l.Pre[p.number], l.width()
	w := t.Use(net.Layers[0].W)
	own := p.own.MatMul(w.RowRange(0, f))
	var edge *grad.Var // multiplies the edges' features
	switch {
	case l.Encoder != nil:
		c := w.RowRange(2*f, 3*f)
		edge = t.Use(l.Encoder.W).MatMul(c)
		own = own.Add(t.Use(l.Encoder.B).Reshape(1, f).MatMul(c))
	case l.EdgeIn > 0:
		edge = w.RowRange(2*f, 2*f+l.EdgeIn)
	}
	z := message.UAddV(p.in.Src.MatMul(w.RowRange(f, 2*f)), own)
	if edge != nil {
		z = z.Add(message.E(p.in.Edge).MatMul(edge))
	}
	return net.along(t, g, z)
}
