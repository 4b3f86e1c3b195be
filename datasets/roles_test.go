package datasets

import (
	"os"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
)

// readWith is ReadAs of a path that says after a # which columns are to be learnt, which after a hyphen are left out,
// and whether edges are undirected.
func readWith(path string) (*Dataset, error) {
	file, r := rolesOf(path)
	return ReadAs(file, r)
}

// rolesOf is the path and the roles of readWith.
func rolesOf(path string) (file string, r columns.Roles) {
	text := ""
	if _, err := os.Stat(path); err != nil {
		if at := strings.LastIndexByte(path, '#'); at >= 0 {
			path, text = path[:at], path[at+1:]
		}
	}
	file = path
	r.As = map[string]columns.Encoding{}
	for _, name := range strings.Split(text, ",") {
		switch name = strings.TrimSpace(name); {
		case name == "":
		case name == "undirected":
			r.Undirected = true
		case name == "directed":
			r.Directed = true
		case name[0] == '-':
			r.As[name[1:]] = columns.Left
		default:
			r.Label = append(r.Label, name)
		}
	}
	return file, r
}

// readText is readWith of a text that a file of that name would hold.
func readText(text, path string) (*Dataset, error) {
	file, r := rolesOf(path)
	raw, err := form.ReadReader(strings.NewReader(text), file, r.Options())
	if err != nil {
		return nil, err
	}
	s, err := columns.Choose(raw, r)
	if err != nil {
		return nil, err
	}
	return From(raw, s)
}

const (
	mark        = "\ufeff"
	webPages    = "out1_node_feature_label.txt"
	webLinks    = "out1_graph_edges.txt"
	second, day = 1_000_000, 24 * 60 * 60 * second
	sparseLeast = 16 // columns from which on mostly zeros are sparse
)
