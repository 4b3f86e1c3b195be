package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/docs"
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
	"github.com/edgewise-ml/edgewise/tensor"
)

// families are the packages of layers.
var families = []string{"attention", "knowledge", "memory", "pool", "relational", "sequence"}

// familyTypes returns the layers of a family: what has Params, or a Forward, Step or Recall.
func familyTypes(t *testing.T, family string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "layers", family, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of %s: %v", len(files), family, err)
	}
	types := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || !slices.Contains([]string{"Init", "Forward", "Step", "Recall", "Sample"}, f.Name.Name) {
				continue
			}
			of := f.Recv.List[0].Type
			if star, ok := of.(*ast.StarExpr); ok {
				of = star.X
			}
			if name := of.(*ast.Ident).Name; ast.IsExported(name) {
				types[family+"."+name] = true
			}
		}
	}
	return types
}

// noiseRows returns noise, n rows of so many columns.
func noiseRows(n, columns int) *grad.Var {
	x := tensor.New(n, columns)
	x.Normal(rand.New(rand.NewPCG(3, 4)), 0, 1)
	return grad.Const(x)
}

// made returns l with Params.
func made[L interface{ Init(*rand.Rand) }](l L) L {
	l.Init(rand.New(rand.NewPCG(1, 2)))
	return l
}

// ran are the layers of the families, each with what it runs.
func ran() map[string]func(t *grad.Tape) {
	all := map[string]func(t *grad.Tape){}
	for _, of := range []map[string]func(t *grad.Tape){ranPools(), ranSequences(), ranScores(), ranAttention(), ranMemories()} {
		maps.Copy(all, of)
	}
	return all
}

func ranPools() map[string]func(t *grad.Tape) {
	g, x := graph.Batch(graph.Ring(3, 1, -1), graph.Ring(4, 1, -1)), noiseRows(7, 4)
	facts := graph.Must(graph.WithKinds(g, make([]int32, 14)))
	rel := hetero.Rel{Src: "a", Name: "r", Dst: "b"}
	h, err := hetero.New(map[string]int{"a": 2, "b": 3}, map[hetero.Rel]*graph.Graph{rel: graph.Must(graph.NewBipartite(2, 3, []int32{0, 1, 1}, []int32{0, 0, 2}))})
	if err != nil {
		panic(err)
	}
	in, typed := map[string]int{"a": 4, "b": 4}, map[string]*grad.Var{"a": noiseRows(2, 4), "b": noiseRows(3, 4)}
	pools := map[string]func(t *grad.Tape){
		"pool.Attention": func(t *grad.Tape) { made(&pool.Attention{Gate: layers.MLP{Widths: []int{4, 1}}}).Forward(t, g, x) },
		"pool.Set2Set":   func(t *grad.Tape) { made(&pool.Set2Set{In: 4}).Forward(t, g, x) },
		"pool.Sort":      func(t *grad.Tape) { made(&pool.Sort{K: 2}).Forward(t, g, t.Watch(x.Value())) },
		"pool.TopK":      func(t *grad.Tape) { made(&pool.TopK{In: 4}).Forward(t, g, x) },
		"pool.SAG":       func(t *grad.Tape) { made(&pool.SAG{In: 4}).Forward(t, g, x) },
		"pool.Diff":      func(t *grad.Tape) { made(&pool.Diff{In: 4, Clusters: 2}).Forward(t, g, x) },
		"pool.Graclus":   func(t *grad.Tape) { new(pool.Graclus).Forward(t, g, t.Watch(x.Value()), nil) },

		"relational.HGTConv": func(t *grad.Tape) {
			made(&relational.HGTConv{In: in, Out: 4, Rels: []hetero.Rel{rel}}).Forward(t, h, typed)
		},
		"relational.HANConv": func(t *grad.Tape) {
			made(&relational.HANConv{In: in, Out: 4, Rels: []hetero.Rel{rel}}).Forward(t, h, typed)
		},
	}
	for name, s := range map[string]knowledge.Scorer{
		"TransE": &knowledge.TransE{Relations: 1, Width: 4}, "DistMult": &knowledge.DistMult{Relations: 1, Width: 4},
		"ComplEx": &knowledge.ComplEx{Relations: 1, Width: 4}, "RotatE": &knowledge.RotatE{Relations: 1, Width: 4},
	} {
		pools["knowledge."+name] = func(t *grad.Tape) { made(s).Forward(t, facts, x) }
	}
	return pools
}

func ranSequences() map[string]func(t *grad.Tape) {
	g, x := graph.Chains(3, 4), noiseRows(7, 4)
	pairs := func(t *grad.Tape) {
		made(&sequence.EncoderDecoder{Source: 3, Target: 3, Embed: 4, Hidden: 4}).Forward(t, g, make([]int32, 7), g, make([]int32, 7))
	}
	return map[string]func(t *grad.Tape){
		"sequence.RNN":       func(t *grad.Tape) { made(&sequence.RNN{In: 4, Hidden: 4}).Forward(t, g, x) },
		"sequence.LSTM":      func(t *grad.Tape) { made(&sequence.LSTM{In: 4, Hidden: 4}).Forward(t, g, x) },
		"sequence.GRU":       func(t *grad.Tape) { made(&sequence.GRU{In: 4, Hidden: 4}).Forward(t, g, x) },
		"sequence.TreeLSTM":  func(t *grad.Tape) { made(&sequence.TreeLSTM{In: 4, Hidden: 4}).Forward(t, g, x) },
		"sequence.Recursive": func(t *grad.Tape) { made(&sequence.Recursive{In: 4, Hidden: 4}).Forward(t, g, x) },
		"sequence.Stack": func(t *grad.Tape) {
			made(&sequence.Stack{Layers: []sequence.Cell{&sequence.GRU{In: 4, Hidden: 4}}, Back: []sequence.Cell{&sequence.GRU{In: 4, Hidden: 4}}}).Forward(t, g, x)
		},
		"sequence.Conv1D":         func(t *grad.Tape) { made(&sequence.Conv1D{In: 4, Out: 4, Kernel: 3}).Forward(t, g, x) },
		"sequence.TCN":            func(t *grad.Tape) { made(&sequence.TCN{In: 4, Widths: []int{4, 4}}).Forward(t, g, x) },
		"sequence.Highway":        func(t *grad.Tape) { made(&sequence.Highway{Width: 4}).Forward(t, x) },
		"sequence.CRF":            func(t *grad.Tape) { made(&sequence.CRF{Tags: 4}).Loss(t, g, x, make([]int32, 7)) },
		"sequence.EncoderDecoder": pairs,
	}
}

func ranScores() map[string]func(t *grad.Tape) {
	g := graph.CompleteBipartite(5, 3)
	soft := func(s attention.Score) func(t *grad.Tape) {
		return func(t *grad.Tape) {
			made(&attention.Soft{Score: s}).Apply(t, g, layers.In{Src: t.Watch(noiseRows(5, 4).Value()), Dst: t.Watch(noiseRows(3, 4).Value())})
		}
	}
	chains := graph.Chains(3, 4)
	aligned := func(a attention.Aligner) func(t *grad.Tape) {
		return func(t *grad.Tape) {
			made(&attention.RNNsearch{Source: 3, Target: 3, Embed: 4, Hidden: 4, Align: a}).Forward(t, chains, make([]int32, 7), chains, make([]int32, 7))
		}
	}
	place := &attention.ByPosition{Query: 4, Longest: 9}
	return map[string]func(t *grad.Tape){
		"attention.Dot":       soft(attention.Dot{}),
		"attention.ScaledDot": soft(attention.ScaledDot{}),
		"attention.Bilinear":  soft(&attention.Bilinear{Key: 4, Query: 4}),
		"attention.Cosine":    soft(&attention.Cosine{}),
		"attention.Additive":  soft(&attention.Additive{Key: 4, Query: 4, Hidden: 4}),
		"attention.Concat":    soft(&attention.Concat{Key: 4, Query: 4, Hidden: 4}),
		"attention.Saliency":  soft(&attention.Saliency{Key: 4, Hidden: 4}),
		"attention.ByPosition": func(t *grad.Tape) {
			place.Init(rand.New(rand.NewPCG(1, 2)))
			(&attention.Soft{Score: place.At([]int32{0, 1, 2, 3, 4})}).Apply(t, g, layers.In{Src: t.Watch(noiseRows(5, 4).Value()), Dst: noiseRows(3, 4)})
		},

		"attention.Content":           aligned(&attention.Content{Score: &attention.Additive{Key: 8, Query: 4, Hidden: 4}}),
		"attention.ByPlace":           aligned(&attention.ByPlace{Score: place}),
		"attention.LocalP":            aligned(&attention.LocalP{Score: &attention.Additive{Key: 8, Query: 4, Hidden: 4}, Query: 4, Hidden: 4}),
		"attention.LocationAttention": aligned(&attention.LocationAttention{Key: 8, Query: 4, Hidden: 4, Filters: 2, Width: 3}),
		"attention.Coverage":          aligned(&attention.Coverage{Key: 8, Query: 4, Hidden: 4}),
		"attention.Monotonic":         aligned(&attention.Monotonic{Score: &attention.Additive{Key: 8, Query: 4, Hidden: 4}}),
		"attention.RNNsearch":         aligned(nil),
		"attention.ShowAttendTell": func(t *grad.Tape) {
			made(&attention.ShowAttendTell{Cell: 4, Target: 3, Embed: 4, Hidden: 4}).Forward(t, chains, noiseRows(7, 4), chains, make([]int32, 7))
		},
		"attention.Luong": func(t *grad.Tape) {
			made(&attention.Luong{Source: 3, Target: 3, Embed: 4, Hidden: 4}).Forward(t, chains, make([]int32, 7), chains, make([]int32, 7))
		},
	}
}

// textAndQuestion are chains that are asked about themselves.
func textAndQuestion(chains *graph.Graph) *attention.Reading {
	r, err := attention.NewReading(chains, chains, nil)
	if err != nil {
		panic(err)
	}
	return r
}

func ranAttention() map[string]func(t *grad.Tape) {
	chains, tokens, x := graph.Chains(3, 4), make([]int32, 7), noiseRows(7, 4)
	all, block := graph.Batch(graph.Complete(3), graph.Complete(4)), attention.Block{Model: 4, Heads: 2, Hidden: 8}
	masks, in := attention.Pairs([]int{3, 4}, []int{3, 4}), layers.In{Src: x}
	return map[string]func(t *grad.Tape){
		"attention.Soft": func(t *grad.Tape) {
			made(&attention.Soft{Score: attention.Dot{}}).Apply(t, all, layers.In{Src: t.Watch(x.Value())})
		},
		"attention.HardAttention": func(t *grad.Tape) {
			made(&attention.HardAttention{Score: attention.Dot{}}).Apply(t, all, layers.In{Src: t.Watch(x.Value())})
		},
		"attention.AttentionPool": func(t *grad.Tape) {
			made(&attention.AttentionPool{Score: attention.Dot{}, Query: 4}).Apply(t, graph.Membership(chains), in)
		},
		"attention.Hierarchical": func(t *grad.Tape) {
			made(&attention.Hierarchical{Tiers: []attention.Tier{{Pool: &attention.AttentionPool{Score: &attention.Saliency{Key: 4, Hidden: 4}}}}}).Forward(t, []*graph.Graph{chains}, x)
		},
		"attention.ChainAttention": func(t *grad.Tape) { made(&attention.ChainAttention{}).Forward(t, chains, noiseRows(7, 2), x) },
		"attention.Pointer": func(t *grad.Tape) {
			l := made(&attention.Pointer{In: 4, Hidden: 4, Encoder: &sequence.LSTM{In: 4, Hidden: 4}, Decoder: &sequence.LSTM{In: 4, Hidden: 4}, Score: &attention.Additive{Key: 4, Query: 4, Hidden: 4}})
			p, err := l.Pointing(chains, [][]int32{{0, 1}, {2, 3}})
			if err != nil {
				panic(err)
			}
			l.Loss(t, p, x)
		},
		"attention.BiDAF": func(t *grad.Tape) {
			made(&attention.BiDAF{In: 4, Hidden: 4}).Forward(t, textAndQuestion(chains), x, x)
		},
		"attention.Coattention": func(t *grad.Tape) {
			made(&attention.Coattention{In: 4, Hidden: 4}).Forward(t, textAndQuestion(chains), x, x)
		},
		"attention.HighwayMaxout": func(t *grad.Tape) {
			made(&attention.HighwayMaxout{Word: 4, Hidden: 4}).Forward(t, x, noiseRows(2, 12), []int32{0, 0, 0, 1, 1, 1, 1})
		},
		"attention.MultiHead":    func(t *grad.Tape) { made(&attention.MultiHead{Model: 4, Heads: 2}).Forward(t, all, x) },
		"attention.EncoderBlock": func(t *grad.Tape) { made(&attention.EncoderBlock{Block: block}).Forward(t, all, x) },
		"attention.DecoderBlock": func(t *grad.Tape) {
			made(&attention.DecoderBlock{Block: block}).Forward(t, masks.Target, masks.Cross, x, x)
		},
		"attention.Encoder": func(t *grad.Tape) { made(&attention.Encoder{Block: block, Depth: 2}).Forward(t, all, x) },
		"attention.Decoder": func(t *grad.Tape) {
			made(&attention.Decoder{Block: block, Depth: 2}).Forward(t, masks.Target, masks.Cross, x, x)
		},
		"attention.Transformer": func(t *grad.Tape) {
			made(&attention.Transformer{Block: block, Target: 3, Encoders: 1, Decoders: 1}).Forward(t, masks, tokens, tokens)
		},
		"attention.LanguageModel": func(t *grad.Tape) {
			made(&attention.LanguageModel{Block: block, Tokens: 3, Depth: 1}).Forward(t, masks.Target, tokens)
		},
	}
}

func ranMemories() map[string]func(t *grad.Tape) {
	g, x := graph.Chains(3, 4), noiseRows(7, 4)
	stack := memory.StackMemory{Width: 4, Slots: 4}
	stories := []memory.Story{{Sentences: [][]int32{{0, 1}}, Values: [][]int32{{2}}, Question: []int32{1}}}
	return map[string]func(t *grad.Tape){
		"memory.MemN2N": func(t *grad.Tape) {
			l := made(&memory.MemN2N{Vocab: 4, Dim: 4})
			s, err := l.Batch(stories, nil)
			if err != nil {
				panic(err)
			}
			l.Forward(t, s)
		},
		"memory.KeyValue": func(t *grad.Tape) {
			l := made(&memory.KeyValue{Vocab: 4, Dim: 4, Answers: 3})
			s, err := l.Batch(stories)
			if err != nil {
				panic(err)
			}
			l.Forward(t, s)
		},
		"memory.NTM": func(t *grad.Tape) { made(&memory.NTM{In: 4, Out: 4, Hidden: 4, Slots: 4, Width: 4}).Forward(t, g, x) },
		"memory.StackMachine": func(t *grad.Tape) {
			made(&memory.StackMachine{In: 4, Out: 4, Hidden: 4, Stack: stack}).Forward(t, g, x)
		},
		"memory.StackMemory": func(t *grad.Tape) {
			stack.Step(t, stack.Start(t), t.Watch(tensor.New(1, 4)), t.Watch(tensor.New(1, 1)), noiseRows(1, 1))
		},
		"memory.TreeMemory": func(t *grad.Tape) {
			new(memory.TreeMemory).Forward(t, graph.Must(graph.Trees([]int32{-1, 0, 0})), t.Watch(noiseRows(3, 4).Value()), noiseRows(3, 4), noiseRows(1, 4))
		},
		"memory.RBM": func(t *grad.Tape) {
			made(&memory.RBM{Visible: 4, Hidden: 3}).FreeEnergy(t, t.Watch(x.Value()))
		},
		"memory.Boltzmann": func(t *grad.Tape) {
			states := tensor.New(2, 4)
			states.Fill(1)
			if _, err := (&memory.Boltzmann{Net: memory.NewHopfield(4)}).Loss(t, states, states); err != nil {
				panic(err)
			}
		},
		"memory.FastWeights": func(t *grad.Tape) { made(&memory.FastWeights{In: 4, Hidden: 4, Steps: 1}).Forward(t, g, x) },
		"memory.Modern": func(t *grad.Tape) {
			new(memory.Modern).Forward(t, graph.CompleteBipartite(7, 3), t.Watch(x.Value()), noiseRows(3, 4))
		},
	}
}

// docs/models/layers.md has a row for every layer of a family, and no other, with its formula and its
// paper, and the operations in its last column are those that run.
func TestCatalogueOfFamilies(t *testing.T) {
	page, err := docs.Guides.ReadFile("models/layers.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, names, all := map[string][]string{}, regexp.MustCompile("`([a-z]+\\.[A-Z][A-Za-z0-9]+)`"), ran()
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(line, "|\n "), " | ")
		if len(cells) != 6 {
			continue
		}
		for _, name := range names.FindAllStringSubmatch(cells[0], -1) {
			if rows[name[1]] != nil {
				t.Errorf("docs/models/layers.md has two rows for %s", name[1])
			}
			rows[name[1]] = cells
		}
	}
	for _, family := range families {
		types := familyTypes(t, family)
		for name := range types {
			if rows[name] == nil {
				t.Errorf("docs/models/layers.md has no row for %s", name)
			}
		}
		for name := range rows {
			if strings.HasPrefix(name, family+".") && !types[name] {
				t.Errorf("docs/models/layers.md has a row for %s, which is no layer", name)
			}
		}
	}
	for name, cells := range rows {
		if len(cells[1]) < 3 || len(cells[2]) < 6 {
			t.Errorf("%s: its formula is %q, its paper %q", name, cells[1], cells[2])
		}
		checkRuns(t, name, cells[5], all[name])
	}
}

// checkRuns compares what a cell says with the operations of a run.
func checkRuns(t *testing.T, name, cell string, run func(t *grad.Tape)) {
	t.Helper()
	if strings.HasPrefix(cell, "no tape") {
		return
	}
	if run == nil {
		t.Errorf("no test runs %s", name)
		return
	}
	tp := grad.NewTape(1)
	tp.Reset()
	run(tp)
	var ops []string
	for _, op := range tp.Operations() {
		ops = append(ops, strings.Split(op, "+")...)
	}
	said := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1)
	if len(said) == 0 && !strings.Contains(cell, "by its score") && !strings.Contains(cell, "its cells'") {
		t.Errorf("docs/models/layers.md does not say what %s runs: %v", name, ops)
	}
	for _, op := range said {
		if !slices.Contains(ops, op[1]) {
			t.Errorf("docs/models/layers.md says that %s runs %s; it runs %v", name, op[1], ops)
		}
	}
}
