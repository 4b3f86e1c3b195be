package main

import (
	"fmt"
	"strings"
)

// otherBombs are of facts, of other frameworks' weights and of tokenisers.
func otherBombs() []bomb {
	const many = 1 << 18
	return []bomb{
		{"facts in gzip, 500 MB", "facts", "x.tsv.gz", func() []byte { return gzipped(strings.Repeat("a\tr\tb\n", many), 320) }, refused},
		{"new facts", "facts", "x.tsv.gz", func() []byte { return gzipped(newFacts(512), 1) }, ""},
		{"name of 20 MB", "facts", "x.tsv.gz", func() []byte { return around("a\tr\t", strings.Repeat("b", many), 80, "\n") }, "longer than"},
		{"lists in a state dict", "weights", "x.pt", func() []byte {
			return zipOf(member{name: "a/data.pkl", text: []byte("\x80\x02" + strings.Repeat("]", 4<<20) + ".")})
		}, "values take more"},
		{"state dict that expands", "weights", "x.pt", func() []byte {
			return zipOf(member{name: "a/data.pkl", raw: deflated(strings.Repeat("N", 1<<20), 600), size: 600 << 20})
		}, "expands"},
		{"weights of zeros", "weights", "x.npz", func() []byte {
			return zipOf(member{name: "w.npy", text: npyOf("<f8", "(16000000,)", nil, 128_000_000)})
		}, refused},
		{"weights of 100,000 names", "weights", "x.safetensors", func() []byte {
			return savedOf("{" + repeatOf(100_000, `"%07d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},`) + "}")
		}, "more than 65536 tensors"},
		{"tokeniser of lists", "tokeniser", "x.json", func() []byte { return []byte(`{"words":` + strings.Repeat("[", 1<<20)) }, "exceeded max depth"},
		{"tokeniser of no words", "tokeniser", "x.json", func() []byte { return []byte(`{"kind":"words","words":[` + strings.Repeat(`"",`, 1<<20) + `""]}`) }, "x.json"},
	}
}

// newFacts are all pairs of n entities, each a fact.
func newFacts(n int) string {
	var b strings.Builder
	for i := range n {
		for j := range n {
			fmt.Fprintf(&b, "%x\tr\t%x\n", i, j)
		}
	}
	return b.String()
}
