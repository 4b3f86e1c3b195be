package gatbench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/node"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

func TestDataList(t *testing.T) {
	tasktest.Nowhere(t)
	stdout, stderr, status := tasktest.Gatbench(t, "data", "list")
	if status != cli.Succeeded || stderr != "" {
		t.Fatalf("status %d, error %q", status, stderr)
	}
	for _, want := range []string{"pubmed              19717   88648      500       3", "not here: gatbench data fetch pubmed\n", "cora                 2708", "this program\n", "facebook"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the list has no %q:\n%s", want, stdout)
		}
	}
	stdout, _, _ = tasktest.Gatbench(t, "data", "list", "--json")
	lines := tasktest.Objects(t, stdout)
	graphs, texts := len(datasets.Names()), text.Catalogue()
	if len(lines) != graphs+len(texts) || lines[0]["name"] != "amazon_computers" || lines[0]["where"] != "" || lines[0]["kind"] != "graph" {
		t.Errorf("got %v", lines)
	}
	for i, c := range texts {
		if l := lines[graphs+i]; l["name"] != c.Name || l["kind"] != "text" || l["where"] != "" || !strings.Contains(stdout, c.About) {
			t.Errorf("of the text %s it says %v", c.Name, l)
		}
	}
	here := t.TempDir()
	if err := os.Mkdir(filepath.Join(here, "trec"), 0o700); err != nil {
		t.Fatal(err)
	}
	if out := tasktest.OK(t, "data", "list", "--data", here); !strings.Contains(out, filepath.Join(here, "trec")+"\n") {
		t.Errorf("no trec in %s:\n%s", here, out)
	}
	for _, args := range [][]string{{"data", "describe", "TREC"}, {"train", "--dataset", "trec"}} {
		if _, stderr, status := tasktest.Gatbench(t, args...); status != cli.Misused || !strings.Contains(stderr, "is a dataset of text, and no graph") {
			t.Errorf("%v: status %d, error %q", args, status, stderr)
		}
	}
}

// Of tables both directions of each edge are there unless --directed says otherwise, and what is saved knows it.
func TestTrainUndirected(t *testing.T) {
	dir := t.TempDir()
	model := filepath.Join(t.TempDir(), "m.safetensors")
	edges, nodes := "source,target\n", "id,x,label\n"
	for i := range 40 {
		edges += fmt.Sprintf("%d,%d\n", i, (i+1)%40)
		nodes += fmt.Sprintf("%d,%d,%d\n", i, i%7, i%2)
	}
	for name, text := range map[string]string{"edges.csv": edges, "nodes.csv": nodes} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for want, args := range map[string][]string{"40 edges": {"--directed"}, "80 edges": {"--undirected"}, "80 edges\npreset: shchur": {"--save", model}} {
		if out := tasktest.OK(t, append([]string{"train", "--dataset", dir, "--model", "gcn", "--splits", "random", "--epochs", "2"}, args...)...); !strings.Contains(out, want) {
			t.Errorf("%v: no %q in\n%s", args, want, out)
		}
	}
	n, err := node.Open(model)
	if err != nil || !n.Recipe.Undirected {
		t.Errorf("what was saved forgets the directions, error %v", err)
	}
	if out := tasktest.OK(t, "eval", model); !strings.Contains(out, "accuracy") {
		t.Errorf("eval says %s", out)
	}
}

func TestDataDescribe(t *testing.T) {
	tasktest.Nowhere(t)
	unread := t.TempDir() // Cora of the program goes before files that no flag names
	if err := os.WriteFile(filepath.Join(unread, "ind.cora.allx"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("EDGEWISE_DATA", unread)
	stdout, stderr, status := tasktest.Gatbench(t, "data", "describe", "cora")
	if status != cli.Succeeded || !strings.Contains(stdout, "edges     10556 directed") || !strings.HasSuffix(stdout, "from      this program\nnext: gatbench train cora\n") {
		t.Errorf("status %d, error %q, output %q", status, stderr, stdout)
	}
	stdout, _, _ = tasktest.Gatbench(t, "data", "describe", "--json", "Karate")
	const want = `{"event":"description","kind":"graph","name":"Karate","from":"this program","nodes":34,"edges":156,"features":34,"classes":2,"train":2,"val":0,"test":32}`
	if stdout != want+"\n" {
		t.Errorf("got %s, want %s", stdout, want)
	}
}

// Many graphs are described and checked, too.
func TestDataDescribeGraphs(t *testing.T) {
	tasktest.Nowhere(t)
	path := tasktest.Molecules(t)
	stdout, stderr, status := tasktest.Gatbench(t, "data", "describe", path)
	const want = "name      mols\ngraphs    6\nnodes     18, from 3 to 3 a graph\nedges     30 directed, no self-loops\nfeatures  none\n" +
		"classes   2, one of each of the graphs\n          0: 3 graphs  path\n          1: 3 graphs  ring\nsplit     none\nkind      many graphs\nlabel     label\nfrom      "
	if status != cli.Succeeded || stdout != want+path+"\nnext: gatbench train "+path+"\n" {
		t.Errorf("status %d, error %q, output %q", status, stderr, stdout)
	}
	stdout, _, _ = tasktest.Gatbench(t, "data", "describe", "--json", "csl")
	if got := `{"event":"description","kind":"graphs","name":"CSL","from":"this program","graphs":150,"nodes":6150,"edges":24600,"features":1,"classes":10,"train":0,"val":0,"test":0}`; stdout != got+"\n" {
		t.Errorf("got %s, want %s", stdout, got)
	}
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	if err := os.WriteFile(bad, []byte("{\"nodes\": 1, \"edges\": [[0, 5]]}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	stdout, _, status = tasktest.Gatbench(t, "data", "check", path, bad)
	if status != cli.Failed || !strings.Contains(stdout, "right  "+path+": 6 graphs, 18 nodes, 30 edges\n") || !strings.Contains(stdout, "wrong  "+bad+": line 1: edge 0 has an end 5") {
		t.Errorf("status %d, output %q", status, stdout)
	}
}

func TestDataErrors(t *testing.T) {
	cache := tasktest.Nowhere(t)
	dir := t.TempDir()
	blocked := filepath.Join(dir, "file")
	if err := os.WriteFile(blocked, []byte("0 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	empty, model := t.TempDir(), filepath.Join(dir, "m.safetensors")
	tasktest.OK(t, "train", "karate", "--epochs", "1", "--save", model)
	noData := model + " is a model that train saved, not data: gatbench eval " + model + " measures it"
	for _, c := range []struct {
		args   string
		want   string
		status int
	}{
		{"data describe corra", `there is no dataset "corra"; did you mean "cora"? There are: amazon_computers, amazon_photo, chameleon_filtered, citeseer, coauthor_cs, coauthor_physics, cora, cora_linqs, cora_ml, facebook, karate, minesweeper, pubmed, texas`, cli.Misused},
		{"data describe " + dir + "/none.npz", dir + "/none.npz: no such file or directory", cli.Failed},
		{"data describe pubmed", "no files of pubmed (ind.pubmed.allx) in " + cache + ", nor in planetoid there: get it with gatbench data fetch pubmed, or name the folder it is in with --data or EDGEWISE_DATA", cli.Failed},
		{"data check " + dir, "1 of 1 cannot be used", cli.Failed},
		{"data convert karate -o " + dir + "/x.csv", "--out " + dir + "/x.csv: its name must end in .npz", cli.Misused},
		{"data convert karate -o " + dir + "/no/x.npz", "--out " + dir + "/no/x.npz: there is no folder " + dir + "/no to put it in", cli.Misused},
		{"data fetch karate", "karate is part of the program: there is nothing to fetch", cli.Misused},
		{"data fetch texas", "texas cannot be fetched, because gatbench knows no checksum for it: get it from the authors of Geom-GCN (github.com/graphdml-uiuc-jlu/geom-gcn, folders new_data and splits); docs/use/datasets.md says where to put the file; gatbench data list shows whether it was found", cli.Misused},
		{"data fetch trec", "trec is a dataset of text, and gatbench cannot fetch those: docs/use/text.md lists the files that each is published as", cli.Misused},
		{"data fetch mutag", "MUTAG is published by TUDataset (chrsmrrs.github.io/datasets); there is no checksum of it here, so nothing downloads it: get it from there, put MUTAG.zip as it is, or the folder MUTAG of MUTAG_A.txt, MUTAG_graph_indicator.txt, MUTAG_graph_labels.txt and so on, into DIR or DIR/tudataset; then gatbench train MUTAG --data DIR", cli.Misused},
		{"data fetch pubmeed", `there is no dataset "pubmeed"; did you mean "pubmed"? There are: amazon_computers, amazon_photo, chameleon_filtered, citeseer, coauthor_cs, coauthor_physics, cora, cora_linqs, cora_ml, facebook, karate, minesweeper, pubmed, texas`, cli.Misused},
		{"data describe " + model, noData, cli.Misused},
		{"data convert -o " + dir + "/x.npz " + model, noData, cli.Misused},
		{"train " + model, noData, cli.Misused},
		{"train --task graph " + model, noData, cli.Misused},
		{"train --task link --model rotate " + model, noData, cli.Misused},
		{"data describe " + empty, empty + ": there is no dataset in it that is known: no NAME.parquet, NAME.pq, raw/num-node-list.csv, ind.NAME.allx, out1_graph_edges.txt, NAME.content, NAME.npz, NAME.mtx, NAME.csv, NAME.tsv, NAME.txt, NAME.graphml, NAME.dot, NAME.gv, NAME.edges, NAME.edgelist, NAME.json, NAME.jsonl or NAME.ndjson; it is empty", cli.Failed},
		{"data describe csl --undirected", "--undirected: it is for one graph, and csl is many graphs: leave it out", cli.Misused},
		{"data convert csl -o " + dir + "/x.npz", "csl is many graphs, and an .npz file holds one graph: gatbench train reads it as it stands", cli.Misused},
		{"data generate bank -o " + blocked, "--out " + blocked + ": it is a file; name a folder", cli.Misused},
		{"data fetch cora --into " + blocked, "mkdir " + blocked + ": not a directory", cli.Failed},
	} {
		_, stderr, status := tasktest.Gatbench(t, strings.Fields(c.args)...)
		if stderr != "gatbench: "+c.want+"\n" || status != c.status {
			t.Errorf("gatbench %s: status %d, error\n%swant status %d and\n%s", c.args, status, stderr, c.status, c.want)
		}
	}
}

// A folder that takes no files is found before any work.
func TestDataReadOnly(t *testing.T) {
	tasktest.Nowhere(t)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Create(filepath.Join(dir, "x")); err == nil {
		f.Close()
		dir = "/proc/self" // not even root writes there
	}
	if !cli.IsFolder(dir) {
		t.Skip("every folder can be written here")
	}
	for _, args := range []string{"data convert karate -o DIR/x.npz", "data generate rmat -o DIR/x.npz", "data generate bank -o DIR"} {
		stdout, stderr, status := tasktest.Gatbench(t, strings.Fields(strings.ReplaceAll(args, "DIR", dir))...)
		if status != cli.Failed || stdout != "" || !strings.HasPrefix(stderr, "gatbench: --out "+dir+"/") {
			t.Errorf("gatbench %s: status %d, output %q, error %q", args, status, stdout, stderr)
		}
	}
}

// Every verb ends at a signal, and does not mind that nobody reads what it prints.
func TestDataCutShort(t *testing.T) {
	cache, dir := tasktest.Nowhere(t), t.TempDir()
	out := []string{"-o", filepath.Join(dir, "x.npz")}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{
		{"list"}, {"describe", "karate"}, {"check", "../../datasets/testdata/shop_edges.csv", "--label", "churned"},
		append([]string{"convert", "karate"}, out...), append([]string{"generate", "rmat", "--nodes", "30", "--edges", "90"}, out...), {"fetch", "cora", "--into", cache},
	} {
		args = append([]string{"data"}, args...)
		var errOut bytes.Buffer
		if status := Run(cli.Env{Ctx: ended, Out: io.Discard, ErrOut: &errOut}, args); status != cli.Failed || !strings.HasPrefix(errOut.String(), "gatbench: interrupted") {
			t.Errorf("gatbench %v: status %d, error %q", args, status, &errOut)
		}
		if args[1] == "fetch" {
			continue // it would ask the network
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		if status := Run(cli.Env{Ctx: t.Context(), Out: w, ErrOut: &errOut}, args); status != cli.Succeeded {
			t.Errorf("gatbench %v: status %d, error %q", args, status, &errOut)
		}
		w.Close()
	}
}

// The command after next: runs as it stands.
func TestDataNext(t *testing.T) {
	tasktest.Nowhere(t)
	shop, err := filepath.Abs("../../datasets/testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	ring := ""
	for v := range 30 {
		ring += fmt.Sprintf("%d %d\n", v, (v+1)%30)
	}
	err = errors.Join(os.CopyFS("a shop's", os.DirFS(shop)), os.WriteFile("ring.txt", []byte(ring), 0o666),
		os.WriteFile("alone_nodes.csv", []byte("id,x\n1,2\n2,3\n"), 0o666))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"list"}, {"list", "--data", "a shop's"}, {"describe", "karate"}, {"describe", "a shop's/shop_edges.csv", "--label", "churned"}, {"describe", "ring.txt", "--undirected"},
		{"describe", tasktest.Rings(t)}, {"describe", "planted-rules"}, {"describe", tasktest.Shop(t)}, {"describe", "alone_nodes.csv"}, {"check", "none.txt", "alone_nodes.csv"}, {"check", "ring.txt"},
		{"convert", "karate", "-o", "k.npz"}, {"convert", "ring.txt", "-o", "r.npz"}, {"generate", "rmat", "--nodes", "60", "--edges", "200", "--features", "2", "--classes", "2", "-o", "large.npz"},
	} {
		stdout, _, _ := tasktest.Gatbench(t, append([]string{"data"}, args...)...)
		_, next, ok := strings.Cut(stdout, "\nnext: gatbench ")
		command, whole := arguments(strings.TrimSpace(next))
		if !ok || !whole {
			t.Fatalf("data %q ends with %q", args, stdout)
		}
		if command[0] == "train" && len(command) > 1 && command[1] != "--help" {
			command = append(command, "--epochs", "1", "--hidden", "4")
		}
		if _, stderr, status := tasktest.Gatbench(t, command...); status != cli.Succeeded {
			t.Errorf("data %q ends with %s, which says %s", args, next, stderr)
		}
	}
}

func TestDataConvertAndCheck(t *testing.T) {
	tasktest.Nowhere(t)
	dir := t.TempDir()
	list, out := filepath.Join(dir, "list.txt"), filepath.Join(dir, "list.npz")
	if err := os.WriteFile(list, []byte("1 2\n2 5\n7 8\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, status := tasktest.Gatbench(t, "data", "convert", list, "--undirected", "--largest-component", "-o", out)
	if status != cli.Succeeded || stdout != out+": list, 3 nodes, 4 edges, 0.0 MB\nnext: gatbench data describe "+out+"\n" {
		t.Errorf("status %d, output %q, error %q", status, stdout, stderr)
	}
	stdout, stderr, status = tasktest.Gatbench(t, "data", "check", out, list, dir+"/none")
	if status != cli.Failed || !strings.HasPrefix(stdout, "right  "+out+": 3 nodes, 4 edges\nright  "+list+": 5 nodes, 3 edges; ") || !strings.Contains(stdout, "\nwrong  open ") || stderr != "gatbench: 1 of 3 cannot be used\n" {
		t.Errorf("status %d, output %q, error %q", status, stdout, stderr)
	}
}

// What data check says of a dataset stands in its line as it is, without quotes around it or
// escapes in it.
func TestDataCheckWords(t *testing.T) {
	tasktest.Nowhere(t)
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"loops.csv": {"source,target\na,a\nb,b\n", "right  PATH: 2 nodes, 0 edges; 2 nodes have no in-edges and receive no messages (first: 0); add self-loops?; 2 nodes have no edges at all (first: 0)\nnote   its 2 edges lead from nodes to themselves, and such are left out: nothing is passed from node to node, so that a network sees each by itself\nnext: gatbench data describe PATH\n"},
		"cut.json":  {"[[0, 1],\n [1", "wrong  PATH: line 2, column 4: it ends inside a list: it is cut, or a ] is missing\n"},
		"b.jsonl":   {`{"edges":[[0,1]],"label":1}` + "\n" + `{"edges":[[0,"a"]],"label":0}`, `wrong  PATH: line 2, column 14: "edges"[0][1]: "a" stands there, want a whole number` + "\n"},
		"cut.gz":    {"\x1f\x8b\x08\x00", "wrong  PATH: the gzip file ends early: it was cut, so download or copy it again\n"},
		"cut.zip":   {"PK\x03\x04", "wrong  PATH: the zip archive is cut or damaged: download or copy it again\n"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if stdout, _, _ := tasktest.Gatbench(t, "data", "check", path); stdout != strings.ReplaceAll(c.want, "PATH", path) {
			t.Errorf("%s: it says\n%swant\n%s", name, stdout, c.want)
		}
	}
}

// published is a server that has one file, and the command that fetches it.
func published(t *testing.T, content string, handle http.HandlerFunc) *dataFetchCommand {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	c := &dataFetchCommand{Names: []string{"PubMed"}}
	c.sources = func(name string) []datasets.Source {
		return []datasets.Source{{Name: "ind." + strings.ToLower(name) + ".x", URL: server.URL, Size: int64(len(content)), SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(content)))}}
	}
	return c
}

func TestDataFetch(t *testing.T) {
	cache := tasktest.Nowhere(t)
	asked := 0
	c := published(t, "content", func(w http.ResponseWriter, _ *http.Request) { asked++; w.Write([]byte("content")) })
	var out, errOut bytes.Buffer
	for range 2 {
		if err := c.Run(cli.Env{Ctx: t.Context(), Out: &out, ErrOut: &errOut}); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(cache, "planetoid")
	if b, err := os.ReadFile(filepath.Join(dir, "ind.pubmed.x")); err != nil || string(b) != "content" || asked != 1 {
		t.Errorf("%q, error %v, asked %d times", b, err, asked)
	}
	if want := "pubmed: 1 files, 0.0 MB, checksums right, in " + dir + "\nnext: gatbench train pubmed\n"; out.String() != want+want || errOut.Len() > 0 {
		t.Errorf("output %q, error %q", &out, &errOut)
	}
}

func TestDataFetchFails(t *testing.T) {
	tasktest.Nowhere(t)
	c := published(t, "content", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("CONTENT")) })
	if err := c.Run(cli.Env{Ctx: t.Context(), Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}}); err == nil || !strings.HasSuffix(err.Error(), "the server sends another file") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c = published(t, "content", func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	if err := c.Run(cli.Env{Ctx: ctx, Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}}); err == nil || err.Error() != "interrupted; the next fetch continues from here" {
		t.Errorf("error %v", err)
	}
}

// What is generated is written for people to see and read as it stands, the same for the same seed.
func TestDataGenerateBank(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bank")
	said := map[string]string{}
	for _, seed := range []string{"3", "4", "3"} {
		stdout, stderr, status := tasktest.Gatbench(t, "data", "generate", "bank", "--seed", seed, "-o", dir)
		if status != cli.Succeeded || stderr != "" || !strings.Contains(stdout, "4000 customers, ") || !strings.Contains(stdout, "60000 payments, ") {
			t.Fatalf("status %d, error %q:\n%s", status, stderr, stdout)
		}
		if before, ok := said[seed]; ok && before != stdout {
			t.Errorf("seed %s says\n%sand then\n%s", seed, before, stdout)
		}
		said[seed] = stdout
	}
	if said["3"] == said["4"] {
		t.Errorf("seeds 3 and 4 say the same:\n%s", said["3"])
	}
	stdout, stderr, status := tasktest.Gatbench(t, "data", "describe", dir, "--label", "defaulted", "--column", "occupation=none", "--column", "note=none", "--column", "email=none", "--column", "text=none", "--json")
	if d := tasktest.Objects(t, stdout); status != cli.Succeeded || d[0]["nodes"] != 4000.0 || d[0]["classes"] != 2.0 {
		t.Errorf("status %d, error %q: %v", status, stderr, d)
	}
	file := filepath.Join(t.TempDir(), "rmat.npz")
	if out := tasktest.OK(t, "data", "generate", "rmat", "--nodes", "300", "--edges", "2000", "--features", "5", "--classes", "3", "-o", file); !strings.Contains(out, "300 nodes, ") {
		t.Errorf("rmat says %s", out)
	}
	if d := tasktest.Objects(t, tasktest.OK(t, "data", "describe", file, "--json")); d[0]["nodes"] != 300.0 || d[0]["classes"] != 3.0 {
		t.Errorf("rmat is read as %v", d)
	}
	for _, line := range []string{
		"data generate shop -o " + dir, "data generate bank", "data generate bank --nodes 5 -o " + dir, "data generate rmat -o " + dir,
		"data generate rmat --nodes 0 -o " + file, "data generate rmat --edges -1 -o " + file, "data generate rmat --nodes 9 --classes 1 -o " + file, "data generate rmat --features 99999999 -o " + file,
	} {
		if _, stderr, status := tasktest.Gatbench(t, strings.Fields(line)...); status != cli.Misused {
			t.Errorf("%s: status %d, error %q", line, status, stderr)
		}
	}
}
