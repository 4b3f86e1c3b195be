package models

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// rowsOfClasses is a dataset of nodes in a ring, of classes of the given sizes, and of as many nodes of which nothing is known as unknown says.
func rowsOfClasses(unknown int, sizes ...int) *datasets.Dataset {
	d := &datasets.Dataset{Name: "made", Classes: len(sizes)}
	for c, n := range sizes {
		d.ClassNames = append(d.ClassNames, fmt.Sprintf("c%d", c))
		d.Labels = append(d.Labels, slices.Repeat([]int32{int32(c)}, n)...)
	}
	d.Labels = append(d.Labels, slices.Repeat([]int32{-1}, unknown)...)
	n := len(d.Labels)
	src, dst := make([]int32, n), make([]int32, n)
	for v := range n {
		src[v], dst[v] = int32(v), int32((v+1)%n)
	}
	d.Graph = graph.Must(graph.New(n, src, dst))
	d.Features = tensor.New(n, 1)
	return d
}

// divided divides a dataset and checks what holds of every split: no row is twice in it, and what is not known is in none.
func divided(t *testing.T, d *datasets.Dataset, rule string, seed uint64) *Division {
	t.Helper()
	g := GoalOf(d)
	v, err := Divide(g, d, rule, seed)
	if err != nil {
		t.Fatalf("%s: %v", rule, err)
	}
	n := d.Graph.NumNodes()
	if d.LearnsEdges() {
		n = d.Graph.NumEdges()
	}
	if err := v.Check(n); err != nil {
		t.Errorf("%s: %v", rule, err)
	}
	for _, i := range slices.Concat(v.Train, v.Val, v.Test) {
		if !g.Known(i) {
			t.Errorf("%s: row %d, of which nothing is known, is in a part", rule, i)
		}
	}
	return v
}

// sizes counts the rows of each class in each part.
func sizes(d *datasets.Dataset, labels datasets.Labels, s datasets.Split) (out [][3]int) {
	out = make([][3]int, d.Classes)
	for k, part := range [][]int32{s.Train, s.Val, s.Test} {
		for _, i := range part {
			out[labels[i]][k]++
		}
	}
	return out
}

// Each class is divided by the shares, and what is too small for that trains first.
func TestDivideIntoShares(t *testing.T) {
	d := rowsOfClasses(20, 100, 10, 3, 4)
	v := divided(t, d, SplitOwn, 3)
	if got, want := fmt.Sprint(sizes(d, d.Labels, v.Split)), "[[60 20 20] [6 2 2] [1 1 1] [2 1 1]]"; got != want || v.Rule != SplitUsual {
		t.Errorf("by default %s by the rule %s, want %s", got, v.Rule, want)
	}
	if !strings.HasPrefix(v.Says, "the data has no split: of each class 60 % train, 20 % validate and 20 % test, drawn from the seed") {
		t.Errorf("it says %q", v.Says)
	}
	again, other := divided(t, d, v.Rule, 3), divided(t, d, v.Rule, 4)
	if !slices.Equal(again.Test, v.Test) || slices.Equal(other.Test, v.Test) {
		t.Error("the split does not follow from the seed alone")
	}
	if got, want := fmt.Sprint(sizes(d, d.Labels, divided(t, d, "80/10/10", 1).Split)), "[[80 10 10] [8 1 1] [1 1 1] [2 1 1]]"; got != want {
		t.Errorf("80/10/10 gives %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(sizes(d, d.Labels, divided(t, d, "33.3/33.3/33.4", 1).Split)), "[[33 33 34] [4 3 3] [1 1 1] [1 2 1]]"; got != want {
		t.Errorf("33.3/33.3/33.4 gives %s, want %s", got, want)
	}

	d = rowsOfClasses(0, 30, 1, 2)
	for seed := range uint64(10) {
		v = divided(t, d, SplitUsual, seed)
		s := sizes(d, d.Labels, v.Split)
		if s[1] != [3]int{1, 0, 0} || s[2][0] == 0 || !strings.Contains(v.Says, `of "c1", "c2" there are only one or two nodes, of which the first trains`) {
			t.Errorf("seed %d: of classes of one and two rows %v, said %q", seed, s, v.Says)
		}
	}
	d = rowsOfClasses(0, slices.Repeat([]int{2}, 50)...) // 100 rows, each class of two
	if v = divided(t, d, SplitUsual, 0); len(v.Val) != 20 || len(v.Test) != 20 {
		t.Errorf("of classes of two rows %d validate and %d test, want 20", len(v.Val), len(v.Test))
	}
	for c, s := range sizes(d, d.Labels, v.Split) {
		if s[0] == 0 {
			t.Errorf("class %d does not train", c)
		}
	}
	d = rowsOfClasses(0, 1, 1, 1)
	if v = divided(t, d, SplitUsual, 0); len(v.Train) != 1 || len(v.Val) != 1 || len(v.Test) != 1 {
		t.Errorf("three rows of three classes: %v", v.Split)
	}
	if _, err := Divide(GoalOf(rowsOfClasses(5, 1, 1)), rowsOfClasses(5, 1, 1), "", 0); err == nil || err.Error() != "too few nodes to be divided: something to learn is known of 2" {
		t.Errorf("two rows: error %v", err)
	}
	for rule, want := range map[string]string{"60/20/30": "they sum to 110", "100/0/0": "nothing would validate", "0/50/50": "nothing would train", "60/40": "there are 2 shares", "1e/2/3": "no way to divide",
		"0.6/0.2/0.2": "they sum to 1, not to 100", "60/20./2.0.": "is no number", "folds:2": "there must be at least 3", "folds:": "want a number of folds", "weekly": "no way to divide", "time": "nothing says when"} {
		if _, err := Divide(GoalOf(d), d, rule, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", rule, err, want)
		}
	}
}

// A number is divided in each tenth of its range; several are divided at random.
func TestDivideNumbers(t *testing.T) {
	d := rowsOfClasses(0, 200)
	d.Labels, d.Classes, d.Targets = nil, 0, tensor.New(200, 1)
	for v := range 200 {
		d.Targets.Data[v] = tensor.Float(math.Exp(float64(v*37%200) / 20))
	}
	v := divided(t, d, "", 2)
	for tenth := range 10 {
		n := 0
		for _, i := range v.Test {
			if int(i)*37%200/20 == tenth {
				n++
			}
		}
		if n != 4 {
			t.Errorf("%d of the numbers of tenth %d test, want 4", n, tenth)
		}
	}
	if len(v.Val) != 40 || len(v.Test) != 40 || !strings.Contains(v.Says, "each tenth of the range") {
		t.Errorf("%d validate and %d test; %s", len(v.Val), len(v.Test), v.Says)
	}
	d.Targets = tensor.New(200, 2)
	for i := range d.Targets.Data {
		d.Targets.Data[i] = tensor.Float(i) / 3
	}
	if v = divided(t, d, "", 2); len(v.Val) != 40 || !strings.Contains(v.Says, "of all 60 %") {
		t.Errorf("of two numbers %d validate; %s", len(v.Val), v.Says)
	}
}

// payments is a dataset of edges that are told apart, several of each pair of nodes in either direction, at times that the column at has.
func payments(n int, label func(e int) int32) *datasets.Dataset {
	src, dst := make([]int32, n), make([]int32, n)
	at := datasets.Column{Name: "at", Dated: true}
	for e := range n {
		a, b := int32(e%20), int32(20+e%7)
		if e%2 == 1 {
			a, b = b, a
		}
		src[e], dst[e] = a, b
	}
	g := graph.Must(graph.New(27, src, dst))
	d := &datasets.Dataset{Name: "payments", Graph: g, Features: tensor.New(27, 1), Classes: 2, EdgeColumns: []datasets.Column{at}}
	for e := range n { // in the graph's order
		d.EdgeLabels = append(d.EdgeLabels, label(e))
		d.EdgeColumns[0].Times = append(d.EdgeColumns[0].Times, int64(1e15)+int64(e*7919%n)*1e9)
	}
	return d
}

// Edges are events: the latest test. Where time leaves a part without a class, or is the same everywhere, they are divided at random, and edges
// of the same two nodes stay together.
func TestDivideEdges(t *testing.T) {
	d := payments(1000, func(e int) int32 { return int32(e % 10 / 9) })
	v := divided(t, d, "", 0)
	when := d.EdgeColumns[0].Times
	latest := func(ids []int32) (most int64) {
		for _, e := range ids {
			most = max(most, when[e])
		}
		return most
	}
	for _, e := range v.Test {
		if when[e] <= latest(v.Val) || latest(v.Val) <= latest(v.Train) {
			t.Fatalf("edge %d, which tests, is not later than all that validate, and these than all that train", e)
		}
	}
	if v.Rule != "time:at" || len(v.Train) != 800 || len(v.Val) != 100 || !strings.Contains(v.Says, `column "at" says when each of its edges happened`) {
		t.Errorf("%s: %d train, %d validate; %s", v.Rule, len(v.Train), len(v.Val), v.Says)
	}
	if again := divided(t, d, v.Rule, 5); !slices.Equal(again.Test, v.Test) {
		t.Error("the rule divides otherwise than the default that returned it")
	}

	first := payments(1000, func(e int) int32 { return 0 })
	for e, at := range first.EdgeColumns[0].Times { // frauds are only the earliest
		if at < int64(1e15)+100*1e9 {
			first.EdgeLabels[e] = 1
		}
	}
	same := payments(1000, func(e int) int32 { return int32(e % 10 / 9) })
	for e := range same.EdgeColumns[0].Times {
		same.EdgeColumns[0].Times[e] = 1e15
	}
	gap := payments(1000, func(e int) int32 { return int32(e % 10 / 9) })
	gap.EdgeColumns[0].Times[3] = datasets.NoTime
	two := payments(1000, func(e int) int32 { return int32(e % 10 / 9) })
	two.EdgeColumns = append(two.EdgeColumns, datasets.Column{Name: "sent_at", Dated: true, Times: two.EdgeColumns[0].Times})
	due := payments(1000, func(e int) int32 { return int32(e % 10 / 9) })
	due.EdgeColumns[0].Name = "due_date"
	for _, c := range []struct {
		d    *datasets.Dataset
		want string
	}{{first, `by column "at", which says when, only edges of one class would validate or test`}, {same, "for all edges, which divides nothing"}, {gap, `column "at" says not of all edges when they happened`},
		{two, `columns "at", "sent_at" say when, and which of them`}, {due, `column "due_date" does not divide them, as it may not say when the answers of the edges became known`}} {
		v := divided(t, c.d, "", 0)
		if v.Rule != SplitUsual || !strings.Contains(v.Says, c.want) {
			t.Errorf("%s, said %q, want %s", v.Rule, v.Says, c.want)
		}
		part := map[[2]int32]int{}
		from, to := c.d.Graph.In().Cols, c.d.Graph.Destinations()
		for k, ids := range [][]int32{v.Train, v.Val, v.Test} {
			for _, e := range ids {
				pair := [2]int32{min(from[e], to[e]), max(from[e], to[e])}
				if was, ok := part[pair]; ok && was != k {
					t.Fatalf("edges between %v are in two parts", pair)
				}
				part[pair] = k
			}
		}
		for class, n := range sizes(c.d, c.d.EdgeLabels, v.Split) {
			if n[0] == 0 || n[1] == 0 || n[2] == 0 {
				t.Errorf("%s: of class %d %v", c.want, class, n)
			}
		}
	}
}

// Nodes are divided by time only if their column says when they happened: people joined, and papers have a year, before anything was known of them.
func TestDivideNodesByTime(t *testing.T) {
	for name, timely := range map[string]bool{"paid_at": true, "date": true, "at": true, "order_date": true, "created_at": false, "signup_date": false, "birth_date": false, "joined_at": false, "last_login_time": false} {
		d := rowsOfClasses(30, 70, 30)
		c := datasets.Column{Name: name, Dated: true}
		for v := range d.Labels { // the unknown ones are the latest
			at := int64(v * 37 % 100)
			if v >= 100 {
				at = int64(v)
			}
			c.Times = append(c.Times, 1e15+at*1e9)
		}
		d.NodeColumns = []datasets.Column{c}
		v := divided(t, d, "", 0)
		if timely && (v.Rule != "time:"+name || len(v.Train) != 80 || len(v.Val) != 10 || len(v.Test) != 10) || !timely && (v.Rule != SplitUsual || !strings.Contains(v.Says, "may not say when")) {
			t.Errorf("%s: %s, %d train; %s", name, v.Rule, len(v.Train), v.Says)
		}
	}
}

// What a split lacks is drawn from what it has, and is the same for all seeds.
func TestDivideWhatIsMissing(t *testing.T) {
	d := rowsOfClasses(0, 100, 40)
	d.Split = datasets.Split{Train: numbersTo(120), Test: []int32{120, 121, 122}}
	v := divided(t, d, "", 0)
	if got, want := fmt.Sprint(sizes(d, d.Labels, v.Split)), "[[75 25 0] [15 5 3]]"; got != want || v.Rule != SplitOwn || !strings.Contains(v.Says, "no validation part: a quarter of its training nodes validate") {
		t.Errorf("without a validation part %s (%s), want %s", got, v.Says, want)
	}
	if other := divided(t, d, SplitOwn, 9); !slices.Equal(other.Val, v.Val) {
		t.Error("what is drawn of a split differs with the seed")
	}
	d.Split = datasets.Split{Train: []int32{0, 139}, Test: numbersTo(139)[1:]}
	if v = divided(t, d, "", 0); len(v.Train) != 2 || len(v.Val) != 35 || len(v.Test) != 103 {
		t.Errorf("of two training rows: %d, %d and %d", len(v.Train), len(v.Val), len(v.Test))
	}
	d.Split = datasets.Split{Train: numbersTo(120)}
	if v = divided(t, d, "", 0); len(v.Train) != 120 || len(v.Val) != 10 || len(v.Test) != 10 {
		t.Errorf("training alone: %d, %d and %d", len(v.Train), len(v.Val), len(v.Test))
	}
	d.Split = datasets.Split{Train: numbersTo(140)}
	if v = divided(t, d, "", 0); len(v.Train) != 84 || len(v.Val) != 28 || len(v.Test) != 28 {
		t.Errorf("all train: %d, %d and %d", len(v.Train), len(v.Val), len(v.Test))
	}
	d.Split = datasets.Split{Train: numbersTo(60), Val: []int32{60, 61}}
	if v = divided(t, d, "", 0); len(v.Train) != 60 || len(v.Val) != 2 || v.Says != "" {
		t.Errorf("a split without a test: %v", v)
	}
}

// Folds cover each row once as a test, with each class in each.
func TestDivideIntoFolds(t *testing.T) {
	nodes, edges := rowsOfClasses(9, 50, 10), payments(700, func(e int) int32 { return int32(e % 10 / 9) })
	for _, d := range []*datasets.Dataset{nodes, edges} {
		labels := d.Labels
		if labels == nil {
			labels = d.EdgeLabels
		}
		var tests []int32
		for seed := range uint64(5) {
			v := divided(t, d, "folds:5", seed+5)
			tests = append(tests, v.Test...)
			for c, n := range sizes(d, labels, v.Split) {
				if n[0] == 0 || n[1] == 0 || n[2] == 0 {
					t.Errorf("%s, fold %d: of class %d %v", d.Name, seed, c, n)
				}
			}
		}
		slices.Sort(tests)
		if all := GoalOf(d).All(); !slices.Equal(tests, all) {
			t.Errorf("%s: %d rows test in the folds, want each of %d once", d.Name, len(tests), len(all))
		}
	}
	if _, err := Divide(GoalOf(nodes), nodes, "folds:11", 0); err == nil || err.Error() != `11 folds: "c1" has 10 nodes, which cannot be in each: take folds:10 or 60/20/20` {
		t.Errorf("more folds than rows of a class: %v", err)
	}
}
