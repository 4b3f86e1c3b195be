package gatbench

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// seedsArgs are those of a few seeds of a demo of a moment.
func seedsArgs(n, path string, more ...string) []string {
	return append([]string{"demo", "hopfield", "--noise", "0.35", "--seed", "3", "--seeds", n, "--resume", path}, more...)
}

// Several seeds say the plan first, and then what runs of each seed alone say of it, in the middle
// and at worst.
func TestDemoSeeds(t *testing.T) {
	lines := tasktest.Results(t, "demo", "hopfield", "--noise", "0.35", "--seed", "3", "--seeds", "3", "--json")
	if lines[0]["event"] != "plan" || lines[0]["seeds"] != 3.0 || lines[len(lines)-1]["event"] != "end" {
		t.Errorf("it begins with %v and ends with %v", lines[0], lines[len(lines)-1])
	}
	var alone []float64
	for _, seed := range []string{"3", "4", "5"} {
		one := tasktest.Results(t, "demo", "hopfield", "--noise", "0.35", "--seed", seed, "--json")
		alone = append(alone, one[len(one)-2]["right"].(map[string]any)["Hebb"].(float64))
	}
	found := false
	for _, l := range lines {
		if l["number"] == "right.Hebb" {
			found = true
			worst := slices.Min(alone)
			seed := 3 + slices.Index(alone, worst)
			if sorted := slices.Sorted(slices.Values(alone)); l["median"] != sorted[1] || l["worst"] != worst || l["worst_seed"] != float64(seed) || l["highest"] != sorted[2] || l["seeds"] != 3.0 || l["better"] != "higher" {
				t.Errorf("%v, and alone the seeds have %v", l, alone)
			}
		}
	}
	if !found {
		t.Errorf("no right.Hebb among %v", lines)
	}
	text := tasktest.OK(t, "demo", "hopfield", "--noise", "0.35", "--seed", "3", "--seeds", "3")
	for _, want := range []string{"hopfield with 3 seeds, starting at 3", "median", "worst  of seed", "right.Hebb", "3 seeds, "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// Seeds that were cut short go on where they were, and end as those that were not.
func TestDemoSeedsResume(t *testing.T) {
	path, other := filepath.Join(t.TempDir(), "kept"), filepath.Join(t.TempDir(), "other")
	tasktest.OK(t, seedsArgs("2", path)...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errOut bytes.Buffer
	args := append([]string{"demo", "sine", "--epochs", "1", "--seed", "3", "--seeds", "3", "--resume"}, path)
	status := Run(cli.Env{Ctx: ctx, Out: &out, ErrOut: &errOut}, args)
	if want := "interrupted after 0 of 3 seeds; run the same command again to continue from " + path; status != cli.Failed || !strings.Contains(errOut.String(), want) {
		t.Errorf("status %d, %q, want %q", status, errOut.String(), want)
	}
	whole := func(lines []map[string]any) (out []map[string]any) { // but for times and the plan
		for _, l := range lines {
			if delete(l, "ms"); l["event"] != "plan" {
				out = append(out, l)
			}
		}
		return out
	}
	resumed, again := tasktest.Results(t, seedsArgs("4", path, "--json")...), tasktest.Results(t, seedsArgs("4", path, "--json")...)
	if resumed[0]["kept"] != 2.0 || again[0]["kept"] != 4.0 {
		t.Errorf("of four seeds it keeps %v and then %v", resumed[0]["kept"], again[0]["kept"])
	}
	at := whole(tasktest.Results(t, seedsArgs("4", other, "--json")...))
	for k, lines := range [][]map[string]any{whole(resumed), whole(again)} {
		if len(lines) != len(at) {
			t.Fatalf("%d lines resumed, %d at once", len(lines), len(at))
		}
		for i := range at {
			same(t, lines[i], at[i])
		}
		if k == 1 && t.Failed() {
			t.Error("what was kept was run again")
		}
	}
	if err := os.WriteFile(path, []byte(`{"recipe":{"demo":"hopfield","seed":3},"summary":{"numbers":{},"ms":1}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"line 1 is no result that demo has kept: it has no numbers": seedsArgs("2", path),
		"--picture, --plot and --save are of one seed":              {"demo", "sine", "--seeds", "2", "--save", "x"},
		"--plot and --save are of one seed: run":                    {"demo", "sine", "--seeds", "2", "--plot"},
		"--resume keeps numbers alone":                              {"demo", "sine", "--resume", path, "--picture", "x.svg"},
		"--seeds 0: it must be at least 1":                          {"demo", "sine", "--seeds", "0"},
	} {
		if _, stderr, status := tasktest.Gatbench(t, args...); status == cli.Succeeded || !strings.Contains(stderr, want) {
			t.Errorf("%v: status %d, %q, want %q", args, status, stderr, want)
		}
	}
}

// What a demo says at its end follows from what came of it: a training of no length has not learnt.
func TestDemoWordsOfFailures(t *testing.T) {
	demo.Few = 25
	defer func() { demo.Few = 0 }()
	for name, c := range map[string]struct {
		says, not []string
	}{
		"stack":       {[]string{"it has not learnt it"}, []string{"it has learnt it"}},
		"recall":      {[]string{"it has not learnt it"}, []string{"10^-0"}},
		"adding":      {[]string{"it has not learnt it"}, nil},
		"fastweights": {[]string{"it has not learnt it"}, nil},
		"antonyms":    {[]string{"(nothing)"}, nil},
		"beer":        {[]string{"It does not write the sentence yet."}, []string{"any rows that differ will do"}},
		"lookup":      {[]string{"the sum can be negative", "share right of 1000"}, nil},
		"sort":        {[]string{"step 1 "}, []string{"epoch"}},
	} {
		text := strings.Join(strings.Fields(tasktest.OK(t, "demo", name, "--epochs", "1")), " ") + " "
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q: %s", name, want, text)
			}
		}
		for _, no := range c.not {
			if strings.Contains(text, no) {
				t.Errorf("%s says %q: %s", name, no, text)
			}
		}
	}
	text := strings.Join(strings.Fields(tasktest.OK(t, "demo", "hopfield", "--noise", "0.01")), " ")
	if !strings.Contains(text, "5 of 5") || strings.Contains(text, "mixes some of them") || !strings.Contains(text, "recalls all of them") {
		t.Errorf("of cues that are all recalled hopfield says: %s", text)
	}
}

// The words that names shows are those of the data: of first names none is a surname or a language.
func TestDemoNamesOfTheData(t *testing.T) {
	d, _ := demo.Find("names")
	data := t.TempDir()
	folder := filepath.Join(data, d.Data)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for file, names := range map[string]string{"female": "Ada Eva Ina Ora Una Mia Lea Zoe Ida Ana Eda Ola", "male": "Tom Jon Ben Max Rob Sam Don Ken Tim Jim Bob Ron"} {
		if err := os.WriteFile(filepath.Join(folder, file+".txt"), []byte(strings.ReplaceAll(names, " ", "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.Join(strings.Fields(tasktest.OK(t, "demo", "names", "--epochs", "1", "--data", data)), " ")
	if !strings.Contains(text, "24 names of 2 kinds, female, male; 22 to learn from, and 2 to try") {
		t.Errorf("the kinds are not said: %s", text)
	}
	for _, foreign := range []string{"surname", "language", "Satoshi"} {
		if strings.Contains(text, foreign) {
			t.Errorf("it says %q of first names: %s", foreign, text)
		}
	}
}
