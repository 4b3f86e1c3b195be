package pointing

import (
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/points"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/tensor"
)

// written writes a file and returns its path.
func written(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// runs shows a demo with the flags of an act, for a step, and returns what it prints.
func runs(t *testing.T, d stage.Demo, act stage.Act) (string, stage.Numbers, error) {
	t.Helper()
	var out strings.Builder
	s := &stage.Stage{Ctx: t.Context(), Out: report.NewPrinter(&out), Progress: report.NewProgress(io.Discard), Epochs: 1, Few: 25, Data: t.TempDir(), Picture: filepath.Join(t.TempDir(), "p.svg")}
	d.Act = act
	err := s.Show(d)
	return strings.Join(strings.Fields(out.String()), " "), s.Numbers(), err
}

const (
	plainSets = "# the shortest known: optimal length 40\n0 0\n10,0\n10\t10\r\n0;10\n\n\n1e3 -5\n2.5 7\n0 0\n"
	tspSets   = "NAME : quad\nCOMMENT : four towns (best known 42)\nTYPE : TSP (by hand)\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 10 0\n3 10 10.4\n4 0 10.4\nEOF\n" +
		"NAME: three\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 1 1\n2 2 2\n3 4 1\n\nEOF\n"
)

// Both forms are read with their lengths; TSPLIB's distances are whole numbers.
func TestReadSets(t *testing.T) {
	own, err := readSets(written(t, "a.txt", plainSets))
	if err != nil || len(own) != 2 || own[0].best != 40 || own[1].best != 0 || own[0].line != 2 || own[1].name != "line 8" {
		t.Fatalf("%+v, error %v", own, err)
	}
	if got := own[0].length([]int32{0, 1, 2, 3}); got != 40 {
		t.Errorf("the way round is %v", got)
	}
	if want := [][2]float64{{1000, -5}, {2.5, 7}, {0, 0}}; !slices.Equal(own[1].at, want) {
		t.Errorf("%v, want %v", own[1].at, want)
	}
	own, err = readSets(written(t, "a.tsp", tspSets))
	if err != nil || len(own) != 2 || own[0].best != 42 || own[0].name != "quad" || own[1].best != 0 {
		t.Fatalf("%+v, error %v", own, err)
	}
	if got := own[0].length([]int32{0, 1, 2, 3}); got != 40 {
		t.Errorf("the way round in whole numbers is %v", got)
	}
	for _, want := range [][]tensor.Float{{0, 0, 10, 0, 10, 10.4, 0, 10.4}} {
		if got := own[0].exact().Data; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	x := own[1].square() // 3 wide and 1 high
	for i, want := range []float64{0, 1. / 3, 1. / 3, 2. / 3, 1, 1. / 3} {
		if math.Abs(float64(x.Data[i])-want) > 1e-6 {
			t.Errorf("in a square number %d is %v, want %v", i, x.Data[i], want)
		}
	}
}

func TestReadSetsRefuses(t *testing.T) {
	head := "NAME : x\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n"
	for bad, want := range map[string]string{
		"":                                   "there are no points in it",
		"# nothing\n\n":                      "there are no points in it",
		"1 2\n3 4\n":                         "the end: the set from line 1 on has 2 points: it takes three",
		"1 2\n3 4\n\n5 6\n":                  "line 3: the set from line 1 on has 2 points",
		"1 2\n3 4 5\n":                       "line 2: \"3 4 5\" has 3 numbers: write two coordinates",
		"1 2\n3 x\n":                         "line 2: \"x\" is no coordinate",
		"1 NaN\n":                            "line 1: \"NaN\" is no coordinate",
		"1 1e16\n":                           "line 1: \"1e16\" is no coordinate",
		"1 \xff\n":                           "line 1",
		"# best known 0\n":                   "line 1: \"0\" is no length",
		strings.Repeat("1 2\n", 1001):        "line 1001: the set from line 1 on has more than 1000 points",
		head + "1 0 0\n3 1 1\n":              "line 5: \"3 1 1\" is not point 2",
		head + "1 0 0\nEOF\n":                "line 5: the set from line 1 on has 1 points",
		"DIMENSION : 4\n" + head:             "line 2: the set from line 1 on has 0 points",
		"NAME : x\n1 0 0\n":                  "line 2: \"1 0 0\" stands before NODE_COORD_SECTION",
		"NAME : x\nNODE_COORD_SECTION\n":     "line 2: NODE_COORD_SECTION without EDGE_WEIGHT_TYPE",
		"EDGE_WEIGHT_TYPE : GEO\n":           "line 1: EDGE_WEIGHT_TYPE is \"GEO\"",
		"TYPE : ATSP\n":                      "line 1: TYPE is \"ATSP\"",
		"DIMENSION : many\n":                 "line 1: DIMENSION is \"many\"",
		"NAME : x\nEDGE_WEIGHT_SECTION\n":    "line 2: \"EDGE_WEIGHT_SECTION\" is not read",
		head + "1 0 0\n2 1 1\n3 0 1\nTEAM\n": "line 7: \"TEAM\" is not read",
		"NAME : x\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 1 1\n3 0 1\nEOF\n": "line 8: the set from line 1 on has 3 points, its DIMENSION is 4",
	} {
		path := written(t, "bad.txt", bad)
		if _, err := readSets(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%.60q: the error is %v, want %q", bad, err, want)
		}
	}
	var many strings.Builder
	for range 17 {
		many.WriteString("1 2\n")
	}
	path := written(t, "many.txt", many.String())
	if _, _, err := runs(t, Salesman, salesman{Orders: 1, Train: path, Test: path}); err == nil || !strings.Contains(err.Error(), path+": the set of line 1: points: a tour of 17 points") {
		t.Errorf("a set to learn from of 17 points: %v", err)
	}
	for want, act := range map[string]stage.Checker{
		"--orders 0":                 salesman{},
		"name a file to try":         salesman{Orders: 1, Train: path},
		"--as-listed is about":       salesman{Orders: 1, Test: path, AsListed: true},
		"to try with --test":         hull{Train: path},
		"must be from 1 to 1000":     salesman{Orders: 1001},
		"--train " + os.DevNull + "": hull{Train: os.DevNull, Test: path},
	} {
		if err := act.Check(nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

// Both demos learn from sets of one's own, or try those of one's own, of any size.
func TestOwnSets(t *testing.T) {
	plain, tsp := written(t, "a.txt", plainSets), written(t, "a.tsp", tspSets)
	var many strings.Builder
	for i := range 40 {
		many.WriteString(strings.Join([]string{tens(i * 7 % 40), tens(i * 11 % 40)}, " ") + "\n")
	}
	large := written(t, "large.txt", many.String())
	for i, c := range []struct {
		demo stage.Demo
		act  stage.Act
		says string
		has  string
	}{
		{Salesman, salesman{Orders: 2, Train: plain, Test: tsp}, "quad, 4 points: length", "best"},
		{Salesman, salesman{Orders: 1, Train: tsp, Test: plain, AsListed: true}, "line 8, 3 points: length", "length"},
		{Salesman, salesman{Orders: 3, Test: large}, "line 1, 40 points: length", "valid"},
		{Hull, hull{Test: plain}, "hull 1 of 3 points", "exact"},
		{Hull, hull{Train: tsp, Test: large}, "hull 0 of 40 points", "area"},
	} {
		out, numbers, err := runs(t, c.demo, c.act)
		if _, ok := numbers[c.has]; err != nil || !ok || !strings.Contains(out, c.says) {
			t.Errorf("%d: %v, %v, it says %s", i, err, numbers, out)
		}
	}
}

func tens(n int) string { return string(rune('0'+n/10)) + string(rune('0'+n%10)) }

// Shuffled sets have the same tours, lengths and hulls, in other numbers.
func TestShuffled(t *testing.T) {
	task := points.Task{Count: 20, Min: 4, Max: 8, Seed: 1}
	rng := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		sets   points.Sets
		again  func([]int32) []int32
		answer func(*tensor.Dense) ([]int32, error)
	}{"tours": {task.Salesman(), tourOf, points.Tour}, "hulls": {task.Hull(), ring, points.Hull}} {
		got, was := shuffled(c.sets, rng, c.again)
		moved := false
		for i := range got.Len() {
			x := got.Set(i)
			for k, j := range was[i] {
				moved = moved || int(j) != k
				if !slices.Equal(x.Row(k), c.sets.Set(i).Row(int(j))) {
					t.Fatalf("%s: point %d of set %d is not what stood at %d", name, k, i, j)
				}
			}
			want, err := c.answer(x)
			if err != nil || !slices.Equal(got.Answers[i], want) {
				t.Errorf("%s: set %d has the answer %v, want %v (%v)", name, i, got.Answers[i], want, err)
			}
		}
		if !moved {
			t.Errorf("%s: nothing was shuffled", name)
		}
	}
}

// The best of several orders is a tour of the points as they are listed, and no longer than that of one order.
func TestBestOfOrders(t *testing.T) {
	s := &stage.Stage{Ctx: t.Context(), Few: 25}
	p, _, err := salesman{}.learner(s)
	if err != nil {
		t.Fatal(err)
	}
	all, shorter := drawnTours(p.unseen(s, 7), "7"), 0
	if err := all.ask(p, 4, 5); err != nil {
		t.Fatal(err)
	}
	for i := range all.Len() {
		one, best := all.length(i, all.listed[i]), all.length(i, all.best[i])
		if best > one+1e-9 {
			t.Errorf("set %d: one order %v, the best %v", i, one, best)
		}
		if best < one-1e-9 {
			shorter++
		}
	}
	if v := all.valid(all.best); v != 1 || shorter == 0 || !(all.ratio(all.best) < all.ratio(all.listed)) {
		t.Errorf("%v are tours, %d became shorter: %v, %v", v, shorter, all.ratio(all.best), all.ratio(all.listed))
	}
}
