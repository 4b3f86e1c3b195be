package node

import (
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/sample"
)

// Drawn neighbours change what is learnt, and all of them, however they are asked
// for, do not.
func TestFanout(t *testing.T) {
	data := tasktest.Saved(t, tasktest.Gaussian(t, 300, 20))
	for _, model := range []string{"gat", "gcn", "sage"} {
		run := func(more ...string) []map[string]any {
			t.Helper()
			lines := tasktest.Results(t, append([]string{"train", "--json", "--dataset", data, "--epochs", "1", "--model", model, "--batch", "50"}, more...)...)
			delete(lines[1], "fanout")
			return lines
		}
		all := run()
		for _, fanout := range variants(model, "all,all", "all,5000", "1000, all") {
			if got := run("--fanout", fanout); !reflect.DeepEqual(got, all) {
				t.Errorf("%s: --fanout %s is not all: %v, want %v", model, fanout, got[0], all[0])
			}
		}
		drawn := run("--fanout", "2,1")
		if drawn[0]["loss"] == all[0]["loss"] {
			t.Errorf("%s: --fanout changes nothing", model)
		}
		for _, more := range variants(model, "--seed=1", "--fanout=1,2") {
			if other := run("--fanout", "2,1", more); other[0]["loss"] == drawn[0]["loss"] {
				t.Errorf("%s: %s changes nothing", model, more)
			}
		}
		for _, threads := range variants(model, "1", "2") {
			if got := run("--fanout", "2,1", "--threads", threads); !reflect.DeepEqual(got, drawn) {
				t.Errorf("%s: on %s threads %v, want %v", model, threads, got, drawn)
			}
		}
	}
}

// variants returns all for GCN, whose edges have weights too, and one for another model: what
// the rest change is before any model.
func variants(model string, all ...string) []string {
	if model != "gcn" {
		return all[:1]
	}
	return all
}

// What GCN sums over drawn neighbours is, on average, what it sums over all.
func TestFanoutKeepsTheMean(t *testing.T) {
	for _, k := range []*Examples{mustCora(t), weightedWay()} {
		r := undropped(t, "gcn")
		r.Layers, r.Batch, r.Fanout = 1, 16, "1"
		net, err := NewNetwork(r, k.Features.Shape()[1], k.Classes)
		if err != nil {
			t.Fatal(err)
		}
		whole := k.said(grad.NewEval(), net)
		l := k.loader(net)
		n := int32(k.Graph.NumNodes())
		l.Nodes, l.Ordered = []int32{7, 358 % n, 0, n / 2}, true
		const epochs = 400
		sum, square := make([]float64, 4*k.Classes), make([]float64, 4*k.Classes)
		l.Epochs, l.Size = epochs, 4
		for b, err := range l.Batches(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range net.Run(grad.NewEval(), k.Batch(net.Network, b)).Value().Data {
				sum[i] += float64(v)
				square[i] += float64(v) * float64(v)
			}
		}
		for i, s := range sum {
			want, mean := float64(whole.Row(int(l.Nodes[i/k.Classes]))[i%k.Classes]), s/epochs
			deviation := math.Sqrt(max(0, square[i]/epochs-mean*mean) / epochs)
			if math.Abs(mean-want) > 5*deviation+1e-5 {
				t.Errorf("%s, node %d, class %d: the mean is %g ± %g, want %g", k.Name, l.Nodes[i/k.Classes], i%k.Classes, mean, deviation, want)
			}
		}
	}
}

func mustCora(t *testing.T) *Examples {
	k, _ := taskOf(t, "gcn")
	return k
}

// The summary says what a step read.
func TestFanoutIsReported(t *testing.T) {
	args := []string{"train", "--epochs", "2", "--model", "sage", "--batch", "50"}
	if out := tasktest.OK(t, args...); !strings.Contains(out, "\nbatches of 50 nodes with all their neighbours\n") {
		t.Errorf("no word of the batches in\n%s", out)
	}
	out := strings.Join(strings.Fields(tasktest.OK(t, append(args, "--fanout", "5,all")...)), " ")
	if want := "batches of 50 nodes; neighbours drawn for each node: 5 in layer 1, all in layer 2; evaluations read all"; !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
	if !strings.Contains(out, "--batch 50 --fanout 5,all") {
		t.Errorf("the next command draws none:\n%s", out)
	}
	if lines := tasktest.Results(t, append(args, "--fanout", " 05, all ", "--json")...); lines[2]["fanout"] != "5,all" || lines[2]["batch"] != 50.0 {
		t.Errorf("the summary line is %v", lines[2])
	}
}

// Where a layer sums, each drawn edge counts for as many as it stands for; where it reads kinds of edges, as many of
// each are drawn.
func TestFanoutOfLayers(t *testing.T) {
	k := mustCora(t)
	r := undropped(t, "gin")
	r.Layers, r.Batch, r.Fanout = 1, 140, "1"
	net, err := NewNetwork(r, k.Features.Shape()[1], k.Classes)
	if err != nil {
		t.Fatal(err)
	}
	b := batchAt(t, k.loader(net), 1)
	hop := k.Batch(net.Network, b).Hops[0]
	for i, v := range b.Seeds {
		sum := 0.0
		for e := range hop.Graph.Sources(i) {
			sum += float64(hop.Mask.Value().Data[e])
		}
		if want := k.Looped.InDegree(int(v)); math.Abs(sum-float64(want)) > 1e-4*float64(want) {
			t.Errorf("the edges of node %d stand for %v, want %d", v, sum, want)
		}
	}
	club := filepath.Join("..", "..", "..", "datasets", "testdata", "club_edges.csv")
	out := tasktest.OK(t, "train", "--model", "rgcn", "--dataset", club, "--label", "taste", "--undirected", "--epochs", "2", "--batch", "20", "--fanout", "3,all")
	if want := "drawn for each node by each kind of edge: 3 in layer 1, all in layer 2"; !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
		t.Errorf("no %q in\n%s", want, out)
	}
}

// A recipe in a file is not to be trusted, and one without word of a fan-out draws none.
func TestFanoutOfFiles(t *testing.T) {
	_, r := taskOf(t, "sage")
	if r.Batch = 9; !reflect.DeepEqual(r.fanout(), []int{sample.All, sample.All}) || r.Check() != nil {
		t.Errorf("without --fanout %v are drawn (%v)", r.fanout(), r.Check())
	}
	for _, spoil := range []func(r *Recipe){
		func(r *Recipe) { r.Fanout = "ten,5" }, func(r *Recipe) { r.Fanout = "5" }, func(r *Recipe) { r.Fanout = "99999999999999999999,1" },
		func(r *Recipe) { r.Batch = 0 }, func(r *Recipe) { r.Model = "sgc" }, func(r *Recipe) { r.Model = "none" },
	} {
		bad := r
		bad.Fanout = "5,5"
		if spoil(&bad); bad.Check() == nil {
			t.Errorf("taken: %+v", bad)
		}
	}
}
