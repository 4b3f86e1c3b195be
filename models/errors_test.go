package models

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
)

// What cannot be is an error that says what can, and nothing panics.
func TestErrors(t *testing.T) {
	shape := Shape{In: 5, Out: 3}
	nodes := func(m Model, s Shape) func() error {
		return func() error { _, err := New(m, s, 1); return err }
	}
	graphs := func(m Model, readout, pool string) func() error {
		return func() error { _, err := NewGraphs(m, shape, readout, pool, 1); return err }
	}
	links := func(m LinkModel, in int) func() error {
		return func() error { _, err := NewLinks(m, in, 1); return err }
	}
	facts := func(m FactModel, entities int) func() error {
		return func() error { _, err := NewFacts(m, entities, 2, 1); return err }
	}
	for want, f := range map[string]func() error{
		"GCN has no setting Heads: leave it out, or take a model that has it: gat, gatv2, transformer, supergat": nodes(GCN{Heads: 2}, shape),
		"SAGE has no setting AttentionDropout":                           nodes(SAGE{AttentionDropout: 0.5}, shape),
		"GIN has no setting OutHeads":                                    nodes(GIN{OutHeads: 2}, shape),
		"H2GCN has no setting Residual":                                  nodes(H2GCN{Residual: true}, shape),
		"GAT has no setting NoBias":                                      nodes(GAT{NoBias: true}, shape),
		"GATv2 has no setting ValueDrop":                                 nodes(GATv2{ValueDrop: true}, shape),
		"MLP has no setting Start":                                       nodes(MLP{Start: StartHeads}, shape),
		"Layers 1: H2GCN has a dense layer":                              nodes(H2GCN{Layers: 1}, shape),
		"Layers 101: there can be at most 100":                           nodes(GCN{Layers: 101}, shape),
		"Hidden -1":                                                      nodes(GCN{Hidden: -1}, shape),
		"Hidden 65536 with Heads 8":                                      nodes(GAT{Hidden: 65536}, shape),
		"Dropout 1 ":                                                     nodes(GCN{Dropout: 1}, shape),
		`Start "glorrot": there is no such name`:                         nodes(GAT{Start: "glorrot"}, shape),
		"In 0 and Out 3":                                                 nodes(GCN{}, Shape{Out: 3}),
		"rgcn without kinds of edges":                                    nodes(RGCN{}, shape),
		"nnconv without features of edges":                               nodes(NNConv{}, shape),
		"gcn with 2 features and 0 kinds of edges, which it does no":     nodes(GCN{}, Shape{In: 5, Out: 3, EdgeIn: 2}),
		"APPNP has no form for graphs; these have one: gin, nnconv":      graphs(APPNP{}, "", ""),
		"networks of graphs have no setting Residual":                    graphs(GAT{Residual: true}, "", ""),
		"Heads 3 do not divide Hidden 64":                                graphs(GAT{Heads: 3}, "", ""),
		"Layers 1: networks of graphs have at least 2":                   graphs(GIN{Layers: 1}, "", ""),
		`there is no readout "summ"; did you mean "sum"?`:                graphs(GIN{}, "summ", ""),
		`there is no pooling "top"`:                                      graphs(GIN{}, "", "top"),
		"lightgcn has no setting Out":                                    links(LightGCN{Out: 3}, 5),
		"vgae has no setting Bias":                                       links(VGAE{Bias: true}, 5),
		"gae has no setting Layers":                                      links(GAE{Layers: 2}, 5),
		"In 0: want from 1":                                              links(GAE{}, 0),
		"Hidden 3: want a width from 1 to 65536, and an even one":        facts(RotatE{Hidden: 3}, 5),
		"complex has no setting Margin":                                  facts(ComplEx{Margin: 2}, 5),
		"the model is nil: name one, such as models.GAT{}":               nodes(nil, shape),
		"the model is nil: name one, such as models.GAE{}":               links(nil, 5),
		"the model is nil: name one, such as models.RotatE{}":            facts(nil, 5),
		"code 0 is of 3 words, in column 5 of the 5 features of a node":  nodes(GCN{}, Shape{In: 5, Out: 3, Codes: []columns.Code{{At: 5, Words: 3}}}),
		"code 1 is of 3 words, in column 1":                              nodes(GCN{}, Shape{In: 5, Out: 3, Codes: []columns.Code{{At: 1, Words: 3}, {At: 1, Words: 3}}}),
		"code 0 is of -1 words, in column 1":                             nodes(GCN{}, Shape{In: 5, Out: 3, Codes: []columns.Code{{At: 1, Words: -1}}}),
		"code 0 is of 3 words, in column 0 of the 0 features of an edge": nodes(GCN{}, Shape{In: 5, Out: 3, EdgeCodes: []columns.Code{{Words: 3}}}),
		"lightgcn reads no features, and there are 1 columns of codes": func() error {
			_, err := NewLinks(LightGCN{}, 5, 1, columns.Code{Words: 2})
			return err
		},
		"0 entities and 2 relations": facts(TransE{}, 0),
	} {
		if err := f(); err == nil || !strings.Contains(strings.Replace(err.Error(), "GraphSAGE", "SAGE", 1), want) {
			t.Errorf("got the error %v, want %s", err, want)
		}
	}
	if _, err := NewEdges(GCN{}, shape, Pairs{Own: -1}, 1); err == nil || !strings.Contains(err.Error(), "a head of edges for rows of 16 and -1 features") {
		t.Errorf("a head of -1 features: %v", err)
	}
	if _, err := Named("gta"); err == nil || !strings.Contains(err.Error(), `there is no model "gta"; did you mean "gat"? The choices are gat, gatv2,`) {
		t.Error(err)
	}
	if m, err := Named("graphsage2000"); m != nil || err == nil {
		t.Errorf("graphsage2000 is %v, %v", m, err)
	}
	for _, n := range []interface{ Check() error }{
		&Network{}, &Network{Model: "gat"}, &Network{Model: "gcn", Settings: Settings{Hidden: 1, Heads: 3, OutHeads: 1, Layers: 1}, Shape: shape},
		&GraphNetwork{}, &GraphNetwork{Model: "gin"}, &LinkNetwork{}, &LinkNetwork{Model: "gae", In: 1}, &FactNetwork{}, &FactNetwork{Model: "rotate", Count: 1, Relations: 1},
	} {
		if n.Check() == nil {
			t.Errorf("%+v can be", n)
		}
	}
}

// An unset dropout is the paper's, and grad.Zero is none.
func TestDropoutOfZero(t *testing.T) {
	for want, m := range map[float64]Model{0.6: GAT{}, 0: GAT{Dropout: grad.Zero}, 0.25: GAT{Dropout: 0.25}} {
		net := must(New(m, Shape{In: 5, Out: 3}, 1))
		l := net.Layers[0].(*gatLayer)
		if l.FeatDrop != want || l.AttnDrop != want {
			t.Errorf("the dropout is %v and of attention %v, want %v", l.FeatDrop, l.AttnDrop, want)
		}
	}
}

// Whatever JSON says of a network, Check refuses it or Init makes it, and it has no fewer numbers than Numbers says.
func FuzzNetworks(f *testing.F) {
	shape := Shape{In: 3, Out: 2}
	for _, name := range Names() {
		s := shape
		if e := TraitsOf(must(Named(name))).Edges; e.Kinds() {
			s.EdgeKinds = 2
		} else if e.Numbers() {
			s.EdgeIn = 2
		}
		f.Add(uint8(0), string(must(json.Marshal(must(NewEdges(must(Named(name)), s, Pairs{Own: 1}, 1))))))
		s.Codes = []columns.Code{{At: 1, Words: 30}, {At: 2, Words: 2}}
		f.Add(uint8(0), string(must(json.Marshal(must(New(must(Named(name)), s, 1))))))
		s.In, s.EdgeCodes = 100, []columns.Code{{At: 0, Words: 3}}
		f.Add(uint8(0), string(must(json.Marshal(must(NewEdges(must(Named(name)), s, Pairs{Own: max(1, s.EdgeIn)}, 1))))))
	}
	for i, name := range []string{"gin", "gat", "gcn", "tag"} {
		f.Add(uint8(1), string(must(json.Marshal(must(NewGraphs(must(Named(name)), shape, Readouts()[i], Pools()[i%2], 1))))))
	}
	f.Add(uint8(1), string(must(json.Marshal(must(NewGraphs(GIN{}, Shape{In: 3, Out: 2, EdgeIn: 2, Codes: []columns.Code{{At: 0, Words: 9}}, EdgeCodes: []columns.Code{{At: 1, Words: 4}}}, "set2set", "", 1))))))
	f.Add(uint8(2), string(must(json.Marshal(must(NewLinks(GAE{}, 100, 1, columns.Code{At: 3, Words: 5}))))))
	for _, m := range []LinkModel{GAE{}, VGAE{}, LightGCN{}} {
		f.Add(uint8(2), string(must(json.Marshal(must(NewLinks(m, 3, 1))))))
	}
	for _, m := range []FactModel{TransE{}, DistMult{}, ComplEx{}, RotatE{}} {
		f.Add(uint8(3), string(must(json.Marshal(must(NewFacts(m, 3, 2, 1))))))
	}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		n := []interface {
			Check() error
			Numbers() int64
			Init(rng *rand.Rand)
		}{new(Network), new(GraphNetwork), new(LinkNetwork), new(FactNetwork)}[kind%4]
		if json.Unmarshal([]byte(text), n) != nil || n.Check() != nil || n.Numbers() > 1<<16 {
			return
		}
		n.Init(rand.New(rand.NewPCG(1, 1)))
		total := int64(0)
		for _, p := range grad.Params(n) {
			total += int64(len(p.Value.Data))
		}
		if least := n.Numbers(); least > total || total > 1<<24 {
			t.Errorf("%s: at least %d numbers are said to be there, and there are %d", text, least, total)
		}
	})
}
