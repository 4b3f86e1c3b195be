package sequence

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Conv1D is a convolution along chains.
//
//	y_t = Σ_k x_s(k)·W_k + b      s(k) = t + (k − (K−1)/2)·d, or causal t + (k − K+1)·d
//
// for the K taps k = 0 … K−1 and the dilation d. As a message it is what each node of the
// chain hears over a band of it, U(x·W).Pick(tap); what lies beyond an end of the chain adds
// nothing, as zeros would. x is N×In, dense or sparse; the result is N×Out. A node alone
// hears itself through one tap. It wants chains, of which each node has one predecessor and
// one successor at most; on graph.Reverse(g) it reads backwards.
//
// With WeightNorm the weights of a column of the result are a direction and a length,
//
//	W_kij = Gain_j · V_kij / ‖V_··j‖
//
// of Salimans and Kingma, "Weight Normalization", 2016: the norm is over In and the taps, as
// PyTorch's weight_norm takes it. V is kept in W.
//
// W is PyTorch's weight (out×in×K) with the axes turned: the columns of a tap stand together.
type Conv1D struct {
	In, Out    int
	Kernel     int  // K, odd unless causal
	Dilation   int  `json:",omitempty"` // 0: 1
	Causal     bool `json:",omitempty"` // the last tap is the node, the others before it
	NoBias     bool `json:",omitempty"`
	WeightNorm bool `json:",omitempty"` // W is V, to be divided by its length

	W    *grad.Param `json:"-"` // In×K·Out
	B    *grad.Param `json:"-"` // Out
	Gain *grad.Param `json:"-"` // of WeightNorm, Out
}

// Init makes the Params: the weights uniform up to 1/√(K·In), the bias zero, and a Gain that
// leaves the weights as long as they are.
func (l *Conv1D) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.W, l.B = compose.Uniform(rng, l.In, l.Kernel*l.Out, max(1, l.Kernel*l.In)), compose.Bias(!l.NoBias, l.Out)
	l.Gain = nil
	if l.WeightNorm {
		l.Gain = grad.NewParam(l.Out)
		for j := range l.Out {
			sum := 0.0
			for i := j; i < len(l.W.Value.Data); i += l.Out {
				sum += float64(l.W.Value.Data[i]) * float64(l.W.Value.Data[i])
			}
			l.Gain.Value.Data[j] = tensor.Float(math.Sqrt(sum))
		}
	}
}

// weights returns what x is multiplied by, normalised if that is asked for.
func (l *Conv1D) weights(t *grad.Tape) *grad.Var {
	w := t.Use(l.W)
	if !l.WeightNorm {
		return w
	}
	columns := w.Reshape(-1, l.Out).Transpose().L2Normalise().Transpose()
	return columns.Mul(t.Use(l.Gain)).Reshape(l.In, -1)
}

// band is what the taps reach.
func (l *Conv1D) band() chainBand {
	why := ""
	switch {
	case l.Kernel < 1:
		why = fmt.Sprintf("Kernel is %d, want at least 1", l.Kernel)
	case l.Kernel%2 == 0 && !l.Causal:
		why = fmt.Sprintf("Kernel is %d; an even one has no middle, so it must be Causal", l.Kernel)
	case l.Dilation < 0:
		why = fmt.Sprintf("Dilation is %d, want at least 1, or 0 for 1", l.Dilation)
	}
	if why != "" {
		panic(&grad.TapeError{Op: "sequence.Conv1D", Why: why})
	}
	return chainBand{l.Kernel, max(1, l.Dilation), l.Causal}
}

// Forward returns the result at every node of the chains g.
func (l *Conv1D) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	band := l.band()
	l.check(g, x)
	g = band.graphOf("sequence.Conv1D", g)
	xw := x.MatMul(l.weights(t)).Reshape(-1, l.Kernel, l.Out) // every tap's product, once a node
	y := message.UpdateAll(g, message.U(xw).Pick(g.Kinds()), message.Sum)
	if l.B == nil {
		return y
	}
	return y.AddBias(t.Use(l.B), grad.Identity)
}

// check panics unless the layer can read x on g.
func (l *Conv1D) check(g *graph.Graph, x *grad.Var) {
	const op = "sequence.Conv1D"
	compose.WantNodes(op, g, x)
	compose.WantInit(op, l.W, l.Kernel*l.Out)
	compose.WantParam(op, l.Gain, l.WeightNorm)
	compose.WantWidth(op, "x", x, l.In, "In")
}
