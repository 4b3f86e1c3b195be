package attention_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// torchCase is a case of one of PyTorch's Transformer layers.
type torchCase struct {
	*golden.Case
	tape  *grad.Tape
	vars  map[string]*grad.Var
	wants map[string]func(grads grad.Grads) (got, want *tensor.Dense) // gradients, by PyTorch's name and the first row
}

func eachTorchCase(t *testing.T, pattern string, count int, f func(t *testing.T, c *torchCase)) {
	files, err := filepath.Glob("testdata/torch/" + pattern)
	if err != nil || len(files) != count {
		t.Fatalf("%d files, want %d (%v)", len(files), count, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			f(t, &torchCase{golden.Load(t, filepath.ToSlash(file)), grad.NewTape(1), map[string]*grad.Var{}, map[string]func(grad.Grads) (got, want *tensor.Dense){}})
		})
	}
}

func (c *torchCase) number(name string, preset int) int {
	if v, ok := c.Config[name].(float64); ok {
		return int(v)
	}
	return preset
}

// input returns an input as rows; a missing one is nil.
func (c *torchCase) input(t *testing.T, name string) *grad.Var {
	if !c.Has("inputs", name) {
		return nil
	}
	x := c.Tensor(t, "inputs", name)
	c.vars[name] = c.tape.Watch(x.Reshape(-1, x.Dim(-1)))
	return c.vars[name]
}

// graphs returns who hears whom where nobody is masked, as the masks say: the edges, and the
// blocks where these can say it.
func (c *torchCase) graphs(t *testing.T, queries, keys, mask, padding string) map[string]*graph.Graph {
	shape := c.Inputs[queries].Shape
	b, n, m := shape[0], shape[1], shape[1]
	if c.Has("inputs", keys) {
		m = c.Inputs[keys].Shape[1]
	}
	var src, dst []int32
	causal, whole := n == m, true
	for s := range b {
		for i := range n {
			for j := range m {
				masked := c.Has("inputs", mask) && c.Tensor(t, "inputs", mask).Row(i)[j] != 0 ||
					c.Has("inputs", padding) && c.Tensor(t, "inputs", padding).Row(s)[j] != 0
				causal, whole = causal && masked == (j > i), whole && !masked
				if !masked {
					src, dst = append(src, int32(s*m+j)), append(dst, int32(s*n+i))
				}
			}
		}
	}
	list := graph.NewBipartite
	if n == m {
		list = func(n, _ int, src, dst []int32) (*graph.Graph, error) { return graph.New(n, src, dst) }
	}
	all := map[string]*graph.Graph{"edges": graph.Must(list(b*m, b*n, src, dst))}
	switch {
	case causal:
		all["blocks"] = graph.Batch(slices.Repeat([]*graph.Graph{graph.Causal(n)}, b)...)
	case whole && n == m:
		all["blocks"] = graph.Batch(slices.Repeat([]*graph.Graph{graph.Complete(n)}, b)...)
	case whole:
		all["blocks"] = graph.Batch(slices.Repeat([]*graph.Graph{graph.CompleteBipartite(m, n)}, b)...)
	}
	return all
}

// load gives p the values of PyTorch's parameter, of which it is the rows from lo to hi, or
// all where hi is 0.
func (c *torchCase) load(t *testing.T, name string, lo, hi int, p *grad.Param) {
	rows := func(section string) *tensor.Dense {
		x := c.Tensor(t, section, name)
		if hi > 0 {
			x = x.RowRange(lo, hi)
		}
		if x.Axes() == 2 {
			return golden.Transpose(x)
		}
		return x
	}
	if got, want := p.Value.Shape(), rows("params"); !slices.Equal(got, want.Shape()) {
		t.Fatalf("%s is %v, want %v", name, want.Shape(), got)
	} else {
		copy(p.Value.Data, want.Data)
	}
	want := rows("grads")
	c.wants[fmt.Sprint(name, " ", lo)] = func(grads grad.Grads) (got, golden *tensor.Dense) { return grads.Param(p), want }
}

// attention loads a MultiHead whose names begin so.
func (c *torchCase) attention(t *testing.T, prefix string, l *attention.MultiHead) {
	m := l.Model
	for i, w := range []struct{ w, b *grad.Param }{{l.WQuery, l.BQuery}, {l.WKey, l.BKey}, {l.WValue, l.BValue}} {
		if name := prefix + "qkv"[i:i+1] + "_proj_weight"; c.Has("params", name) {
			c.load(t, name, 0, 0, w.w)
		} else {
			c.load(t, prefix+"in_proj_weight", i*m, (i+1)*m, w.w)
		}
		if w.b != nil {
			c.load(t, prefix+"in_proj_bias", i*m, (i+1)*m, w.b)
		}
	}
	c.load(t, prefix+"out_proj.weight", 0, 0, l.WOut)
	if l.BOut != nil {
		c.load(t, prefix+"out_proj.bias", 0, 0, l.BOut)
	}
}

func (c *torchCase) block(t *testing.T, feed *layers.MLP, norms ...*layers.LayerNorm) {
	for i, l := range feed.Layers {
		name := []string{"linear1", "linear2"}[i]
		c.load(t, name+".weight", 0, 0, l.W)
		c.load(t, name+".bias", 0, 0, l.B)
	}
	for i, l := range norms {
		name := []string{"norm1", "norm2", "norm3"}[i]
		c.load(t, name+".weight", 0, 0, l.Gain)
		c.load(t, name+".bias", 0, 0, l.B)
	}
}

// check compares the result and the gradients of all that was loaded.
func (c *torchCase) check(t *testing.T, y *grad.Var) {
	t.Helper()
	want := c.Tensor(t, "outputs", "y")
	golden.Compare(t, "y", y.Value().Reshape(want.Shape()...), want, c.Float32Error.Outputs)
	grads := c.tape.BackwardFrom(y, c.Tensor(t, "cotangents", "y").Reshape(y.Shape()...))
	names := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(c.wants)) {
		got, want := c.wants[name](grads)
		golden.Compare(t, "gradient of "+name, got, want, c.Float32Error.Grads)
		name, _, _ = strings.Cut(name, " ")
		names[name] = true
	}
	for name, x := range c.vars {
		names[name] = true
		want := c.Tensor(t, "grads", name)
		golden.Compare(t, "gradient of "+name, grads.Of(x).Reshape(want.Shape()...), want, c.Float32Error.Grads)
	}
	for name := range c.Grads {
		if !names[name] {
			t.Errorf("the gradient of %s was not compared", name)
		}
	}
}

// PyTorch's weights are read into each layer; its masks become graphs.
func TestMultiHeadTorch(t *testing.T) {
	eachTorchCase(t, "multiheadattention*.json", 9, func(t *testing.T, c *torchCase) {
		bias, ok := c.Config["bias"].(bool)
		l := &attention.MultiHead{Model: c.number("embed_dim", 0), Heads: c.number("num_heads", 0), Key: c.number("kdim", 0), Value: c.number("vdim", 0), NoBias: ok && !bias}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		for _, g := range c.graphs(t, "query", "key", "attn_mask", "key_padding_mask") {
			c.tape.Reset()
			clear(c.wants)
			c.attention(t, "", l)
			y, weights := l.Apply(c.tape, g, attention.QKV{Query: c.input(t, "query"), Key: c.input(t, "key"), Value: c.input(t, "value")})
			c.weights(t, g, message.ApplyEdges(g, weights).Value())
			c.check(t, y)
		}
	})
}

// weights compares α, of which PyTorch has a matrix for each sentence and head.
func (c *torchCase) weights(t *testing.T, g *graph.Graph, got *tensor.Dense) {
	want := c.Tensor(t, "outputs", "attention")
	b, heads, n, m := want.Dim(0), want.Dim(1), want.Dim(2), want.Dim(3)
	whole := tensor.New(b, heads, n, m)
	in := g.In()
	for v := range b * n {
		for e := in.Offsets[v]; e < in.Offsets[v+1]; e++ {
			for h := range heads {
				whole.Data[((v/n*heads+h)*n+v%n)*m+int(in.Cols[e])%m] = got.Data[int(e)*heads+h]
			}
		}
	}
	golden.Compare(t, "α", whole, want, c.Float32Error.Outputs)
}

// shape reads a case's Block.
func (c *torchCase) shape() attention.Block {
	return attention.Block{Model: c.number("d_model", 0), Heads: c.number("nhead", 0), Hidden: c.number("dim_feedforward", 0),
		PreNorm: c.Config["norm_first"] == true, Activation: grad.Activation(c.Config["activation"].(string))}
}

func TestEncoderBlockTorch(t *testing.T) {
	eachTorchCase(t, "transformerencoderlayer*.json", 5, func(t *testing.T, c *torchCase) {
		l := &attention.EncoderBlock{Block: c.shape()}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		c.attention(t, "self_attn.", l.Self)
		c.block(t, l.Feed, l.Norm1, l.Norm2)
		for _, g := range c.graphs(t, "src", "", "src_mask", "src_key_padding_mask") {
			c.tape.Reset()
			c.check(t, l.Forward(c.tape, g, c.input(t, "src")))
		}
	})
}

func TestDecoderBlockTorch(t *testing.T) {
	eachTorchCase(t, "transformerdecoderlayer*.json", 4, func(t *testing.T, c *torchCase) {
		l := &attention.DecoderBlock{Block: c.shape()}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		c.attention(t, "self_attn.", l.Self)
		c.attention(t, "multihead_attn.", l.Cross)
		c.block(t, l.Feed, l.Norm1, l.Norm2, l.Norm3)
		cross := c.graphs(t, "tgt", "memory", "memory_mask", "memory_key_padding_mask")["edges"]
		for _, self := range c.graphs(t, "tgt", "", "tgt_mask", "tgt_key_padding_mask") {
			c.tape.Reset()
			c.check(t, l.Forward(c.tape, self, cross, c.input(t, "tgt"), c.input(t, "memory")))
		}
	})
}
