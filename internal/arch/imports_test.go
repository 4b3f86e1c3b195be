package arch

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/edgewise-ml/edgewise"

// root is the module's root, from the directory the tests run in.
const root = "../.."

// level0 are the packages that stand alone; every other package may import
// them. All but simd, par, pages, plain, scratch, spell, spoil, atomicfile, datadir and
// regular read a format.
var level0 = strings.Fields(`docs internal/par internal/pages
	internal/simd internal/simd/cpu internal/simd/four internal/simd/vec internal/simd/gemm internal/simd/spmm internal/simd/attend
	internal/atomicfile internal/datadir internal/edgelist internal/jsonread internal/mtx internal/npy internal/pickle
	internal/plain internal/regular internal/safetensors internal/scratch internal/spell internal/spoil
	internal/table internal/tar internal/unpack`)

// table says which packages of the module each package may import, beside those
// of level0. A star stands for everything that is not a command, a part of one or
// for tests.
var table = map[string]string{
	"tensor":                 "",
	"sparse":                 "internal/tiling tensor",
	"grad":                   "internal/dense tensor sparse",
	"internal/tape":          "grad tensor",
	"graph":                  "tensor sparse graph/internal/mistake",
	"graph/random":           "graph graph/internal/mistake sparse",
	"graph/nearest":          "graph graph/internal/mistake tensor sparse",
	"graph/analysis":         "graph graph/internal/mistake tensor sparse",
	"graph/hetero":           "graph graph/internal/mistake",
	"graph/gonumgraph":       "graph graph/internal/mistake tensor sparse",
	"graph/internal/mistake": "tensor",
	"message":                "grad internal/tape graph message/internal/exec message/internal/ir message/internal/ops message/internal/plan message/internal/rules sparse tensor",
	"sample":                 "graph tensor sparse graph/hetero",
	"datasets":               "datasets/columns datasets/form graph tensor sparse graph/analysis graph/hetero graph/random",
	"datasets/columns":       "datasets/form tensor sparse",
	"datasets/form":          "internal/cells tensor sparse",
	"datasets/form/parquet":  "datasets/form tensor",
	"datasets/text":          "graph tensor",
	"datasets/cora":          "datasets graph tensor sparse",
	"datasets/points":        "graph tensor",
	"datasets/cora/gen":      "datasets graph tensor sparse",
	"ranks":                  "",
	"train":                  "internal/weights internal/dense grad ranks tensor",
	"explain":                "grad graph message sparse tensor train",
	"lanes":                  "internal/picture",
	"internal/weights":       "grad tensor",
	"models":                 "internal/weights datasets datasets/columns datasets/form explain layers layers/attention layers/knowledge layers/pool layers/relational message ranks sample train grad internal/tape graph sparse tensor graph/analysis",
	"layers":                 "layers/internal/compose message grad internal/tape graph tensor",
	"layers/sequence":        "layers layers/internal/compose message internal/dense grad internal/tape graph tensor",
	"layers/attention":       "layers layers/decode layers/internal/compose layers/sequence message internal/fused grad internal/tape graph tensor",
	"layers/memory":          "layers layers/internal/compose layers/sequence message grad internal/tape graph tensor",
	"layers/pool":            "layers layers/internal/compose layers/sequence message grad graph tensor graph/analysis",
	"layers/relational":      "layers layers/internal/compose message grad graph tensor graph/hetero",
	"layers/knowledge":       "layers/internal/compose message train grad graph tensor",
	"layers/decode":          "grad tensor",
	"convert":                "layers layers/attention layers/knowledge layers/pool layers/relational layers/sequence grad graph tensor graph/hetero",
	"cmd/gatbench":           "internal/gatbench",

	// The command, which only programs import, and its parts, which only they and it import.
	"internal/task":            "* internal/task/source internal/cli internal/gatbench/draw internal/gatbench/report",
	"internal/task/node":       "* internal/task internal/task/source internal/cli internal/gatbench/draw internal/gatbench/report internal/picture",
	"internal/task/edge":       "internal/task internal/task/node",
	"internal/task/graph":      "* internal/task internal/task/source internal/cli internal/gatbench/report",
	"internal/task/link":       "* internal/task internal/task/source internal/cli internal/gatbench/report",
	"internal/task/fact":       "* internal/task internal/task/source internal/cli internal/gatbench/report",
	"internal/task/source":     "* internal/cli datasets/text",
	"internal/task/tasktest":   "internal/cli internal/jsonread datasets graph sparse tensor",
	"internal/gatbench":        "* internal/task internal/task/source internal/task/node internal/task/edge internal/task/graph internal/task/link internal/task/fact internal/cli internal/gatbench/bench internal/gatbench/bench/peers internal/gatbench/bench/runs internal/gatbench/bench/trace internal/gatbench/demo internal/gatbench/draw internal/gatbench/report internal/gatbench/usage",
	"internal/gatbench/bench":  "* internal/gatbench/usage",
	"internal/gatbench/demo":   "datasets/text internal/cli internal/gatbench/report internal/gatbench/demo/stage internal/gatbench/demo/reading internal/gatbench/demo/series internal/gatbench/demo/writing internal/gatbench/demo/pointing internal/gatbench/demo/memories",
	"internal/gatbench/draw":   "datasets graph internal/picture tensor train",
	"internal/gatbench/report": "ranks train internal/gatbench/usage",
	"internal/gatbench/usage":  "",
	"internal/cli":             "datasets ranks tensor internal/gatbench/report internal/gatbench/usage",

	// Benchmarks, by subject; the list of them; and what is done with them.
	"internal/gatbench/bench/kernels":   "* internal/gatbench/bench",
	"internal/gatbench/bench/layers":    "* internal/gatbench/bench",
	"internal/gatbench/bench/trainings": "* internal/gatbench/bench",
	"internal/gatbench/bench/suite":     "internal/gatbench/bench internal/gatbench/bench/kernels internal/gatbench/bench/layers internal/gatbench/bench/trainings",
	"internal/gatbench/bench/trace":     "internal/cli internal/gatbench/bench internal/gatbench/report lanes",
	"internal/gatbench/bench/peers":     "* internal/gatbench/bench/trainings internal/task internal/task/graph internal/task/link internal/task/node internal/task/source",
	"internal/gatbench/bench/runs":      "datasets graph tensor internal/cli internal/gatbench/bench internal/gatbench/bench/suite internal/gatbench/bench/trace internal/gatbench/bench/trainings internal/gatbench/draw internal/gatbench/report internal/gatbench/usage",
	// Families of demos, which do not know each other, and what they stand on.
	"internal/gatbench/demo/stage":    "datasets/text grad internal/cli internal/picture train internal/gatbench/report",
	"internal/gatbench/demo/reading":  "* internal/cli internal/gatbench/demo/stage internal/gatbench/report",
	"internal/gatbench/demo/series":   "* internal/cli internal/gatbench/demo/stage",
	"internal/gatbench/demo/writing":  "* internal/cli internal/gatbench/demo/stage",
	"internal/gatbench/demo/pointing": "* internal/cli internal/gatbench/demo/stage internal/gatbench/report",
	"internal/gatbench/demo/memories": "* internal/cli internal/gatbench/demo/stage",

	// Programs to be read, which import what any program can.
	"examples": "*",

	// What families of layers share, which only they import.
	"layers/internal/compose": "grad graph tensor",

	// Parts of message, which only it imports, one way: rules, exec, plan, ir, ops.
	"message/internal/rules": "message/internal/exec message/internal/plan message/internal/ir message/internal/ops grad internal/tape graph internal/fused internal/dense sparse tensor",
	"message/internal/exec":  "message/internal/plan message/internal/ir message/internal/ops grad internal/tape graph internal/fused sparse tensor",
	"message/internal/plan":  "message/internal/ir message/internal/ops tensor",
	"message/internal/ir":    "message/internal/ops tensor",
	"message/internal/ops":   "tensor",

	// The kernels: all may import cpu, and vec may be imported by the others.
	"internal/simd/cpu":    "internal/simd/four",
	"internal/simd/vec":    "internal/simd/cpu internal/simd/four",
	"internal/simd/gemm":   "internal/simd/cpu internal/simd/vec internal/simd/four",
	"internal/simd/spmm":   "internal/simd/cpu internal/simd/vec internal/simd/four",
	"internal/simd/attend": "internal/simd/cpu internal/simd/vec internal/simd/four internal/simd/spmm",

	"internal/fused":       "graph sparse tensor",
	"internal/dense":       "tensor",
	"internal/tiling":      "",
	"internal/fetch":       "",
	"internal/cells":       "",
	"internal/unpack":      "internal/tar",                                    // alone of level0, but for
	"internal/scratch":     "internal/pages internal/simd/cpu internal/spoil", // this one,
	"internal/safetensors": "internal/jsonread",                               // and this one
	"internal/picture":     "",

	// For tests: nothing that ends up in a program may import these.
	"grad/gradtest":            "grad tensor sparse",
	"internal/golden":          "grad graph tensor sparse internal/compare",
	"internal/ranktest":        "ranks",
	"internal/arch":            "",
	"internal/bits":            "",
	"graph/internal/graphtest": "sparse tensor",

	"internal/simd/simdtest": "internal/simd/cpu internal/sparing internal/compare internal/rounding",
	"internal/rounding":      "internal/simd/cpu",
	"internal/compare":       "internal/simd/cpu",

	"message/internal/reference": "message/internal/ir message/internal/ops grad graph internal/rounding tensor",
	"internal/spoil/spoiltest":   "internal/spoil",
	"internal/sparing":           "",
	"internal/streamtest":        "",
}

// forTests are the packages that only tests import.
var forTests = []string{"grad/gradtest", "internal/golden", "internal/ranktest", "internal/arch", "internal/bits", "internal/simd/simdtest", "internal/spoil/spoiltest", "internal/sparing", "internal/streamtest", "internal/rounding", "internal/compare", "message/internal/reference"}

// others says who may import a module that is not ours: a package matches by
// its path or by a leading part of it.
var others = map[string]string{
	"gonum.org/v1/gonum":            "graph tensor sparse layers/memory internal/gatbench examples",
	"golang.org/x/image":            "internal/picture",
	"github.com/klauspost/compress": "convert datasets internal/npy internal/unpack",
	"golang.org/x/sys":              "internal/par internal/simd internal/atomicfile datasets internal/gatbench",
	"golang.org/x/term":             "internal/gatbench",
	"github.com/alecthomas/kong":    "internal/gatbench",
	"pgregory.net/rapid":            "grad/gradtest internal/golden",
	"github.com/google/go-cmp":      "grad/gradtest internal/golden",
}

// The files of every build count, whatever their tags.
func TestImports(t *testing.T) {
	pkgs, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	for dir, files := range pkgs {
		for _, v := range violations(path.Join(module, dir), importsOf(files)) {
			t.Error(v)
		}
	}
}

// The errors of encoding/json are worded otherwise by each release: a program reads JSON through
// internal/jsonread, and only writes it with encoding/json.
func TestJSONIsReadInOnePlace(t *testing.T) {
	pkgs, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	for dir, files := range pkgs {
		if dir == "internal/jsonread" || slices.Contains(forTests, dir) {
			continue
		}
		for _, f := range files {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"Unmarshal", "NewDecoder"}, s.Sel.Name) && fmt.Sprint(s.X) == "json" {
					t.Errorf("%s/%s: json.%s: read it with internal/jsonread, whose errors are the same with every release of Go", dir, f.name, s.Sel.Name)
				}
				return true
			})
		}
	}
}

// What the kernels of this module need of package grad, and no user does, is reached in one place.
func TestMachineryIsReachedInOnePlace(t *testing.T) {
	pkgs, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	reached := false
	for dir, files := range pkgs {
		for _, f := range files {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Machinery" && fmt.Sprint(s.X) == "grad" {
					if reached = true; dir != "internal/tape" {
						t.Errorf("%s/%s: grad.Machinery: call internal/tape, which says what it is for", dir, f.name)
					}
				}
				return true
			})
		}
	}
	if !reached { // the test must be able to fail
		t.Error("internal/tape does not call grad.Machinery")
	}
}

// importsOf returns what the files of a package import.
func importsOf(files []source) (all []string) {
	for _, f := range files {
		for _, spec := range f.ast.Imports {
			if p, err := strconv.Unquote(spec.Path.Value); err == nil && !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all
}

// The rules must be able to fail, so each has an import that breaks it.
func TestViolations(t *testing.T) {
	tests := []struct {
		pkg, imported string
		ok            bool
	}{
		{"tensor", "sort", true},
		{"tensor", "C", false},
		{"tensor", "internal/simd/gemm", true},
		{"internal/simd/spmm", "internal/simd/vec", true},
		{"internal/simd/vec", "internal/simd/spmm", false},
		{"internal/simd/cpu", "internal/simd/vec", false},
		{"internal/simd/attend", "internal/simd/simdtest", false},
		{"tensor", "internal/npy", true},
		{"tensor", "sparse", false},
		{"internal/simd/vec", "tensor", false},
		{"internal/npy", "internal/par", false},
		{"internal/unpack", "internal/tar", true},
		{"internal/npy", "internal/tar", false},
		{"sparse", "grad", false},
		{"grad", "internal/tape", false},
		{"layers/sequence", "internal/tape", true},
		{"train", "internal/tape", false},
		{"train", "layers", false},
		{"train", "sparse", false},
		{"layers", "sparse", false},
		{"layers/memory", "layers/sequence", true},
		{"layers/pool", "layers/sequence", true},
		{"layers/sequence", "layers/internal/compose", true},
		{"layers/internal/compose", "layers", false},
		{"layers/internal/compose", "message", false},
		{"layers/decode", "grad", true},
		{"layers/decode", "layers/sequence", false},
		{"convert", "layers/attention", true},
		{"layers", "convert", false},
		{"train", "convert", false},
		{"datasets", "datasets/cora", false},
		{"datasets/text", "graph", true},
		{"datasets/text", "grad", false},
		{"datasets/text", "datasets", false},
		{"cmd/gatbench", "internal/gatbench", true},
		{"cmd/gatbench", "layers", false},
		{"cmd/gatbench", "github.com/alecthomas/kong", false},
		{"models", "internal/gatbench", false},
		{"internal/gatbench", "cmd/gatbench", false},
		{"internal/gatbench", "layers/memory", true},
		{"internal/gatbench", "internal/golden", false},
		{"internal/gatbench", "internal/gatbench/bench", true},
		{"internal/gatbench/bench", "layers/memory", true},
		{"internal/gatbench/bench", "internal/gatbench/usage", true},
		{"internal/gatbench/bench", "internal/gatbench", false},
		{"internal/gatbench/bench", "internal/golden", false},
		{"internal/gatbench/bench", "internal/gatbench/bench/kernels", false},
		{"internal/gatbench/bench/kernels", "internal/gatbench/bench", true},
		{"internal/gatbench/bench/kernels", "internal/gatbench/bench/suite", false},
		{"internal/gatbench/bench/runs", "internal/gatbench", false},
		{"internal/gatbench/usage", "internal/gatbench/bench", false},
		{"internal/gatbench/usage", "tensor", false},
		{"internal/gatbench/demo/reading", "internal/gatbench/demo/stage", true},
		{"internal/gatbench/demo/reading", "internal/gatbench/demo/memories", false},
		{"internal/gatbench/demo/stage", "internal/gatbench/demo", false},
		{"internal/gatbench/draw", "internal/picture", true},
		{"internal/gatbench/draw", "layers", false},
		{"internal/gatbench/report", "datasets", false},
		{"internal/gatbench/report", "train", true},
		{"internal/gatbench/other", "tensor", false},
		{"train", "internal/gatbench/usage", false},
		{"message", "grad/gradtest", false},
		{"message", "internal/fused", false},
		{"message/internal/rules", "message/internal/exec", true},
		{"message/internal/exec", "message/internal/rules", false},
		{"message/internal/plan", "message/internal/exec", false},
		{"message/internal/plan", "grad", false},
		{"message/internal/ir", "message/internal/plan", false},
		{"message/internal/ir", "graph", false},
		{"message/internal/ops", "message/internal/ir", false},
		{"examples/gat", "layers", true},
		{"examples/gonum", "gonum.org/v1/gonum/graph/path", true},
		{"examples/tables", "internal/plain", false},
		{"examples/tables", "layers/internal/compose", false},
		{"examples/tables", "internal/gatbench/report", false},
		{"train", "examples/gat", false},
		{"models", "layers/pool", true},
		{"models", "layers/sequence", false},
		{"layers", "models", false},
		{"lanes", "internal/picture", true},
		{"lanes", "grad", false},
		{"internal/gatbench/bench", "lanes", true},
		{"internal/gatbench", "models", true},
		{"helpers", "tensor", false},
		{"graph", "gonum.org/v1/gonum/graph", true},
		{"grad", "gonum.org/v1/gonum/mat", false},
		{"internal/gatbench", "gonum.org/v1/gonum/blas/blas32", true},
		{"datasets/cora", "github.com/klauspost/compress/zstd", true},
		{"train", "github.com/klauspost/compress/zstd", false},
		{"train", "github.com/klauspost/compression", false},
		{"layers", "golang.org/x/term", false},
		{"internal/picture", "golang.org/x/image/vector", true},
		{"internal/gatbench", "golang.org/x/image/vector", false},
		{"layers", "example.com/new", false},
	}
	for _, tt := range tests {
		imported := tt.imported
		first, _, _ := strings.Cut(imported, "/")
		if _, ours := table[first]; ours || first == "internal" || first == "cmd" {
			imported = module + "/" + imported
		}
		v := violations(module+"/"+tt.pkg, []string{imported})
		if (len(v) == 0) != tt.ok {
			t.Errorf("%s imports %s: got %q, want ok = %t", tt.pkg, imported, v, tt.ok)
		}
	}
}

// violations returns what the imports of a package break, one sentence each.
func violations(path string, imports []string) []string {
	name := strings.TrimPrefix(path, module+"/")
	if within(name, "examples") {
		name = "examples"
	}
	_, known := table[name]
	if !known && !slices.Contains(level0, name) {
		return []string{fmt.Sprintf("%s is not in the table of internal/arch: give it a line that says what it may import", name)}
	}
	var out []string
	for _, imp := range imports {
		if !allowed(name, imp) {
			out = append(out, fmt.Sprintf("%s must not import %s", name, strings.TrimPrefix(imp, module+"/")))
		}
	}
	return out
}

// allowed reports whether package name, a path below the module, may import imp.
func allowed(name, imp string) bool {
	ours, isOurs := strings.CutPrefix(imp, module+"/")
	first, _, _ := strings.Cut(imp, "/")
	switch {
	case imp == "C":
		return false // no cgo: one static binary
	case isOurs:
		return mayImport(name, ours)
	case !strings.Contains(first, "."):
		return true // the standard library
	}
	for mod, users := range others {
		if within(imp, mod) {
			return slices.ContainsFunc(strings.Fields(users), func(u string) bool { return within(name, u) })
		}
	}
	return false
}

func mayImport(name, ours string) bool {
	if name == "examples" && slices.Contains(strings.Split(ours, "/"), "internal") {
		return false // as in any other module
	}
	if slices.Contains(forTests, ours) {
		return slices.Contains(forTests, name) && slices.Contains(strings.Fields(table[name]), ours)
	}
	if slices.Contains(level0, name) {
		return slices.Contains(strings.Fields(table[name]), ours)
	}
	if slices.Contains(level0, ours) {
		return true
	}
	may := strings.Fields(table[name])
	return slices.Contains(may, ours) || slices.Contains(may, "*") && !within(ours, "cmd") && !within(ours, "internal/gatbench")
}

// within reports whether a path is dir or lies below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+"/")
}
