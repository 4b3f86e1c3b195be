package main

import (
	"bytes"
	"slices"
	"strings"
)

// around is a text in gzip: a beginning, a part many times, and an end.
func around(begin, part string, times int, end string) []byte {
	return slices.Concat(gzipped(begin, 1), gzipped(part, times), gzipped(end, 1))
}

// edgeIndex is lists of edges, or what else an archive has beside one edge.
func edgeIndex(shape string, bytes int, more ...member) []byte {
	return zipOf(append([]member{{name: "edge_index.npy", text: npyOf("<i4", shape, nil, bytes)}}, more...)...)
}

// tableBombs are of tables, JSON, and lists of edges in archives.
func tableBombs() []bomb {
	const many = 1 << 18
	edges, ones := strings.Repeat("0,1\n", many), strings.Repeat("[1,2],", many)
	return []bomb{
		{"parallel edges of a table", "dataset", "x.csv.gz", func() []byte { return around("source,target\n", edges, 20, "") }, refused},
		{"line of 20 MB", "dataset", "x.csv.gz", func() []byte { return around("source,target\n", strings.Repeat(",", many), 80, "") }, "longer than 4194304 bytes"},
		{"table of a million columns", "dataset", "x.csv.gz", func() []byte {
			return around("source,target"+strings.Repeat(",a", 1<<20)+"\n", "0,1"+strings.Repeat(",1", 1<<20)+"\n", 4, "")
		}, ""},
		{"parallel edges of JSON", "dataset", "x.json.gz", func() []byte { return around("[", ones, 10, "[1,2]]") }, refused},
		{"text of 20 MB in JSON", "dataset", "x.json.gz", func() []byte { return around(`[["`, strings.Repeat("a", many), 80, `",1]]`) }, ""},
		{"deep JSON", "dataset", "x.json.gz", func() []byte { return around(`{"a":`, strings.Repeat("[", many), 40, "") }, "nested deeper"},
		{"features of nothing in JSON", "dataset", "x.json.gz", func() []byte { return around(`{"edges":[[0,1]],"features":[`, strings.Repeat("[],", many), 4, "[]]}") }, refused},
		{"features of one node in JSON", "dataset", "x.json.gz", func() []byte {
			return around(`{"edges":[[0,1]],"features":[[`, strings.Repeat("1,", many), 10, "1],[]]}")
		}, refused},
		{"feature 2000000000 in JSON", "dataset", "x.json", func() []byte { return []byte(`{"edges":[[0,1]],"features":{"0":[2000000000],"1":[]}}`) }, "are believed"},
		{"edge_index of zeros", "dataset", "x.npz", func() []byte { return edgeIndex("(2, 8000000)", 64_000_000) }, refusedRoom},
		{"a million zeros as edges", "dataset", "x.npz", func() []byte { return edgeIndex("(2, 500000)", 4_000_000) }, ""},
		{"num_nodes of 2^31-1", "dataset", "x.npz", func() []byte {
			return edgeIndex("(2, 1)", 8, member{name: "num_nodes.npy", text: npyOf("<i4", "(1,)", le4(1<<31-1), 0)})
		}, "are believed"},
		{"100 masks of 60,000 nodes", "dataset", "x.npz", func() []byte {
			return edgeIndex("(2, 1)", 8, member{name: "y.npy", text: npyOf("|i1", "(60000,)", nil, 60_000)},
				member{name: "train_masks.npy", text: npyOf("|b1", "(100, 60000)", bytes.Repeat([]byte{1}, 6_000_000), 0)})
		}, refusedRoom},
		{"words of labels", "dataset", "x.npz", func() []byte {
			return edgeIndex("(2, 1)", 8, member{name: "y.npy", text: npyOf("<U1", "(4000000,)", nil, 16_000_000)})
		}, refusedRoom},
	}
}

// refusedRoom is what arrays that take too much are told.
const refusedRoom = "its arrays take more than"
