package gatbench

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
)

// places is where the data of a training is: files, or names that are known.
type places struct{ dataset, splits string }

// origin is what a model was trained on, as its recipe says it.
type origin struct {
	Dataset, Splits, SplitNumber string
	Columns                      chosenColumns
}

// savedModel is a model in a file, and the folder of --data.
type savedModel struct{ path, data string }

// places finds the data that the model names, and says so if it is not where it
// was. What is nowhere is where flags say, which may be nil.
func (m savedModel) places(e cli.Env, r origin, dataset, splits *string) (at places, err error) {
	at = places{r.Dataset, r.Splits}
	if !m.named(r.Dataset) {
		if at.dataset, err = m.locate(e, "dataset", r.Dataset, dataset); err != nil {
			return at, err
		}
	}
	if splitsFile(r.Splits).Path != "" {
		at.splits, err = m.locate(e, "splits", r.Splits, splits)
	}
	return at, err
}

// named reports whether a dataset is one that is drawn, or known by its name wherever it is.
func (m savedModel) named(dataset string) bool {
	return slices.Contains(datasets.Names(), dataset) || strings.EqualFold(dataset, csl) || dataset == planted ||
		filepath.Base(dataset) == dataset && datasets.FindGraphs(m.data, dataset) != ""
}

// locate returns the path of a file or folder that a saved model names: as it
// stands, or else from the model's folder or one above it, where the training may
// have been begun, or else by its own name there or in the folders of datasets.
// The model may come from anybody: what it names is taken only if it is an
// ordinary file or a folder.
func (m savedModel) locate(e cli.Env, flag, name string, given *string) (string, error) {
	for i, path := range m.candidates(name) {
		switch err := regular.FileOrFolder(path); {
		case err == nil && i > 0:
			report.Message(e.ErrOut, fmt.Sprintf("the --%s %s of %s is not here; reading %s", flag, name, m.path, path))
			return path, nil
		case err == nil:
			return path, nil
		case i == 0 && !errors.As(err, new(*fs.PathError)): // it is there
			return "", fmt.Errorf("%s: its --%s: %w", m.path, flag, err)
		}
	}
	if given != nil {
		return *given, nil
	}
	where := "--" + flag
	if flag == "dataset" {
		where += ", or its folder with --data"
	}
	return "", fmt.Errorf("%s: its --%s %s is not here, nor by the model, nor in a folder of datasets: say where it is with %s", m.path, flag, name, where)
}

// candidates returns where a file that a saved model names may be, the likeliest
// first.
func (m savedModel) candidates(name string) []string {
	paths := []string{name}
	base := filepath.Base(name)
	dir, err := filepath.Abs(filepath.Dir(m.path))
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
	folders := []string{m.data, os.Getenv("EDGEWISE_DATA")}
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
		if path, err := datasets.Find(m.data, stem); err == nil && filepath.Base(path) == base {
			paths = append(paths, path)
		}
	}
	return paths
}
