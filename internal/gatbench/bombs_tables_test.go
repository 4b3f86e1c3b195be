package gatbench

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// around is a text in gzip: a beginning, a part many times, and an end.
func around(begin, part string, times int, end string) []byte {
	return slices.Concat(gzipped(begin, 1), gzipped(part, times), gzipped(end, 1))
}

// edgeIndex is lists of edges, or what else an archive has beside one edge.
func edgeIndex(shape string, bytes int, more ...member) []byte {
	return zipOf(append([]member{{name: "edge_index.npy", text: npyOf("<i4", shape, nil, 0), zeros: bytes}}, more...)...)
}

// tableBombs are of tables, JSON, and lists of edges in archives.
func tableBombs() []bomb {
	const many = 1 << 18
	edges, ones := strings.Repeat("0,1\n", many), strings.Repeat("[1,2],", many)
	return []bomb{
		{"parallel edges of a table", "dataset", "x.csv.gz", func() []byte { return around("source,target\n", edges, 20, "") }, refused},
		{"line of 20 MB", "dataset", "x.csv.gz", func() []byte { return around("source,target\n", strings.Repeat(",", many), 80, "") }, "longer than 16777216 bytes"},
		{"table of a million columns", "dataset", "x.csv.gz", func() []byte {
			return around("source,target"+strings.Repeat(",a", 1<<20)+"\n", "0,1"+strings.Repeat(",1", 1<<20)+"\n", 4, "")
		}, refused},
		{"60,000 columns of edges", "dataset", "x.csv.gz", func() []byte {
			return around("source,target"+strings.Repeat(",a", 60_000)+"\n", "0,1"+strings.Repeat(",1", 60_000)+"\n", 200, "")
		}, refused},
		{"words of edges", "dataset", "x.csv", wordyEdges, ""},
		{"words of edges in gzip", "dataset", "x.csv.gz", func() []byte { return gzipped(string(wordyEdges()), 1) }, refused},
		{"times of edges", "dataset", "x.csv.gz", func() []byte {
			return around("source,target,t\n", strings.Repeat("0,1,2024-01-01T00:00:00Z\n", 1<<16), 8, "")
		}, ""},
		{"parallel edges of JSON", "dataset", "x.json.gz", func() []byte { return around("[", ones, 10, "[1,2]]") }, refused},
		{"text of 20 MB in JSON", "dataset", "x.json.gz", func() []byte { return around(`[["`, strings.Repeat("a", many), 80, `",1]]`) }, ""},
		{"number of 90 MB in JSON", "dataset", "x.json.gz", func() []byte { return around("", strings.Repeat("7", many), 350, "") }, "longer than"},
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
			return edgeIndex("(2, 1)", 8, member{name: "y.npy", text: npyOf("<U1", "(4000000,)", nil, 0), zeros: 16_000_000})
		}, refusedRoom},
	}
}

// wordyEdges is a table whose columns of words would make 40 features of each byte.
func wordyEdges() []byte {
	var b strings.Builder
	b.WriteString("u,v" + strings.Repeat(",a", 1000))
	for i := range 1000 {
		b.WriteString("\n0,1" + strings.Repeat(","+string(rune('a'+i%25))+string(rune('a'+i/25%4)), 1000))
	}
	return []byte(b.String())
}

// ogbBombs are of the files of OGB.
func ogbBombs() []bomb {
	of := func(edges []byte, nodes, counts, labels string) func() []byte {
		return func() []byte {
			return zipOf(member{name: "raw/edge.csv.gz", text: edges}, member{name: "raw/num-node-list.csv.gz", text: gzipped(nodes, 1)},
				member{name: "raw/num-edge-list.csv.gz", text: gzipped(counts, 1)}, member{name: "raw/node-label.csv.gz", text: gzipped(labels, 1)},
				member{name: "raw/graph-label.csv.gz", text: gzipped(labels, 1)})
		}
	}
	few := gzipped("0,1\n", 1)
	return []bomb{
		{"two thousand million nodes", "dataset", "x.zip", of(few, "2000000000\n", "1\n", "0\n"), "1 lines for 2000000000 nodes"},
		{"graphs of nobody's nodes", "graphs", "x.zip", of(few, "2000000000\n", "1\n", "0\n"), "1 lines for 2000000000 nodes"},
		{"60,000 empty graphs", "graphs", "x.zip", of(few, "2\n"+strings.Repeat("0\n", 60_000), "1\n"+strings.Repeat("0\n", 60_000), strings.Repeat("0\n", 60_001)), ""},
		{"4 million empty graphs", "graphs", "x.zip", of(few, "2\n"+strings.Repeat("0\n", 1<<22), "1\n"+strings.Repeat("0\n", 1<<22), strings.Repeat("0\n", 1<<22+1)), refused},
		{"parallel edges of OGB", "dataset", "x.zip", of(gzipped(strings.Repeat("0,1\n", 1<<20), 8), "2\n", "8388608\n", "0\n1\n"), refused},
		{"many labels", "dataset", "x.zip", of(few, "2\n", "1\n", strings.Repeat("1,", 1<<19)+"1\n"+strings.Repeat("1,", 1<<19)+"0\n"), "longer than"},
	}
}

// drawnBombs are of GraphML and DOT.
func drawnBombs() []bomb {
	const many = 1 << 16
	return []bomb{
		{"attributes of XML", "dataset", "x.graphml.gz", func() []byte { return around("<graphml><graph ", strings.Repeat(`a="" `, many), 40, "/></graphml>") }, "without the end of a tag"},
		{"deep XML", "dataset", "x.graphml.gz", func() []byte { return around("<graphml><graph>", strings.Repeat("<a>", many), 40, "") }, "nested deeper"},
		{"deep XML around a graph", "dataset", "x.graphml.gz", func() []byte { return gzipped(strings.Repeat("<graphml>", many), 40) }, "<graphml> stands there"},
		{"a billion laughs", "dataset", "x.graphml", func() []byte {
			return []byte(`<!DOCTYPE g [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><graphml><graph><node id="&b;"/></graph></graphml>`)
		}, "invalid character entity"},
		{"nodes of XML", "dataset", "x.graphml.gz", func() []byte {
			return around("<graphml><graph><node id='0'/>", strings.Repeat("<edge source='0' target='0'/>", many), 8, "</graph></graphml>")
		}, ""},
		{"keys of XML", "dataset", "x.graphml", func() []byte {
			var b strings.Builder
			b.WriteString("<graphml>")
			for i := range 250 {
				fmt.Fprintf(&b, "<key id='%d' for='all'/>", i)
			}
			b.WriteString("<graph>")
			for i := range 20_000 {
				fmt.Fprintf(&b, "<node id='%d'/>", i)
			}
			b.WriteString(strings.Repeat("<edge source='0' target='1'/>", 20_000) + "</graph></graphml>")
			return []byte(b.String())
		}, ""},
		{"chain in DOT", "dataset", "x.dot.gz", func() []byte { return around("graph{a", strings.Repeat("--a", many), 40, "}") }, refused},
		{"chain in DOT, as it is", "dataset", "x.dot", func() []byte { return []byte("graph{a" + strings.Repeat("--a", 1<<19) + "}") }, ""},
		{"deep DOT", "dataset", "x.dot.gz", func() []byte { return around("graph", strings.Repeat("{", many), 40, "") }, "nested deeper"},
		{"squares in DOT", "dataset", "x.dot", func() []byte {
			set := "{"
			for i := range 1000 {
				set += fmt.Sprint(i, " ")
			}
			return []byte("graph{" + set + "}" + strings.Repeat("--"+set+"}", 20) + "}")
		}, "are not believed"},
		{"attributes in DOT", "dataset", "x.dot.gz", func() []byte { return around("graph{a[", strings.Repeat("k=1,", many), 40, "]}") }, refused},
		{"name in DOT of 20 MB", "dataset", "x.dot.gz", func() []byte { return around("graph{", strings.Repeat("a", many), 320, "}") }, "a name is longer"},
		{"comment in DOT of 20 MB", "dataset", "x.dot.gz", func() []byte { return around("graph{/*", strings.Repeat("a", many), 320, "*/a--b}") }, ""},
	}
}

// refusedRoom is what arrays that take too much are told.
const refusedRoom = "its arrays take more than"
