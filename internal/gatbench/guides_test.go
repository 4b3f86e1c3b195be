package gatbench

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// block matches a block of code of a page, with the language that it names; some stand in lists.
var block = regexp.MustCompile("(?ms)^ *```([a-z]*)\n(.*?)^ *```$")

// Every command in a block of shell of a page runs, in a folder of the page's own and in the order of the page. Trainings are
// short and small, and what would take seconds is only listed.
func TestGuidesRun(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	data := os.Getenv("EDGEWISE_DATA")
	if shared := filepath.Join(root, "..", "shared", "datasets"); data == "" && isFolder(shared) {
		data = shared
	}
	defer func(was int) { demo.Few, pgEpochs = 0, was }(pgEpochs)
	demo.Few, pgEpochs = 25, 2
	ran := 0
	for _, page := range pagesOf(t, "README.md", "docs/use/*.md", "docs/models/*.md", "docs/library/*.md", "examples/*.md") {
		lines := shellOf(t, page)
		if len(lines) == 0 {
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			tasktest.Nowhere(t)
			t.Setenv("EDGEWISE_DATA", data)
			inExample(t, root)
			g := guide{t: t, data: data}
			for _, line := range lines {
				ran += g.follow(line)
			}
		})
	}
	if ran < 90 {
		t.Errorf("%d commands ran", ran)
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// shellOf returns the lines of the blocks of shell of a page, and those of other blocks that follow a prompt.
func shellOf(t *testing.T, page string) (lines []string) {
	t.Helper()
	for _, b := range block.FindAllStringSubmatch(pageText(t, page), -1) {
		for line := range strings.Lines(b[2]) {
			typed, prompt := strings.CutPrefix(strings.TrimSpace(line), "$ ")
			switch {
			case b[1] == "sh" || prompt:
				lines = append(lines, strings.Split(typed, " && ")...)
			case b[1] == "" && !strings.HasPrefix(b[2], "#!") && said.MatchString(line):
				t.Errorf("%s: %s: a block of commands begins with ```sh", page, typed)
			}
		}
	}
	return lines
}

// guide follows a page.
type guide struct {
	t    *testing.T
	data string // a folder of published datasets; empty: there is none
	few  bool   // the page's graph is drawn smaller than it says
}

// dear matches commands that take seconds and that --list does not shorten.
var dear = regexp.MustCompile(`--trace|coauthor_cs`)

// follow does what a line says: a command of this program, of one epoch and small, or a file that printf writes. It
// returns how many commands ran.
func (g *guide) follow(line string) int {
	g.t.Helper()
	if rest, ok := strings.CutPrefix(line, "printf '"); ok {
		text, to, _ := strings.Cut(rest, "' > ")
		g.write(to, strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(text))
		return 0
	}
	m := said.FindStringSubmatch(line)
	if m == nil {
		return 0 // go build
	}
	args, whole := arguments(strings.NewReplacer("--data DIR", "--data "+cmp.Or(g.data, "."), "/srv/graphs", ".").Replace(m[2]))
	if !whole {
		g.t.Errorf("%s: it cannot be run as it stands", line)
		return 0
	}
	for _, arg := range args {
		if _, err := os.Stat(arg); err != nil && own[arg] != nil {
			own[arg](g)
		}
	}
	if dear.MatchString(line) && !sparing.Full() {
		return 0 // TestCommandsOfDocs has read it
	}
	stdout, stderr, status := tasktest.Gatbench(g.t, g.small(args)...)
	switch {
	case status != cli.Succeeded && strings.Contains(stderr, ": get it "):
		g.t.Logf("not run: %s: its data is not in the folder of EDGEWISE_DATA", line)
		return 0
	case status != cli.Succeeded:
		g.t.Errorf("%s: status %d, error %q, output\n%s", line, status, stderr, stdout)
	}
	return 1
}

// small returns a command that does less of the same.
func (g *guide) small(args []string) []string {
	few := func(flag, n string) {
		if i := slices.Index(args, flag); i > 0 {
			args[i+1] = n
		}
	}
	few("--seeds", "2")
	few("--folds", "2")
	if g.few {
		few("--batch", "16")
	}
	switch args[0] {
	case "train":
		args = append(args, "--epochs", "1", "--hidden", "4")
		if slices.Contains(args, "link") && strings.HasPrefix(args[1], "--") && !slices.Contains(args, "--save") {
			args = slices.Insert(args, 1, "karate") // Cora has six thousand times as many pairs; a saved model is asked about its nodes
		}
	case "table":
		args = append(args, "--epochs", "1", "--seeds", "2", "--model", "mlp")
	case "demo":
		if len(args) > 1 && args[1] != "--json" && !slices.Contains(args, "--help") {
			args = append(args, "--epochs", "1")
		}
	case "bench":
		if !slices.Contains(args, "--list") && !slices.Contains(args, "--beside") && !slices.Contains(args, "--trace") {
			args = append(args, "--list")
		}
	case "data":
		few("--nodes", "300")
		few("--edges", "2000")
		few("--features", "8")
		g.few = g.few || slices.Contains(args, "rmat")
		if args[1] == "fetch" { // a test does not download
			args = append(args, "--help")
		}
	}
	return args
}

// own makes the files that pages call the reader's own.
var own = map[string]func(*guide){
	"facts.tsv":    func(g *guide) { g.write("facts.tsv", rows("", "town%d\tnear\ttown%d\n")) },
	"shop.csv":     func(g *guide) { g.write("shop.csv", rows("user,item\nanna,kettle\nbert,teapot\n", "user%d,item%d\n")) },
	"my_edges.csv": func(g *guide) { g.tables("my") },
	"my_folder":    func(g *guide) { g.tables("my_folder/my") },
	"arxiv.zip":    (*guide).ogb,
	"bcsstk13.mtx": func(g *guide) {
		g.write("bcsstk13.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 2\n1 2 1\n2 3 1\n3 1 1\n")
	},
	"mine.npz": func(g *guide) { tasktest.OK(g.t, "data", "convert", "karate", "--out", "mine.npz") },
	"sparse.tsv": func(g *guide) {
		g.write("sparse.tsv", "name\tmetric\treference\tother\tratio\top\tgraph\tnodes\tedges\tdim\na\tmedian_ms\tedgewise\tdgl\t2\tkernel/copy_u_sum\tg\t9\t9\t16\n")
	},
	"kg": func(g *guide) {
		facts := strings.SplitAfter(rows("", "town%d\tnear\ttown%d\n"), "\n")
		for i, part := range []string{"train", "valid", "test"} {
			g.write("kg/"+part+".txt", strings.Join(facts[20*i:20*(i+1)], ""))
		}
	},
	"run.ckpt": func(g *guide) {
		tasktest.OK(g.t, "train", "karate", "--epochs", "1", "--hidden", "4", "--checkpoint", "run.ckpt")
	},
	"papers_edges.csv":         func(g *guide) { g.tables("papers") },
	"facebook_combined.txt.gz": func(g *guide) { g.write("facebook_combined.txt.gz", string(gzipped(rows("", "%d %d\n"), 1))) },
}

// rows returns a text of sixty rows, of two numbers each.
func rows(head, form string) string {
	var b strings.Builder
	b.WriteString(head)
	for i := range 60 {
		fmt.Fprintf(&b, form, i%20, (i*7+i/20+1)%20)
	}
	return b.String()
}

// tables writes tables of nodes and edges.
func (g *guide) tables(name string) {
	g.write(name+"_edges.csv", rows("source,target\n", "%d,%d\n"))
	nodes := "id,topic,label,year\n"
	for i := range 20 {
		nodes += fmt.Sprintf("%d,t%d,%d,%d\n", i, i%2, i%2, 2015+i%6)
	}
	g.write(name+"_nodes.csv", nodes)
}

// ogb writes a graph as the Open Graph Benchmark publishes it.
func (g *guide) ogb() {
	var files []member
	for name, text := range map[string]string{
		"edge": rows("", "%d,%d\n"), "num-node-list": "20\n", "num-edge-list": "60\n",
		"node-label": strings.Repeat("0\n1\n", 10), "node-feat": strings.Repeat("0.5,1\n1,0.25\n", 10),
	} {
		files = append(files, member{name: "arxiv/raw/" + name + ".csv.gz", text: gzipped(text, 1)})
	}
	g.write("arxiv.zip", string(zipOf(files...)))
}

// write writes a file of the page's folder.
func (g *guide) write(name, text string) {
	g.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		g.t.Fatal(err)
	}
}
