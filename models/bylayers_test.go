package models

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/ranktest"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/ranks"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// hubs is a dataset with two hubs that hear many, a node that many hear, nodes that hear nobody and are heard by nobody, edges that are
// repeated, kinds, weights, features and labels of edges. Columns 1 of nodes and 0 of edges are codes of three words.
func hubs(n int, scale float64) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(11, uint64(n)))
	var src, dst []int32
	alone := int32(n - 5)
	for range 4 * n {
		src, dst = append(src, rng.Int32N(alone)), append(dst, rng.Int32N(alone))
	}
	for range 3 {
		for u := range alone {
			src, dst = append(src, u, u, 4), append(dst, 2, alone-1, u)
		}
	}
	g := graph.Must(graph.New(n, src, dst))
	d := &datasets.Dataset{Name: "hubs", Graph: g, Labels: make([]int32, n), Classes: 3, Weights: make([]tensor.Float, g.NumEdges())}
	x, edge := tensor.New(n, 5), tensor.New(g.NumEdges(), 2)
	x.Normal(rng, 0, scale)
	edge.Uniform(rng, 0, 1)
	kinds := &datasets.Kinds{Names: []string{"a", "b"}, Of: make([]int32, g.NumEdges())}
	for v := range n {
		d.Labels[v], x.Row(v)[1] = int32(v%3), tensor.Float(v%5)
	}
	for e := range g.NumEdges() {
		d.Weights[e], kinds.Of[e], edge.Row(e)[0] = tensor.Float(0.5+rng.Float64()), rng.Int32N(2), tensor.Float(e%4)
	}
	d.Features, d.EdgeFeatures, d.EdgeKinds = x, edge, kinds
	d.Codes, d.EdgeCodes = []columns.Code{{At: 1, Words: 3}}, []columns.Code{{At: 0, Words: 3}}
	return d
}

// moved gives the running statistics of batch norms values that no rows have.
func moved(n *Network) *Network {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, l := range n.Layers {
		if b, ok := l.(*block); ok {
			if norm, ok := b.Norm.(*layers.BatchNorm); ok {
				norm.Mean.Value.Normal(rng, 0, 1)
				norm.Variance.Value.Uniform(rng, 0.5, 2)
			}
		}
	}
	return n
}

// Every model gives each row the same bits layer by layer as at once, whatever a chunk has and on any number of threads, or says that it cannot.
func TestByLayers(t *testing.T) {
	far := []string{"sgc", "appnp", "tag", "cheb", "gcn2", "h2gcn", "gatedgraph", "gps"}
	sparsed := hubs(40, 1)
	sparsed.Features = sparse.FromDense(sparsed.Features.(*tensor.Dense))
	plain := hubs(40, 1)
	plain.Codes, plain.EdgeCodes, plain.EdgeFeatures, plain.EdgeKinds, plain.Weights = nil, nil, nil, nil, nil
	for what, d := range map[string]*datasets.Dataset{"dense": hubs(40, 1), "sparse": sparsed, "large numbers": hubs(40, 60), "plain": plain} {
		k := must(Prepare(d, &Preparation{}))
		for _, name := range Names() {
			m := must(Named(name))
			traits := TraitsOf(m)
			if what == "plain" && (traits.Edges == WantsKinds || traits.Edges == WantsNumbers) {
				continue
			}
			all := []Settings{{Layers: 3}}
			if what == "dense" && traits.Has("Norm") {
				all = append(all, Settings{Layers: 2, Hidden: 6, Norm: NormBatch, ResidualLinear: true, Input: 4, Output: true}, Settings{Layers: 2, Hidden: 4, Norm: NormLayer, Residual: true})
			}
			for _, set := range all {
				net := moved(must(New(With(m, set), k.Shape(m, 3), 7)))
				sub := &subject{Data: k}
				if slices.Contains(far, name) != (traits.far() != "") {
					t.Errorf("%s: it cannot be run by layers: %q", name, traits.far())
				}
				if traits.far() != "" {
					continue
				}
				want := net.Run(grad.NewEval(), sub.all(net)).Value()
				hidden := net.Hidden(grad.NewEval(), sub.hop(net), grad.Const(k.Rows)).Value()
				for _, rows := range []int{1, 7, 39, 100, 0} {
					if rows == 1 && what != "dense" {
						continue
					}
					undo := par.SetThreads(1 + rows%3)
					tape := grad.NewEval()
					got := must(byLayers{whole: sub.hop(net), depth: len(net.Layers), rows: rows}.run(tape, net, k.Rows, func(y *grad.Var) *grad.Var { return net.finish(tape, Pass{}, y) }))
					inner := must(byLayers{whole: sub.hop(net), depth: net.depth(), rows: rows}.run(tape, net, k.Rows, nil))
					undo()
					if !slices.Equal(got.Data, want.Data) || !slices.Equal(inner.Data, hidden.Data) {
						t.Errorf("%s, %s, %d rows at a time: other bits", net, what, rows)
					}
				}
			}
		}
	}
}

// The ranks of a team, even more of them than there are nodes, all get the bits of one process.
func TestByRanks(t *testing.T) {
	k := must(Prepare(hubs(40, 1), &Preparation{}))
	for _, m := range []Model{GAT{}, SAGE{Input: 4, Output: true}, RGCN{}, SGC{}} {
		net := moved(must(k.New(m, 7)))
		sub := &subject{Data: k}
		want := net.Run(grad.NewEval(), sub.all(net)).Value()
		for _, size := range []int{2, 3, 50} {
			for rank, err := range ranktest.Run(size, func(c ranks.Comm) error {
				team, err := ranks.New(c)
				if err != nil {
					return err
				}
				got, err := moved(must(k.New(m, 7))).RunShared(grad.NewEval(), team, sub.all(net), k.Rows)
				if err == nil && !slices.Equal(got.Data, want.Data) {
					err = errors.New("other bits")
				}
				return err
			}) {
				if err != nil {
					t.Errorf("%s, rank %d of %d: %v", net, rank, size, err)
				}
			}
		}
	}
}

// A Predictor gives the answers, of nodes and of edges, and the embeddings of the whole graph by each plan, in batches of any size.
func TestPlansAgree(t *testing.T) {
	for _, of := range []string{"nodes", "edges", "pairs"} {
		d := hubs(60, 1)
		if of == "pairs" { // direction means nothing
			d.Graph, d.EdgeFeatures, d.EdgeKinds, d.EdgeCodes, d.Weights = graph.Undirected(graph.Ring(60, 1, 2, 9)), nil, nil, nil, nil
		}
		if of != "nodes" {
			d.Labels, d.Classes, d.EdgeLabels = nil, 2, make([]int32, d.Graph.NumEdges())
			to := d.Graph.Destinations()
			for e, u := range d.Graph.In().Cols {
				d.EdgeLabels[e] = (u + to[e]) % 2
			}
		}
		k := must(Prepare(d, &Preparation{}))
		for _, m := range []Model{GAT{}, GCN{}, SAGE{Output: true}, MoNet{}, SuperGAT{}, RGCN{Norm: NormLayer}} {
			if of == "pairs" && TraitsOf(m).Edges == WantsKinds {
				continue
			}
			p := &Predictor{k.Trained(must(k.New(m, 1)))}
			if head := p.Net.(*Network).Head; (head != nil) != (of != "nodes") || head != nil && head.Mirrored != (of == "pairs") {
				t.Fatalf("%s is not of %s", p.Net, of)
			}
			ask := func(q Query) (y, rows *tensor.Dense) {
				for a, err := range p.Of(d, q) {
					if err != nil {
						t.Fatal(err)
					}
					y = after(y, a.Outputs)
				}
				return y, must(p.EmbedOf(d, q)).Rows
			}
			want, embedded := ask(Query{Plan: Whole})
			for _, q := range []Query{{Plan: Layers}, {Plan: Layers, Batch: 7}, {Plan: Layers, Batch: 1 << 20}, {}} {
				if y, rows := ask(q); !slices.Equal(y.Data, want.Data) || !slices.Equal(rows.Data, embedded.Data) {
					t.Errorf("%s of %s, %+v: other bits", p.Net, of, q)
				}
			}
			for rank, err := range ranktest.Run(3, func(c ranks.Comm) error {
				team, err := ranks.New(c)
				if err != nil {
					return err
				}
				for _, q := range []Query{{Team: team}, {Plan: Neighbourhoods, Batch: 7, Team: team}} {
					if y, rows := ask(q); !slices.Equal(y.Data, want.Data) || !slices.Equal(rows.Data, embedded.Data) {
						return fmt.Errorf("%+v: other bits", q.Plan)
					}
				}
				return nil
			}) {
				if err != nil {
					t.Errorf("%s of %s, rank %d of 3: %v", p.Net, of, rank, err)
				}
			}
			some, _ := ask(Query{Plan: Layers, Rows: []int32{4, 57, 2, 4}})
			if of == "nodes" && !slices.Equal(some.Data, slices.Concat(want.Row(4), want.Row(57), want.Row(2), want.Row(4))) {
				t.Errorf("%s: some rows have other bits", p.Net)
			}
		}
	}
}

// What a chunk needs is small beside the rows of a layer, and no layer's rows stay but the last one's and those that it reads. A
// pass over the whole graph holds those of all.
func TestByLayersHoldsLittle(t *testing.T) {
	const n, layers = 2000, 6
	d := hubs(n, 1)
	d.EdgeFeatures, d.EdgeCodes = nil, nil // rows of a hub's edges may be many
	k := must(Prepare(d, &Preparation{}))
	for _, m := range []Model{SAGE{Hidden: 32, Layers: layers}, GAT{Layers: layers}, GCN{Hidden: 32, Layers: layers, Norm: NormLayer, Residual: true, Output: true}} {
		net, sub := must(k.New(m, 1)), &subject{Data: k}
		row := n * net.Settings.Hidden * net.Settings.Heads * int(unsafe.Sizeof(tensor.Float(0))) // of a layer
		whole, few := grad.NewEval(), grad.NewEval()
		net.Run(whole, sub.all(net))
		must(byLayers{whole: sub.hop(net), depth: len(net.Layers), rows: n / 16}.run(few, net, k.Rows, nil))
		if held := int(whole.Stats().Peak); held < 2*layers*row {
			t.Errorf("%s: the whole pass holds %d bytes, and a layer has %d: this test tells nothing", net, held, row)
		}
		if held := int(few.Stats().Peak); held > row {
			t.Errorf("%s: a chunk needs %d bytes, and the rows of a layer have %d", net, held, row)
		}
	}
}

// How rows are computed follows from the sizes.
func TestPlanChosen(t *testing.T) {
	small, large := hubs(60, 1), hubs(40, 1)
	n := 1 << 14
	large.Graph, large.Features, large.Labels = graph.Ring(n, 1, 2), tensor.New(n, 1), make([]int32, n)
	large.EdgeFeatures, large.EdgeKinds, large.Weights, large.Codes, large.EdgeCodes = nil, nil, nil, nil, nil
	prepared := map[*datasets.Dataset]*Data{small: must(Prepare(small, &Preparation{})), large: must(Prepare(large, &Preparation{}))}
	for _, tt := range []struct {
		d            *datasets.Dataset
		m            Model
		asked, batch int
		plan, want   Plan
	}{
		{small, SAGE{}, 60, 4096, "", Whole}, {small, SAGE{}, 2, 4096, "", Neighbourhoods}, {small, SAGE{}, 60, 4096, Layers, Layers},
		{small, SAGE{}, 60, 1, "", Whole}, // each batch would read what others have read
		{small, MLP{}, 30, 4096, "", Neighbourhoods},
		{large, SAGE{}, n, 4096, "", Whole}, {large, SAGE{Hidden: 4096}, n, 4096, "", Layers}, {large, SAGE{Hidden: 4096}, n, 4096, Whole, Whole},
		{large, SAGE{Hidden: 4096}, 100, 4096, "", Neighbourhoods}, {large, SGC{}, 1000, 4096, "", Whole},
		{large, SuperGAT{Hidden: 512}, 1000, 4096, "", Layers}, {large, APPNP{Hidden: 4096}, n, 4096, "", Whole},
	} {
		k := prepared[tt.d]
		if got := (&subject{Data: k}).plans(must(k.New(tt.m, 1)), tt.plan, tt.asked, tt.batch); got != tt.want {
			t.Errorf("%#v of %d nodes, %d asked in batches of %d, plan %q: %s, want %s", tt.m, tt.d.Graph.NumNodes(), tt.asked, tt.batch, tt.plan, got, tt.want)
		}
	}
}

// What cannot be asked is an error that says what to do, and a query ends when its context does.
func TestBadPlans(t *testing.T) {
	d := hubs(60, 1)
	k := must(Prepare(d, &Preparation{}))
	ask := func(m Model, q Query) (answers int, err error) {
		p := &Predictor{k.Trained(must(k.New(m, 1)))}
		for _, err := range p.Of(d, q) {
			if err != nil {
				if _, again := p.EmbedOf(d, q); again == nil {
					t.Errorf("%#v, %+v: embeddings are made, and answers are not: %v", m, q, err)
				}
				return answers, err
			}
			answers++
		}
		return answers, nil
	}
	for says, tt := range map[string]struct {
		m Model
		q Query
	}{
		"a Batch of -1: rows that are answered at once must be 1 or more, or 0":                                       {SAGE{}, Query{Batch: -1}},
		`there is no plan "half"; the choices are whole, layers and neighbourhoods`:                                   {SAGE{}, Query{Plan: "half"}},
		"the plan layers is not for APPNP, which has layers that look several hops far: leave it out, or write whole": {APPNP{}, Query{Plan: Layers}},
		"the plan layers is not for GPS, which attends to all nodes: leave it out, or write whole":                    {GPS{}, Query{Plan: Layers}},
	} {
		if _, err := ask(tt.m, tt.q); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%#v, %+v: error %v, want one with %q", tt.m, tt.q, err, says)
		}
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for _, plan := range []Plan{Whole, Layers, Neighbourhoods} {
		if n, err := ask(SAGE{}, Query{Plan: plan, Context: over}); !errors.Is(err, context.Canceled) || n > 0 {
			t.Errorf("plan %s: %d batches, error %v", plan, n, err)
		}
		if n, err := ask(SAGE{}, Query{Plan: plan, Context: context.Background(), Batch: 20}); err != nil || n != 3 {
			t.Errorf("plan %s: %d batches, error %v", plan, n, err)
		}
	}
}

// A context that is cancelled in a chunk ends the layers there.
func TestByLayersEnds(t *testing.T) {
	k := must(Prepare(hubs(60, 1), &Preparation{}))
	net, sub := must(k.New(SAGE{Output: true}, 1)), &subject{Data: k}
	ctx, cancel := context.WithCancel(context.Background())
	q, tape, chunks := Query{Context: ctx}, grad.NewEval(), 0
	err := q.within(tape, func() {
		_, _ = byLayers{whole: sub.hop(net), depth: len(net.Layers), rows: 7}.run(tape, net, k.Rows, func(y *grad.Var) *grad.Var {
			if chunks++; chunks == 3 {
				cancel()
			}
			return y
		})
	})
	if !errors.Is(err, context.Canceled) || chunks != 3 {
		t.Errorf("%d chunks are computed, error %v", chunks, err)
	}
}

func after(x, y *tensor.Dense) *tensor.Dense {
	if x == nil {
		return y
	}
	return below(x, y)
}
