package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/internal/datadir"
	"github.com/edgewise-ml/edgewise/internal/spell"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// Info says what a dataset is before it is opened.
type Info struct {
	Name  string // that [Open] knows
	Title string
	About string

	Nodes, Edges, Features, Classes int // edges: directed, without self-loops

	Home string // who publishes it; empty: it is part of the package
}

// entry is a dataset that is known by name.
type entry struct {
	Info
	kind  kind
	files []string // of a data folder, any of which is what is read
}

// kind is the form that a dataset is published in.
type kind uint8

const (
	embedded kind = iota
	planetoidKind
	npzKind
	linqsKind
	edgesKind
	webkbKind
	platonovKind // npz, each edge in one direction and meant in both
)

// subfolders are where each kind is looked for, beside the data folder itself.
var subfolders = map[kind][]string{
	planetoidKind: {"planetoid"}, npzKind: {"npz", "npz_plain"}, platonovKind: {"heterophilous"}, linqsKind: {"linqs"}, edgesKind: {"snap"}, webkbKind: {"webkb"},
}

// Who publishes them.
const (
	planetoidPage   = "github.com/kimiyoung/planetoid"
	shchurHome      = "Shchur and others (github.com/shchur/gnn-benchmark, folder data/npz)"
	graph2gaussHome = "Bojchevski (github.com/abojchevski/graph2gauss, folder data)"
	linqsHome       = "LINQS (linqs.org/datasets)"
	snapHome        = "SNAP (snap.stanford.edu/data/ego-Facebook.html)"
	platonovHome    = "Platonov and others (github.com/yandex-research/heterophilous-graphs, folder data)"
	geomHome        = "the authors of Geom-GCN (github.com/graphdml-uiuc-jlu/geom-gcn, folders new_data and splits)"
)

// catalogue is every dataset that is known by name, in order.
var catalogue = []entry{
	{Info{"amazon_computers", "Amazon Computers", "goods bought together, by their reviews", 13752, 491722, 767, 10, shchurHome}, npzKind, []string{"amazon_computers.npz", "amazon_electronics_computers.npz"}},
	{Info{"amazon_photo", "Amazon Photo", "goods bought together, by their reviews", 7650, 238162, 745, 8, shchurHome}, npzKind, []string{"amazon_photo.npz", "amazon_electronics_photo.npz"}},
	{Info{"chameleon_filtered", "Chameleon (filtered)", "Wikipedia, without duplicates; ten splits", 890, 17708, 2325, 5, platonovHome}, platonovKind, []string{"chameleon_filtered.npz"}},
	{Info{"citeseer", "CiteSeer", "citations, by words; standard split", 3327, 9104, 3703, 6, planetoidPage}, planetoidKind, []string{"ind.citeseer.allx"}},
	{Info{"coauthor_cs", "Coauthor CS", "authors who wrote together, by keywords", 18333, 163788, 6805, 15, shchurHome}, npzKind, []string{"coauthor_cs.npz", "ms_academic_cs.npz"}},
	{Info{"coauthor_physics", "Coauthor Physics", "authors who wrote together, by keywords", 34493, 495924, 8415, 5, shchurHome}, npzKind, []string{"coauthor_physics.npz", "ms_academic_phy.npz"}},
	{Info{"cora", "Cora", "citations, by words; standard split", 2708, 10556, 1433, 7, planetoidPage}, planetoidKind, []string{"ind.cora.allx"}},
	{Info{"cora_linqs", "Cora (LINQS)", "Cora as first published, without a split", 2708, 10556, 1433, 7, linqsHome}, linqsKind, []string{"cora.content", "cora/cora.content", "cora.zip"}},
	{Info{"cora_ml", "Cora ML", "citations in machine learning, by words", 2995, 16316, 2879, 7, graph2gaussHome}, npzKind, []string{"cora_ml.npz"}},
	{Info{"facebook", "Facebook (SNAP)", "friendships, without features or classes", 4039, 176468, 4039, 0, snapHome}, edgesKind, []string{"facebook_combined.txt.gz", "facebook_combined.txt"}},
	{Info{"karate", "Karate", "Zachary's karate club, part of the program", 34, 156, 34, 2, ""}, embedded, nil},
	{Info{"minesweeper", "Minesweeper", "fields of the game on a grid; ten splits", 10000, 78804, 7, 2, platonovHome}, platonovKind, []string{"minesweeper.npz"}},
	{Info{"pubmed", "PubMed", "citations, by weighted words; standard split", 19717, 88648, 500, 3, planetoidPage}, planetoidKind, []string{"ind.pubmed.allx"}},
	{Info{"texas", "Texas (WebKB)", "web pages, links in one direction; first split", 183, 309, 1703, 5, geomHome}, webkbKind, []string{"texas/out1_graph_edges.txt"}},
}

// find returns the file of the dataset in a data folder, or the folder that its
// files are in; "" if it is not there.
func (e *entry) find(dir string) string {
	for _, sub := range append([]string{""}, subfolders[e.kind]...) {
		for _, f := range e.files {
			path := filepath.Join(dir, sub, filepath.FromSlash(f))
			if info, err := os.Stat(path); err != nil || info.IsDir() {
				continue
			}
			if e.kind == planetoidKind || e.kind == webkbKind {
				return filepath.Dir(path)
			}
			return path
		}
	}
	return ""
}

// read reads what find found.
func (e *entry) read(path string) (d *Dataset, err error) {
	switch e.kind {
	case embedded:
		return Karate(), nil
	case planetoidKind:
		return planetoid(path, e.Name)
	case edgesKind:
		d, err = LoadAs(path, columns.Roles{Undirected: true})
	case platonovKind:
		if d, err = Load(path); err == nil {
			d = d.Undirected()
		}
	default:
		d, err = Load(path)
	}
	if err != nil {
		return nil, err
	}
	d.Name = e.Title // the file may have a name of its own
	return d, nil
}

// holds reports whether files in Planetoid's form of a name are in a folder.
func holds(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, "ind."+name+".allx"))
	return err == nil
}

// planetoid reads the files of a name in Planetoid's form, of which a folder may have several.
func planetoid(dir, name string) (*Dataset, error) {
	return Load(filepath.Join(dir, "ind."+name+".allx"))
}

// lookUp returns what is known by a name, nil if nothing is.
func lookUp(name string) *entry {
	for i := range catalogue {
		if catalogue[i].Name == strings.ToLower(name) {
			return &catalogue[i]
		}
	}
	return nil
}

// titleOf returns what a dataset of that name is called.
func titleOf(name string) string {
	if e := lookUp(name); e != nil {
		return e.Title
	}
	return name
}

// frameworksHave reports whether DGL and PyG have a dataset of that title.
func frameworksHave(title string) bool {
	return slices.Contains([]string{"Amazon Computers", "Amazon Photo", "CiteSeer", "Coauthor CS", "Coauthor Physics", "Cora", "Karate", "PubMed"}, title)
}

// Names returns the names that [Open] knows, in order.
func Names() []string {
	var names []string
	for _, e := range catalogue {
		names = append(names, e.Name)
	}
	return names
}

// Catalogue returns what there is by name, in order.
func Catalogue() []Info {
	var list []Info
	for _, e := range catalogue {
		list = append(list, e.Info)
	}
	return list
}

// Open returns the dataset of that name, whatever its case: "karate", which is
// part of this package, or one that [Find] finds. A name that is none of these is
// an [*UnknownError].
func Open(dataDir, name string) (*Dataset, error) {
	if strings.EqualFold(name, "karate") {
		return Karate(), nil
	}
	path, err := Find(dataDir, name)
	if err != nil {
		return nil, err
	}
	if e := lookUp(name); e != nil {
		return e.read(path)
	}
	return planetoid(path, name)
}

// Find returns the file of a dataset, or the folder of its files. It looks in
// dataDir, unless that is empty, then in $EDGEWISE_DATA, then in [CacheDir]; and
// of each in the subfolder of the dataset's kind: planetoid, npz, npz_plain,
// heterophilous, snap, linqs or webkb. A dataset of another name is found there in Planetoid's form, the
// files ind.NAME.allx and so on, in the case that these have.
func Find(dataDir, name string) (path string, err error) {
	e := lookUp(name)
	switch {
	case e == nil && filepath.Base(name) == name:
		for _, dir := range folders(dataDir) {
			for _, sub := range []string{dir, filepath.Join(dir, "planetoid")} {
				if holds(sub, name) {
					return sub, nil
				}
			}
		}
		fallthrough
	case e == nil:
		return "", unknown(strings.ToLower(name), Names())
	case e.kind == embedded:
		return "", fmt.Errorf("%s is part of the program, and in no file", e.Name)
	}
	dirs := folders(dataDir)
	for _, dir := range dirs {
		if path := e.find(dir); path != "" {
			return path, nil
		}
	}
	get := "get it from " + e.Home
	if Sources(e.Name) != nil {
		get = "get it with gatbench data fetch " + e.Name
	}
	return "", &MissingError{Name: e.Name, Get: get, sought: fmt.Sprintf("no files of %s (%s) in %s, nor in %s there",
		e.Name, e.files[0], strings.Join(dirs, ", "), strings.Join(subfolders[e.kind], ", "))}
}

// MissingError says that the files of a known dataset are in no folder where they are
// looked for.
type MissingError struct {
	Name   string
	Get    string // how to get them, as a request
	sought string
}

// Error says where the files were looked for and what to do.
func (e *MissingError) Error() string {
	return e.sought + ": " + e.Get + ", or name the folder it is in with --data or EDGEWISE_DATA"
}

// UnknownError reports a name that is no dataset's.
type UnknownError struct {
	Name    string
	Nearest string   // the most similar name there is; empty: none is like it
	Known   []string // all names there are
	Get     string   // what the name is and how to get it, if others publish it; else empty
}

func (e *UnknownError) Error() string {
	if e.Get != "" {
		return e.Get
	}
	if e.Nearest == "" {
		return fmt.Sprintf("there is no dataset %.60q; there are: %s", e.Name, strings.Join(e.Known, ", "))
	}
	return fmt.Sprintf("there is no dataset %.60q; did you mean %q? There are: %s", e.Name, e.Nearest, strings.Join(e.Known, ", "))
}

func unknown(name string, known []string) error {
	return &UnknownError{Name: name, Get: elsewhere(name), Nearest: spell.Meant(name, known), Known: known}
}

// folders returns where datasets may be, in the order of preference.
func folders(dataDir string) []string { return datadir.Folders(dataDir) }

// CacheDir returns the folder for datasets that are fetched: edgewise in the
// user's cache.
func CacheDir() (string, error) { return datadir.Cache() }

// FindGraphs returns the file or folder that [OpenGraphs] reads for a name, "" if there is
// none.
func FindGraphs(dataDir, name string) string {
	for _, dir := range folders(dataDir) {
		for _, sub := range []string{dir, filepath.Join(dir, "tudataset")} {
			for _, base := range []string{name, strings.ToUpper(name)} {
				for _, path := range []string{filepath.Join(sub, base), filepath.Join(sub, base+".zip")} {
					if manyGraphs(path) {
						return path
					}
				}
			}
		}
	}
	if manyGraphs(name) {
		return name
	}
	return ""
}

// manyGraphs reports whether [LoadGraphs] reads what is at path, as far as can be seen
// without reading all of it.
func manyGraphs(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if plain := unpack.Plain(path); strings.HasSuffix(plain, ".jsonl") || strings.HasSuffix(plain, ".ndjson") {
		return !info.IsDir()
	}
	if !info.IsDir() && !slices.Contains([]string{".zip", ".tar", ".tgz"}, filepath.Ext(unpack.Plain(path))) {
		return false
	}
	f, err := unpack.OpenFolder(path)
	if err != nil {
		return false
	}
	defer f.Close()
	// One of a form's files is enough: the reader says which is missing.
	return len(f.All("_graph_indicator.txt"))+len(f.All("_graph_labels.txt"))+len(f.All("graph-label.csv")) > 0
}

// OpenGraphs reads graphs by their name, such as MUTAG, from NAME or NAME.zip in dataDir,
// in the folder tudataset there, or where [Open] looks too; or from the file or folder of
// that path.
func OpenGraphs(dataDir, name string) (*Graphs, error) {
	if path := FindGraphs(dataDir, name); path != "" {
		return LoadGraphs(path)
	}
	if _, err := os.Stat(name); err == nil {
		return LoadGraphs(name) // for its error
	}
	if get := elsewhere(name); get != "" {
		return nil, &UnknownError{Name: name, Known: Names(), Get: fmt.Sprintf("there is no file %s.zip and no folder of that name in %s: %s", name, strings.Join(folders(dataDir), ", "), get)}
	}
	return nil, fmt.Errorf("there are no graphs %s: no file %s.zip and no folder of them in %s: name the folder it is in with --data or EDGEWISE_DATA, or the file itself", name, name, strings.Join(folders(dataDir), ", "))
}
