package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// ReadGraphs reads many graphs from a file or folder: lines of JSON (.jsonl, .ndjson,
// perhaps in gzip or zstd) as [JSONLines] does, a folder or archive of OGB's files as
// [OGBGraphs], any other as [TUDataset].
func ReadGraphs(path string) (*Graphs, error) {
	plain := unpack.Plain(path)
	if strings.HasSuffix(plain, ".jsonl") || strings.HasSuffix(plain, ".ndjson") {
		return JSONLines(path)
	}
	if file, _ := strings.CutSuffix(path, "#directed"); holdsOGB(file) {
		return OGBGraphs(path)
	}
	return TUDataset(path)
}

// holdsOGB reports whether a folder or an archive is of OGB's form.
func holdsOGB(path string) bool {
	if isFolder(path) {
		return isOGB(path)
	}
	if !exists(path) {
		return false
	}
	f, err := unpack.OpenFolder(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return hasOGB(f) || len(f.All(ogbGraphLabel)) > 0
}

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

// manyGraphs reports whether [ReadGraphs] reads what is at path, as far as can be seen
// without reading all of it.
func manyGraphs(path string) bool {
	path, _ = strings.CutSuffix(path, "#directed")
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if plain := unpack.Plain(path); strings.HasSuffix(plain, ".jsonl") || strings.HasSuffix(plain, ".ndjson") {
		return !info.IsDir()
	}
	if !info.IsDir() && !isArchive(path) {
		return false
	}
	f, err := unpack.OpenFolder(path)
	if err != nil {
		return false
	}
	defer f.Close()
	// One of a form's files is enough: the reader says which is missing.
	return len(f.All(tuIndicator))+len(f.All(tuLabels))+len(f.All(ogbGraphLabel)) > 0
}

// OpenGraphs reads graphs by their name, such as MUTAG, from NAME or NAME.zip in dataDir,
// in the folder tudataset there, or where [Open] looks too; or from the file or folder of
// that path.
func OpenGraphs(dataDir, name string) (*Graphs, error) {
	if path := FindGraphs(dataDir, name); path != "" {
		return ReadGraphs(path)
	}
	if file, _ := strings.CutSuffix(name, "#directed"); exists(file) {
		return ReadGraphs(name) // for its error
	}
	if get := elsewhere(name); get != "" {
		return nil, &UnknownError{Name: name, Known: Names(), Get: fmt.Sprintf("there is no file %s.zip and no folder of that name in %s: %s", name, strings.Join(folders(dataDir), ", "), get)}
	}
	return nil, fmt.Errorf("there are no graphs %s: no file %s.zip and no folder of them in %s: name the folder it is in with --data or EDGEWISE_DATA, or the file itself", name, name, strings.Join(folders(dataDir), ", "))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
