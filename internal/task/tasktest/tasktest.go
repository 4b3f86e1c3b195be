package tasktest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Command is the program that tests run. Package gatbench is above the tasks, so an external test of each sets it.
var Command func(e cli.Env, args []string) int

// Gatbench runs the program and returns what it says and its exit status.
func Gatbench(t testing.TB, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errOut bytes.Buffer
	status = Command(cli.Env{Ctx: t.Context(), Out: &out, ErrOut: &errOut}, args)
	return out.String(), errOut.String(), status
}

// OK runs the program, which must have nothing to complain of, and returns what it prints.
func OK(t testing.TB, args ...string) string {
	t.Helper()
	stdout, stderr, status := Gatbench(t, args...)
	if status != cli.Succeeded || stderr != "" {
		t.Fatalf("gatbench %s: status %d, error %q", strings.Join(args, " "), status, stderr)
	}
	return stdout
}

// Objects parses a JSON object a line.
func Objects(t testing.TB, text string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(text) {
		var o map[string]any
		if err := jsonread.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v in the line %q", err, line)
		}
		out = append(out, o)
	}
	return out
}

// Results runs the program and returns the objects that it prints, without times.
func Results(t testing.TB, args ...string) []map[string]any {
	t.Helper()
	lines := Objects(t, OK(t, args...))
	for _, o := range lines {
		delete(o, "ms")
		delete(o, "epoch_ms")
		delete(o, "total_ms")
		delete(o, "peak_rss_mib")
	}
	return lines
}

// Molecules writes six graphs of two classes.
func Molecules(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mols.jsonl")
	text := strings.Repeat(`{"nodes": 3, "edges": [[0, 1], [1, 2]], "directed": false, "label": "path"}`+"\n"+
		`{"nodes": 3, "edges": [[0, 1], [1, 2], [2, 0]], "directed": false, "label": "ring"}`+"\n", 3)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Bonded gives the first edge of graphs a feature that says what the first label is, and the
// second edge another.
func Bonded(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	y := regexp.MustCompile(`"y": \[(\d), \d\]`)
	out := filepath.Join(t.TempDir(), "mols.jsonl")
	if err := os.WriteFile(out, []byte(y.ReplaceAllString(string(text), `"edge_attr": [[$1, 1], [0, 1]], $0`)), 0o666); err != nil {
		t.Fatal(err)
	}
	return out
}

// Rings are graphs whose edges alone tell their classes apart.
func Rings(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for i := range 60 {
		kind := "1, 1, 0, 0"
		if i%2 == 1 {
			kind = "1, 0, 1, 0"
		}
		b.WriteString(`{"x": [1, 1, 1, 1], "edges": [[0, 1], [1, 2], [2, 3], [3, 0]], "directed": false, "edge_attr": [` + kind + `], "label": ` + string(rune('0'+i%2)) + "}\n")
	}
	path := filepath.Join(t.TempDir(), "rings.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Gaussian is a graph of communities, whose features are a point for each and
// Gaussian noise: about half of them are negative, and rows sum to anything. Of
// each class share nodes train, as many validate, and the others test.
func Gaussian(t *testing.T, n, share int) *datasets.Dataset {
	t.Helper()
	const classes, width = 5, 16
	rng := rand.New(rand.NewPCG(7, 7))
	points, x := tensor.New(classes, width), tensor.New(n, width)
	points.Normal(rng, 0, 1)
	x.Normal(rng, 0, 1)
	d := &datasets.Dataset{Name: "Gaussian", Classes: classes, Labels: make([]int32, n), Features: x}
	var src, dst []int32
	for v := range n {
		c := v % classes
		d.Labels[v] = int32(c)
		for j := range width {
			x.Row(v)[j] += points.Row(c)[j]
		}
		for range 6 {
			u := rng.IntN(n)
			if rng.IntN(10) > 0 {
				u += c - u%classes
			}
			if u != v && u < n {
				src, dst = append(src, int32(u), int32(v)), append(dst, int32(v), int32(u))
			}
		}
		switch i := v / classes; {
		case i < share:
			d.Split.Train = append(d.Split.Train, int32(v))
		case i < 2*share:
			d.Split.Val = append(d.Split.Val, int32(v))
		default:
			d.Split.Test = append(d.Split.Test, int32(v))
		}
	}
	d.Graph, _, _ = graph.Coalesce(graph.Must(graph.New(n, src, dst)))
	return d
}

// Saved writes a dataset to a file and returns its name.
func Saved(t *testing.T, d *datasets.Dataset) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "d.npz")
	if err := d.SaveNPZ(file); err != nil {
		t.Fatal(err)
	}
	return file
}

// Friends writes tables of 200 nodes, each of which two others trust, who are as it, and two
// distrust, who are not: which of them do is its class, and nothing else says so.
func Friends(t *testing.T) string {
	t.Helper()
	var nodes, edges strings.Builder
	nodes.WriteString("id,left,right,label,split\n")
	edges.WriteString("source,target,relation\n")
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 200
	side := rng.Perm(n)
	for v := range n {
		class := v % 2
		fmt.Fprintf(&nodes, "%d,%d,%d,%s,%s\n", v, side[v]%2, 1-side[v]%2, []string{"left", "right"}[class], []string{"train", "train", "train", "val", "test"}[v/2%5])
		for k := 0; k < 4; {
			u := rng.IntN(n)
			if says := side[u]%2 ^ class; u != v && says == k/2 {
				fmt.Fprintf(&edges, "%d,%d,%s\n", u, v, []string{"trusts", "distrusts"}[says])
				k++
			}
		}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "friends_edges.csv")
	for file, text := range map[string]string{path: edges.String(), filepath.Join(dir, "friends_nodes.csv"): nodes.String()} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// Shop is a table of users, each of whom takes items of one kind of four.
func Shop(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("user,item,rating\n")
	for u := range 60 {
		for i := range 8 {
			fmt.Fprintf(&b, "u%d,%d,5\n", u, (u*7+i*3)%20*4+u%4)
		}
	}
	path := filepath.Join(t.TempDir(), "shop.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Tagged is a dataset whose nodes have two labels, the signs of two features, or, with
// numbers, the features themselves in units of their own.
func Tagged(t *testing.T, numbers bool) *datasets.Dataset {
	t.Helper()
	d := Gaussian(t, 120, 20)
	x := d.Features.(*tensor.Dense)
	y := tensor.New(120, 2)
	for v := range 120 {
		for c := range 2 {
			if y.Row(v)[c] = 1000 + 30*x.Row(v)[c]; !numbers {
				y.Row(v)[c] = tensor.Float(Btoi(x.Row(v)[c] > 0))
			}
		}
	}
	d.Labels, d.ClassNames, d.Classes = nil, nil, 0
	if numbers {
		d.Targets = y
		return d
	}
	d.MultiLabels, d.Classes = sparse.FromDense(y), 2
	return d
}

// Btoi is 1 if b is set, and else 0.
func Btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Chemistry writes graphs with two labels, or a number, which follow from their features.
func Chemistry(t *testing.T, numbers bool) string {
	t.Helper()
	var b strings.Builder
	for i := range 60 {
		n := 3 + i%4
		fmt.Fprintf(&b, `{"x": [%s], "edges": [[0, 1], [1, 2]], "directed": false, "y": `, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("[%d, %d], ", i%2, i%3), n), ", "))
		if numbers {
			fmt.Fprintf(&b, "%d}\n", 50+10*n*(i%2))
		} else {
			fmt.Fprintf(&b, "[%d, %d]}\n", i%2, Btoi(n > 4))
		}
	}
	path := filepath.Join(t.TempDir(), "mols.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// FileWith writes a file of that name, and returns its path.
func FileWith(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Neighbourhoods writes tables of nodes of two groups, of which a feature says little, and of edges
// whose kind is whether both ends are of one group, the last of each ten not known; what else
// stands there says nothing of it. Of those that test, lies are the
// other kind.
func Neighbourhoods(t *testing.T, lies bool) string {
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
	return Tables(t, nodes.String(), edges.String())
}

// Nowhere keeps a test away from the data and the cache of who runs it, and
// returns the cache it has instead.
func Nowhere(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("EDGEWISE_DATA", "")
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, dir)
	}
	cache, err := datasets.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return cache
}

// LE8 returns numbers of eight bytes each.
func LE8(vs ...uint64) (b []byte) {
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// SavedOf is a saved model's file: its header's JSON, and nothing behind it.
func SavedOf(header string) []byte {
	return append(LE8(uint64(len(header))), header...)
}

// ModelOf is a file that says that it holds a model, and has nothing of it.
func ModelOf(model any) []byte {
	text, err := json.Marshal(model)
	if err != nil {
		panic(err)
	}
	meta, err := json.Marshal(map[string]map[string]string{"__metadata__": {"format": "edgewise", "version": "1", "model": string(text)}})
	if err != nil {
		panic(err)
	}
	return SavedOf(string(meta))
}

// Says runs a command that succeeds, and returns what it prints and what it warns of.
func Says(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	stdout, stderr, status := Gatbench(t, args...)
	if status != cli.Succeeded {
		t.Fatalf("gatbench %s: status %d, error %q", strings.Join(args, " "), status, stderr)
	}
	return stdout, stderr
}

// Tables writes a table of nodes and one of edges, and returns the path of the latter.
func Tables(t *testing.T, nodes, edges string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "town_edges.csv")
	for file, text := range map[string]string{path: edges, strings.Replace(path, "edges", "nodes", 1): nodes} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return path
}
