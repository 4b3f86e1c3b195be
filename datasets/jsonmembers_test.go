package datasets

import (
	"strings"
	"testing"
)

// What nodes say beside their ids is read as the columns of a table of nodes: nothing is left
// out without a word.
func TestMembersOfNodes(t *testing.T) {
	const link = `"links":[{"source":"a","target":"b","weight":2}]}`
	for _, c := range []struct{ text, chosen, want string }{
		{`{"nodes":[{"id":"a","age":30,"job":"cook"},{"id":"b","age":0,"job":"smith"}],` + link, "", `x ["a" "b"]: 0→1:2; features [2 3] [30 1 0 0 0 1]`},
		{`{"nodes":[{"id":"a","age":30,"x":[1,2]},{"age":4,"id":"b","x":[0,5]}],` + link, "", `x ["a" "b"]: 0→1:2; features [2 3] [1 2 30 0 5 4]`},
		{`{"nodes":[{"id":"a","x":1.5,"y":"left","ok":true},{"id":"b","x":-2,"y":"right","ok":false}],` + link, "", `x ["a" "b"]: 0→1:2; labels [0 1] of 2 ["left" "right"]; features [2 2] [1.5 1 -2 0]`},
		{`{"nodes":[{"id":"a","age":30,"label":"p"},{"id":"b","age":2,"label":"q"}],` + link, "#age", `x ["a" "b"]: 0→1:2; labels [1 0] of 2 ["2" "30"]; features [2 2] [1 0 0 1]`},
		{`{"nodes":[{"id":"a","age":30,"tall":1.5},{"id":"b","age":2,"tall":null}],` + link, "#age,tall", `x ["a" "b"]: 0→1:2; targets [30 1.5 2 NaN]`},
		{`{"nodes":[{"id":"a","age":30,"job":"cook"},{"id":"b","job":"smith"}],` + link, "#-age,-weight", `x ["a" "b"]: 0→1; features [2 2] [1 0 0 1]`},
	} {
		d, err := readWith(put(t, "x.json", []byte(c.text)) + c.chosen)
		if err != nil {
			t.Errorf("%s%s: %v", c.text, c.chosen, err)
		} else if got := shown(d); got != c.want {
			t.Errorf("%s%s: read as\n%s, want\n%s", c.text, c.chosen, got, c.want)
		}
	}
	d, err := readWith(put(t, "x.json", []byte(`{"multigraph":false,"graph":{},"made":"by hand","nodes":[{"id":"a","pos":[1,2]},{"id":"b"}],"links":[{"source":"a","target":"b","via":{"c":1}}]}`)))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := d.Describe(&b); err != nil || !strings.Contains(b.String(), `not read  "made", "pos", "via"`+"\n") {
		t.Errorf("it is described as\n%s, error %v", b.String(), err)
	}
	for _, c := range []struct{ text, chosen, want string }{
		{`{"nodes":[{"id":"a","age":1e999},{"id":"b"}],` + link, "", `x.json: node 1, column "age": +Inf is no finite number`},
		{`{"nodes":[{"id":"a"` + manyKeys(300) + `},{"id":"b"}],` + link, "", "nodes have more than 256 attributes"},
		{`{"nodes":[{"id":"a","name":"A"},{"id":"b"}],` + link, "#id", `the column "id" says which row is which; it is neither learnt nor a feature`},
		{`{"nodes":[{"id":"a","age":1},{"id":"b","age":2}],` + link, "#size", `there is no column "size"; there are "age", "weight"`},
	} {
		if _, err := readWith(put(t, "x.json", []byte(c.text)) + c.chosen); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s%s: error %v, want %s", c.text, c.chosen, err, c.want)
		}
	}
}
