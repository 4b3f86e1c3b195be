package models_test

import (
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/cora"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/models"
)

// On wide, sparse features of some thousand nodes a few rows are the same numbers as all, on any number of threads.
func TestFewOfCora(t *testing.T) {
	d, err := cora.Load()
	if err != nil {
		t.Fatal(err)
	}
	for form, all := range map[string][]models.Model{columns.RowSums: {models.GAT{}, models.GCN{Hidden: 64}, models.GCN{Hidden: 64, Norm: models.NormLayer, Residual: true, Output: true}, models.SAGE{Norm: models.NormBatch, Input: 16}}, columns.Standard: {models.SAGE{}}} {
		data, err := models.Prepare(d, &models.Preparation{Features: columns.Scaling{Form: form}})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			net, err := data.New(m, 1)
			if err != nil {
				t.Fatal(err)
			}
			p := models.Predictor{Trained: data.Trained(net)}
			whole := ofDataset(t, &p, d, models.Query{Plan: models.Whole})
			for _, rows := range [][]int32{{5}, {2000, 5, 1000}} {
				for _, threads := range []int{0, 1} {
					undo := par.SetThreads(threads)
					some := ofDataset(t, &p, d, models.Query{Plan: models.Neighbourhoods, Rows: rows})
					undo()
					for i, v := range rows {
						if !slices.Equal(some.Outputs.Row(i), whole.Outputs.Row(int(v))) {
							t.Errorf("%v: node %d of %d gives %v, want %v", net, v, len(rows), some.Outputs.Row(i), whole.Outputs.Row(int(v)))
						}
					}
				}
			}
		}
	}
}

// ofDataset returns all answers about a dataset.
func ofDataset(t *testing.T, p *models.Predictor, d *datasets.Dataset, q models.Query) *models.Answers {
	t.Helper()
	var out *models.Answers
	for a, err := range p.Of(d, q) {
		if err != nil {
			t.Fatal(err)
		}
		if out != nil {
			t.Fatal("there are several batches")
		}
		out = a
	}
	return out
}

// A graph gets the same answer alone, whatever others are there; so does its embedding.
func TestPredictGraphs(t *testing.T) {
	d := datasets.CSL(rand.New(rand.NewPCG(1, 2)), 2)
	for _, name := range models.GraphNames(models.ReadsNone, models.MayNumbers) {
		m, err := models.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		prep := models.Preparation{Encoding: "random-walk:4"}
		k, err := models.PrepareGraphs(d, m, &prep)
		if err != nil {
			t.Fatal(err)
		}
		net, err := models.NewGraphs(m, models.Shape{In: k.Features.Dim(1), Out: d.Classes}, "", "", 1)
		if err != nil {
			t.Fatal(err)
		}
		p := models.Predictor{Trained: &models.Trained{Task: models.Graphs, Net: net, Preparation: prep, Goal: models.GoalOfGraphs(d)}}
		rows, err := p.EmbedGraphs(d, models.Query{})
		if err != nil || rows.Rows.Dim(0) != d.Len() {
			t.Fatalf("%s: %v, error %v", name, rows, err)
		}
		for all, err := range p.OfGraphs(d, models.Query{}) {
			if err != nil {
				t.Fatal(err)
			}
			one, err := p.EmbedGraphs(d, models.Query{IDs: []string{"7"}})
			if err != nil || !slices.Equal(one.Rows.Row(0), rows.Rows.Row(7)) {
				t.Errorf("%s: graph 7 is %v, error %v", name, one, err)
			}
			for some, err := range p.OfGraphs(d, models.Query{Rows: []int32{7, 3}}) {
				if err != nil || !slices.Equal(some.Outputs.Row(0), all.Outputs.Row(7)) || !slices.Equal(some.Outputs.Row(1), all.Outputs.Row(3)) || some.Truth.Labels[0] != d.Labels[7] {
					t.Errorf("%s: two graphs give %v, error %v", name, some, err)
				}
			}
		}
	}
}

// What has a row of its own is known by its name, in a file too.
func TestPredictLearntRows(t *testing.T) {
	d := datasets.Karate()
	light, err := models.NewLinks(models.LightGCN{Hidden: 4}, 34, 1)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, 34)
	for v := range ids {
		ids[v] = string(rune('A' + v))
	}
	m := &models.Trained{Task: models.Links, Net: light, Learnt: &models.Learnt{IDs: ids}}
	own := *d
	own.NodeIDs = slices.Clone(ids)
	want, err := (&models.Predictor{Trained: m}).EmbedOf(&own, models.Query{})
	if err != nil || want.Rows.Dim(0) != 34 {
		t.Fatalf("%v, error %v", want, err)
	}
	order := rand.New(rand.NewPCG(1, 1)).Perm(34) // the same nodes in another order, and one that is new
	var src, dst []int32
	to := d.Graph.Destinations()
	for e, u := range d.Graph.In().Cols {
		src, dst = append(src, int32(order[u])), append(dst, int32(order[to[e]]))
	}
	other := &datasets.Dataset{Graph: graph.Must(graph.New(35, append(src, 34, 0), append(dst, 0, 34))), NodeIDs: make([]string, 35)}
	for v, at := range order {
		other.NodeIDs[at] = ids[v]
	}
	other.NodeIDs[34] = "new"
	got, err := (&models.Predictor{Trained: m}).EmbedOf(other, models.Query{})
	if err != nil || !slices.Equal(got.Rows.Data, want.Rows.Data) || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "1 nodes are new to the model") {
		t.Errorf("%v, error %v", got, err)
	}
	lying := *m
	lying.Learnt = &models.Learnt{IDs: ids[:3]}
	if err := lying.Write(io.Discard); err == nil || !strings.Contains(err.Error(), "has learnt 34 rows") {
		t.Errorf("error %v", err)
	}

	k, err := datasets.PlantedRules(rand.New(rand.NewPCG(0, 7)), 2, 8)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := models.NewFacts(models.DistMult{Hidden: 4}, k.Entities, k.Relations(), 1)
	if err != nil {
		t.Fatal(err)
	}
	p := &models.Predictor{Trained: &models.Trained{Task: models.Facts, Net: facts, Learnt: &models.Learnt{IDs: ids[:k.Entities], Relations: k.RelationNames}}}
	answers, err := p.Ask([3]string{"A", "next", "?"}, nil, 3, false)
	if err != nil || len(answers) != 3 || answers[0].Fact[0] != "A" || answers[0].Score < answers[1].Score {
		t.Fatalf("%v, error %v", answers, err)
	}
	whole, err := p.Ask(answers[1].Fact, nil, 3, false)
	if err != nil || len(whole) != 1 || whole[0].Rank != 2 || whole[0].Score != answers[1].Score {
		t.Errorf("%v, want %v as the second, error %v", whole, answers[1], err)
	}
	for says, q := range map[string][3]string{"both ends": {"?", "next", "?"}, `no relation "nexd"; is it "next"?`: {"A", "nexd", "?"}, `no entity "z"`: {"z", "next", "?"}} {
		if _, err := p.Ask(q, nil, 3, false); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one with %q", err, says)
		}
	}
}
