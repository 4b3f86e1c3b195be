package gatbench

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/edgewise-ml/edgewise/convert"
	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/fact"
	graphs "github.com/edgewise-ml/edgewise/internal/task/graph"
	"github.com/edgewise-ml/edgewise/internal/task/link"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

func init() {
	for name, read := range map[string]func(path string) error{
		"folder":    func(path string) error { _, err := datasets.Load(filepath.Dir(path)); return err },
		"shop":      func(path string) error { _, err := datasets.LoadInteractions(path); return err },
		"is a shop": holds,
		"names":     func(path string) error { _, err := text.LoadNames(path); return err },
		"triples":   func(path string) error { _, err := datasets.LoadKnowledge(path); return err },
		"lines":     func(path string) error { _, err := text.LoadLines(path); return err },
		"texts":     func(path string) error { _, err := text.LoadCSV(path, "text", "label"); return err },
		"tagged":    func(path string) error { _, err := text.LoadTagged(path); return err },
		"trees":     func(path string) error { _, err := text.LoadTrees(path); return err },
		"conll":     func(path string) error { _, _, err := text.LoadCoNLL2000(path); return err },
		"sst":       func(path string) error { _, _, _, err := text.LoadSST(path); return err },
		"trec":      func(path string) error { _, _, err := text.LoadTREC(path); return err },
		"babi":      func(path string) error { _, _, err := text.LoadBAbI(path, 1); return err },
		"questions": func(path string) error { _, err := text.LoadQuestions(path); return err },
		"labelled":  func(path string) error { _, err := text.LoadLabelled(path); return err },
		"sorted":    func(path string) error { _, _, err := text.LoadSorted(path, "3"); return err },
		"multi30k":  func(path string) error { _, _, _, err := text.LoadMulti30k(path); return err },
		"stored":    func(path string) error { _, err := text.Load(path); return err },
		"state":     func(path string) error { _, err := convert.Load(path); return err },
		"pairs": func(path string) error {
			return cli.EachRow("--pairs", path, 2, func([]string, bool) error { return nil })
		},
		"split":     func(path string) error { _, err := datasets.LoadSplits(path, 10); return err },
		"of graphs": func(path string) error { _, err := graphs.Open(path); return err },
		"of links":  func(path string) error { _, err := link.Open(path); return err },
		"of facts":  func(path string) error { _, err := fact.Open(path); return err },
	} {
		bombReaders[name] = read
	}
}

// holds returns an error if a file is no table of users and items.
func holds(path string) error {
	if datasets.HoldsInteractions(path) {
		return nil
	}
	return errors.New("no users and items")
}

// factBombs are of facts, graphs as lines, TUDataset's files, links that say something, and
// lists of questions.
func factBombs() []bomb {
	const many = 1 << 18
	tu := func(edges, of []byte) []byte {
		return zipOf(member{name: "X/X_A.txt.gz", text: edges}, member{name: "X/X_graph_indicator.txt.gz", text: of}, member{name: "X/X_graph_labels.txt", text: []byte("1\n")})
	}
	return []bomb{
		{"one fact many times", "triples", "x.tsv.gz", func() []byte { return gzipped(strings.Repeat("a\tb\tc\n", many), 20) }, refused},
		{"facts of new names", "triples", "x.tsv.gz", func() []byte { return gzipped(repeatOf(1<<20, "a%d\tb\tc,")+"\n", 1) }, "longer than"},
		{"facts of 300,000 entities", "triples", "x.tsv.gz", func() []byte { return gzipped(strings.ReplaceAll(repeatOf(300_000, "%d\tb\tc,"), ",", "\n"), 1) }, ""},
		{"one sale many times", "shop", "x.csv.gz", func() []byte { return around("user,item\n", strings.Repeat("a,b\n", many), 20, "") }, refused},
		{"sales to 300,000 users", "shop", "x.csv.gz", func() []byte {
			return gzipped("user\titem\n"+strings.ReplaceAll(repeatOf(300_000, "%d\tb,"), ",", "\n"), 1)
		}, ""},
		{"columns of sales", "is a shop", "x.csv.gz", func() []byte { return gzipped("user,item"+strings.Repeat(",a", 1<<22), 4) }, "no users"},
		{"fact of 20 MB", "triples", "x.tsv.gz", func() []byte { return around("a\tb\t", strings.Repeat("c", many), 80, "\n") }, "longer than"},
		{"pairs, many", "pairs", "x.csv.gz", func() []byte { return gzipped(strings.Repeat("1,2\n", many), 20) }, refused},
		{"graphs of nothing as lines", "graphs", "x.jsonl.gz", func() []byte { return gzipped(strings.Repeat(`{"nodes":1,"edges":[],"label":1}`+"\n", many), 8) }, refused},
		{"graph of 2^31 nodes as a line", "graphs", "x.jsonl", func() []byte { return []byte(`{"nodes":2147483646,"edges":[],"label":1}`) }, "is believed to have"},
		{"graph with an edge far away", "graphs", "x.jsonl", func() []byte { return []byte(`{"edges":[[0,2147483646]],"label":1}`) }, "is believed to have"},
		{"parallel edges of TUDataset", "graphs", "x.zip", func() []byte { return tu(gzipped(strings.Repeat("1,2\n", many), 40), gzipped("1\n1\n", 1)) }, refused},
		{"nodes of TUDataset", "graphs", "x.zip", func() []byte { return tu(gzipped("1,2\n", 1), gzipped(strings.Repeat("1\n", many), 40)) }, refused},
		{"edges in a folder", "folder", "x.txt.gz", func() []byte { return gzipped(parallel(), 20) }, refused},
		{"links that say something", "dataset", "x.json.gz", func() []byte {
			return around("[", strings.Repeat(`{"u":1,"v":0,"kind":"a"},`, many), 4, `{"u":1,"v":0}]`)
		}, refused},
		{"split that says 100 TB", "split", "s.npz", func() []byte {
			return zipOf(member{name: "train.npy", raw: deflated(string(npyOf("<i8", "(12500000000000,)", nil, 0)), 1), size: 1e14})
		}, refused},
		{"model of graphs", "of graphs", "m.safetensors", func() []byte {
			return tasktest.ModelOf(&graphs.Network{Task: task.Graph, Recipe: graphs.GIN(), In: 1 << 23, Out: 2})
		}, "more than its"},
		{"model of links", "of links", "m.safetensors", func() []byte {
			r := link.Kipf()
			r.Features = task.FormRaw
			return tasktest.ModelOf(&link.Autoencoder{Task: task.Link, Recipe: r, In: 1 << 23})
		}, "more than its"},
		{"model of facts", "of facts", "m.safetensors", func() []byte {
			return tasktest.ModelOf(&fact.Network{Task: task.Facts, Recipe: fact.RotatE("rotate"), Count: 1 << 27, Relations: 1})
		}, "more than its"},
	}
}

// wordBombs are of texts for recurrent networks, and of state dicts of other programs.
func wordBombs() []bomb {
	const many = 1 << 18
	bundle := func(names []string, line string) []byte {
		var members []member
		for _, name := range names {
			members = append(members, member{name: name, raw: deflated(strings.Repeat(line, many), 40), size: uint64(40 * many * len(line))})
		}
		return zipOf(members...)
	}
	torch := func(pickle string) []byte {
		return zipOf(member{name: "m/data.pkl", text: []byte("\x80\x02" + pickle + ".")}, member{name: "m/version", text: []byte("3\n")})
	}
	return []bomb{
		{"empty lines", "lines", "x.txt.gz", func() []byte { return gzipped(strings.Repeat("\n", many), 100) }, refused},
		{"line of words", "lines", "x.txt.gz", func() []byte { return gzipped(strings.Repeat("a ", many), 100) }, refused},
		{"rows of a table of texts", "texts", "x.csv.gz", func() []byte { return around("text,label\n", strings.Repeat("a,b\n", many), 20, "") }, refused},
		{"words with tags", "tagged", "x.txt.gz", func() []byte { return gzipped(strings.Repeat("a B C\n", many), 20) }, refused},
		{"brackets of a tree", "trees", "x.txt.gz", func() []byte { return gzipped(strings.Repeat("(", many), 40) }, refused},
		{"deep tree", "trees", "x.txt", func() []byte { return []byte(strings.Repeat("(1 ", many) + "a") }, "line 1"},
		{"sentences of CoNLL-2000", "conll", "x.zip", func() []byte { return bundle([]string{"train.txt", "test.txt"}, "a B C\n\n") }, refused},
		{"trees of SST", "sst", "x.zip", func() []byte {
			return zipOf(member{name: "train.txt.gz", text: gzipped(strings.Repeat("(2 a)\n", many), 20)}, member{name: "dev.txt", text: []byte("(2 a)\n")}, member{name: "test.txt", text: []byte("(2 a)\n")})
		}, refused},
		{"questions of TREC", "trec", "x.zip", func() []byte {
			return zipOf(member{name: "train.txt.gz", text: gzipped(strings.Repeat("A:b c\n", many), 20)}, member{name: "test.txt", text: []byte("A:b c\n")})
		}, refused},
		{"stories of bAbI", "babi", "x.zip", func() []byte {
			return zipOf(member{name: "qa1_x_train.txt.gz", text: gzipped(strings.Repeat("1 A is b.\n", many), 20)}, member{name: "qa1_x_test.txt", text: []byte("1 A is b.\n2 Where?\tb\t1\n")})
		}, refused},
		{"questions in one file", "questions", "x.txt.gz", func() []byte { return gzipped(strings.Repeat("1 A is b.\n", many), 20) }, refused},
		{"texts with labels", "labelled", "x.tsv.gz", func() []byte { return gzipped(strings.Repeat("a\tb\n", many), 40) }, refused},
		{"numbers in order", "sorted", "x.zip", func() []byte {
			return zipOf(member{name: "x_3.csv.gz", text: gzipped(strings.Repeat("1,2,3\n", many), 20)}, member{name: "y_3.csv", text: []byte("0,1,2\n")})
		}, refused},
		{"surnames", "names", "x.zip", func() []byte {
			return zipOf(member{name: "names/A.txt.gz", text: gzipped(strings.Repeat("b\n", many), 40)}, member{name: "names/B.txt", text: []byte("c\n")})
		}, refused},
		{"captions", "multi30k", "x.zip", func() []byte {
			return zipOf(member{name: "train.de.gz", text: gzipped(strings.Repeat("a b\n", many), 40)}, member{name: "train.en", text: []byte("a\n")})
		}, refused},
		{"words of a tokeniser", "stored", "t.json", func() []byte {
			return []byte(`{"tokeniser":"white space","words":[` + strings.Repeat(`"",`, 1<<19) + `""]}`)
		}, "is there twice"},
		{"pickle of 8 MB in a .pt", "state", "m.pt", func() []byte { return torch(strings.Repeat("N", 8<<20)) }, refused},
		{"state dict that expands", "state", "m.pt", func() []byte {
			return zipOf(member{name: "a/data.pkl", raw: deflated(strings.Repeat("N", 1<<20), 600), size: 600 << 20})
		}, "expands"},
		{"state dict of 100,000 names", "state", "m.safetensors", func() []byte {
			return tasktest.SavedOf("{" + repeatOf(100_000, `"%07d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},`) + "}")
		}, "more than 65536 tensors"},
		{"tokeniser of lists", "stored", "t.json", func() []byte { return []byte(`{"words":` + strings.Repeat("[", 1<<20)) }, "nested deeper than 10000"},
		{"lists in a .pt", "state", "m.pt", func() []byte { return torch("(" + strings.Repeat("]", 1<<20) + "t") }, "its values take more"},
		{"arrays of a state dict", "state", "m.npz", func() []byte {
			return zipOf(member{name: "w.npy", raw: deflated(string(npyOf("<f4", "(25000000000000,)", nil, 0)), 1), size: 1e14})
		}, refused},
		{"tensor of a state dict that says 8 TB", "state", "m.safetensors", func() []byte {
			return tasktest.SavedOf(fmt.Sprintf(`{"W":{"dtype":"F64","shape":[%d],"data_offsets":[0,%d]}}`, int64(1e12), int64(8e12)))
		}, "are not a range"},
	}
}
