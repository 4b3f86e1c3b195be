package layers_test

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// layer is what the tests of this package run on.
type layer interface {
	Init(rng *rand.Rand)
	Apply(t *grad.Tape, g *graph.Graph, in layers.In) layers.Out
}

// scene is a golden case brought to our terms.
type scene struct {
	*golden.Case
	g     *graph.Graph
	order []int32       // of each edge of g, its number in the framework's list
	mix   *tensor.Dense // rows of the framework's edges from those of the caller; nil: the same
	fill  *tensor.Dense // added to them
}

// config reads an argument of the constructor, or a preset where it is missing.
func config[T any](c *golden.Case, name string, preset T) T {
	if v, ok := c.Config[name].(T); ok {
		return v
	}
	return preset
}

// widths reads a number, or a pair for the two sides; InDst is 0 for a number.
func widths(c *golden.Case, name string) (in, inDst int) {
	if v, ok := c.Config[name].([]any); ok {
		return int(v[0].(float64)), int(v[1].(float64))
	}
	return int(config(c, name, 0.0)), 0
}

// stage builds the case's graph. PyG's layers take the loops out and put one a
// node at the end, which is done here to the data.
func stage(t *testing.T, path string) *scene {
	s := &scene{Case: golden.Load(t, filepath.Join("testdata", path))}
	if s.Graph == nil {
		return s
	}
	src, dst := s.Graph.Src, s.Graph.Dst
	if strings.HasPrefix(path, "pyg/") && s.Graph.NumSrc == s.Graph.NumDst && config(s.Case, "add_self_loops", s.looped()) {
		src, dst = s.addLoops()
	}
	switch {
	case config(s.Case, "block", false):
		whole := graph.Must(graph.New(s.Graph.NumSrc, src, dst))
		rows := make([]int32, s.Graph.NumDst)
		for i := range rows {
			rows[i] = int32(i)
		}
		s.g = graph.Must(graph.Dst(whole, rows))
		for _, e := range s.g.From().Edges {
			s.order = append(s.order, whole.EdgeOrder()[e])
		}
		return s
	case s.Graph.NumSrc != s.Graph.NumDst:
		s.g = graph.Must(graph.NewBipartite(s.Graph.NumSrc, s.Graph.NumDst, src, dst))
	default:
		s.g = graph.Must(graph.New(s.Graph.NumSrc, src, dst))
	}
	for _, name := range []string{"etypes", "edge_type"} {
		if s.Has("inputs", name) {
			s.g = graph.Must(graph.WithKinds(s.g, s.Ints(t, "inputs", name)))
		}
	}
	s.order = s.g.EdgeOrder()
	return s
}

// looped reports whether PyG's layer adds self-loops unless it is told not to.
func (s *scene) looped() bool {
	layer, training := s.Config["layer"], s.Config["layer"] == nil
	return training || s.normed() || layer == "GATConv" || layer == "GATv2Conv" || layer == "SuperGATConv"
}

// normed reports whether PyG's layer normalises the graph as GCNConv does.
func (s *scene) normed() bool {
	layer := s.Config["layer"]
	return layer == "GCNConv" || layer == "SGConv" || layer == "APPNP" || strings.HasPrefix(s.Name, "pyg/gcn2conv")
}

// addLoops returns the edges that PyG works on, and sets mix and fill so that
// the edges' rows are mix times the caller's rows plus fill. A GATConv gives a
// loop the mean (or sum) of the other in-edges, a GCNConv what the last loop had
// that was there, else its fill.
func (s *scene) addLoops() (src, dst []int32) {
	e, n := len(s.Graph.Src), s.Graph.NumDst
	loop := make([]int, n)
	into := make([][]int, n)
	var from [][]int
	for i, u := range s.Graph.Src {
		if v := s.Graph.Dst[i]; u == v {
			loop[v] = i + 1
		} else {
			src, dst, from = append(src, u), append(dst, v), append(from, []int{i})
			into[v] = append(into[v], i)
		}
	}
	s.mix, s.fill = tensor.New(len(src)+n, e), tensor.New(len(src)+n, 1)
	for i, f := range from {
		s.mix.Row(i)[f[0]] = 1
	}
	for v := range n {
		row := len(src)
		src, dst = append(src, int32(v)), append(dst, int32(v))
		switch {
		case !s.normed():
			for _, i := range into[v] {
				s.mix.Row(row)[i] = 1
				if config(s.Case, "fill_value", "mean") == "mean" {
					s.mix.Row(row)[i] = tensor.Float(1 / float64(len(into[v])))
				}
			}
		case loop[v] > 0 && s.Has("inputs", "edge_weight"):
			s.mix.Row(row)[loop[v]-1] = 1
		default:
			s.fill.Row(row)[0] = 1
			if config(s.Case, "improved", false) && s.Has("inputs", "edge_weight") {
				s.fill.Row(row)[0] = 2
			}
		}
	}
	return src, dst
}

// edges brings rows of the caller's edges onto the edges of the graph.
func (s *scene) edges(x *grad.Var) *grad.Var {
	if s.mix != nil {
		x = grad.Const(s.mix).MatMul(x.Reshape(x.Dim(0), -1))
		if s.normed() {
			x = x.Add(grad.Const(s.fill))
		}
	}
	return x.Rows(s.order)
}

// watch puts the case's inputs on a tape.
func (s *scene) watch(t *testing.T, tp *grad.Tape) (in layers.In, watched map[string]*grad.Var) {
	watched = map[string]*grad.Var{}
	for name := range s.Inputs {
		if s.Inputs[name].Dtype == "int64" { // kinds, which the graph has
			continue
		}
		x := tp.Watch(s.Tensor(t, "inputs", name))
		watched[name] = x
		switch name {
		case "x", "x_src":
			in.Src = x
		case "x_dst", "x_0": // GCN2Conv's h⁰ belongs to the destinations
			in.Dst = x
		case "edge_attr":
			in.Edge = s.edges(x)
		case "edge_weight", "norm":
			in.Weight = s.edges(x)
		default:
			t.Fatalf("the test does not know the input %q", name)
		}
	}
	return in, watched
}

// linear reports whether a parameter is kept out×in.
func linear(name string, v *tensor.Dense) bool {
	return strings.Contains(name, ".weight") && len(v.Shape()) == 2
}

// drop takes parameters out of the case.
func (s *scene) drop(names ...string) {
	for _, key := range names {
		delete(s.Params, key)
		delete(s.Grads, key)
	}
}

// load gives the layer the case's parameters. names says which Param each is;
// all Params of the layer must be among them.
func (s *scene) load(t *testing.T, l layer, names map[string]*grad.Param) {
	loaded := map[*grad.Param]bool{}
	for key := range s.Params {
		p := names[key]
		if p == nil {
			t.Fatalf("the layer has no Param for %q", key)
		}
		v := s.matrix(t, "params", key)
		if len(v.Data) != len(p.Value.Data) {
			t.Fatalf("%s is %v, the layer has %v", key, v.Shape(), p.Value.Shape())
		}
		copy(p.Value.Data, v.Data)
		loaded[p] = true
	}
	for key, p := range grad.Params(l) {
		if !loaded[p] {
			t.Fatalf("the case has no values for %s", key)
		}
	}
}

// run compares results, attention and all gradients with the case.
func (s *scene) run(t *testing.T, l layer, names map[string]*grad.Param) {
	s.load(t, l, names)
	tp := grad.NewTape(1)
	in, watched := s.watch(t, tp)
	out := l.Apply(tp, s.g, in)
	want := s.Tensor(t, "outputs", "y")
	golden.Compare(t, "y", out.Y.Value().Reshape(want.Shape()...), want, s.Float32Error.Outputs)
	if s.Has("outputs", "attention") {
		a := message.ApplyEdges(s.g, out.Attention).Value()
		b := a.Like()
		for e, i := range s.order {
			copy(b.Row(int(i)), a.Row(e))
		}
		golden.Compare(t, "attention", b, s.Tensor(t, "outputs", "attention"), s.Float32Error.Outputs)
	}
	cot := s.Tensor(t, "cotangents", "y").Reshape(out.Y.Shape()...)
	grads := tp.Backward(out.Y.Mul(grad.Const(cot)).Sum())
	for key := range s.Grads {
		got := grads.Of(watched[key])
		if watched[key] == nil {
			got = grads.Param(names[key])
		}
		if got == nil {
			t.Errorf("no gradient for %s", key)
			continue
		}
		want := s.matrix(t, "grads", key)
		golden.Compare(t, "gradient of "+key, got.Reshape(want.Shape()...), want, s.Float32Error.Grads)
	}
}

// cases runs f on every golden case whose file matches pattern.
func cases(t *testing.T, pattern string, want int, f func(t *testing.T, s *scene)) {
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) != want {
		t.Fatalf("%d files match %s, want %d (%v)", len(files), pattern, want, err)
	}
	for _, file := range files {
		path := filepath.ToSlash(strings.TrimPrefix(file, "testdata"+string(filepath.Separator)))
		t.Run(strings.TrimSuffix(path, ".json"), func(t *testing.T) { f(t, stage(t, path)) })
	}
}
