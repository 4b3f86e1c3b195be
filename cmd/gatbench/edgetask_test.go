package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// neighbourhoods writes tables of nodes of two groups, of which a feature says little, and of edges
// whose kind is whether both ends are of one group, the last of each ten not known; what else
// stands there says nothing of it. Of those that test, lies are the
// other kind.
func neighbourhoods(t *testing.T, lies bool) string {
	t.Helper()
	var nodes, edges strings.Builder
	nodes.WriteString("id,hint\n")
	edges.WriteString("source,target,amount,year,kind,split\n")
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 60
	for v := range n {
		fmt.Fprintf(&nodes, "n%d,%.2f\n", v, float64(v%2)+rng.NormFloat64()/3)
	}
	for i, seen := 0, map[[2]int]bool{}; i < 300; {
		u, v := rng.IntN(n), rng.IntN(n)
		same := u%2 == v%2
		if key := [2]int{min(u, v), max(u, v)}; u == v || seen[key] {
			continue
		} else {
			seen[key] = true
		}
		part := []string{"train", "train", "train", "val", "test"}[i%5]
		kind := map[bool]string{true: "inside", false: "across"}[same != (lies && part == "test")]
		if i%10 == 9 {
			kind = ""
		}
		fmt.Fprintf(&edges, "n%d,n%d,%d,%d,%s,%s\n", u, v, rng.IntN(2), 2000+i/30, kind, part)
		i++
	}
	return tables(t, nodes.String(), edges.String())
}

// tables writes a table of nodes and one of edges, and returns the path of the latter.
func tables(t *testing.T, nodes, edges string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "town_edges.csv")
	for file, text := range map[string]string{path: edges, strings.Replace(path, "edges", "nodes", 1): nodes} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// edgeArgs trains on a column of edges.
func edgeArgs(path string, more ...string) []string {
	args := []string{"train", "--json", "--dataset", path, "--model", "sage", "--hidden", "16", "--dropout", "0", "--lr", "0.02", "--epochs", "40"}
	return append(args, more...)
}

// What only the groups of both ends say is learnt. The saved model is as good, says the same of an
// edge in both directions, and goes on where it stopped.
func TestEdgeTask(t *testing.T) {
	data, file := neighbourhoods(t, false)+"#kind,undirected,-year", filepath.Join(t.TempDir(), "m.safetensors")
	lines := results(t, edgeArgs(data, "--task", "edge", "--save", file)...)
	s := lines[len(lines)-1]
	if accuracy := s["test_accuracy"].(float64); accuracy < 0.85 || accuracy < s["test_majority"].(float64)+0.15 {
		t.Errorf("%v", s)
	}
	scored := results(t, "eval", "--json", file)[0]
	for _, key := range []string{"train_accuracy", "val_accuracy", "test_accuracy", "test_macro_f1"} {
		if scored[key] != s[key] {
			t.Errorf("%s is %v, and of the saved model %v", key, s[key], scored[key])
		}
	}
	right, answer, said := 0, map[string]string{}, strings.Split(strings.TrimSpace(ok(t, "predict", file)), "\n")
	for _, line := range said[1:] {
		f := strings.Split(line, ",")
		if f[2] == f[5] {
			right++
		}
		answer[f[0]+" "+f[1]] = strings.Join(f[2:6], ",")
	}
	for _, line := range said[1:] {
		f := strings.Split(line, ",")
		if answer[f[1]+" "+f[0]] != strings.Join(f[2:6], ",") {
			t.Errorf("%s, and in the other direction %s", line, answer[f[1]+" "+f[0]])
		}
	}
	// Of each five edges three train, one validates and one tests, but for each second of these, of which nothing is known.
	want := 2 * (180*scored["train_accuracy"].(float64) + 60*scored["val_accuracy"].(float64) + 30*scored["test_accuracy"].(float64))
	if said[0] != "source,target,class,name,probability,label,source_name,target_name" || len(said) != 601 || float64(right) != want {
		t.Errorf("%s, %d lines, %d right, want %v", said[0], len(said), right, want)
	}
	if some := ok(t, "predict", file, "--nodes", "3,4", "--json"); !strings.Contains(some, `"source_name":"n3"`) || strings.Contains(some, `"source":5,"target":6,`) {
		t.Errorf("%s", some)
	}
	run := filepath.Join(t.TempDir(), "run")
	results(t, edgeArgs(data, "--epochs", "20", "--checkpoint", run)...)
	rest := results(t, "train", "--json", "--resume", run, "--epochs", "40")
	if a, b := rest[len(rest)-1], s; a["test_accuracy"] != b["test_accuracy"] || rest[len(rest)-2]["loss"] != lines[len(lines)-2]["loss"] {
		t.Errorf("resumed %v, and at once %v", a, b)
	}
}

// What edges that test are is never read: where it is the opposite, all is learnt and said as before.
func TestEdgeLabelsAreNotRead(t *testing.T) {
	var said [2]string
	for i := range said {
		file := filepath.Join(t.TempDir(), "m.safetensors")
		results(t, edgeArgs(neighbourhoods(t, i == 1)+"#kind,undirected", "--model", "gat", "--epochs", "3", "--save", file)...)
		for line := range strings.Lines(ok(t, "predict", file, "--json")) {
			said[i] += line[:strings.Index(line, `"label"`)]
		}
	}
	if said[0] != said[1] {
		t.Error("the labels of edges that test are read")
	}
}

// A mirrored head gives an edge and its reverse the same numbers, to the bit, and the other does not.
func TestPairHead(t *testing.T) {
	x, own := tensor.New(3, 4), tensor.New(2, 2)
	rng := rand.New(rand.NewPCG(1, 1))
	x.Normal(rng, 0, 1)
	own.Normal(rng, 0, 1)
	for _, mirrored := range []bool{true, false} {
		h := &pairHead{In: 4, Own: 2, Mirrored: mirrored}
		h.build(rng, 0, 3)
		ab := h.Forward(grad.NewEval(), grad.Const(x), &ends{[]int32{0, 1}, []int32{1, 2}, grad.Const(own)}).Value()
		ba := h.Forward(grad.NewEval(), grad.Const(x), &ends{[]int32{1, 2}, []int32{0, 1}, grad.Const(own)}).Value()
		if slices.Equal(ab.Data, ba.Data) != mirrored || ab.Dim(0) != 2 || ab.Dim(1) != 3 {
			t.Errorf("mirrored %v: %v and %v", mirrored, ab, ba)
		}
	}
}

// Edges between the same two nodes are in one part, those of each class in all parts, and what is
// not known in none. Where direction means nothing a pair counts once, with the mean of its features.
func TestEdgeSplits(t *testing.T) {
	var src, dst []int32
	for v := range int32(20) {
		src, dst = append(src, v, (v+1)%20, v), append(dst, (v+1)%20, v, (v+5)%20)
	}
	d := &datasets.Dataset{Graph: graph.Must(graph.New(20, src, dst)), Classes: 2}
	d.Features, d.EdgeLabels = tensor.New(20, 1), make([]int32, 60)
	for e, u := range d.Graph.In().Cols {
		d.EdgeLabels[e] = (u + d.Graph.Destinations()[e]) % 3 / 2
	}
	d.EdgeLabels[7] = -1
	g := newGoal("edge", 2, d.EdgeLabels, nil, nil)
	p, err := newPairs(d, g, false)
	if err != nil || p.mirrored {
		t.Fatal(p, err)
	}
	part, classes := map[[2]int32]int{}, [3][2]int{}
	split := p.fifths(g, 1)
	for i, list := range [][]int32{split.Train, split.Val, split.Test} {
		for _, e := range list {
			u, v := d.Graph.In().Cols[e], d.Graph.Destinations()[e]
			if was, ok := part[[2]int32{min(u, v), max(u, v)}]; ok && was != i || e == 7 {
				t.Errorf("edge %d from %d to %d is in two parts, or not known", e, u, v)
			}
			part[[2]int32{min(u, v), max(u, v)}] = i
			classes[i][d.EdgeLabels[e]]++
		}
	}
	for _, of := range classes {
		if of[0] == 0 || of[1] == 0 {
			t.Errorf("classes %v", classes)
		}
	}

	both := d.Undirected()
	both.EdgeLabels = make([]int32, both.Graph.NumEdges())
	g = newGoal("edge", 2, both.EdgeLabels, nil, nil)
	if p, err = newPairs(both, g, true); err != nil || !p.mirrored || len(p.edge) != 40 {
		t.Fatal(p, err)
	}
	back := int32(slices.IndexFunc(p.of, func(pair int32) bool { return pair == p.of[0] })) // edge 0, and its reverse after it
	for e := range p.of {
		if p.of[e] == p.of[0] {
			back = int32(e)
		}
	}
	if s := p.together(datasets.Split{Train: []int32{back}, Test: []int32{0, 5}}, g); len(s.Train) != 1 || len(s.Test) != 1 || p.of[s.Train[0]] != p.of[0] {
		t.Errorf("edges 0 and %d are one: %v", back, s)
	}
	x := tensor.New(both.Graph.NumEdges(), 1)
	x.Data[0], x.Data[back] = 1, 4
	if p.describe(x); p.own.Row(int(p.of[0]))[0] != 2.5 {
		t.Errorf("features %v", p.own.Data)
	}
	if from := p.from[p.of[0]]; p.some([]int32{back}, []int32{9, from}).from[0] != 1 {
		t.Errorf("node %d is not row 1 of its list", from)
	}
}

// A step that computes only the rows of nodes that its edges end at has the loss of one that
// computes all.
func TestNeededRowsOfEdges(t *testing.T) {
	k, err := openTaskOf(taskEdge, "", neighbourhoods(t, false)+"#kind", false, choice{splits: splitsOwn})
	if err != nil {
		t.Fatal(err)
	}
	k.split.Train = k.split.Train[:3]
	r, err := newRecipe("quick", "sage", "town")
	if err != nil {
		t.Fatal(err)
	}
	r.Layers, r.Dropout = 1, 0
	if err := k.suit(&r); err != nil {
		t.Fatal(err)
	}
	net, err := k.network(r)
	if err != nil {
		t.Fatal(err)
	}
	few, all := k.needed(net), k.every(net)
	if few.hops[0].graph == all.hops[0].graph {
		t.Fatal("all rows are needed")
	}
	a, b := net.run(grad.NewEval(), few).Value(), net.run(grad.NewEval(), all).Value()
	for i, v := range a.Data {
		if math.Abs(float64(v-b.Data[i])) > 1e-5 || len(a.Data) != 6 {
			t.Fatalf("%v, and of all rows %v", a, b)
		}
	}
}
