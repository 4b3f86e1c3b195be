package gatbench

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// spoken runs every verb that has --json but bench and demo, on small data of each task, and returns their lines.
func spoken(t *testing.T) (lines []string) {
	t.Helper()
	tasktest.Nowhere(t)
	dir := t.TempDir()
	say := func(status int, args ...string) {
		t.Helper()
		stdout, stderr, got := tasktest.Gatbench(t, append(args, "--json")...)
		if got != status {
			t.Errorf("gatbench %s: status %d, error %q", strings.Join(args, " "), got, stderr)
		}
		for line := range strings.Lines(stdout) {
			lines = append(lines, args[0]+" "+line)
		}
	}
	saved := 0
	teach := func(data, flags string) (model string) {
		t.Helper()
		saved++
		model = filepath.Join(dir, fmt.Sprintf("m%d", saved))
		learn := append([]string{"train", data, "--epochs", "2", "--hidden", "4"}, strings.Fields(flags)...)
		say(cli.Succeeded, append(learn, "--save", model, "--out", model+".csv", "--checkpoint", model+".run", "--log", "tensorboard:"+model+".log")...)
		say(cli.Succeeded, append(learn, "--seeds", "2")...)
		say(cli.Succeeded, "eval", model)
		return model
	}
	classes := teach("karate", "--splits random")
	say(cli.Succeeded, "predict", classes)
	say(cli.Succeeded, "explain", classes, "--node", "1", "--top", "2")
	say(cli.Succeeded, "explain", classes, "--node", "1", "--top", "2", "--method", "integrated")
	shop, taken := "../../datasets/testdata/shop_edges.csv", tasktest.Shop(t)
	for data, flags := range map[string]string{
		shop: "--label churned",
		tasktest.Saved(t, tasktest.Tagged(t, false)): "--splits 60/20/20",
		tasktest.Saved(t, tasktest.Tagged(t, true)):  "--splits 60/20/20",
		tasktest.Neighbourhoods(t, false):            "--label kind",
		tasktest.Chemistry(t, true):                  "--splits random",
		tasktest.Molecules(t):                        "--splits random",
	} {
		say(cli.Succeeded, "predict", teach(data, flags))
	}
	say(cli.Succeeded, "train", tasktest.Molecules(t), "--folds", "2", "--epochs", "2", "--hidden", "4")
	say(cli.Succeeded, "train", "karate", "--dry-run")
	say(cli.Succeeded, "train", "karate", "--splits", "folds:3", "--epochs", "2", "--hidden", "4")
	say(cli.Succeeded, "predict", teach("karate", "--task link"), "--nodes", "1", "--top", "2")
	say(cli.Succeeded, "predict", teach(taken, "--task link"), "--nodes", "1", "--top", "2")
	say(cli.Succeeded, "predict", teach("planted-rules", "--task link"), "--query", "7,second,?", "--top", "2")
	say(cli.Succeeded, "table", "karate", "--model", "mlp", "--epochs", "2", "--seeds", "2", "--splits", "60/20/20")
	say(cli.Succeeded, "data", "list")
	for _, data := range []string{shop, tasktest.Molecules(t), "planted-rules", taken} {
		say(cli.Succeeded, "data", "describe", data)
	}
	say(cli.Failed, "data", "check", shop, tasktest.Molecules(t), filepath.Join(dir, "none"))
	say(cli.Succeeded, "data", "convert", "karate", "--out", filepath.Join(dir, "k.npz"))
	say(cli.Succeeded, "data", "generate", "rmat", "--nodes", "30", "--edges", "90", "--features", "2", "--classes", "2", "--out", filepath.Join(dir, "r.npz"))
	say(cli.Succeeded, "data", "generate", "bank", "--out", dir)
	say(cli.Succeeded, "version")
	var out bytes.Buffer
	fetch := published(t, "content", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("content")) })
	fetch.JSON = true
	if err := fetch.Run(cli.Env{Ctx: t.Context(), Out: &out, ErrOut: io.Discard}); err != nil {
		t.Error(err)
	}
	return append(lines, "data "+out.String())
}

var (
	// section is an event of the page, and memberRow a row of its table.
	section   = regexp.MustCompile(`(?m)^### (\w+)$`)
	memberRow = regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|")
	// tagged matches what a struct calls a member of JSON.
	tagged = regexp.MustCompile(`json:"(\w+)`)
)

// scores are what the page calls SCORE.
const scores = "(accuracy|roc_auc|average_precision|f1|mean_auc|mean_average_precision|mean_f1|micro_f1|r2)"

// documented returns the members of each event that the page on JSON lists.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/use/json.md")
	if err != nil {
		t.Fatal(err)
	}
	events, text := map[string][]string{}, string(page)
	for _, at := range section.FindAllStringSubmatchIndex(text, -1) {
		table, _, _ := strings.Cut(text[at[1]:], "\n##")
		for _, row := range memberRow.FindAllStringSubmatch(table, -1) {
			for name := range strings.SplitSeq(row[1], ", ") {
				event := text[at[2]:at[3]]
				events[event] = append(events[event], strings.Trim(name, "`"))
			}
		}
	}
	return events
}

// eachMember calls f with each member of an object, and with those of the objects in it after their path.
func eachMember(o map[string]any, path string, f func(path string)) {
	for name, v := range o {
		f(path + name)
		list, _ := v.([]any)
		for _, one := range append(list, v) {
			if inner, ok := one.(map[string]any); ok {
				eachMember(inner, path+name+".", f)
			}
		}
	}
}

// last is the name of a member without the path before it.
func last(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// Every line of JSON begins with its event, and the page on JSON lists all events and members, and no others.
func TestJSONPage(t *testing.T) {
	events, forms, seen, said := documented(t), map[string]*regexp.Regexp{}, map[string]bool{}, map[string]bool{}
	var inner []string // the members of objects, which are the same in all events
	for _, members := range events {
		inner = append(inner, slices.DeleteFunc(slices.Clone(members), func(m string) bool { return !strings.Contains(m, ".") })...)
	}
	for event, members := range events {
		form := regexp.QuoteMeta(strings.Join(slices.Concat(members, inner), "\n"))
		forms[event] = regexp.MustCompile("^(" + strings.NewReplacer(`\*`, ".+", "SCORE", scores, "\n", "|").Replace(form) + ")$")
	}
	for _, l := range spoken(t) {
		verb, line, _ := strings.Cut(l, " ")
		o := tasktest.Objects(t, line)[0]
		event, _ := o["event"].(string)
		if !strings.HasPrefix(line, `{"event":"`) || forms[event] == nil {
			t.Fatalf("%s prints a line whose event does not come first or is not in the page: %s", verb, line)
		}
		said[event] = true
		eachMember(o, "", func(path string) {
			seen[last(path)] = true
			if key := event + " " + path; !forms[event].MatchString(path) && !said[key] {
				said[key] = true
				t.Errorf("%s prints %s of %s, which the page does not list", verb, path, event)
			}
		})
	}
	err := filepath.WalkDir("..", func(path string, f fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		code, err := os.ReadFile(path)
		for _, m := range tagged.FindAllSubmatch(code, -1) {
			seen[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for event, members := range events {
		if !said[event] && event != "ranks" { // which several processes print
			t.Errorf("nothing prints %s", event)
		}
		for _, m := range members {
			if name := strings.ReplaceAll(last(m), "SCORE", "accuracy"); name != "*" && !seen[name] {
				t.Errorf("the page lists %s of %s, which nothing prints", m, event)
			}
		}
	}
}
