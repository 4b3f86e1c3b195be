package gatbench

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zip"
	"github.com/klauspost/compress/zstd"

	"github.com/edgewise-ml/edgewise/internal/task/node"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// allBombs returns the table: archives and texts, tables and JSON, arrays, and the files of
// trainings.
func allBombs() []bomb {
	return slices.Concat(archiveBombs(), textBombs(), tableBombs(), ogbBombs(), drawnBombs(), arrayBombs(), savedBombs(), factBombs(), wordBombs())
}

const refused = "which is refused"

// parallel is edges, of which many parallel ones fit a short file.
var parallel = sync.OnceValue(func() string { return strings.Repeat("0 1\n", 1<<20) })

func archiveBombs() []bomb {
	return []bomb{
		{"sparse member, PAX", "dataset", "x.tar", func() []byte { return sparseTar() }, `"edges.txt" is sparse`},
		{"sparse member, PAX, in gzip", "dataset", "x.tar.gz", func() []byte { return gzipped(string(sparseTar()), 1) }, `"edges.txt" is sparse`},
		{".gz in a .tar.gz, 1.2 GB", "dataset", "x.tar.gz", func() []byte { return gzipped(string(tarOf("edges.txt.gz", gzipped(parallel(), 300))), 1) }, refused},
		{".gz in a .zip, 1.2 GB", "dataset", "x.zip", func() []byte { return zipOf(member{name: "edges.txt.gz", text: gzipped(parallel(), 300)}) }, refused},
		{".gz in a .tar, 80 MB", "dataset", "x.tar", func() []byte { return tarOf("edges.txt.gz", gzipped(parallel(), 20)) }, refused},
		{"zip that says 8 bytes of 80 MB", "dataset", "x.zip", func() []byte { return zipOf(member{name: "edges.txt", raw: deflated(parallel(), 20), size: 8}) }, "the zip archive is cut or damaged"},
		{"zip that says 16 EB", "dataset", "x.zip", func() []byte {
			return zipOf(member{name: "edges.txt", raw: deflated(parallel(), 1), size: math.MaxUint64})
		}, refused},
		{"zip of 66,000 members", "dataset", "x.zip", func() []byte {
			members := make([]member, 66_000)
			for i := range members {
				members[i] = member{name: fmt.Sprint(i), raw: []byte{3, 0}}
			}
			return zipOf(members...)
		}, "66000 files are too many"},
		{"tar of names of 1 MiB", "dataset", "x.tgz", func() []byte { return gzipped(string(longNames(4)), 1) }, "bytes; the limit is 4096"},
		{"gzip of a gzip of 1.2 GB", "dataset", "x.txt.gz", func() []byte { return gzipped(string(gzipped(parallel(), 300)), 1) }, "is not an edge"},
	}
}

func textBombs() []bomb {
	const head = "%%MatrixMarket matrix "
	return []bomb{
		{"edges in gzip, 80 MB", "dataset", "x.txt.gz", func() []byte { return gzipped(parallel(), 20) }, refused},
		{"edges in zstd, 1.2 GB", "dataset", "x.txt.zst", func() []byte { return zstded(parallel(), 300) }, refused},
		{"edges between far nodes", "dataset", "x.txt.gz", func() []byte { return gzipped(strings.Repeat("9223372036854775799 0\n", 1<<18), 10) }, refused},
		{"comments of 50 MB", "dataset", "x.txt.gz", func() []byte { return gzipped(strings.Repeat("#\n", 1<<21), 12) }, refused},
		{"zstd with a window of 128 MiB", "dataset", "x.txt.zst", func() []byte { return wideWindow() }, ""},
		{"the edge 0 2147483647", "dataset", "x.txt", func() []byte { return []byte("0 2147483647\n") }, ""},
		{"matrix of 10^9 rows", "dataset", "x.mtx", func() []byte { return []byte(head + "coordinate pattern general\n1000000000 1000000000 1\n1 2\n") }, "that is not believed"},
		{"matrix of 2^20 rows", "dataset", "x.mtx", func() []byte { return []byte(head + "coordinate pattern general\n1048576 1048576 1\n1 2\n") }, "are believed"},
		{"matrix of 10^9 columns", "matrix", "x.mtx", func() []byte { return []byte(head + "coordinate pattern general\n1 1000000000 1\n1 2\n") }, "that is not believed"},
		{"array of 2^31 rows and columns", "dataset", "x.mtx", func() []byte { return []byte(head + "array real general\n2147483647 2147483647\n1\n") }, "ends after 1 of"},
		{"dense matrix in gzip", "dataset", "x.mtx.gz", func() []byte {
			return slices.Concat(gzipped(head+"array real general\n8192 8192\n", 1), gzipped(strings.Repeat("1\n", 1<<20), 10))
		}, refused},
		{"dense matrix in gzip, as it is", "matrix", "x.mtx.gz", func() []byte {
			return slices.Concat(gzipped(head+"array integer symmetric\n8192 8192\n", 1), gzipped(strings.Repeat("1\n", 1<<20), 10))
		}, refused},
		{"papers of words", "dataset", "x.zip", func() []byte { return linqsZip(papersOf(6, 1<<20, "7\t"), "") }, refused},
		{"papers of nothing", "dataset", "x.zip", func() []byte { return linqsZip(papersOf(100_000, 1, "0\t"), "") }, ""},
		{"paper of 2 million words", "dataset", "x.zip", func() []byte { return linqsZip(papersOf(2, 1<<21-20, "0\t"), "p0\tp1\n") }, "are believed"},
		{"citations", "dataset", "x.zip", func() []byte { return linqsZip("1\t1\tA\n2\t1\tA\n", strings.Repeat("1\t2\n", 2<<20)) }, refused},
		{"pages of words", "dataset", webPages, func() []byte { return webKB(4, strings.Repeat("1,", 1<<20)+"1") }, refused},
		{"pages of nothing", "dataset", webPages, func() []byte { return webKB(100_000, "0") }, "out1_graph_edges.txt: no such file"},
		{"splits in JSON", "splits", "s.json", func() []byte { return []byte(`{"train":[` + strings.Repeat("0,", 1<<17) + `0],"val":[],"test":[]}`) }, "is node 0, which is in train already"},
		{"splits of lists in lists", "splits", "s.json", func() []byte { return []byte(`{"train":` + strings.Repeat("[", 1<<20)) }, "nested deeper than 10000"},
	}
}

// webPages is a file of WebKB's.
const webPages = "out1_node_feature_label.txt"

// webKB is pages with a list of words each, in gzip, which the name need not say.
func webKB(pages int, words string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, "node_id\tfeature\tlabel\n")
	for i := range pages {
		fmt.Fprintf(z, "%d\t%s\t0\n", i, words)
	}
	z.Close()
	return b.Bytes()
}

// papersOf is LINQS' content.
func papersOf(n, width int, word string) string {
	var b strings.Builder
	line := strings.Repeat(word, width)
	for i := range n {
		fmt.Fprintf(&b, "p%d\t%sA\n", i, line)
	}
	return b.String()
}

func linqsZip(content, cites string) []byte {
	return zipOf(member{name: "x.content", text: []byte(content)}, member{name: "x.cites", text: []byte(cites)})
}

// gzipped is a text in gzip, many times one after the other.
func gzipped(text string, times int) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return bytes.Repeat(b.Bytes(), times)
}

// zstded is the same in zstd.
func zstded(text string, times int) []byte {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return bytes.Repeat(z.EncodeAll([]byte(text), nil), times)
}

// wideWindow is one edge in a zstd frame that asks for 128 MiB to be ready: magic,
// a window of 2^27, and a block that is as it stands and the last.
func wideWindow() []byte {
	const text = "0 1\n"
	return slices.Concat([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, 17 << 3, byte(1 | len(text)<<3), 0, 0}, []byte(text))
}

// deflated is a text many times one after the other, as a stream of deflate.
func deflated(text string, times int) []byte {
	var b bytes.Buffer
	z, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		panic(err)
	}
	io.WriteString(z, text)
	z.Flush()
	return append(bytes.Repeat(b.Bytes(), times), 3, 0) // an empty block, the last
}

// member is one of a zip archive: a text to be packed, with so many zeros after it, or what is
// packed and says that it has that size.
type member struct {
	name  string
	text  []byte
	zeros int
	raw   []byte
	size  uint64
}

// nothing is what arrays of zeros are written of.
var nothing [1 << 14]byte

func zipOf(members ...member) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		var w io.Writer
		var err error
		if m.raw == nil {
			w, err = z.Create(m.name)
		} else {
			w, err = z.CreateRaw(&zip.FileHeader{Name: m.name, Method: zip.Deflate, CompressedSize64: uint64(len(m.raw)), UncompressedSize64: m.size, CRC32: crc32.ChecksumIEEE(nil)})
		}
		if err != nil {
			panic(err)
		}
		w.Write(m.text)
		w.Write(m.raw)
		for left := m.zeros; left > 0; left -= len(nothing) {
			w.Write(nothing[:min(left, len(nothing))])
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func tarOf(name string, text []byte) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o600}); err != nil {
		panic(err)
	}
	w.Write(text)
	w.Close()
	return b.Bytes()
}

// longNames is an archive of members whose names are as long as a tar reader takes
// them.
func longNames(n int) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := range n {
		name := fmt.Sprintf("%d%s", i, strings.Repeat("x", 1<<20-100))
		if err := w.WriteHeader(&tar.Header{Name: name, Format: tar.FormatGNU}); err != nil {
			panic(err)
		}
	}
	w.Close()
	return b.Bytes()
}

// sparseTar is an archive of one member of 10 GB that is a hole, in the form of
// tar --sparse --format=pax.
func sparseTar() []byte {
	records := "22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n29 GNU.sparse.name=edges.txt\n35 GNU.sparse.realsize=10000000000\n"
	holes := "1\n10000000000\n0\n"
	filled := func(text string) []byte { return append([]byte(text), make([]byte, (512-len(text)%512)%512)...) }
	return slices.Concat(tarHeader("PaxHeaders/edges.txt", 'x', len(records)), filled(records), tarHeader("GNUSparseFile/edges.txt", '0', 512), filled(holes), make([]byte, 1024))
}

func tarHeader(name string, kind byte, size int) []byte {
	h := make([]byte, 512)
	copy(h, name)
	copy(h[100:], fmt.Sprintf("%07o\x00%07o\x00%07o\x00%011o\x00%011o\x00        %c", 0o644, 0, 0, size, 0, kind))
	copy(h[257:], "ustar\x0000")
	sum := 0
	for _, b := range h {
		sum += int(b)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	return h
}

// npyOf is an array: its type, its shape as Python writes it, and so many zeros
// behind the given bytes.
func npyOf(descr, shape string, data []byte, zeros int) []byte {
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, shape)
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(head)))
	return slices.Concat(b, []byte(head), data, make([]byte, zeros))
}

// le4 and le8 are numbers as arrays have them.
func le4(vs ...uint32) (b []byte) {
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// npzOf is a graph without edges of n nodes, and more.
func npzOf(n int, more ...member) []byte {
	return zipOf(append([]member{
		{name: "indptr.npy", text: npyOf("<i8", fmt.Sprintf("(%d,)", n+1), nil, 0), zeros: 8 * (n + 1)},
		{name: "indices.npy", text: npyOf("<i4", "(0,)", nil, 0)},
	}, more...)...)
}

// edgesOf is a graph of two nodes and n edges between them.
func edgesOf(prefix string, n int) []byte {
	return zipOf(
		member{name: prefix + "indptr.npy", text: npyOf("<i8", "(3,)", tasktest.LE8(0, uint64(n), uint64(n)), 0)},
		member{name: prefix + "indices.npy", text: npyOf("<i4", fmt.Sprintf("(%d,)", n), bytes.Repeat(le4(1), n), 0)},
		member{name: prefix + "shape.npy", text: npyOf("<i4", "(2,)", le4(2, 2), 0)},
	)
}

// wide is features of n nodes that have cols columns and one element, and classes.
func wide(n int, cols uint64) []member {
	labels := make([]byte, 0, 4*n)
	for i := range n {
		labels = append(labels, le4(uint32(i%2))...)
	}
	offsets := tasktest.LE8(0)
	for range n {
		offsets = append(offsets, tasktest.LE8(1)...)
	}
	return []member{
		{name: "attr_indptr.npy", text: npyOf("<i8", fmt.Sprintf("(%d,)", n+1), offsets, 0)},
		{name: "attr_indices.npy", text: npyOf("<i4", "(1,)", nil, 4)},
		{name: "attr_shape.npy", text: npyOf("<i8", "(2,)", tasktest.LE8(uint64(n), cols), 0)},
		{name: "labels.npy", text: npyOf("<i4", fmt.Sprintf("(%d,)", n), labels, 0)},
	}
}

// pickleOf is an array of objects whose pickle is given.
func pickleOf(pickle string) []byte { return npyOf("|O", "()", []byte("\x80\x02"+pickle+"."), 0) }

// objectsOf is a pickled array of n objects, which the opcodes push.
func objectsOf(n int, opcodes string) string {
	return "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01J" + string(le4(uint32(n))) + "\x85cnumpy\ndtype\n" +
		"U\x02O8K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?tb\x89](" + opcodes + "etb"
}

func arrayBombs() []bomb {
	const taken = "its arrays take more than the"
	return []bomb{
		{"10 rows of 2^31-1 columns", "dataset", "x.npz", func() []byte { return npzOf(10, wide(10, math.MaxInt32)...) }, "2147483647 features a node"},
		{"10 rows of 2^20 columns", "train", "x.npz", func() []byte { return npzOf(10, wide(10, 1<<20)...) }, "1048576 features a node"},
		{"as many columns as are believed", "train", "x.npz", func() []byte { return npzOf(10, wide(10, 1<<16)...) }, ""},
		{"as many nodes as are believed", "train", "x.npz", func() []byte { return npzOf(65_000, wide(65_000, 10)...) }, ""},
		{"9 million nodes", "dataset", "x.npz", func() []byte { return npzOf(9 << 20) }, taken},
		{"2 million nodes", "dataset", "x.npz", func() []byte { return npzOf(2 << 20) }, "2097152 nodes, in a file of"},
		{"4 million nodes, as a graph", "graph", "x.npz", func() []byte { return npzOf(4 << 20) }, "4194304 nodes, in a file of"},
		{"5 million parallel edges", "graph", "x.npz", func() []byte { return edgesOf("", 5_000_000) }, ""},
		{"5 million edges, both directions", "dataset", "x.npz", func() []byte { return edgesOf("adj_", 5_000_000) }, taken},
		{"6 million labels of 2 nodes", "dataset", "x.npz", func() []byte {
			return npzOf(2, member{name: "labels.npy", text: npyOf("|b1", "(2, 3000000)", nil, 0), zeros: 6_000_000})
		}, "3000000 classes"},
		{"as many classes as nodes", "dataset", "x.npz", func() []byte {
			return npzOf(60_000, member{name: "labels.npy", text: npyOf("<i4", "(60000,)", le4(59_999), 0), zeros: 4 * 59_999})
		}, "60000 classes of 60000 nodes"},
		{"dense zeros of float64", "dataset", "x.npz", func() []byte {
			return npzOf(10, member{name: "attr_matrix.npy", text: npyOf("<f8", "(10, 1600000)", nil, 0), zeros: 128 << 20})
		}, refused},
		{"dense zeros of bytes", "dataset", "x.npz", func() []byte {
			return npzOf(10, member{name: "attr_matrix.npy", text: npyOf("|u1", "(10, 2000000)", nil, 0), zeros: 20_000_000})
		}, taken},
		{"10 rows of 600,000 zeros", "dataset", "x.npz", func() []byte {
			return npzOf(10, member{name: "attr_matrix.npy", text: npyOf("|u1", "(10, 600000)", nil, 0), zeros: 6_000_000})
		}, "600000 features a node"},
		{"strings of no bytes", "dataset", "x.npz", func() []byte {
			return npzOf(10, member{name: "node_names.npy", text: npyOf("|S0", "(4000000,)", nil, 0), zeros: 4_000_000})
		}, taken},
		{"shape that overflows", "dataset", "x.npz", func() []byte {
			return npzOf(10, member{name: "attr_matrix.npy", text: npyOf("<f4", "(4611686018427387904, 4)", nil, 0)})
		}, "more elements than"},
		{"array that says 100 TB", "dataset", "x.npz", func() []byte {
			return npzOf(10, member{name: "attr_matrix.npy", raw: deflated(string(npyOf("<f4", "(10, 2500000000000)", nil, 0)), 1), size: 1e14})
		}, refused},
		{"array twice", "dataset", "x.npz", func() []byte { return npzOf(10, wide(10, 2)[3], wide(10, 2)[3]) }, `two arrays "labels"`},
		{"names by a memo", "dataset", "x.npz", func() []byte {
			const n = 1 << 20
			names := "U\xff" + strings.Repeat("x", 255) + "q\x00" + strings.Repeat("h\x00", n-1)
			return npzOf(10, member{name: "node_names.npy", text: pickleOf(objectsOf(n, names))})
		}, "1048576 names for 10 nodes"},
		{"lists in a pickle", "dataset", "x.npz", func() []byte {
			return zipOf(member{name: "adj_matrix.npy", text: pickleOf("(" + strings.Repeat("]", 2<<20) + "t")})
		}, "than the"},
		{"pickle of 8 MB", "dataset", "x.npz", func() []byte {
			return zipOf(member{name: "adj_matrix.npy", text: pickleOf(strings.Repeat("N", 8<<20))})
		}, taken},
		{"masks of 6 million", "splits", "s.npz", func() []byte {
			return zipOf(member{name: "train_mask.npy", text: npyOf("|b1", "(6000000,)", nil, 0), zeros: 6_000_000})
		}, "6000000 elements for 34 nodes"},
	}
}

// recipeOf is a model's file that says what is in it, and has nothing of it.
func recipeOf(change func(n *node.Network)) []byte {
	r, err := node.NewRecipe("paper", "gat", "cora")
	if err != nil {
		panic(err)
	}
	n := &node.Network{Recipe: r, In: 1433, Classes: 7}
	change(n)
	return tasktest.ModelOf(n)
}

// repeatOf is n times a text with its number.
func repeatOf(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

func savedBombs() []bomb {
	const tensors = `"%07d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},`
	return []bomb{
		{"header of 100,000 tensors", "load", "m.safetensors", func() []byte { return tasktest.SavedOf("{" + repeatOf(100_000, tensors) + "}") }, "more than 65536 tensors"},
		{"header of 65,000 tensors", "load", "m.safetensors", func() []byte { return tasktest.SavedOf("{" + repeatOf(65_000, tensors) + "}") }, "not in the model"},
		{"header of 100,000 keys", "config", "m.safetensors", func() []byte { return tasktest.SavedOf(`{"__metadata__":{` + repeatOf(100_000, `"%07d":"",`) + "}}") }, "more than 4096 keys"},
		{"shape of a million axes", "load", "m.safetensors", func() []byte { return tasktest.SavedOf(`{"a":{"shape":[` + strings.Repeat("1,", 1<<20) + `1]}}`) }, "at most 1024 are read"},
		{"header that says 2^63 bytes", "load", "m.safetensors", func() []byte { return append(tasktest.LE8(1<<63), "{}"...) }, "cut short"},
		{"tensor that says 8 TB", "load", "m.safetensors", func() []byte {
			return tasktest.SavedOf(`{"W":{"dtype":"F64","shape":[1000000000000],"data_offsets":[0,8000000000000]}}`)
		}, "are not a range"},
		{"lists in a header", "load", "m.safetensors", func() []byte { return tasktest.SavedOf(`{"a":` + strings.Repeat("[", 1<<20)) }, "nested deeper than 10000"},
		{"model of 2^23 features", "model", "m.safetensors", func() []byte { return recipeOf(func(n *node.Network) { n.In = 1 << 23 }) }, "more than its"},
		{"model of 100 wide layers", "model", "m.safetensors", func() []byte {
			return recipeOf(func(n *node.Network) { n.Recipe.Layers, n.Recipe.Hidden = 100, 1<<13 })
		}, "more than its"},
		{"model of 10^9 layers", "model", "m.safetensors", func() []byte { return recipeOf(func(n *node.Network) { n.Recipe.Layers = 1e9 }) }, "there can be at most 100"},
		{"history of empty epochs", "resume", "m.safetensors", func() []byte {
			return tasktest.SavedOf(`{"__metadata__":{"run":"{\"history\":{\"epochs\":[` + strings.Repeat("[],", 1<<20) + `[]]}}"}}`)
		}, "an epoch has 1 numbers"},
		{"ledger of nothing", "ledger", "l.jsonl", func() []byte { return bytes.Repeat([]byte("{}\n"), 1<<20) }, "line 1 is no result"},
		{"ledger of one line", "ledger", "l.jsonl", func() []byte { return []byte(`{"recipe":{"Dataset":"` + strings.Repeat("x", 8<<20) + `"}}`) }, "line 1 is no result"},
	}
}
