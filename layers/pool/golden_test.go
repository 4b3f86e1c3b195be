package pool_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/pool"
	"github.com/edgewise-ml/edgewise/message"
)

// reader reads the members of a batch.
type reader interface {
	Init(rng *rand.Rand)
	Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var
}

// ofPyG runs a layer, whose Params by the framework's name are those of matched, on a
// golden case, and compares the result and all gradients. Matrices of the framework are
// out×in.
func ofPyG(t *testing.T, name string, l reader, matched func() map[string]*grad.Param) {
	t.Helper()
	c := golden.Load(t, filepath.Join("testdata", name+".json"))
	l.Init(rand.New(rand.NewPCG(1, 1)))
	params := matched()
	for key, p := range params {
		w := c.Tensor(t, "params", key)
		if len(w.Shape()) == 2 {
			w = golden.Transpose(w)
		}
		if strings.Contains(key, "bias_hh") { // ours is the sum of both
			p.Value.Add(w)
			continue
		}
		if !slices.Equal(p.Value.Shape(), w.Shape()) {
			t.Fatalf("%s is %v, and ours %v", key, w.Shape(), p.Value.Shape())
		}
		p.Value = w
		if other := strings.Replace(key, "bias_ih", "bias_hh", 1); other != key {
			p.Value.Add(c.Tensor(t, "params", other))
		}
	}
	tape := grad.NewTape(1)
	x := tape.Watch(c.Tensor(t, "inputs", "x"))
	y := l.Forward(tape, batchOf(t, c), x)
	golden.Compare(t, "y", y.Value(), c.Tensor(t, "outputs", "y"), c.Float32Error.Outputs)
	grads := tape.BackwardFrom(y, c.Tensor(t, "cotangents", "y"))
	golden.Compare(t, "gradient of x", grads.Of(x), c.Tensor(t, "grads", "x"), c.Float32Error.Grads)
	for key, p := range params {
		want := c.Tensor(t, "grads", key)
		if len(want.Shape()) == 2 {
			want = golden.Transpose(want)
		}
		golden.Compare(t, "gradient of "+key, grads.Param(p), want, c.Float32Error.Grads)
	}
}

// batchOf is a batch without edges, of members of the case's numbers of nodes.
func batchOf(t *testing.T, c *golden.Case) *graph.Graph {
	var gs []*graph.Graph
	for _, n := range c.Config["batch_num_nodes"].([]any) {
		gs = append(gs, graph.Must(graph.New(int(n.(float64)), nil, nil)))
	}
	return graph.Batch(gs...)
}

func TestGoldenAttention(t *testing.T) {
	for name, transform := range map[string]string{
		"globalattentionpooling": "", "globalattentionpooling_feat": "feat_nn",
		"pyg_attentionalaggregation": "", "pyg_attentionalaggregation_nn": "nn",
	} {
		t.Run(name, func(t *testing.T) {
			c := golden.Load(t, filepath.Join("testdata", name+".json"))
			l := &pool.Attention{Gate: layers.MLP{Widths: []int{c.Tensor(t, "inputs", "x").Dim(1), 1}}}
			if transform != "" {
				s := c.Tensor(t, "params", transform+".weight").Shape()
				l.Net.Widths = []int{s[1], s[0]}
			}
			ofPyG(t, name, l, func() map[string]*grad.Param {
				ps := map[string]*grad.Param{"gate_nn.weight": l.Gate.Layers[0].W, "gate_nn.bias": l.Gate.Layers[0].B}
				if transform != "" {
					ps[transform+".weight"], ps[transform+".bias"] = l.Net.Layers[0].W, l.Net.Layers[0].B
				}
				return ps
			})
		})
	}
}

// readout is message.Readout as a reader.
type readout struct{ by message.Reducer }

func (readout) Init(*rand.Rand) {}

func (r readout) Forward(_ *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return message.Readout(g, x, r.by)
}

func TestGoldenReadout(t *testing.T) {
	for name, by := range map[string]message.Reducer{"add": message.Sum, "mean": message.Mean, "max": message.Max} {
		t.Run(name, func(t *testing.T) {
			ofPyG(t, "pyg_global_"+name+"_pool", readout{by}, func() map[string]*grad.Param { return nil })
		})
	}
}

func TestGoldenSet2Set(t *testing.T) {
	for name, c := range map[string]struct{ steps, layers int }{"set2set": {3, 1}, "set2set_layers2": {2, 2}, "pyg_set2set": {0, 0}} {
		t.Run(name, func(t *testing.T) {
			in := golden.Load(t, filepath.Join("testdata", name+".json")).Tensor(t, "inputs", "x").Dim(1)
			l := &pool.Set2Set{In: in, Steps: c.steps, Layers: c.layers}
			ofPyG(t, name, l, func() map[string]*grad.Param {
				ps := map[string]*grad.Param{}
				for i, lstm := range l.LSTMs {
					for key, p := range map[string]*grad.Param{"weight_ih": lstm.W, "weight_hh": lstm.U, "bias_ih": lstm.B} {
						ps[fmt.Sprintf("lstm.%s_l%d", key, i)] = p
					}
				}
				return ps
			})
		})
	}
}
