package source

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/cora"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/datasets/form/parquet"
	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/models"
)

// OpenNodes is open, or else the nodes of many graphs, which are one graph then; errors say for which task.
func OpenNodes(dir, name, what string, columns Columns) (*datasets.Dataset, error) {
	if slices.Contains(datasets.Names(), name) || datasets.FindGraphs(dir, name) == "" {
		return OpenData(dir, name, columns)
	}
	g, err := datasets.OpenGraphs(dir, name)
	if err != nil {
		return nil, err
	}
	d, err := g.Nodes()
	if err != nil {
		return nil, cli.Misuse("%s with --task %s: %w: --task graph learns those", name, what, err)
	}
	return d, nil
}

// OpenData returns the dataset that DatasetNamed names, or else reads the file or folder
// of that name. Cora comes from the program unless --data names a folder.
func OpenData(dir, name string, columns Columns) (*datasets.Dataset, error) {
	if dir != "" && !cli.IsFolder(dir) {
		return nil, cli.Misuse("--data %s: there is no such folder", dir)
	}
	if columns.any() && slices.Contains(datasets.Names(), name) {
		return nil, cli.Misuse("%s: it is known what its columns are for: leave out%s", name, columns.Flags())
	}
	if name == "cora" && dir == "" {
		return cora.Load()
	}
	d, err := datasets.Open(dir, name)
	if missing := (*datasets.MissingError)(nil); errors.As(err, &missing) && datasets.Sources(missing.Name) != nil {
		missing.Get = fmt.Sprintf("get it with %s data fetch %s", cli.Program, missing.Name)
	}
	if !errors.As(err, new(*datasets.UnknownError)) {
		return d, err
	}
	own, readErr := columns.Read(name)
	if readErr == nil {
		return own, nil
	}
	switch KindOf(dir, name) {
	case ManyGraphs:
		return nil, manyGraphs(dir, name)
	case UsersAndItems:
		return nil, cli.Misuse("%s: it has users and items, not nodes: use --task link to learn recommendations", name)
	case Facts:
		return nil, cli.Misuse("%s: it has the facts of a knowledge graph, not nodes: use --task link to predict missing ones", name)
	}
	if errors.Is(readErr, fs.ErrNotExist) && !strings.ContainsAny(name, `/\.`) { // a name, and not that of a file
		if _, isText := TextNamed(name); isText {
			err = cli.Misuse("%s is a dataset of text, and no graph with features: %s demo says which model reads it", name, cli.Program)
		}
		return nil, err
	}
	return nil, orModel(name, readErr)
}

// orModel returns err, or for a file that is a saved model an error that says so.
func orModel(path string, err error) error {
	if err == nil {
		return nil
	}
	if _, no := models.Load(path); no != nil {
		return err
	}
	return cli.Misuse("%s is a model that train saved, not data: %s eval %s measures it", path, cli.Program, cli.Word(path))
}

// manyGraphs returns the error for many graphs where one is wanted.
func manyGraphs(dir, name string) error {
	return cli.Misuse("%s: it has many graphs, not one: use --task graph, as in %s train%s --task graph", name, cli.Program, Flagged(&name, dir))
}

// Flagged is how a command goes on that is to train on the data that flags name, which may be nil.
func Flagged(dataset *string, dir string) (flags string) {
	if dataset != nil {
		flags = " " + cli.Word(*dataset)
	}
	if dir != "" {
		flags += " --data " + cli.Word(dir)
	}
	return flags
}

// Where returns where open finds a dataset, "" if it does not.
func Where(dir, name string) string {
	path, err := datasets.Find(dir, name)
	switch {
	case name == "cora" && dir == "", name == "karate":
		return program
	case errors.As(err, new(*datasets.UnknownError)):
		return name
	}
	return path
}

// DatasetNamed returns a dataset's name in lower case, as it is known, or that of a
// file or folder as it stands.
func DatasetNamed(name string) string {
	if lower := strings.ToLower(name); slices.Contains(datasets.Names(), lower) {
		return lower
	}
	return name
}

// DatasetFiles returns the files of a dataset, as far as there are any.
func DatasetFiles(flag, dir, name string) []cli.File {
	var fs []cli.File
	for _, path := range datasets.Files(Where(dir, name)) {
		fs = append(fs, cli.File{Flag: flag, Path: path})
	}
	return fs
}

// SplitsFile returns the file that --splits names, if it names one.
func SplitsFile(name string) cli.File {
	if NoFile(name) {
		return cli.File{}
	}
	return cli.File{Flag: "--splits", Path: name}
}

// CSL is the dataset that the program draws itself.
const CSL = "csl"

// HoldsGraphs reports whether a dataset is many graphs.
func HoldsGraphs(dir, name string) bool {
	return name == CSL || name != "" && !slices.Contains(datasets.Names(), DatasetNamed(name)) && datasets.FindGraphs(dir, name) != ""
}

// OpenGraphs opens a dataset of many graphs, or draws it; chosen are columns as NAME=KIND between commas.
func OpenGraphs(dir, name, chosen string) (*datasets.Graphs, error) {
	if dir != "" && !cli.IsFolder(dir) {
		return nil, cli.Misuse("--data %s: there is no such folder", dir)
	}
	if strings.EqualFold(name, CSL) {
		if chosen != "" {
			return nil, cli.Misuse("--column %s: the graphs of %s have no columns: leave it out", chosen, CSL)
		}
		return datasets.CSL(rand.New(rand.NewPCG(0, 0)), 15), nil
	}
	if lower := DatasetNamed(name); slices.Contains(datasets.Names(), lower) && datasets.FindGraphs(dir, name) == "" {
		return nil, cli.Misuse("%s: it is a single graph: use --task node, edge or link", lower)
	}
	path := datasets.FindGraphs(dir, name)
	if chosen == "" || path == "" {
		d, err := datasets.OpenGraphs(dir, name)
		return d, orModel(name, err)
	}
	return Columns{Column: chosen}.readGraphs(path)
}

// Planted is the knowledge graph that the program draws itself.
const Planted = "planted-rules"

// ReadFacts reads a knowledge graph as it stands.
func ReadFacts(dir, name string) (*datasets.Knowledge, error) {
	if name == Planted {
		return datasets.PlantedRules(rand.New(rand.NewPCG(0, 7)), 10, 12)
	}
	if HoldsGraphs(dir, name) {
		return nil, manyGraphs(dir, name)
	}
	path := factsPath(dir, name)
	if _, err := os.Stat(path); err != nil {
		return nil, cli.Misuse("%s: there is no such file or folder: name a text of head, relation and tail a line, a folder of train.txt, valid.txt and test.txt, or %s", name, Planted)
	}
	k, err := datasets.LoadKnowledge(path)
	return k, orModel(path, err)
}

// factsPath returns where ReadFacts finds the facts of a name.
func factsPath(dir, name string) string {
	if name == Planted {
		return program
	}
	if _, err := os.Stat(name); err != nil && dir != "" {
		return filepath.Join(dir, name)
	}
	return name
}

// IsFacts reports whether a path is that of a knowledge graph, as far as its name tells.
func IsFacts(dir, name string) bool {
	if name == Planted {
		return true
	}
	for _, path := range []string{name, filepath.Join(dir, name)} {
		for _, ext := range []string{".txt", ".tsv", ".csv"} {
			if info, err := os.Stat(filepath.Join(path, "train"+ext)); err == nil && info.Mode().IsRegular() {
				return true
			}
		}
	}
	return false
}

// InteractionsIn returns the file of users and items that a name stands for; "" if it is none.
func InteractionsIn(dir, name string) string {
	for _, path := range []string{name, filepath.Join(dir, name)} {
		if info, err := os.Stat(path); name != "" && err == nil && info.Mode().IsRegular() && datasets.HoldsInteractions(path) {
			return path
		}
	}
	return ""
}

// TextNamed returns the dataset of text of that name, if there is one.
func TextNamed(name string) (text.Info, bool) {
	for _, i := range text.Catalogue() {
		if i.Name == strings.ToLower(name) {
			return i, true
		}
	}
	return text.Info{}, false
}

// OtherForms are those beside the forms that package form reads itself.
func OtherForms() []form.Form { return []form.Form{parquet.Form} }
