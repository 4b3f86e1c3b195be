package convert_test

import (
	"flag"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/convert"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

var update = flag.Bool("update", false, "write the files of TestWritten again")

// stage is what the modules of testdata/modules.py read.
type stage struct {
	t               *testing.T
	framework       convert.Framework
	model, want, in convert.State
	tape            *grad.Tape
}

func newStage(t *testing.T, f convert.Framework, file string) *stage {
	s := &stage{t: t, framework: f, tape: grad.NewEval()}
	for key, into := range map[string]*convert.State{"model": &s.model, "outputs": &s.want, "inputs": &s.in} {
		state, err := convert.Load(filepath.Join("testdata", file), key)
		if err != nil {
			t.Fatal(err)
		}
		*into = state
	}
	return s
}

// input returns an input as rows.
func (s *stage) input(name string) *grad.Var {
	a := s.in[name]
	return grad.Const(tensor.Of(slices.Clone(a.Data), a.Shape...))
}

// flipped returns x, its last row first.
func (s *stage) flipped() *grad.Var { return s.input("x").Rows([]int32{4, 3, 2, 1, 0}) }

// graph returns the modules' graph, with its kinds of edges.
func (s *stage) graph() *graph.Graph {
	edges, n := s.in["edges"].Data, s.in["edges"].Shape[1]
	g := graph.Must(graph.New(5, whole(edges[:n]), whole(edges[n:])))
	return graph.Must(graph.WithKinds(g, whole(s.in["kinds"].Data)))
}

// looped returns it as PyG's layers make it that put a loop at each node.
func (s *stage) looped() *graph.Graph { return graph.WithSelfLoops(s.graph()) }

func whole(v []tensor.Float) []int32 {
	out := make([]int32, len(v))
	for i, x := range v {
		out[i] = int32(x)
	}
	return out
}

// module is a layer of this library for a module there.
type module struct {
	layer any
	run   func() *grad.Var
}

const broughtBack = ", brought back"

// initer is what all layers with Params are.
type initer interface{ Init(rng *rand.Rand) }

// initialised gives a layer its Params.
func initialised[T initer](l T) T {
	l.Init(rand.New(rand.NewPCG(5, 5)))
	return l
}

// conv is a module whose layer reads a graph and perhaps features of edges.
func (s *stage) conv(l interface {
	initer
	Apply(t *grad.Tape, g *graph.Graph, in layers.In) layers.Out
}, g *graph.Graph, in layers.In) module {
	l.Init(rand.New(rand.NewPCG(5, 5)))
	if in.Src == nil {
		in.Src = s.input("x")
	}
	return module{l, func() *grad.Var { return l.Apply(s.tape, g, in).Y }}
}

// check loads each module, compares what it computes, and brings it back: the same names and
// shapes, and weights that compute the same here.
func (s *stage) check(all map[string]module) convert.State {
	written := convert.State{}
	for name := range s.want {
		m, ok := all[name]
		if !ok {
			s.t.Errorf("there is no layer for %s", name)
			continue
		}
		modules := convert.Modules{name: m.layer}
		part := convert.State{}
		for key, a := range s.model.Under(name) {
			part[name+"."+key] = a
		}
		if err := modules.Load(s.framework, part); err != nil {
			s.t.Error(err)
			continue
		}
		s.compare(name, m.run())
		back, err := modules.State(s.framework)
		if err != nil {
			s.t.Error(err)
			continue
		}
		back = renamed(back, renames[name]...)
		s.returned(part, back)
		for key, a := range back {
			written[key] = a
		}
		if err := modules.Load(s.framework, back); err != nil {
			s.t.Errorf("what was written is not read: %v", err)
		}
		s.compare(name+broughtBack, m.run())
	}
	return written
}

// renames are what a module is called there where State has the names of another one.
var renames = map[string][]string{
	"attpool_mlp": {".gate_nn.0.", ".gate_mlp.lins.0.", ".gate_nn.3.", ".gate_mlp.lins.1.", ".gate_nn.1.", ".gate_mlp.norms.0.module.", ".nn.", ".mlp.lins.0."},
	"gin_mlp":     {".nn.0.", ".nn.lins.0.", ".nn.3.", ".nn.lins.1.", ".nn.1.", ".nn.norms.0.module."}, // PyG's MLP, not a Sequential
	"lstmcell":    {"_l0", ""},                                                                         // not an LSTM
}

// renamed returns s with parts of its names replaced.
func renamed(s convert.State, oldnew ...string) convert.State {
	out := convert.State{}
	for name, a := range s {
		out[strings.NewReplacer(oldnew...).Replace(name)] = a
	}
	return out
}

// compare holds a result against that of the module there.
func (s *stage) compare(name string, y *grad.Var) {
	s.t.Helper()
	want := s.want[strings.TrimSuffix(name, broughtBack)]
	compare.Near(s.t, name+": the result", y.Value().Data, want.Data, compare.Off(1e-5, 0))
}

// returned holds a state dict of ours against that there: the same names and shapes; but for
// a counter, what load_state_dict there wants.
func (s *stage) returned(there, back convert.State) {
	for key, a := range there {
		b, ok := back[key]
		if filepath.Ext(key) == ".num_batches_tracked" {
			ok, b = !ok, a
		}
		if !ok || !slices.Equal(a.Shape, b.Shape) && len(a.Data) > 1 {
			s.t.Errorf("%s of shape %v is %v in what is written, %v", key, a.Shape, b.Shape, ok)
		}
	}
	for key := range back {
		if _, ok := there[key]; !ok {
			s.t.Errorf("%s is written, and not there", key)
		}
	}
}

// written holds what is written against the file that check_written.py has loaded there.
func (s *stage) written(state convert.State, file string) {
	file = filepath.Join("testdata", file)
	if *update {
		if err := convert.Save(file, state); err != nil {
			s.t.Fatal(err)
		}
	}
	want, err := convert.Load(file)
	if err != nil {
		s.t.Fatal(err)
	}
	if len(want) != len(state) {
		s.t.Errorf("%d arrays are written, want %d", len(state), len(want))
	}
	for name, a := range state {
		b := want[name]
		if !slices.Equal(a.Shape, b.Shape) {
			s.t.Errorf("%s has not the shape that it has in %s", name, file)
		}
		compare.Near(s.t, name+", and in "+file, a.Data, b.Data, compare.Off(1e-6, 0))
	}
}
