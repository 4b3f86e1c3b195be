package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zip"

	"github.com/edgewise-ml/edgewise/internal/npy"
	"github.com/edgewise-ml/edgewise/tensor"
)

// bad is an input that is refused, and what is said about it: DIR stands for its
// folder.
type bad struct {
	name string
	read func(t *testing.T, dir string) error
	want string
}

// npzWith reads the plain form, some of whose arrays are others.
func npzWith(parts ...any) func(*testing.T, string) error {
	return func(t *testing.T, dir string) error {
		return fileOf("x.npz", archiveOf(t, with(shchur(), parts...)...))(t, dir)
	}
}

// fileOf reads a file of that name and content.
func fileOf(name string, b []byte) func(*testing.T, string) error {
	return func(t *testing.T, dir string) error {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := readWith(path)
		return err
	}
}

// linqsOf reads a zip of the two files.
func linqsOf(content, cites string) func(*testing.T, string) error {
	return fileOf("x.zip", zipOf("p.content", content, "p.cites", cites))
}

// splitWith reads a split of four nodes.
func splitWith(parts ...any) func(*testing.T, string) error {
	return func(t *testing.T, dir string) error {
		path := filepath.Join(dir, "s.npz")
		if err := os.WriteFile(path, archiveOf(t, arrays(parts...)...), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := LoadSplit(path, 4)
		return err
	}
}

// checked checks a karate club that something was done to.
func checked(do func(d *Dataset)) func(*testing.T, string) error {
	return func(*testing.T, string) error {
		d := Karate()
		do(d)
		return d.Check()
	}
}

func badPlanetoid(t *testing.T) []bad {
	whole := newAltered(t)
	planetoidWith := func(part, content string) func(*testing.T, string) error {
		return func(t *testing.T, dir string) error {
			_, err := whole.read(t, part, content)
			if err == nil {
				return nil
			}
			return errors.New(strings.ReplaceAll(err.Error(), string(whole), dir))
		}
	}
	return []bad{
		{"missing", func(t *testing.T, dir string) error { _, err := planetoid(dir, "citeseer"); return err }, "open DIR/ind.citeseer.allx: no such file or directory"},
		{"missing part", func(t *testing.T, dir string) error {
			write(t, dir, small())
			os.Remove(filepath.Join(dir, "ind.citeseer.ty"))
			_, err := planetoid(dir, "citeseer")
			return err
		}, "open DIR/ind.citeseer.ty: no such file or directory"},
		{"empty pickle", planetoidWith("allx", ""), "DIR/ind.citeseer.allx: pickle: byte 0: 1 bytes are wanted at byte 0, 0 are left: it is cut or damaged"},
		{"cut pickle", planetoidWith("allx", small()["allx"][:100]), "DIR/ind.citeseer.allx: pickle: byte 68: a name has no end"},
		{"trailing bytes", planetoidWith("ty", small()["ty"]+"more"), "DIR/ind.citeseer.ty: pickle: byte 137: 4 bytes follow the end of the pickle"},
		{"os.system", planetoidWith("graph", "cos\nsystem\n(U\x02lst R."), `DIR/ind.citeseer.graph: pickle: byte 0: it asks for "system" of "os", which is not data that can be read`},
		{"eval", planetoidWith("x", "\x80\x02c__builtin__\neval\nU\x011\x85R."), `DIR/ind.citeseer.x: pickle: byte 2: it asks for "eval" of "__builtin__", which is not data that can be read`},
		{"foreign class", planetoidWith("x", "\x80\x02ctorch._utils\n_rebuild_tensor_v2\n)R."), `DIR/ind.citeseer.x: pickle: byte 2: it asks for "_rebuild_tensor_v2" of "torch._utils", which is not data that can be read`},
		{"text pickle", planetoidWith("graph", "(dp0\nI0\n(lp1\nI1\nas."), "DIR/ind.citeseer.graph: pickle: byte 1: opcode 'd' is of protocol 0, which is text: save it again with protocol=2 to 5"},
		{"deep nesting", planetoidWith("graph", "\x80\x02"+strings.Repeat("(", 5000)), "DIR/ind.citeseer.graph: pickle: byte 1002: values are nested deeper than 1000"},
		{"huge length", planetoidWith("graph", "\x80\x02X\xff\xff\xff\xff"), "DIR/ind.citeseer.graph: pickle: byte 2: 4294967295 bytes are wanted at byte 7, 0 are left: it is cut or damaged"},
		{"memo bomb", planetoidWith("graph", "\x80\x02]q\x00(h\x00h\x00e(h\x00h\x00e."), "DIR/ind.citeseer.graph: it holds a list, not a dictionary of neighbours"},
		{"shared list", planetoidWith("graph", "\x80\x02}(K\x00]q\x00K\x02aK\x01h\x00u."), "DIR/ind.citeseer.graph: node 1 has a list, or another node's; it needs a list of neighbours of its own"},
		{"array too short", planetoidWith("ty", "\x80\x02"+array("i4", le4(1), 2, 2)+"."), "DIR/ind.citeseer.ty: pickle: byte 124: an array has 4 bytes for [2 2] elements of type i4"},
		{"edge out of range", planetoidWith("graph", neighbours([]int{7}, nil, nil, nil, nil, nil, nil)), "DIR/ind.citeseer.graph: neighbour 0 of node 0 is 7; the nodes are 0 to 6"},
		{"two classes", planetoidWith("ty", "\x80\x02"+array("i4", le4(1, 1, 0, 1), 2, 2)+"."), "DIR/ind.citeseer.ty: row 0 has 2 classes, want one"},
		{"test node twice", planetoidWith("test.index", "5\n5\n"), "DIR/ind.citeseer.test.index: line 2: node 5 stands in line 1 already"},
		{"test node that trains", planetoidWith("test.index", "5\n0\n"), "DIR/ind.citeseer.test.index: line 2: node 0; test nodes are 3 to 9"},
		{"test of the wrong size", planetoidWith("test.index", "5\n"), "DIR/ind.citeseer.test.index: 1 nodes for the 2 rows of tx"},
		{"test not a number", planetoidWith("test.index", "5\nsix\n"), `DIR/ind.citeseer.test.index: line 2: "six" is not the number of a node`},
		{"features of another width", planetoidWith("x", words(4, []int{1})), "DIR/ind.citeseer.y: 1 rows of 2 classes, for 1 rows of 4 features; ally has 2 classes, allx 3 features"},
		{"unknown dataset", func(_ *testing.T, dir string) error { _, err := Open(dir, "pubmd"); return err }, `there is no dataset "pubmd"; did you mean "pubmed"? There are: amazon_computers, amazon_photo, chameleon_filtered, citeseer, coauthor_cs, coauthor_physics, cora, cora_linqs, cora_ml, facebook, karate, minesweeper, pubmed, texas`},
		{"not found", func(_ *testing.T, dir string) error { _, err := Open(dir, "pubmed"); return err }, "no files of pubmed (ind.pubmed.allx) in DIR, CACHE, nor in planetoid there: get it with gatbench data fetch pubmed, or name the folder it is in with --data or EDGEWISE_DATA"},
		{"not found, not fetched", func(_ *testing.T, dir string) error { _, err := Open(dir, "facebook"); return err }, "no files of facebook (facebook_combined.txt.gz) in DIR, CACHE, nor in snap there: get it from SNAP (snap.stanford.edu/data/ego-Facebook.html), or name the folder it is in with --data or EDGEWISE_DATA"},
	}
}

func badNPZ(t *testing.T) []bad {
	whole := archiveOf(t, shchur()...)
	return []bad{
		{"no archive", fileOf("x.npz", []byte("hello")), "npy: DIR/x.npz: no npz archive: it has no end, where the list of its arrays stands: it was cut, or is another kind of file: download or copy it again"},
		{"cut archive", fileOf("x.npz", whole[:len(whole)/2]), "npy: DIR/x.npz: no npz archive: it has no end, where the list of its arrays stands: it was cut, or is another kind of file: download or copy it again"},
		{"no graph", fileOf("x.npz", archiveOf(t, arrays("labels", []int32{1})...)), "DIR/x.npz: there is no graph in it: want one of the arrays adj_matrix, adj_indptr, indptr, edge_index, edges; it has labels"},
		{"no indices", npzWith("adj_indices", nil), `npy: DIR/x.npz has no array "adj_indices"; it has adj_data, adj_indptr, adj_shape, attr_data, attr_indices, attr_indptr, attr_shape, class_names, labels, node_names, test_mask, train_mask, val`},
		{"floating indices", npzWith("adj_indices", []float32{1, 2, 2}), `DIR/x.npz: array "adj_indices": npy: elements of type "<f4", want whole numbers`},
		{"edge out of range", npzWith("adj_indices", []int32{1, 4, 2}), "DIR/x.npz: arrays adj_*: sparse: nonzero 1, in row 1, has column 4 of a matrix of 4 columns"},
		{"negative edge", npzWith("adj_indices", []int32{1, -1, 2}), "DIR/x.npz: arrays adj_*: sparse: nonzero 1, in row 1, has column -1 of a matrix of 4 columns"},
		{"not square", npzWith("adj_shape", []int64{4, 5}), "DIR/x.npz: the adjacency is 4 × 5, want it square"},
		{"three lengths", npzWith("adj_shape", []int64{4, 4, 4}), `DIR/x.npz: array "adj_shape": 3 lengths, want 2`},
		{"too few offsets", npzWith("adj_indptr", []int32{0, 1, 3}), "DIR/x.npz: arrays adj_*: sparse: 3 offsets for 4 rows, want 5: one a row and the end"},
		{"offsets descend", npzWith("adj_indptr", []int32{0, 2, 1, 3, 3}), "DIR/x.npz: arrays adj_*: sparse: offset 2 is 1, below the 2 before it"},
		{"NaN feature", npzWith("attr_data", []float32{3, float32(math.NaN())}), `DIR/x.npz: array "attr_data": element 1 is NaN`},
		{"features of other nodes", npzWith("attr_indptr", []int32{0, 2}, "attr_shape", []int64{1, 3}), "DIR/x.npz: features of shape [1 3] for 4 nodes"},
		{"label out of range", npzWith("labels", []int64{1, 0, -2, 1}), "DIR/x.npz: the label of node 2 is -2; classes are 0 to 1, and -1 is none"},
		{"label far out of range", npzWith("labels", []int64{1, 0, 1 << 30, 1}), `DIR/x.npz: array "labels": the largest label is 1073741824, of 4 nodes; classes are numbered from 0 without gaps`},
		{"labels below zero", npzWith("labels", []int64{-1, -4, -2, -1}, "class_names", nil), "DIR/x.npz: the label of node 1 is -4; classes are numbered from 0, and -1 is none"},
		{"empty archive", fileOf("x.npz", zipOf()), "DIR/x.npz: there is no graph in it: want one of the arrays adj_matrix, adj_indptr, indptr, edge_index, edges; it has no arrays"},
		{"labels of other nodes", npzWith("labels", []int64{1, 0}), "DIR/x.npz: 2 labels for 4 nodes"},
		{"infinite target", npzWith("labels", []float64{0.5, math.Inf(1), 1, 2}), `DIR/x.npz: array "labels": element 1 is +Inf, which is no number to be learnt; NaN is one that is not known`},
		{"huge float label", npzWith("labels", []float64{0, 1, 1e12, 0}), `DIR/x.npz: array "labels": element 2 is 1e+12, which is no class: they are numbered from 0`},
		{"labels of three axes", fileOf("x.npz", archiveOf(t, append(with(shchur(), "labels", nil), npy.Named{Name: "labels", Data: []int32{1, 0, 1, 0}, Shape: []int{2, 2, 1}})...)), `DIR/x.npz: array "labels": its shape is [2 2 1], want one axis`},
		{"multi-label of 2", fileOf("x.npz", archiveOf(t, append(with(shchur(), "labels", nil), npy.Named{Name: "labels", Data: []int32{1, 0, 2, 0}, Shape: []int{4, 1}})...)), `DIR/x.npz: array "labels": row 2, column 0 is 2, want 0 or 1, or NaN for what is not known: the values of a regression go into "targets"`},
		{"too few names", npzWith("node_names", []string{"a"}), "DIR/x.npz: 1 names for 4 nodes"},
		{"masks overlap", npzWith("test_mask", []bool{false, true, false, false}), "DIR/x.npz: node 1 is in two parts of the split, val and test"},
		{"mask of the wrong size", npzWith("test_mask", []bool{false, true}), `DIR/x.npz: array "test_mask": 2 elements for 4 nodes`},
		{"mask of nodes", npzWith("test_mask", []int32{0, 1, 2, 3}), `DIR/x.npz: array "test_mask": element 2 is 2, want 0 or 1: nodes themselves go into "test"`},
		{"train nodes out of range", npzWith("train_mask", nil, "train", []int32{9}), "DIR/x.npz: train node 0 is 9; the nodes are 0 to 3"},
		{"empty train set", npzWith("train_mask", []bool{false, false, false, false}), "DIR/x.npz: the split has no training nodes"},
		{"pickle that runs", npzWith("adj_indptr", nil, "adj_matrix", pickled("\x80\x02cposix\nsystem\nU\x02ls\x85R.")), `DIR/x.npz: array "adj_matrix": pickle: byte 2: it asks for "system" of "posix", which is not data that can be read`},
		{"pickle of no matrix", npzWith("adj_indptr", nil, "adj_matrix", object("N")), `DIR/x.npz: array "adj_matrix": it holds None, not a csr_matrix`},
		{"pickle for numbers", npzWith("labels", object("N")), `DIR/x.npz: array "labels": its shape is [], want one axis`},
		{"split without train", splitWith("val", []int32{1}), "DIR/s.npz: the split has no training nodes"},
		{"split without parts", splitWith("x", []int32{1}), "DIR/s.npz: the split has no training nodes: want an array train or train_mask"},
		{"array twice", fileOf("x.npz", zipOf("labels.npy", "1", "indptr.npy", "", "labels.npy", "2")), `npy: DIR/x.npz: there are two arrays "labels", of which one would be lost: save it again`},
		{"features of 2^31-1 columns", sized(npzWith("attr_shape", []int64{4, math.MaxInt32})), "DIR/x.npz: 2147483647 features a node, in a file of SIZE bytes: each takes weights, so at most 65536 + SIZE are believed: leave out those that are zero everywhere, or save the file without compression"},
		{"nodes of nothing", sized(fileOf("x.npz", archiveOf(t, arrays("indptr", make([]int64, 1<<17), "indices", []int32{})...))), "DIR/x.npz: 131071 nodes, in a file of SIZE bytes: each takes a row in every layer, so at most 65536 + SIZE are believed: leave out those without edges, or save the file without compression"},
		{"split twice", splitWith("train", []int32{1, 1}), "DIR/s.npz: train node 1 is 1, after 1; want ascending nodes"},
	}
}

// sized is a reader whose error has the sizes that follow from the file's by name.
func sized(read func(*testing.T, string) error) func(*testing.T, string) error {
	return func(t *testing.T, dir string) error {
		err := read(t, dir)
		info, statErr := os.Stat(filepath.Join(dir, "x.npz"))
		if err == nil || statErr != nil {
			return errors.Join(err, statErr)
		}
		n := info.Size()
		return errors.New(strings.NewReplacer(fmt.Sprintf("file of %d bytes", n), "file of SIZE bytes", fmt.Sprint(65536+n), "65536 + SIZE").Replace(err.Error()))
	}
}

// withShape reads heterophilous, one of whose arrays is another.
func withShape(a npy.Named) func(*testing.T, string) error {
	return func(t *testing.T, dir string) error {
		return fileOf("x.npz", archiveOf(t, append(with(heterophilous(), a.Name, nil), a)...))(t, dir)
	}
}

func badEdges(t *testing.T) []bad {
	bare := func(parts ...npy.Named) func(*testing.T, string) error {
		return fileOf("x.npz", archiveOf(t, parts...))
	}
	index := shaped("edge_index", []int32{0, 1, 1, 0}, 2, 2)
	return []bad{
		{"edges of three", withShape(shaped("edges", []int32{0, 1, 2, 0, 1, 2, 0, 1, 2}, 3, 3)), `DIR/x.npz: array "edges": its shape is [3 3], want 2 rows or 2 columns: the two nodes of each edge`},
		{"edges of one axis", withShape(shaped("edges", []int32{0, 1}, 2)), `DIR/x.npz: array "edges": its shape is [2], want 2 rows or 2 columns: the two nodes of each edge`},
		{"edge out of range", withShape(shaped("edges", []int32{0, 1, 2, 3}, 2, 2)), `DIR/x.npz: array "edges": edge 1 is 2 to 3; the nodes are 0 to 2`},
		{"edges from 1", withShape(shaped("edges", []int32{1, 2, 2, 3}, 2, 2)), `DIR/x.npz: array "edges": edge 1 is 2 to 3; the nodes are 0 to 2. Indices seem to begin at 1: subtract 1 from all ends of edges`},
		{"edge_index from 1", bare(shaped("edge_index", []int32{1, 2, 2, 1}, 2, 2), shaped("num_nodes", []int32{2}, 1)), `DIR/x.npz: array "edge_index": edge 0 is 1 to 2; the nodes are 0 to 1. Indices seem to begin at 1: subtract 1 from all ends of edges`},
		{"edge below zero", withShape(shaped("edges", []int32{0, -1}, 1, 2)), `DIR/x.npz: array "edges": edge 0 is 0 to -1; the nodes are 0 to 2`},
		{"edges are words", withShape(shaped("edges", []string{"a", "b"}, 1, 2)), `DIR/x.npz: array "edges": npy: elements of type "<U1", want whole numbers`},
		{"huge node", sized(bare(shaped("edge_index", []int32{0, 2_000_000_000}, 2, 1))), `DIR/x.npz: 2000000001 nodes, in a file of SIZE bytes: each takes a row in every layer, so at most 65536 + SIZE are believed: leave out those without edges, or save the file without compression`},
		{"negative num_nodes", bare(index, shaped("num_nodes", []int32{-1}, 1)), `DIR/x.npz: array "num_nodes": it holds [-1], want one number`},
		{"NaN weight", bare(index, shaped("edge_weight", []float64{1, math.NaN()}, 2)), `DIR/x.npz: array "edge_weight": element 1 is NaN`},
		{"weights of other edges", bare(index, shaped("edge_weight", []float64{1}, 1)), `DIR/x.npz: array "edge_weight": 1 weights for 2 edges`},
		{"labels of other nodes", withShape(shaped("node_labels", []int32{0, 1}, 2)), "DIR/x.npz: 2 labels for 3 nodes"},
		{"masks of other nodes", withShape(shaped("val_masks", make([]bool, 8), 4, 2)), `DIR/x.npz: array "val_masks": its shape is [4 2], want 1 to 100 splits of 3 nodes`},
		{"masks of other splits", withShape(shaped("val_masks", make([]bool, 6), 2, 3)), `DIR/x.npz: array "val_masks": it has 2 splits, "train_masks" has 3`},
		{"second split overlaps", withShape(shaped("val_masks", []bool{false, true, false, false, true, true, true, false, false}, 3, 3)), "DIR/x.npz: split 1: node 1 is in two parts of the split, train and val"},
		{"mask of two", withShape(shaped("test_masks", []int32{0, 0, 2, 1, 0, 0, 0, 1, 0}, 3, 3)), `DIR/x.npz: array "test_masks": element 2 is 2, want 0 or 1: nodes themselves go into "test"`},
	}
}

// bomb is a zip archive whose member says that it is 300 MB of a few bytes.
func bomb() []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	m, _ := w.CreateRaw(&zip.FileHeader{Name: "p.content", Method: zip.Deflate, CompressedSize64: 4, UncompressedSize64: 300_000_000})
	m.Write([]byte("tiny"))
	w.Close()
	return b.Bytes()
}

// folderOf reads a folder of empty files.
func folderOf(names ...string) func(*testing.T, string) error {
	return func(t *testing.T, dir string) error {
		for _, name := range names {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, nil, 0o666)); err != nil {
				t.Fatal(err)
			}
		}
		_, err := readWith(dir)
		return err
	}
}

const noneInZip = "DIR/x.zip: there is no dataset in it that is known: no raw/num-node-list.csv, ind.NAME.allx, out1_graph_edges.txt, NAME.content, NAME.npz, NAME.mtx, NAME.csv, NAME.tsv, NAME.txt, NAME.graphml, NAME.dot, NAME.gv, NAME.edges, NAME.edgelist, NAME.json, NAME.jsonl or NAME.ndjson; it holds README.txt"

func badTexts() []bad {
	const mm = "%%MatrixMarket matrix "
	return []bad{
		{"complex", fileOf("x.mtx", []byte(mm+"array complex general\n1 1\n1 2\n")), "DIR/x.mtx: line 1: its elements are complex, which edgewise does not compute with: save their real part or their absolute value"},
		{"not square", fileOf("x.mtx", []byte(mm+"coordinate pattern general\n3 4 0\n")), "DIR/x.mtx: it is 3 × 4, and only a square matrix is a graph"},
		{"not symmetric", fileOf("x.mtx", []byte(mm+"coordinate pattern symmetric\n3 3 1\n1 2\n")), "DIR/x.mtx: line 3: the element (1, 2) is above the diagonal: a symmetric file holds those below"},
		{"mangled header", fileOf("x.mtx", []byte("%MatrixMarket\n1 1 1\n")), `DIR/x.mtx: line 1: "%MatrixMarket" is no header: want %%MatrixMarket matrix FORMAT FIELD SYMMETRY`},
		{"cut matrix", fileOf("x.mtx", []byte(mm+"coordinate pattern general\n3 3 2\n1 2\n")), "DIR/x.mtx: line 3: the file ends after 1 of 2 elements"},
		{"huge matrix", fileOf("x.mtx", []byte(mm+"coordinate pattern general\n2000000000 2000000000 1\n1 2\n")), "DIR/x.mtx: it is 2000000000 × 2000000000, with only 1 elements: that is not believed"},
		{"no edge", fileOf("x.txt", []byte("1 2\nthree 4\n")), `DIR/x.txt: line 2: "three 4" is not an edge: want the numbers of two nodes; a line that names columns, such as source,target, is the first one, or begins with #`},
		{"no edges", fileOf("x.txt", []byte("# nothing\n")), "DIR/x.txt: there are no edges in it"},
		{"cut gzip", fileOf("x.txt.gz", gz(friendsList)[:30]), "DIR/x.txt.gz: line 2: the gzip file ends early: it was cut, so download or copy it again"},
		{"damaged gzip", fileOf("x.txt.gz", append([]byte{0x1f, 0x8b}, "this is no gzip"...)), "DIR/x.txt.gz: the gzip file is damaged: download or copy it again"},
		{"folder without data", func(_ *testing.T, dir string) error { _, err := readWith(dir); return err }, "DIR: there is no dataset in it that is known: no raw/num-node-list.csv, ind.NAME.allx, out1_graph_edges.txt, NAME.content, NAME.npz, NAME.mtx, NAME.csv, NAME.tsv, NAME.txt, NAME.graphml, NAME.dot, NAME.gv, NAME.edges, NAME.edgelist, NAME.json, NAME.jsonl or NAME.ndjson; it is empty"},
		{"folder of folders", folderOf("b/x.txt", "a.zip", ".git/x.txt"), "DIR: there is no dataset in it, but there may be one inside of DIR/a.zip, DIR/b: name that"},
		{"folder of several lists", folderOf(strings.Fields("b.txt a.csv.gz README.txt")...), "DIR: there are several datasets in it: name one of a.csv.gz, b.txt"},
		{"folder of many lists", folderOf(strings.Fields("a.txt b.txt c.txt d.txt e.txt f.txt g.txt h.txt i.txt j.txt k.txt l.txt")...), "DIR: there are several datasets in it: name one of a.txt, b.txt, c.txt, d.txt, e.txt, f.txt, g.txt, h.txt, i.txt, j.txt, or 2 more"},
		{"folder of a matrix twice", folderOf("a.mtx", "a.mtx.zst"), "DIR: there are several datasets in it: name one of a.mtx, a.mtx.zst"},
		{"archive in gzip", fileOf("x.npz.gz", gz("")), "DIR/x.npz.gz: only texts are read in gzip or zstd: unpack it first"},
		{"pickle in zstd", fileOf("ind.x.graph.zst", zst("")), "DIR/ind.x.graph.zst: only texts are read in gzip or zstd: unpack it first"},
		{"folder of many graphs", folderOf("X_A.txt", "X_graph_indicator.txt", "X_graph_labels.txt"), "DIR: there are no nodes in X_graph_indicator.txt"},
		{"lines of JSON", fileOf("x.jsonl", []byte("{}\n")), "DIR/x.jsonl: it has many graphs in it, for LoadGraphs and --task graph"},
		{"GEXF", fileOf("x.gexf", []byte("<gexf/>")), "DIR/x.gexf: its form is not read: write GraphML, as networkx.write_graphml does"},
		{"of PyTorch", fileOf("x.pt", []byte("PK")), "DIR/x.pt: objects of Python are not read: write the arrays, numpy.savez(path, edge_index=…, x=…, y=…)"},
		{"spreadsheet", fileOf("x.XLSX", []byte("PK")), "DIR/x.XLSX: such tables are not read: save them as CSV, NAME_nodes.csv and NAME_edges.csv"},
		{"zip of two datasets", fileOf("x.zip", zipOf("a/p.content", paperContent, "b/p.content.gz", "")), "DIR/x.zip: there are several datasets in it: name one of a/p.content, b/p.content.gz: unpack it, and name the file that you want"},
		{"zip of two matrices", fileOf("x.zip", zipOf("a.mtx", "", "b.mtx", "")), "DIR/x.zip: there are several datasets in it: name one of a.mtx, b.mtx: unpack it, and name the file that you want"},
		{"zip of two lists", fileOf("x.zip", zipOf("a.txt", "", "b.csv", "")), "DIR/x.zip: there are several datasets in it: name one of a.txt, b.csv: unpack it, and name the file that you want"},
		{"bad matrix in a zip", fileOf("x.zip", zipOf("x/a.mtx", mm+"array complex general\n1 1\n1 2\n")), "DIR/x.zip/x/a.mtx: line 1: its elements are complex, which edgewise does not compute with: save their real part or their absolute value"},
		{"bad list in a zip", fileOf("x.zip", zipOf("a.txt.gz", string(gz("0 x\n")))), `DIR/x.zip/a.txt.gz: line 1: "0 x" is not an edge: want the numbers of two nodes`},
		{"no file", func(_ *testing.T, dir string) error { _, err := readWith(filepath.Join(dir, "x.npz")); return err }, "open DIR/x.npz: no such file or directory"},
		{"zip that escapes", fileOf("x.zip", zipOf("../../p.content", paperContent)), `DIR/x.zip: the member "../../p.content" leads out of the archive, which is refused`},
		{"zip that expands without bound", fileOf("x.zip", bomb()), "DIR/x.zip: p.content: it expands from 4 to 300000000 bytes, which is refused: unpack it first, if you trust it"},
		{"zip without content", fileOf("x.zip", zipOf("README.txt", "hello")), noneInZip},
		{"zip without cites", fileOf("x.zip", zipOf("p.content", paperContent)), `DIR/x.zip: there is no "p.cites" in it`},
		{"long line", linqsOf("a 1 x\nb 1 "+strings.Repeat("y", 1<<22)+"\n", "a b\n"), "DIR/x.zip/p.content: line 2: it is longer than 4194304 bytes"},
		{"short paper", linqsOf("1 0 1 A\n2 0 B\n", ""), "DIR/x.zip/p.content: line 2: 1 words of a paper's text, want 2 as in the first line"},
		{"paper twice", linqsOf("1 0 1 A\n1 0 1 B\n", ""), `DIR/x.zip/p.content: line 2: paper "1" is paper 0 already`},
		{"NaN word", linqsOf("1 0 nan A\n", ""), `DIR/x.zip/p.content: line 1: word 1 is "nan", want a finite number`},
		{"citation of three", linqsOf(paperContent, "30 4\n1 2 3\n"), "DIR/x.zip/p.cites: line 2: 3 words, want the cited and the citing paper"},
		{"other papers", linqsOf(paperContent, "1 2\n3 4\n"), "DIR/x.zip: 2 of 2 citations are of papers without content: are these files of one dataset?"},
	}
}

func badDatasets() []bad {
	return []bad{
		{"NaN dense feature", checked(func(d *Dataset) {
			x := tensor.New(34, 2)
			x.Data[7] = tensor.Float(math.NaN())
			d.Features = x
		}), "feature 1 of node 3 is NaN"},
		{"no features", checked(func(d *Dataset) { d.Features = nil }), "the features are a <nil>, want *sparse.CSR or *tensor.Dense"},
		{"two kinds of labels", checked(func(d *Dataset) { d.Targets = tensor.New(34, 1) }), "of labels, multiple labels, targets, labels of edges and targets of edges there are 2, want one"},
		{"infinite target", checked(func(d *Dataset) {
			d.Labels, d.ClassNames, d.Classes, d.Targets = nil, nil, 0, tensor.New(34, 1)
			d.Targets.Data[3] = tensor.Float(math.Inf(1))
		}), "target 0 of node 3 is +Inf"},
		{"weights of other edges", checked(func(d *Dataset) { d.Weights = make([]tensor.Float, 3) }), "3 weights for 156 edges"},
		{"validation node out of range", checked(func(d *Dataset) { d.Split.Val = []int32{34} }), "val node 0 is 34; the nodes are 0 to 33"},
		{"train nodes that descend", checked(func(d *Dataset) { d.Split.Train = []int32{33, 0} }), "train node 1 is 0, after 33; want ascending nodes"},
	}
}

func TestBadInput(t *testing.T) {
	isolate(t)
	t.Setenv("EDGEWISE_DATA", "")
	cache, err := CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]bad{"planetoid": badPlanetoid(t), "npz": badNPZ(t), "edges": badEdges(t), "tables": slices.Concat(badTables(), badColumns()), "ogb": badOGB(), "graphml": badGraphML(), "dot": badDOT(), "text": badTexts(), "dataset": badDatasets()}
	count, dir := 0, t.TempDir() // to empty it costs less than another a case
	for group, list := range all {
		for _, b := range list {
			count++
			t.Run(group+"/"+b.name, func(t *testing.T) {
				defer empty(t, dir)
				err := b.read(t, dir)
				if err == nil {
					t.Fatal("no error")
				}
				got := strings.ReplaceAll(strings.ReplaceAll(err.Error(), dir, "DIR"), cache, "CACHE")
				if got != b.want {
					t.Errorf("error\n%s, want\n%s", got, b.want)
				}
			})
		}
	}
	if count < 40 {
		t.Errorf("%d bad inputs", count)
	}
}

// empty takes away what is in a folder.
func empty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	if err != nil {
		t.Fatal(err)
	}
}
