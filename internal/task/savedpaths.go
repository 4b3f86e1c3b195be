package task

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/internal/task/source"
)

// Places is where the data of a training is: files, or names that are known.
type Places struct{ Dataset, Splits string }

// Origin is what a model was trained on, as its recipe says it.
type Origin struct {
	Dataset, Splits, SplitNumber string
	Columns                      source.Columns
}

// SavedModel is a model in a file, and the folder of --data.
type SavedModel struct{ Path, Data string }

// Places finds the data that the model names, and says so if it is not where it
// was. What is nowhere is where flags say, which may be nil.
func (m SavedModel) Places(e cli.Env, r Origin, dataset, splits *string) (at Places, err error) {
	at = Places{r.Dataset, r.Splits}
	if !m.named(r.Dataset) {
		if at.Dataset, err = m.Locate(e, "dataset", r.Dataset, dataset); err != nil {
			return at, err
		}
	}
	if source.SplitsFile(r.Splits).Path != "" {
		at.Splits, err = m.Locate(e, "splits", r.Splits, splits)
	}
	return at, err
}

// named reports whether a dataset is one that is drawn, or known by its name wherever it is.
func (m SavedModel) named(dataset string) bool {
	return slices.Contains(datasets.Names(), dataset) || strings.EqualFold(dataset, source.CSL) || dataset == source.Planted ||
		filepath.Base(dataset) == dataset && datasets.FindGraphs(m.Data, dataset) != ""
}

// Locate returns the path of a file or folder that a saved model names: as it
// stands, or else from the model's folder or one above it, where the training may
// have been begun, or else by its own name there or in the folders of datasets.
// The model may come from anybody: what it names is taken only if it is an
// ordinary file or a folder.
func (m SavedModel) Locate(e cli.Env, flag, name string, given *string) (string, error) {
	for i, path := range m.candidates(name) {
		switch err := regular.FileOrFolder(path); {
		case err == nil && i > 0:
			report.Message(e.ErrOut, fmt.Sprintf("the --%s %s of %s is not here; reading %s", flag, name, m.Path, path))
			return path, nil
		case err == nil:
			return path, nil
		case i == 0 && !errors.As(err, new(*fs.PathError)): // it is there
			return "", fmt.Errorf("%s: its --%s: %w", m.Path, flag, err)
		}
	}
	if given != nil {
		return *given, nil
	}
	where := "--" + flag
	if flag == "dataset" {
		where += ", or its folder with --data"
	}
	return "", fmt.Errorf("%s: its --%s %s is not here, nor by the model, nor in a folder of datasets: say where it is with %s", m.Path, flag, name, where)
}

// candidates returns where a file that a saved model names may be, the likeliest
// first.
func (m SavedModel) candidates(name string) []string {
	paths := []string{name}
	base := filepath.Base(name)
	dir, err := filepath.Abs(filepath.Dir(m.Path))
	switch {
	case err != nil:
	case filepath.IsLocal(name):
		for at := dir; ; at = filepath.Dir(at) {
			if paths = append(paths, filepath.Join(at, name)); at == filepath.Dir(at) {
				break
			}
		}
	case !filepath.IsAbs(name):
		paths = append(paths, filepath.Join(dir, name))
	}
	if err == nil {
		paths = append(paths, filepath.Join(dir, base))
	}
	folders := []string{m.Data, os.Getenv("EDGEWISE_DATA")}
	if cache, err := datasets.CacheDir(); err == nil {
		folders = append(folders, cache)
	}
	for _, d := range folders {
		if d == "" {
			continue
		}
		if filepath.IsLocal(name) {
			paths = append(paths, filepath.Join(d, name))
		}
		paths = append(paths, filepath.Join(d, base))
	}
	stem := strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base)))
	if slices.Contains(datasets.Names(), stem) { // in a subfolder for its kind; another file is another dataset
		if path, err := datasets.Find(m.Data, stem); err == nil && filepath.Base(path) == base {
			paths = append(paths, path)
		}
	}
	return paths
}
