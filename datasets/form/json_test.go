package form

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

func TestJSON(t *testing.T) {
	const ab = `2 nodes, 2 listed ["a" "b"]`
	const link = `"links":[{"source":"a","target":"b","weight":2}]}`
	const linked = "\n1 edges 0→1; weight number (weight) [2]\n"
	for _, c := range []struct {
		text, want string
		o          Options
	}{
		{`[["b","a"],["b","c"]]`, "3 nodes, 0 listed [\"b\" \"a\" \"c\"]\n2 edges 0→1 0→2\n", Options{}},
		{`[[1,0,0.5],[1.0,2]]`, "3 nodes, 0 listed [\"1\" \"0\" \"2\"]\n2 edges 0→1 0→2; weight number (weight) [0.5 1]\n", Options{}},
		{`[{"u":1,"v":0,"km":2,"kind":"road"},[0,1],{"v":1,"u":0,"kind":null,"km":"3","id":7}]`,
			`2 nodes, 0 listed ["1" "0"]` + "\n" + `3 edges 0→1 1→0 1→0; km number [2 NaN 3]; kind word ["road"][0 -1 -1]; id number [NaN NaN 7]` + "\n", Options{}},
		{`[{"who":1,"whom":0,"source":"web","ref":"x"},{"who":1,"whom":0,"ref":"y"}]`, `2 nodes, 0 listed ["1" "0"]` + "\n" + `2 edges 0→1 0→1 ["x" "y"]; source word ["web"][0 -1]` + "\n",
			Options{Source: "who", Target: "Whom", EdgeID: "ref"}},
		{`{"directed":false,"multigraph":false,"graph":{},"made":"by hand","nodes":[{"id":"a","pos":[1,2]},"b"],"links":[{"source":"b","target":"a","via":{"c":1},"key":0}]}`,
			ab + "\n1 edges 1→0, undirected\nunread: [\"made\" \"pos\" \"via\"]\n", Options{}},
		{`{"nodes":[{"id":"a","age":30,"job":"cook","x":[1,0]},{"age":4,"id":"b","x":[0,5]}],` + link,
			ab + `; x matrix (feature) 2×2[1 0 0 5]; age number [30 4]; job word ["cook"][0 -1]` + linked, Options{}},
		{`{"nodes":[{"id":"a","x":1.5,"y":"left","ok":true},{"id":"b","x":-2,"y":"right","ok":false}],` + link,
			ab + `; x number [1.5 -2]; y word ["left" "right"][0 1]; ok number [1 0] truths` + linked, Options{}},
		{`{"nodes":[{"index":7,"id":"a","code":"q"},{"id":"b","code":"r","index":8}],` + link, ab + `; code word ["q" "r"][0 1]` + linked + "unread: [\"index\"]\n", Options{}},
		{`{"nodes":[{"id":1,"code":"a"},{"id":2,"code":"b"}],` + link, ab + `; id number [1 2]` + linked, Options{ID: "code"}},
		{`{"labels":{"a":1,"b":0},"edges":[["b","a"]],"features":{"b":[2,0,2],"a":[1]}}`,
			ab + "; labels number (label) [1 0]; features matrix (feature) 2×3[0 1 0 1 0 1]\n1 edges 1→0\n", Options{}},
		{`{"edges":[[1,0]],"x":[[0.5],[0]],"y":["p",null]}`, `2 nodes, 2 listed ["0" "1"]; y word (label) ["p"][0 -1]; x matrix (feature) 2×1[0.5 0]` + "\n1 edges 1→0\n", Options{}},
		{`{"nodes":["a","b"],"edges":[],"classes":["p","q"]}`, ab + `; classes word (label) ["p" "q"][0 1]` + "\n0 edges\n", Options{}},
		{`[{"source":"a","target":"b","at":1716076800},{"source":"b","target":"a","at":1716076801}]`,
			`2 nodes, 0 listed ["a" "b"]` + "\n2 edges 0→1 1→0; at time [1716076800000000 1716076801000000] dated\n", Options{}},
	} {
		r, err := readJSON(strings.NewReader(c.text), "x.json", c.o)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := shownRaw(r); got != c.want {
			t.Errorf("%s: read as\n%s, want\n%s", c.text, got, c.want)
		}
		if err := checkRaw(r); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	r, err := readJSON(strings.NewReader(`{"nodes":["a","b"],"edges":[{"u":"a","v":"b","km":1},{"u":"b","v":"a","km":"NA"}]}`), "x.json", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Edges[0].Column("km"); c.Mixed == nil || c.Mixed.Error() != `x.json: link 2, column "km": "NA" stands among numbers: leave the cell empty, fill it, with 0 perhaps, or leave the column out (--column km=none)` {
		t.Errorf("NA: %v", c.Mixed)
	}
	f, _, err := OpenFS(fstest.MapFS{"features.json": {Data: []byte(`{"0": [3, 1, 1], "1": [0], "2": []}`)}}, ".")
	if err != nil {
		t.Fatal(err)
	}
	table, err := featuresJSON(f, "features.json", Options{})
	if err != nil || fmt.Sprintf("%q", table.IDs.Texts) != `["0" "1" "2"]` || shownColumn(&table.Columns[0]) != "features matrix (feature) 3×4[0 1 0 1 1 0 0 0 0 0 0 0]" {
		t.Errorf("%v, error %v", table, err)
	}
}

// manyKeys are that many members after others.
func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":1`, i)
	}
	return b.String()
}

func TestBadJSON(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "x.json: line 1, column 1: it ends where a value is wanted: it is empty or cut"},
		{"7", "x.json: line 1, column 1: 7 stands there, want a list of edges or an object"},
		{`[[0,1],[1,`, "x.json: line 1, column 11: it ends inside a list: it is cut, or a ] is missing"},
		{"[\n  [0, 1],\n  [1", "x.json: line 3, column 5: it ends inside a list: it is cut, or a ] is missing"},
		{"{\"edges\": [[0, 1]],\n \"directed\": False}", "x.json: line 2, column 14: False stands there, as Python writes it: JSON has true, false and null; json.dump writes them"},
		{"[[\"caf\xe9\", \"b\"]]", "x.json: line 1, column 3: the byte 0xe9 of a text is not UTF-8: save the file as UTF-8"},
		{`[[0,1]] [`, "x.json: line 1, column 9: something follows its value"},
		{`[[0]]`, "x.json: line 1, column 3: edge 0 has 1 ends, want two"},
		{`[[0,1,2,3]]`, "x.json: line 1, column 7: edge 0 has more than two ends and a weight"},
		{`[[0,1,"x"]]`, `x.json: line 1, column 7: edge 0: "x" stands there, want a finite number`},
		{`[0,1]`, `x.json: line 1, column 2: edge 0 is 0, want [source, target], with a weight perhaps`},
		{`[[0,null]]`, "x.json: line 1, column 5: an end of the edge is empty"},
		{`{"0":[1,5],"1":[]}`, `x.json: there are no edges in it: want a list [[source, target], …], or an object that has one as "edges" or "links"`},
		{`{"nodes":[1,1],"edges":[[1,1]]}`, `x.json: line 1, column 13: node 1: node "1" stands there already`},
		{`{"nodes":[{"y":1}],"edges":[[1,1]]}`, `x.json: line 1, column 17: node 0: it has no "id"`},
		{`{"nodes":[1],"edges":[[1,2]]}`, `x.json: edge 0: node "2" is not in x.json: add it there, or leave its edges out`},
		{`{"nodes":[1,2],"edges":[[1,2]],"labels":[0]}`, "x.json: a list of 2 nodes, and what is said of 1 in their order"},
		{`{"edges":[[1,2]],"labels":[0,1]}`, "x.json: an edge has an end 2, and there are labels or features of 2 nodes, numbered from 0. Indices seem to begin at 1: subtract 1 from all ends of edges"},
		{`{"edges":[[1,3]],"features":[[0],[1]]}`, `x.json: edge 0: node "3" is not in x.json: add it there, or leave its edges out`},
		{`{"edges":[[1,0]],"features":[[1,2],[1]]}`, `x.json: line 1, column 38: of node "1": 1 features, and 2 of the nodes before`},
		{`{"edges":[[1,0]],"features":{"0":[-1]}}`, `x.json: line 1, column 35: of node "0": -1 is not the number of a feature`},
		{`{"links":[{"target":1}]}`, `x.json: line 1, column 22: edge 0: want its ends as "source" and "target"`},
		{`{"a":` + strings.Repeat("[", 10000), "x.json: line 1, column 10005: values are nested deeper than 10000"},
		{`[{"u":1,"v":0` + manyKeys(300) + `}]`, "x.json: line 1, column 2216: edge 0: links have more than 256 attributes"},
		{`{"nodes":[{"id":"a"` + manyKeys(300) + `}],"edges":[]}`, "x.json: line 1, column 2222: node 0: nodes have more than 256 attributes"},
		{`{"nodes":["a"],"edges":[],"labels":{"a":1,"b":2}}`, `x.json: line or element 1: node "b" is not in the table that lists the nodes`},
		{`{"nodes":["a","b"],"edges":[],"labels":{"a":1}}`, `x.json: it says nothing of node "b"`},
		{`{"nodes":[{"id":"a","x":[1,2]},{"id":"b","x":[1]}]}`, "x.json: line 1, column 48: node 1: 1 features, and 2 of the nodes before"},
		{`{"edges":[[0,1]],"features":{"0":[1e999]}}`, `x.json: line 1, column 35: of node "0": 1e999 stands there, want a finite number`},
		{`{"edges":7}`, "x.json: line 1, column 10: 7 stands there, want a list"},
		{`{"labels":7}`, "x.json: line 1, column 11: 7 stands there, want a list or an object of what is said of each node"},
		{`{"edges":[[0,[1]]]}`, "x.json: line 1, column 14: a list stands there, want a number or a text"},
	} {
		if _, err := readJSON(strings.NewReader(c.text), "x.json", Options{}); err == nil || err.Error() != c.want {
			t.Errorf("%.60s: error %v, want %s", c.text, err, c.want)
		}
	}
	bomb := zipped("[" + strings.Repeat("[0,1],", 2_300_000) + "[0,1]]")
	if _, err := readJSON(packedReader(t, bomb), "x.json.gz", Options{}); err == nil || !strings.Contains(err.Error(), "which is refused: unpack it first, if you trust it") {
		t.Errorf("a bomb: error %v", err)
	}
}

func FuzzJSON(f *testing.F) {
	f.Add(`{"directed":false,"nodes":[{"id":5,"x":[1]},{"id":3,"y":1}],"links":[{"source":3,"target":5,"value":2}]}`)
	f.Add(`[["b","a",0.5],["b","c"]]`)
	f.Add(`[{"u":1,"v":0,"kind":"road","km":2},[0,1],{"u":2,"v":1,"kind":null,"km":1}]`)
	f.Add(`{"labels":{"a":1,"b":0},"edges":[["a","b"]],"features":{"b":[2,0],"a":[1]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, o := range []Options{{}, {ID: "y", Source: "v", Target: "u", EdgeID: "kind"}} {
			r, err := readJSON(strings.NewReader(text), "x.json", o)
			if err == nil {
				err = checkRaw(r)
			} else if strings.HasPrefix(err.Error(), "x.json: ") {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}
