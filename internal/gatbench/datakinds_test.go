package gatbench

import (
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// data describe and data check know facts, and tables of users and items, which are no graphs of
// nodes with features.
func TestDataKinds(t *testing.T) {
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
	if _, stderr, status := tasktest.Gatbench(t, "train", "--task", "node", "kg"); status != cli.Misused || !strings.Contains(stderr, "gatbench: kg: it has the facts of a knowledge graph, not nodes: use --task link") {
		t.Errorf("status %d, error %q", status, stderr)
	}
	for args, want := range map[string]string{
		"data describe kg":            "name      kg\nentities  3\nrelations 2\nfacts     2 train, 1 validation, 0 test\nkind      the facts of a knowledge graph\nfiles     train.txt, valid.txt\nfrom      kg\nnext: gatbench train kg\n",
		"data describe took.csv":      "name      took\nusers     1\nitems     2\nlinks     2\nkind      users and items\nfrom      took.csv\nnext: gatbench train took.csv\n",
		"data describe kg --json":     `{"event":"description","kind":"facts","name":"kg","from":"kg","entities":3,"relations":2,"facts":[2,1,0],"files":["kg/train.txt","kg/valid.txt"]}` + "\n",
		"data check kg took.csv":      "right  kg: 3 entities, 2 relations, 2 train, 1 validation, 0 test\nright  took.csv: 1 users, 2 items, 2 links\nnext: gatbench train kg\n",
		"data check bad":              "wrong  bad/train.txt: line 1: 2 fields, want 3: head, relation and tail\n",
		"data describe planted-rules": "name      planted rules\nentities  120\nrelations 6\nfacts     600 train, 60 validation, 60 test\nkind      the facts of a knowledge graph\nfrom      this program\nnext: gatbench train planted-rules\n",
	} {
		out, stderr, status := tasktest.Gatbench(t, strings.Fields(args)...)
		if bad := strings.HasSuffix(args, "bad"); out != want || (status == cli.Succeeded) == bad {
			t.Errorf("%s: status %d, error %q, output %q, want %q", args, status, stderr, out, want)
		}
	}
}
