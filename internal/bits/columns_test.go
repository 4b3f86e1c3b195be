package bits

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

const tablePath = "testdata/amd64.txt"

// columns are the builds whose bits are recorded.
var columns = []string{"avx2", "noasm", "f64"}

// The marks of a hash that is that of the column before, and of one that is not recorded.
const (
	same    = "="
	missing = "-"
)

// table is the hashes of each entry, one a column.
type table map[string][]string

// column is the hash that one build has recorded of each entry.
func (t table) column(c int) map[string]string {
	hashes := map[string]string{}
	for name, row := range t {
		if row[c] != missing {
			hashes[name] = row[c]
		}
	}
	return hashes
}

// with is the table of the entries that a build has computed, with their hashes in its column.
func (t table) with(c int, hashes map[string]string) table {
	next := table{}
	for name, hash := range hashes {
		row := slices.Clone(t[name])
		if row == nil {
			row = slices.Repeat([]string{missing}, len(columns))
		}
		row[c] = hash
		next[name] = row
	}
	return next
}

// text is the file: the names of the columns, and an entry and its hashes a line.
func (t table) text() []byte {
	out := fmt.Appendf(nil, "entry %s\n", strings.Join(columns, " "))
	for _, name := range slices.Sorted(maps.Keys(t)) {
		row := slices.Clone(t[name])
		for c := len(row) - 1; c > 0; c-- {
			if row[c] == row[c-1] && row[c] != missing {
				row[c] = same
			}
		}
		out = fmt.Appendf(out, "%s %s\n", name, strings.Join(row, " "))
	}
	return out
}

// read reads what text wrote; where there is no file yet, nothing is recorded.
func read(path string) (table, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return table{}, nil
	}
	if err != nil {
		return nil, err
	}
	t := table{}
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		row := strings.Split(line, " ")
		if len(row) != 1+len(columns) || i == 0 && !slices.Equal(row[1:], columns) {
			return nil, fmt.Errorf("%s: line %d: %q is not an entry and a hash for each of %s", path, i+1, line, strings.Join(columns, ", "))
		}
		for c := 2; c < len(row); c++ {
			if row[c] == same {
				row[c] = row[c-1]
			}
		}
		if i > 0 {
			t[row[0]] = row[1:]
		}
	}
	return t, nil
}

// What one build records leaves the hashes of the others as they were, and the table that is
// read is the one that was written.
func TestTable(t *testing.T) {
	path := t.TempDir() + "/table.txt"
	table, err := read(path)
	if err != nil || len(table) != 0 {
		t.Fatal(table, err)
	}
	for _, step := range []struct {
		column int
		hashes map[string]string
		want   string
	}{
		{0, map[string]string{"b/1": "x", "a": "y"}, "a y - -\nb/1 x - -\n"},
		{1, map[string]string{"b/1": "x", "a": "z"}, "a y z -\nb/1 x = -\n"},
		{2, map[string]string{"b/1": "x", "a": "y"}, "a y z y\nb/1 x = =\n"},
		{0, map[string]string{"b/1": "w", "c": "v"}, "b/1 w x =\nc v - -\n"},
	} {
		text := table.with(step.column, step.hashes).text()
		if want := "entry avx2 noasm f64\n" + step.want; string(text) != want {
			t.Errorf("%v in column %d: wrote\n%swant\n%s", step.hashes, step.column, text, want)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if table, err = read(path); err != nil || !maps.Equal(table.column(step.column), step.hashes) {
			t.Errorf("read %v, %v, want %v", table.column(step.column), err, step.hashes)
		}
	}
	if _, recorded := table.column(1)["c"]; recorded {
		t.Error("c is not recorded in noasm")
	}
	for _, text := range []string{"", "entry avx2 noasm\n", "entry avx2 noasm f64\na x y\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := read(path); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
