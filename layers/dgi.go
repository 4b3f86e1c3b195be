package layers

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/tensor"
)

// DGI teaches an encoder without labels: to make rows of nodes that can be told, by a
// summary of the whole graph, from rows of the same graph with its features shuffled.
//
//	s = σ(mean_v h_v),   loss = ½·( mean_v −log σ(h_v·W·s) + mean_v −log(1 − σ(h̃_v·W·s)) )
//
// of Veličković, Fedus, Hamilton, Liò, Bengio and Hjelm, "Deep Graph Infomax", ICLR 2019;
// PyG's DeepGraphInfomax. h and h̃ are N×Width, what any encoder makes of x and of
// [DGI.Shuffle] of x. Afterwards the encoder's rows, detached, are features for whatever
// is to be learnt; DGI itself is no longer needed.
type DGI struct {
	Width int

	W *grad.Param `json:"-"` // Width×Width
}

// Init makes the Param as the authors' program does: Glorot's uniform distribution of a
// bilinear form, which has Width² inputs and Width outputs as torch counts them. Its bounds
// are narrower than those of a matrix by √(Width/2), about.
func (l *DGI) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.W = grad.NewParam(l.Width, l.Width)
	l.W.Value.GlorotUniform(rng, l.Width*l.Width, l.Width, 1)
}

// Shuffle returns the rows of x, dense or sparse, in an order drawn anew each step; x
// itself while nothing is recorded.
func (l *DGI) Shuffle(t *grad.Tape, x *grad.Var) *grad.Var {
	compose.WantVar("layers.DGI", "x", x)
	mask := t.NextDropout(0.5) // its keys are those of seed, step and place
	if mask == nil {
		return x
	}
	rng := rand.New(rand.NewPCG(uint64(mask.K0), uint64(mask.K1)))
	order := make([]int32, x.Dim(0))
	for i := range order {
		order[i] = int32(i)
	}
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return x.Rows(order)
}

// Loss returns the loss for the encoder's rows of the graph, and of the shuffled one.
func (l *DGI) Loss(t *grad.Tape, h, shuffled *grad.Var) *grad.Var {
	compose.WantInit("layers.DGI", l.W, l.Width)
	compose.WantRows("layers.DGI", h, l.Width, "Width")
	compose.WantRows("layers.DGI", shuffled, l.Width, "Width")
	for _, x := range []*grad.Var{h, shuffled} {
		compose.WantMatrix("layers.DGI", "the encoder's result", x)
		compose.WantDense("layers.DGI", "the encoder's result", x, "an encoder makes dense rows")
	}
	n := h.Dim(0)
	summary := h.MeanAxis(0).Sigmoid().Reshape(1, l.Width)
	toward := summary.MatMulT(t.Use(l.W)).Reshape(l.Width, 1) // W·s
	there := tensor.New(n, 1)
	there.Fill(1)
	yes := h.MatMul(toward).BCE(grad.Const(there))
	return yes.Add(shuffled.MatMul(toward).BCE(grad.Const(tensor.New(shuffled.Dim(0), 1)))).Scale(0.5)
}
