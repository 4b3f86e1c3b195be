package layers_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/layers/pool"
	"github.com/edgewise-ml/edgewise/layers/relational"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// mistaken is a layer whose fields are right, and how it is called.
type mistaken struct {
	layer any
	call  func(l any, in given)
	graph func() *graph.Graph // nil: that of odd
	edge  int                 // width of the edges' features
	width int                 // of x; 0: 3
}

// given is what a layer is called with.
type given struct {
	t                *grad.Tape
	g                *graph.Graph
	x, pairs, one, e *grad.Var
	tokens, fed      []int32
	hetero           *hetero.Graph
	xs               map[string]*grad.Var
}

// plainly calls Apply or Forward.
func plainly(l any, in given) {
	switch l := l.(type) {
	case interface {
		Apply(*grad.Tape, *graph.Graph, layers.In) layers.Out
	}:
		l.Apply(in.t, in.g, layers.In{Src: in.x, Edge: in.e})
	case interface {
		Forward(*grad.Tape, *graph.Graph, *grad.Var) *grad.Var
	}:
		l.Forward(in.t, in.g, in.x)
	case interface {
		Forward(*grad.Tape, *grad.Var) *grad.Var
	}:
		l.Forward(in.t, in.x)
	case interface {
		Forward(*grad.Tape, *graph.Graph, *grad.Var) pool.Kept
	}:
		l.Forward(in.t, in.g, in.x)
	case interface {
		Forward(*grad.Tape, *graph.Graph, *grad.Var) pool.Clustered
	}:
		l.Forward(in.t, in.g, in.x)
	case interface {
		Forward(*grad.Tape, *hetero.Graph, map[string]*grad.Var) map[string]*grad.Var
	}:
		l.Forward(in.t, in.hetero, in.xs)
	default:
		panic(fmt.Sprintf("no call for %T", l))
	}
}

func cell() *sequence.LSTM { return &sequence.LSTM{In: 3, Hidden: 2} }

func chainsOf8() *graph.Graph { return graph.Chains(3, 1, 4) }

func kindsOf8() *graph.Graph {
	g := odd()
	k := make([]int32, g.NumEdges())
	for i := range k {
		k[i] = int32(i % 2)
	}
	return graph.Must(graph.WithKinds(g, k))
}

func windowsOf8() *graph.Graph { return graph.Windows(2, 4, graph.Window{Size: 3, Pad: 1}) }

func treesOf8() *graph.Graph {
	return graph.Must(graph.New(8, []int32{0, 1, 3, 4, 2, 5, 6}, []int32{2, 2, 5, 5, 7, 7, 7}))
}

// convolutions are layers on a graph.
func convolutions() []mistaken {
	mlp := layers.MLP{Widths: []int{3, 4, 2}}
	return []mistaken{
		{layer: &layers.GCNConv{In: 3, Out: 2}},
		{layer: &layers.SGConv{In: 3, Out: 2, K: 1}},
		{layer: &layers.APPNP{K: 2}},
		{layer: &layers.ARMAConv{In: 3, Out: 2, Stacks: 2, Steps: 2}},
		{layer: &layers.ChebConv{In: 3, Out: 2}},
		{layer: &layers.TAGConv{In: 3, Out: 2}},
		{layer: &layers.GATConv{In: 3, Out: 2, Heads: 2, EdgeIn: 2, Residual: layers.ResidualLinear}, edge: 2},
		{layer: &layers.GATConv{In: 3, InDst: 3, Out: 2, Heads: 2}},
		{layer: &layers.GATv2Conv{In: 3, Out: 2, Heads: 2, EdgeIn: 2}, edge: 2},
		{layer: &layers.DotGATConv{In: 3, Out: 2, Heads: 2}},
		{layer: &layers.SuperGATConv{In: 3, Out: 2, Heads: 2}},
		{layer: &layers.TransformerConv{In: 3, Out: 2, Heads: 2, EdgeIn: 2, Gate: true}, edge: 2},
		{layer: &layers.AGNNConv{}},
		{layer: &layers.EdgeConv{Net: layers.MLP{Widths: []int{6, 2}}, BatchNorm: true}},
		{layer: &layers.GatedGraphConv{In: 3, Out: 3}},
		{layer: &layers.GatedGraphConv{In: 3, Out: 3, Kinds: 2, Steps: 2}, graph: kindsOf8},
		{layer: &layers.GCN2Conv{Width: 3, TwoWeights: true}},
		{layer: &layers.GINConv{Net: mlp, TrainEps: true}},
		{layer: &layers.GINEConv{Net: mlp, EdgeIn: 2}, edge: 2},
		{layer: &layers.GPSConv{Width: 3, EdgeIn: 2}, edge: 2},
		{layer: &layers.GPSConv{Width: 4, Heads: 2, LayerNorm: true}, width: 4},
		{layer: &layers.H2GCNConv{}},
		{layer: &layers.LightGCN{}},
		{layer: &layers.MoNetConv{In: 3, Out: 2, EdgeIn: 2}, edge: 2},
		{layer: &layers.NNConv{In: 3, Out: 2, EdgeIn: 2, Hidden: []int{2}}, edge: 2},
		{layer: &layers.PNAConv{In: 4, Out: 4, Towers: 2, Divide: true, EdgeIn: 2, Delta: 1, MeanDegree: 1, BatchNorm: true}, edge: 2, width: 4},
		{layer: &layers.PNAConv{In: 3, Out: 3, EdgeIn: 2, EncodeEdges: true, Delta: 1, MeanDegree: 1}, edge: 2},
		{layer: &layers.ResGatedConv{In: 3, Out: 2, EdgeIn: 2}, edge: 2},
		{layer: &layers.RGCNConv{In: 3, Out: 2, Relations: 2, Bases: 1, LayerNorm: true}, graph: kindsOf8},
		{layer: &layers.RGCNConv{In: 4, Out: 2, Relations: 2, Blocks: 2}, graph: kindsOf8, width: 4},
		{layer: &layers.Conv2D{In: 3, Out: 2}, graph: windowsOf8},
		{layer: &layers.SAGEConv{In: 3, Out: 2, Project: true}},
		{layer: &layers.SAGEConv{In: 3, Out: 2, Aggregate: layers.AggregateLSTM}},
		{layer: &layers.SAGEConv{In: 3, Out: 2, Aggregate: layers.AggregateGCN}},
	}
}

// others are the other layers of package layers.
func others() []mistaken {
	return []mistaken{
		{layer: &layers.Linear{In: 3, Out: 2}},
		{layer: &layers.MLP{Widths: []int{3, 2, 1}, BatchNorm: true}},
		{layer: &layers.BatchNorm{Width: 3}},
		{layer: &layers.LayerNorm{Width: 3}},
		{layer: &layers.GraphNorm{Width: 3}},
		{layer: &layers.PairNorm{}},
		{layer: &layers.InnerProduct{}},
		{layer: &layers.InnerProduct{}, call: func(l any, in given) { l.(*layers.InnerProduct).Loss(in.t, in.g, in.g, in.x) }},
		{layer: &layers.VGAE{In: 3, Hidden: 2, Out: 2}},
		{layer: &layers.DropEdge{P: 0.5}, call: func(l any, in given) { l.(*layers.DropEdge).Graph(in.t, in.g) }},
		{layer: &layers.DGI{Width: 3}, call: func(l any, in given) {
			l.(*layers.DGI).Loss(in.t, in.x, l.(*layers.DGI).Shuffle(in.t, in.x))
		}},
		{layer: &layers.SkipGram{Nodes: 8, Width: 3}, call: func(l any, in given) { l.(*layers.SkipGram).Loss(in.t, in.g, in.g) }},
		{layer: &layers.SuperGATConv{In: 3, Out: 2, Heads: 2}, call: func(l any, in given) { l.(*layers.SuperGATConv).Loss(in.t, in.g, in.g, in.x) }},
		{layer: &layers.LightGCN{}, call: func(l any, in given) { l.(*layers.LightGCN).Loss(in.x, in.tokens, in.tokens, in.tokens) }},
		{layer: &layers.JumpingKnowledge{Mode: layers.JumpLSTM, Width: 3, Hidden: 2}, call: func(l any, in given) { l.(*layers.JumpingKnowledge).Forward(in.t, in.x, in.x) }},
	}
}

// attentions are those of package attention.
func attentions() []mistaken {
	add := func() *attention.Additive { return &attention.Additive{Key: 3, Query: 3, Hidden: 2} }
	block := attention.Block{Model: 4, Heads: 2, Hidden: 3}
	return []mistaken{
		{layer: &attention.Soft{Score: add()}},
		{layer: &attention.Soft{Score: attention.Dot{}}},
		{layer: &attention.Soft{Score: &attention.Bilinear{Key: 3, Query: 3, Rank: 2, Scaled: true}}},
		{layer: &attention.Soft{Score: &attention.Concat{Key: 3, Query: 3, Hidden: 2}}},
		{layer: &attention.Soft{Score: &attention.Cosine{Learn: true}}},
		{layer: &attention.Soft{Score: &attention.Saliency{Key: 3, Hidden: 2}}},
		{layer: &attention.Soft{Score: attention.ScaledDot{}}},
		{layer: &attention.HardAttention{Score: add()}, call: func(l any, in given) { l.(*attention.HardAttention).Apply(in.t, in.g, layers.In{Src: in.x}) }},
		{layer: &attention.AttentionPool{Score: add(), Query: 3}},
		{layer: &attention.ChainAttention{CRF: sequence.CRF{Tags: 2}}, graph: chainsOf8, call: func(l any, in given) {
			l.(*attention.ChainAttention).Forward(in.t, in.g, in.pairs, in.x)
		}},
		{layer: &attention.Hierarchical{Tiers: []attention.Tier{{Body: cell(), Pool: &attention.AttentionPool{Score: &attention.Saliency{Key: 2, Hidden: 2}}}}}, call: func(l any, in given) {
			l.(*attention.Hierarchical).Forward(in.t, []*graph.Graph{in.g}, in.x)
		}, graph: chainsOf8},
		{layer: &attention.MultiHead{Model: 4, Heads: 2}, width: 4},
		{layer: &attention.MultiHead{Model: 4, Heads: 2, Relative: 2}, width: 4, call: func(l any, in given) { l.(*attention.MultiHead).Cross(in.t, in.g, in.x, in.x) }},
		{layer: &attention.EncoderBlock{Block: block}, width: 4},
		{layer: &attention.Encoder{Block: block, Depth: 1}, width: 4},
		{layer: &attention.Decoder{Block: block, Depth: 1}, width: 4, call: func(l any, in given) { l.(*attention.Decoder).Forward(in.t, in.g, in.g, in.x, in.x) }},
		{layer: &attention.DecoderBlock{Block: block}, width: 4, call: func(l any, in given) { l.(*attention.DecoderBlock).Forward(in.t, in.g, in.g, in.x, in.x) }},
		{layer: &attention.LanguageModel{Block: block, Tokens: 8, Depth: 1}, graph: func() *graph.Graph { return graph.Batch(graph.Causal(3), graph.Causal(5)) }, call: func(l any, in given) {
			l.(*attention.LanguageModel).Forward(in.t, in.g, in.tokens)
		}},
		{layer: &attention.Transformer{Block: block, Source: 8, Target: 8, Encoders: 1, Decoders: 1}, graph: chainsOf8, call: func(l any, in given) {
			l.(*attention.Transformer).Forward(in.t, attention.Pairs([]int{3, 1, 4}, []int{3, 1, 4}), in.tokens, in.fed)
		}},
		{layer: &attention.Luong{Source: 8, Target: 8, Embed: 2, Hidden: 2}, graph: chainsOf8, call: func(l any, in given) {
			l.(*attention.Luong).Forward(in.t, in.g, in.tokens, in.g, in.fed)
		}},
		{layer: &attention.ShowAttendTell{Cell: 3, Target: 8, Embed: 2, Hidden: 2}, graph: chainsOf8, call: func(l any, in given) {
			l.(*attention.ShowAttendTell).Forward(in.t, in.g, in.x, in.g, in.fed)
		}},
		{layer: &attention.RNNsearch{Source: 8, Target: 8, Embed: 2, Hidden: 2}, graph: chainsOf8, call: func(l any, in given) {
			l.(*attention.RNNsearch).Forward(in.t, in.g, in.tokens, in.g, in.fed)
		}},
		{layer: &attention.Pointer{In: 3, Hidden: 2, Encoder: cell(), Decoder: cell(), Score: &attention.Additive{Key: 2, Query: 2, Hidden: 2}}, graph: chainsOf8, call: func(l any, in given) {
			if p, err := l.(*attention.Pointer).Pointing(in.g, [][]int32{{0}, {0}, {1, 0}}); err == nil {
				l.(*attention.Pointer).Loss(in.t, p, in.x)
			}
		}},
	}
}

// sequences are those of package sequence.
func sequences() []mistaken {
	chain := func(l any) mistaken { return mistaken{layer: l, graph: chainsOf8} }
	return []mistaken{
		chain(cell()),
		chain(&sequence.LSTM{In: 3, Hidden: 2, LayerNorm: true, Peephole: sequence.FullPeephole}),
		chain(&sequence.GRU{In: 3, Hidden: 2, LayerNorm: true}),
		chain(&sequence.RNN{In: 3, Hidden: 2, LearnLeak: true}),
		{layer: &sequence.TreeLSTM{In: 3, Hidden: 2}, graph: treesOf8},
		{layer: &sequence.TreeLSTM{In: 3, Hidden: 2, Arity: 3}, graph: treesOf8},
		{layer: &sequence.Recursive{In: 3, Hidden: 2, Arity: 3}, graph: treesOf8},
		{layer: &sequence.Conv1D{In: 3, Out: 2, Kernel: 3, WeightNorm: true}, graph: chainsOf8},
		{layer: &sequence.TCN{In: 3, Widths: []int{2}, Kernel: 3}, graph: chainsOf8},
		{layer: &sequence.Highway{Width: 3}},
		chain(&sequence.Stack{Layers: []sequence.Cell{cell()}, Back: []sequence.Cell{cell()}}),
		{layer: &sequence.CRF{Tags: 3}, graph: chainsOf8, call: func(l any, in given) {
			c := l.(*sequence.CRF)
			c.Loss(in.t, in.g, in.x, in.tags())
			c.Decode(in.g, in.x)
			c.Marginals(in.t, in.g, in.x)
			c.LogPartition(in.t, in.g, in.x)
		}},
		{layer: &sequence.EncoderDecoder{Source: 8, Target: 8, Embed: 2, Hidden: 2}, graph: chainsOf8, call: func(l any, in given) {
			l.(*sequence.EncoderDecoder).Forward(in.t, in.g, in.tokens, in.g, in.fed)
		}},
	}
}

// families are those of the other families.
func families() []mistaken {
	chain := func(l any) mistaken { return mistaken{layer: l, graph: chainsOf8} }
	rels := []hetero.Rel{{Src: "a", Name: "r", Dst: "a"}}
	return []mistaken{
		{layer: &pool.TopK{In: 3}},
		{layer: &pool.SAG{In: 3}},
		{layer: &pool.Set2Set{In: 3}},
		{layer: &pool.Diff{In: 3, Clusters: 2}},
		{layer: &pool.Sort{K: 2}},
		{layer: &pool.Attention{Gate: layers.MLP{Widths: []int{3, 1}}, Net: layers.MLP{Widths: []int{3, 2}}}},
		{layer: &pool.Graclus{}, call: func(l any, in given) { l.(*pool.Graclus).Forward(in.t, in.g, in.x, nil) }},
		{layer: &relational.HANConv{In: map[string]int{"a": 3}, Out: 4, Heads: 2, Rels: rels}},
		{layer: &relational.HGTConv{In: map[string]int{"a": 3}, Out: 4, Heads: 2, Rels: rels}},
		{layer: &knowledge.DistMult{Relations: 2, Width: 4}, graph: kindsOf8, width: 4},
		{layer: &knowledge.ComplEx{Relations: 2, Width: 4}, graph: kindsOf8, width: 4},
		{layer: &knowledge.RotatE{Relations: 2, Width: 4}, graph: kindsOf8, width: 4},
		{layer: &knowledge.TransE{Relations: 2, Width: 4}, graph: kindsOf8, width: 4},
		chain(&memory.FastWeights{In: 3, Hidden: 2}),
		chain(&memory.NTM{In: 3, Out: 2, Hidden: 2, Slots: 4, Width: 2}),
		chain(&memory.StackMachine{In: 3, Out: 2, Hidden: 2, Stack: memory.StackMemory{Width: 2, Slots: 3}}),
		{layer: &memory.Modern{}, call: func(l any, in given) { l.(*memory.Modern).Forward(in.t, in.g, in.x, in.x) }},
		{layer: &memory.TreeMemory{}, call: func(l any, in given) { l.(*memory.TreeMemory).Forward(in.t, in.g, in.x, in.x, in.one) }, graph: treesOf8},
		{layer: &memory.MemN2N{Vocab: 9, Dim: 3}, call: func(l any, in given) {
			m := l.(*memory.MemN2N)
			if s, err := m.Batch([]memory.Story{{Sentences: [][]int32{in.tokens}, Question: in.tokens}}, nil); err == nil {
				m.Forward(in.t, s)
			}
		}},
	}
}

// tags are three of them.
func (in given) tags() []int32 {
	out := make([]int32, len(in.tokens))
	for i, t := range in.tokens {
		out[i] = t % 3
	}
	return out
}

// given is what is right for the layer.
func (m mistaken) given() given {
	g, width := odd(), 3
	if m.graph != nil {
		g = m.graph()
	}
	if m.width > 0 {
		width = m.width
	}
	rng := rand.New(rand.NewPCG(1, 2))
	of := func(shape ...int) *grad.Var {
		x := tensor.New(shape...)
		x.Uniform(rng, 0.1, 1)
		return grad.Const(x)
	}
	in := given{t: grad.NewTape(1), g: g, x: of(8, width), pairs: of(8, 2), one: of(1, width), tokens: []int32{0, 1, 2, 3, 4, 5, 6, 7}}
	in.fed = in.tokens
	if m.edge > 0 {
		in.e = of(g.NumEdges(), m.edge)
	}
	in.hetero, _ = hetero.New(map[string]int{"a": 8}, map[hetero.Rel]*graph.Graph{{Src: "a", Name: "r", Dst: "a"}: odd()})
	in.xs = map[string]*grad.Var{"a": of(8, 3)}
	return in
}

// wrong are inputs that do not fit a layer, or fit it all the same.
var wrong = map[string]func(in *given){
	"right":           func(*given) {},
	"x nil":           func(in *given) { in.setX(nil) },
	"graph nil":       func(in *given) { in.g, in.hetero = nil, nil },
	"x of other rows": func(in *given) { in.setX(grad.Const(tensor.New(7, in.x.Dim(1)))) },
	"x wide":          func(in *given) { in.setX(grad.Const(tensor.New(8, 5))) },
	"x of one axis":   func(in *given) { in.setX(grad.Const(tensor.New(8))) },
	"x of three axes": func(in *given) { in.setX(grad.Const(tensor.New(8, 2, in.x.Dim(1)))) },
	"x sparse": func(in *given) {
		in.setX(grad.Const(&sparse.CSR{NumRows: 8, NumCols: in.x.Dim(1), Offsets: make([]int64, 9)}))
	},
	"another graph": func(in *given) { in.g = odd() },
	"bipartite": func(in *given) {
		if in.g = graph.CompleteBipartite(8, 3); in.e != nil {
			in.e = grad.Const(tensor.New(24, in.e.Dim(1)))
		}
	},
	"no nodes": func(in *given) {
		in.g, in.tokens, in.fed = graph.Must(graph.New(0, nil, nil)), nil, nil
		in.x, in.pairs = grad.Const(tensor.New(0, in.x.Dim(1))), grad.Const(tensor.New(0, 2))
		if in.e != nil {
			in.e = grad.Const(tensor.New(0, in.e.Dim(1)))
		}
	},
	"token too large":   func(in *given) { in.tokens = []int32{0, 1, 2, 3, 4, 5, 6, 99} },
	"token negative":    func(in *given) { in.fed = []int32{0, 1, 2, 3, -4, 5, 6, 1} },
	"few tokens":        func(in *given) { in.tokens = in.tokens[:5] },
	"few tokens fed":    func(in *given) { in.fed = in.fed[:5] },
	"no edge features":  func(in *given) { in.e = nil },
	"few edge features": func(in *given) { in.e = grad.Const(tensor.New(3, 2)) },
}

func (in *given) setX(x *grad.Var) { in.x, in.xs = x, map[string]*grad.Var{"a": x} }

// bad are values that a field of a kind may be set to by mistake.
var bad = map[reflect.Kind][]any{
	reflect.Int:     {-1, 0, 5},
	reflect.Float64: {math.NaN(), -1.0, 2.0, math.Inf(1)},
	reflect.String:  {"nonsense"},
	reflect.Uint8:   {99},
}

// TestMistakes makes one mistake after another with each layer. None is an index out of range, a nil
// pointer or a bare string: a mistake panics with a Mistake, in the name of a layer unless a field
// was changed behind Init's back.
func TestMistakes(t *testing.T) {
	for _, m := range slices.Concat(convolutions(), others(), attentions(), sequences(), families()) {
		for what, change := range wrong {
			in := m.given()
			change(&in)
			err := m.run(in, nil, nil)
			named(t, m, what, err)
			if what == "right" && err != nil {
				t.Errorf("%T does not run: %v", m.layer, err)
			}
		}
		in := m.given()
		v := reflect.ValueOf(m.layer).Elem()
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			values := bad[f.Type.Kind()]
			if f.Type == reflect.TypeFor[[]int]() {
				values = []any{[]int(nil), []int{-1}, []int{0, 0}, []int{3}}
			}
			for _, x := range values {
				set := func(l reflect.Value) { l.Field(i).Set(reflect.ValueOf(x).Convert(f.Type)) }
				named(t, m, fmt.Sprint(f.Name, " ", x), m.run(in, set, nil))
				m.run(in, nil, set)
			}
			switch f.Type.Kind() {
			case reflect.Bool:
				m.run(in, nil, func(l reflect.Value) { l.Field(i).SetBool(!v.Field(i).Bool()) })
			case reflect.Interface, reflect.Pointer, reflect.Map:
				named(t, m, f.Name+" nil", m.run(in, func(l reflect.Value) { l.Field(i).SetZero() }, nil))
			}
		}
		l := reflect.New(v.Type())
		l.Elem().Set(v)
		named(t, m, "no Init", m.try(l, in))
	}
}

// run initialises a copy of the layer, changed before or after, and calls it. It returns what that
// panics with.
func (m mistaken) run(in given, before, after func(l reflect.Value)) error {
	l := reflect.New(reflect.TypeOf(m.layer).Elem())
	l.Elem().Set(reflect.ValueOf(m.layer).Elem())
	if before != nil {
		before(l.Elem())
	}
	init, ok := l.Interface().(interface{ Init(*rand.Rand) })
	if ok {
		if err := tensor.Try(func() { init.Init(rand.New(rand.NewPCG(1, 1))) }); err != nil {
			return err
		}
	}
	if after != nil {
		after(l.Elem())
	}
	return m.try(l, in)
}

// try calls the layer. Whatever is no Mistake panics.
func (m mistaken) try(l reflect.Value, in given) error {
	call := m.call
	if call == nil {
		call = plainly
	}
	return tensor.Try(func() { call(l.Interface(), in) })
}

// named fails unless err is of one of the packages of layers.
func named(t *testing.T, m mistaken, what string, err error) {
	t.Helper()
	var shape *tensor.ShapeError
	var tape *grad.TapeError
	op := ""
	switch {
	case err == nil || errors.As(err, new(*graph.CycleError)):
		return
	case errors.As(err, &shape):
		op = shape.Op
	case errors.As(err, &tape):
		op = tape.Op
	}
	of, _, _ := strings.Cut(op, ".")
	if !slices.Contains([]string{"layers", "attention", "sequence", "pool", "relational", "knowledge", "memory"}, of) {
		t.Errorf("%T, %s: %v", m.layer, what, err)
	}
}
