package gatbench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// data describe and data check know facts and tables of users and items, which are no graphs of
// nodes with features, and say what trains on them.
func TestDataOfLinks(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for file, text := range map[string]string{
		"kg/train.txt": "a\tr\tb\nb\tr\tc\n", "kg/valid.txt": "a\ts\tc\n", "bad/train.txt": "a\tr\n",
		"took.csv": "user,item\n1,2\n1,3\n",
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, stderr, status := tasktest.Gatbench(t, "train", "--task", "node", "--dataset", "kg"); status != cli.Misused || !strings.Contains(stderr, "--dataset kg: it has the facts of a knowledge graph, not nodes: use --task link") {
		t.Errorf("status %d, error %q", status, stderr)
	}
	for args, want := range map[string]string{
		"data describe kg":            "name      kg\nentities  3\nrelations 2\nfacts     2 train, 1 validation, 0 test\nto train  gatbench train --task link --model rotate --dataset kg\nfrom      kg\n",
		"data describe took.csv":      "name      took\nusers     1\nitems     2\nlinks     2\nto train  gatbench train --task link --model lightgcn --dataset took.csv\nfrom      took.csv\n",
		"data describe kg --json":     `{"name":"kg","from":"kg","entities":3,"relations":2,"facts":[2,1,0]}` + "\n",
		"data check kg took.csv":      "right  kg: 3 entities, 2 relations, 2 train, 1 validation, 0 test\nright  took.csv: 1 users, 2 items, 2 links\n",
		"data check bad":              "wrong  bad/train.txt: line 1: 2 fields, want 3: head, relation and tail\n",
		"data describe planted-rules": "name      planted rules\nentities  120\nrelations 6\nfacts     600 train, 60 validation, 60 test\nto train  gatbench train --task link --model rotate --dataset planted-rules\nfrom      planted-rules\n",
	} {
		out, stderr, status := tasktest.Gatbench(t, strings.Fields(args)...)
		if bad := strings.HasSuffix(args, "bad"); out != want || (status == cli.Succeeded) == bad {
			t.Errorf("%s: status %d, error %q, output %q, want %q", args, status, stderr, out, want)
		}
	}
}
