package demo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
)

// parsed returns the command that arguments behind gatbench demo make, and its node.
func parsed(t *testing.T, args ...string) (*Command, *kong.Node) {
	t.Helper()
	var line struct {
		Demo Command `cmd:""`
	}
	line.Demo.Choose(args)
	parser, err := kong.New(&line, kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(append([]string{"demo"}, args...)); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return &line.Demo, parser.Model.Children[0]
}

// Every demo says how long a seed takes, and its flags have sentences for their help and a default.
func TestDemosAreWhole(t *testing.T) {
	for _, d := range All() {
		if !(d.Seconds > 0) || d.About == "" || d.Act == nil {
			t.Errorf("%s does not say what it shows, or how long a seed takes", d.Name)
		}
		c, node := parsed(t, d.Name)
		if got := settings(c.demo.Act); got != "" {
			t.Errorf("%s without flags has the settings %q: write its defaults as they are printed", d.Name, got)
		}
		for i, f := range flagsOf(c.demo.Act) {
			if f.name != "--"+node.Flags[i].Name || !strings.HasSuffix(node.Flags[i].Help, ".") {
				t.Errorf("%s: flag %d is %s, and the parser calls it %s: %q", d.Name, i, f.name, node.Flags[i].Name, node.Flags[i].Help)
			}
		}
	}
}

// The command that a demo advises is one that the program takes, and not the same again.
func TestNext(t *testing.T) {
	t.Setenv("EDGEWISE_DATA", t.TempDir())
	for _, d := range All() {
		c, _ := parsed(t, d.Name, "--data", t.TempDir())
		words := strings.Fields(c.next())[2:]
		next, _ := parsed(t, words...)
		if next.demo.Name == d.Name && settings(next.demo.Act) == "" || next.demo.Name != d.Name && next.demo.Data != "" {
			t.Errorf("after %s without data comes %q", d.Name, words)
		}
	}
	c, _ := parsed(t, "--noise", "0.3", "Hopfield") // flags may stand before the name
	if got := c.next(); got != "gatbench demo modern" {
		t.Errorf("after hopfield with a flag of its own comes %q", got)
	}
}

// What is kept of a seed counts for the same settings alone: the flags that change a number are all
// part of its recipe.
func TestRecipesDiffer(t *testing.T) {
	seen := map[recipe]string{}
	for _, line := range []string{
		"hopfield", "hopfield --seed 1", "hopfield --epochs 1", "hopfield --noise 0.5", "hopfield --capacity", "language", "language --text x", "language --text true",
		"babi", "babi --tasks 1", "babi --tasks 1,12", "babi --joint", "babi --no-times", "names", "names --cell lstm", "recall", "recall --cell chrono",
		"tagging", "tagging --cell lstm", "tagging --target pos", "copy", "questions", "questions --readout mean", "questions --train a --test b",
		"reading", "reading --net plain", "reading --tasks 3", "reading --train a --test b", "copy --target 8", "salesman", "salesman --orders 1", "salesman --test a", "hull", "hull --test a", "translate", "translate --train a --test b", "language --train a --test b",
		"recall --cell residual", "recall --explode", "selfatt", "selfatt --window 3", "selfatt --positions halves", "selfatt --mask", "han", "han --chain",
		"antonyms", "antonyms --cell rnn", "beer", "beer --blind", "luong", "luong --score scaled",
	} {
		c, _ := parsed(t, strings.Fields(line)...)
		r := c.recipes()[0]
		if other, ok := seen[r]; ok {
			t.Errorf("%s and %s are kept as one: %+v", line, other, r)
		}
		seen[r] = line
	}
	for a, b := range map[string]string{"names --cell gru": "names", "babi --tasks 1,2": "babi", "hopfield --capacity=false --noise 0.20": "hopfield"} {
		x, _ := parsed(t, strings.Fields(a)...)
		y, _ := parsed(t, b)
		if x.recipes()[0] != y.recipes()[0] {
			t.Errorf("%s and %s are not kept as one", a, b)
		}
	}
}

// Files that have the flags of all demos as members are read, and written anew with those of the demo.
func TestLedgerOfBefore(t *testing.T) {
	line := func(recipe string) string {
		return `{"recipe":` + recipe + `,"summary":{"numbers":{"x":1},"ms":1}}` + "\n"
	}
	for old, want := range map[string]recipe{
		`{"demo":"sine","seed":3,"epochs":2}`:                      {Demo: "sine", Seed: 3, Epochs: 2},
		`{"demo":"hopfield","seed":3,"noise":0.35}`:                {Demo: "hopfield", Seed: 3, Flags: "--noise 0.35"},
		`{"demo":"babi","seed":3,"tasks":"1 12","no_times":true}`:  {Demo: "babi", Seed: 3, Flags: "--tasks 1,12 --no-times"},
		`{"demo":"tagging","seed":3,"cell":"lstm","target":"pos"}`: {Demo: "tagging", Seed: 3, Flags: "--cell lstm --target pos"},
		`{"demo":"names","seed":3,"cell":"gru"}`:                   {Demo: "names", Seed: 3},
		`{"demo":"language","seed":3,"text":"a file.txt"}`:         {Demo: "language", Seed: 3, Flags: `--text "a file.txt"`},
		`{"demo":"copy","seed":3,"flags":"--target 8"}`:            {Demo: "copy", Seed: 3, Flags: "--target 8"},
	} {
		path := filepath.Join(t.TempDir(), "kept")
		if err := os.WriteFile(path, []byte(line(old)), 0o600); err != nil {
			t.Fatal(err)
		}
		kept := ledger(path)
		if err := kept.Open(); err != nil {
			t.Errorf("%s: %v", old, err)
			continue
		}
		if _, ok := kept.Of[want]; !ok || len(kept.Of) != 1 {
			t.Errorf("%s is read as %+v, want %+v", old, kept.Of, want)
		}
		err := kept.Keep(recipe{Demo: "sine", Seed: 4}, result{Numbers: stage.Numbers{"x": 1}})
		kept.Close()
		raw, _ := os.ReadFile(path)
		if slices.ContainsFunc([]string{`"noise"`, `"tasks"`, `"cell"`, `"text"`}, func(w string) bool { return strings.Contains(string(raw), w) }) || err != nil {
			t.Errorf("%s is written as %s: %v", old, raw, err)
		}
	}
	path := filepath.Join(t.TempDir(), "kept")
	if err := os.WriteFile(path, []byte(line(`{"demo":"sine","seed":3,"noise":0.1}`)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ledger(path).Open(); err == nil || !strings.Contains(err.Error(), "line 1 is no result that demo has kept: the demo sine: unknown flag --noise") {
		t.Errorf("a flag of another demo: %v", err)
	}
}

// A number's sense follows from its name; a network that is there to fail has none.
func TestSense(t *testing.T) {
	stack, _ := Find("stack")
	for name, want := range map[string]stage.Sense{
		"exact.stack, reversing.16": stage.Higher, "exact.LSTM alone, reversing.16": stage.Neither, "wrong_bits": stage.Lower,
		"validation_loss.stack, reversing": stage.Lower, "try.queue, copying": stage.Neither, "test_majority": stage.Neither,
	} {
		if got := stack.Sense(name); got != want {
			t.Errorf("%s: %s is better, want %s", name, got, want)
		}
	}
	salesman, _ := Find("salesman")
	if got := salesman.Sense("length_10"); got != stage.Lower {
		t.Errorf("of a tour's length %s is better", got)
	}
}
