package explain

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// GNNExplainer learns a mask of the edges and one of the columns of the features with
// which the model still gives the class, and which keep little: it makes
//
//	−log p(class | x ⊙ σ(f), weight σ(m))
//	  + EdgeSize·Σσ(m) + EdgeEntropy·mean H(σ(m))
//	  + FeatureSize·mean σ(f) + FeatureEntropy·mean H(σ(f))
//
// small, H(p) = −p·log p − (1−p)·log(1−p), by Adam. The scores are σ(m) and σ(f). Ying,
// Bourgeois, You, Zitnik and Leskovec, "GNNExplainer: Generating Explanations for Graph
// Neural Networks", NeurIPS 2019. The zero value has the factors of its authors' code
// and of PyG, 100 steps at the rate 0.01. A factor of 0 is said as [grad.Zero].
//
// As in PyG, the edges and columns by which the first step has no derivative, such as
// columns of zeros, have no mask: they have the score 0 and are left out.
type GNNExplainer struct {
	Steps                       int     // 0: 100
	LR                          float64 // 0: 0.01
	EdgeSize, EdgeEntropy       float64 // 0: 0.005 and 1
	FeatureSize, FeatureEntropy float64 // 0: 1 and 0.1
	NoFeatures                  bool    // the features stay as they are and have no scores
	Seed                        uint64  // of the first masks

	// Progress is called after each step, with the number of steps that are over and of all; nil: nobody is told.
	Progress func(done, total int) `json:"-"`
}

// masks are what is learnt, before the sigmoid.
type masks struct {
	edges, features *grad.Param // nil: there are none
	on, columns     []int32     // the edges and the columns that have a mask
}

// Explain learns the masks of a case. The model is left as it is.
func (l *GNNExplainer) Explain(c *Case) *Explanation {
	const op = "explain.GNNExplainer"
	if c == nil {
		panic(&grad.TapeError{Op: op, Why: "the case is nil"})
	}
	wantOptions(op, option{"Steps", float64(l.Steps)}, option{"LR", l.LR}, option{"EdgeSize", l.EdgeSize}, option{"EdgeEntropy", l.EdgeEntropy},
		option{"FeatureSize", l.FeatureSize}, option{"FeatureEntropy", l.FeatureEntropy})
	m := l.begin(c)
	opt := &train.Adam{LR: cmp.Or(l.LR, 0.01)}
	t := grad.NewTape(l.Seed)
	steps := m.steps(cmp.Or(l.Steps, 100))
	for i := range steps {
		t.Reset()
		opt.Step(m.own(t.Backward(l.loss(t, c, m))))
		if l.Progress != nil {
			l.Progress(i+1, steps)
		}
	}
	e := c.blank()
	for i, edge := range m.on {
		e.Edges[edge] = sigmoid(m.edges.Value.Data[i])
	}
	if !l.NoFeatures {
		e.Features = make([]float64, c.Features.RowLen())
	}
	for i, j := range m.columns {
		e.Features[j] = sigmoid(m.features.Value.Data[i])
	}
	return e
}

// option is a number that a field of an explainer says.
type option struct {
	field string
	value float64
}

// wantOptions panics unless the options of an explainer are finite, and none is negative.
func wantOptions(op string, options ...option) {
	for _, o := range options {
		if !(o.value >= 0 && o.value <= math.MaxFloat64) {
			panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("%s is %v; want 0, for the usual, or more", o.field, o.value)})
		}
	}
}

// steps returns how many are taken: none if there is nothing to learn.
func (m *masks) steps(n int) int {
	if m.edges == nil && m.features == nil {
		return 0
	}
	return n
}

// own returns the gradients of the masks without those of the model.
func (m *masks) own(gs grad.Grads) grad.Grads {
	var out grad.Grads
	for _, g := range gs {
		if g.Param != nil && (g.Param == m.edges || g.Param == m.features) {
			out = append(out, g)
		}
	}
	return out
}

func sigmoid(v tensor.Float) float64 { return 1 / (1 + math.Exp(-float64(v))) }

// begin draws the first masks as the authors' code does, and leaves out what the class
// does not depend on.
func (l *GNNExplainer) begin(c *Case) *masks {
	rng, m := rand.New(rand.NewPCG(l.Seed, 0xe7a1)), &masks{on: c.open}
	if len(m.on) > 0 {
		m.edges = grad.NewParam(len(m.on), 1)
		m.edges.Value.Normal(rng, 0, math.Sqrt2/math.Sqrt(float64(c.Graph.NumNodes())))
	}
	if n := c.Features.RowLen(); n > 0 && !l.NoFeatures {
		m.features = grad.NewParam(n, 1)
		m.features.Value.Normal(rng, 0, 0.1)
		for j := range n {
			m.columns = append(m.columns, int32(j))
		}
	}
	if m.steps(1) == 0 {
		return m
	}
	t := grad.NewTape(l.Seed)
	x, weight := m.inputs(t, c)
	gs := t.Backward(c.logits(t, x, weight).CrossEntropy([]int32{int32(c.Class)}))
	m.edges, m.on = dependent(m.edges, gs, m.on)
	m.features, m.columns = dependent(m.features, gs, m.columns)
	return m
}

// dependent returns the part of a mask whose gradient is not 0, and what it is on.
func dependent(mask *grad.Param, gs grad.Grads, on []int32) (*grad.Param, []int32) {
	if mask == nil {
		return nil, nil
	}
	var values []tensor.Float
	var kept []int32
	for i, v := range gs.Param(mask).Data {
		if v != 0 {
			values, kept = append(values, mask.Value.Data[i]), append(kept, on[i])
		}
	}
	if len(kept) == 0 {
		return nil, nil
	}
	part := grad.NewParam(len(kept), 1)
	copy(part.Value.Data, values)
	return part, kept
}

// inputs returns what the model reads with the masks: features and weights.
func (m *masks) inputs(t *grad.Tape, c *Case) (x, weight *grad.Var) {
	x, weight = grad.Const(c.Features), grad.Const(c.weights(0))
	if m.edges != nil {
		weight = weight.Add(t.Use(m.edges).Sigmoid().ScatterAdd(m.on, c.Graph.NumEdges()))
	}
	if m.features != nil {
		x = x.Mul(t.Use(m.features).Sigmoid().ScatterAdd(m.columns, c.Features.RowLen()).Reshape(1, -1))
	}
	return x, weight
}

// loss is what the masks make small.
func (l *GNNExplainer) loss(t *grad.Tape, c *Case, m *masks) *grad.Var {
	x, weight := m.inputs(t, c)
	loss := c.logits(t, x, weight).CrossEntropy([]int32{int32(c.Class)})
	if m.edges != nil {
		raw := t.Use(m.edges)
		p := raw.Sigmoid()
		loss = loss.Add(p.Sum().Scale(grad.Preset(l.EdgeSize, 0.005))).Add(entropy(raw, p).Scale(grad.Preset(l.EdgeEntropy, 1)))
	}
	if m.features != nil {
		raw := t.Use(m.features)
		p := raw.Sigmoid()
		loss = loss.Add(p.Mean().Scale(grad.Preset(l.FeatureSize, 1))).Add(entropy(raw, p).Scale(grad.Preset(l.FeatureEntropy, 0.1)))
	}
	return loss
}

// entropy returns the mean of H(p), p = σ(raw), which is softplus(raw) − p·raw: no
// logarithm of what may be 0.
func entropy(raw, p *grad.Var) *grad.Var { return raw.Softplus().Sub(p.Mul(raw)).Mean() }
