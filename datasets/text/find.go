package text

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/datadir"
	"github.com/edgewise-ml/edgewise/internal/spell"
)

// Info says what a dataset of text is.
type Info struct {
	Name  string // that [Find] knows, and the folder that it is in
	About string
	File  string // one of its files
}

// catalogue is every dataset of text that is known by name, in order.
var catalogue = []Info{
	{"babi", "bAbI: 20 tasks of questions about stories", "babi_en.tar.gz"},
	{"conll2000", "CoNLL-2000: parts of speech and chunks", "conll2000.zip"},
	{"multi30k", "Multi30k: captions in German and English", "train.de.gz"},
	{"names", "surnames in 18 languages", "Russian.txt"},
	{"ptr_sort", "rows of numbers and their order", "x_5.csv"},
	{"sst", "Stanford Sentiment Treebank: sentences as trees, a label a node", "train.txt.gz"},
	{"trec", "TREC: questions and what they ask for", "qc.zip"},
}

// Catalogue returns what [Find] knows by name, in order.
func Catalogue() []Info { return slices.Clone(catalogue) }

// Find returns the folder of a dataset of text, which its reader reads. It looks in
// dataDir, unless that is empty, then in $EDGEWISE_DATA, then in edgewise in the user's
// cache; of each in the subfolder with the dataset's name, and then in the folder itself
// for one of its files. The error of a dataset that is not there is an [fs.ErrNotExist].
func Find(dataDir, name string) (string, error) {
	var known []string
	for _, c := range catalogue {
		if known = append(known, c.Name); c.Name != strings.ToLower(name) {
			continue
		}
		dirs := datadir.Folders(dataDir)
		for _, dir := range dirs {
			if sub := filepath.Join(dir, c.Name); isDir(sub) {
				return sub, nil
			}
			if _, err := os.Stat(filepath.Join(dir, c.File)); err == nil {
				return dir, nil
			}
		}
		return "", missing(fmt.Sprintf("no folder %s, and no %s, in %s: get it from where it is published (docs/use/text.md says as what), and name the folder it is in with --data or EDGEWISE_DATA",
			c.Name, c.File, strings.Join(dirs, ", ")))
	}
	return "", fmt.Errorf("there is no dataset of text %.60q; did you mean %q? There are: %s", name, spell.Nearest(strings.ToLower(name), known), strings.Join(known, ", "))
}

// missing is the error of a dataset that is not there.
type missing string

func (m missing) Error() string { return string(m) }

// Is says that it is that of a file that does not exist.
func (m missing) Is(err error) bool { return err == fs.ErrNotExist }

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
