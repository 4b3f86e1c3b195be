package message_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/message"
)

// watched is the inputs of a golden case on a tape.
type watched struct {
	c    *golden.Case
	g    *graph.Graph
	tape *grad.Tape
	in   map[string]*grad.Var
}

func watch(t *testing.T, c *golden.Case) *watched {
	w := &watched{c: c, tape: grad.NewTape(1), in: map[string]*grad.Var{}}
	switch {
	case c.Graph == nil:
		w.g = indexed(t, c)
	case c.Graph.NumDst != c.Graph.NumSrc:
		w.g = graph.Must(graph.NewBipartite(c.Graph.NumSrc, c.Graph.NumDst, c.Graph.Src, c.Graph.Dst))
	default:
		w.g = graph.Must(graph.New(c.Graph.NumSrc, c.Graph.Src, c.Graph.Dst))
	}
	for name := range c.Inputs {
		w.in[name] = w.tape.Watch(c.Tensor(t, "inputs", name))
	}
	return w
}

// message spells a message of DGL's, such as u_add_v.
func (w *watched) message(t *testing.T) message.Msg {
	leaf := func(name string) message.Msg {
		switch name {
		case "u":
			return message.U(w.in["u"])
		case "v":
			return message.V(w.in["v"])
		}
		return message.E(message.OnEdges(w.g, w.in["e"]))
	}
	parts := strings.Split(w.c.Config["message"].(string), "_")
	if parts[0] == "copy" {
		return leaf(parts[1])
	}
	x, y := leaf(parts[0]), leaf(parts[2])
	switch parts[1] {
	case "add":
		return x.Add(y)
	case "sub":
		return x.Sub(y)
	case "mul":
		return x.Mul(y)
	case "div":
		return x.Div(y)
	case "dot":
		return x.Dot(y)
	}
	t.Fatalf("no message %v", parts)
	return message.Msg{}
}

// compare checks y and the gradients of all inputs. onEdges says that y has a
// row for each edge, and the file has them in the order of its list.
func (w *watched) compare(t *testing.T, y *grad.Var, onEdges bool) {
	t.Helper()
	want, dy := grad.Const(w.c.Tensor(t, "outputs", "y")), grad.Const(w.c.Tensor(t, "cotangents", "y"))
	if onEdges {
		want, dy = message.OnEdges(w.g, want), message.OnEdges(w.g, dy)
	}
	golden.Compare(t, "y", y.Value(), want.Value(), w.c.Float32Error.Outputs)
	grads := w.tape.Backward(y.Reshape(dy.Shape()...).Mul(dy).Sum())
	for name := range w.c.Grads {
		golden.Compare(t, "gradient of "+name, grads.Of(w.in[name]), w.c.Tensor(t, "grads", name), w.c.Float32Error.Grads)
	}
}

// cases runs f with every golden file that a pattern finds, by its rule and in
// small tiles.
func cases(t *testing.T, pattern string, want int, f func(t *testing.T, w *watched)) {
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) != want {
		t.Fatalf("%d files like %s, want %d (%v)", len(files), pattern, want, err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			c := golden.Load(t, path)
			f(t, watch(t, c))
			message.SetFuse(t, false)
			message.SetTileBytes(t, 64)
			f(t, watch(t, c))
		})
	}
}

func TestGoldenUpdateAll(t *testing.T) {
	byName := map[string]message.Reducer{"sum": message.Sum, "mean": message.Mean, "max": message.Max, "min": message.Min}
	cases(t, "update_all/*.json", 130, func(t *testing.T, w *watched) {
		r, ok := byName[w.c.Config["reducer"].(string)]
		if !ok {
			t.Fatal(w.c.Config)
		}
		w.compare(t, message.UpdateAll(w.g, w.message(t), r), false)
	})
}

func TestGoldenApplyEdges(t *testing.T) {
	cases(t, "apply_edges/*.json", 30, func(t *testing.T, w *watched) {
		w.compare(t, message.ApplyEdges(w.g, w.message(t)), true)
	})
}

func TestGoldenEdgeSoftmax(t *testing.T) {
	cases(t, "edge_softmax_*.json", 8, func(t *testing.T, w *watched) {
		x := message.OnEdges(w.g, w.in["logits"])
		if w.c.Config["norm_by"] == "src" {
			w.compare(t, message.EdgeSoftmaxBySource(w.g, x), true)
			return
		}
		w.compare(t, message.EdgeSoftmax(w.g, x), true)
	})
}
